"""Published collections of programs with MPI errors: which programs a snapshot has, what is wrong in each, and how many ranks it wants.

Nothing of the collections is here but what they call things: MPI-CorrBench says by a program's folder and name what it is, MPI-BugBench and its
predecessor, the MPI Bugs Initiative, by a comment at its top, RMARaceBench by name and comment."""
import json
import pathlib
import re
from dataclasses import dataclass

CORRECT = "correct"


@dataclass
class Program:
    path: pathlib.Path
    area: str  # what of MPI it is about
    error: str  # the class of its error; CORRECT: it has none
    ranks: int = 2
    flags: tuple = ()


def programs_of(source):
    """Those of a snapshot, in the order of their paths; empty: it is none of the collections."""
    source = pathlib.Path(source)
    found = [program for path in sorted(source.rglob("*.c*")) if path.suffix in (".c", ".cpp") for program in known(path, source)]
    return [program for program in found if program is not None]


def known(path, source):
    text = path.read_text(encoding="utf-8", errors="replace")
    for reader in (bug_bench, race_bench, corr_bench):
        program = reader(path, path.relative_to(source).parts, text)
        if program is not None:
            if "#pragma omp" in text or "omp.h" in text:
                program.flags = ("-fopenmp", *program.flags)
            yield program
            return


BUG_TEST = re.compile(r"BEGIN_(?:MBB|MBI|MPI)_TESTS\s+\$\s*mpirun\s+-np\s+(\d+)[^\n]*\n\s*\|\s*(OK|ERROR:?\s*\w+)")


def bug_bench(path, _parts, text):
    """BEGIN_MBB_TESTS / $ mpirun -np 2 ${EXE} / | ERROR CallOrdering"""
    found = BUG_TEST.search(text)
    if found is None:
        return None
    area = re.search(r"Category:\s*(\w+)", text)
    error = CORRECT if found[2] == "OK" else found[2].removeprefix("ERROR").lstrip(": \t")
    return Program(path, area[1] if area else "", error, int(found[1]))


def race_bench(path, parts, text):
    """MPIRMA/conflict/018-MPI-conflict-get-store-remote-yes.c, and a comment with its labels."""
    name = re.fullmatch(r"\d+-MPI-(\w+?)-.*-(local|remote)(?:-\w+)*-(yes|no)\.\w+", path.name) if "MPIRMA" in parts else None
    if name is None:
        return None
    labels = re.search(r"RACE LABELS BEGIN\s*/\*(.*?)\*/", text, re.DOTALL)
    try:
        ranks = int(json.loads(labels[1]).get("NPROCS", 2)) if labels else 2
    except (ValueError, AttributeError):
        ranks = 2
    return Program(path, name[1], f"race, {name[2]}" if name[3] == "yes" else CORRECT, ranks)


def corr_bench(path, parts, _text):
    """micro-benches/0-level/pt2pt/ArgError-MPIIRecv-Count.c; what is right is below a folder "correct"."""
    if "micro-benches" not in parts or path.suffix != ".c":
        return None
    if "openmp" in parts:
        area = "openmp " + parts[parts.index("openmp") + 1]
        flags = ("-DNUM_THREADS=2", "-DBUFFER_LENGTH_INT=10")  # as its scripts give them
        return Program(path, area, CORRECT if "correct" in parts else "wrong use by threads", flags=flags)
    if "correct" in parts:
        return Program(path, parts[-2], CORRECT)
    error = path.name.split("-")[0]
    return Program(path, parts[-2], error) if error in ("ArgError", "ArgMismatch", "MisplacedCall", "MissingCall") else None
