"""Reads the tables of the MPI ABI in src/mpi/abi: one namedtuple per row."""

import collections
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = ROOT / "src" / "mpi" / "abi"


def read(name):
    """The rows of table `name` ("constants", "types", "functions" or "beyond"). The first line names the columns."""
    with open(TABLES / f"{name}.tsv", encoding="utf-8") as table:
        columns = next(table).rstrip("\n").split("\t")
        row_type = collections.namedtuple(name.capitalize(), [c if c != "return" else "result" for c in columns])
        rows = [row_type(*line.rstrip("\n").split("\t")) for line in table]
    return rows


def functions():
    """Rows of all MPI functions, large-count forms included, without the profiling names."""
    return [row for row in read("functions") if row.kind in ("func", "func_c")]


def beyond(*kinds):
    """Rows of these kinds of what mpi.h has beyond the ABI: Fortran conversions, and what MPI 3.0 removed."""
    return [row for row in read("beyond") if row.kind in kinds]


def write_or_check(path, text, check):
    """Writes a generated file, or with `check` only compares. Returns an exit code for main."""
    path = pathlib.Path(path)
    if not check:
        path.write_text(text, encoding="utf-8")
        return 0
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return 0
    print(f"{path} is not what its generator writes: run the generator without --check and commit the result")
    return 1
