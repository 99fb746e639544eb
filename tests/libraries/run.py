#!/usr/bin/env python3
"""Programs that use a library of the distribution's (libraries.tsv) give the right answers as ranks of one node process, and print what they print under
Open MPI.

  tests/libraries/run.py NAME [--quick] [--build BUILD] [--keep DIRECTORY]
  tests/libraries/run.py --packages          what all rows need, for apt-get install

A program is compiled twice, by tmpicc and by mpicc.openmpi (without which there is no comparison, but the programs check themselves), and runs with
each number of ranks of its row on one worker, on two, with three ranks to a worker and on two nodes; --quick: with the first number only.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SKIPPED = 77  # SKIP_RETURN_CODE
HANG = 240  # seconds: whatever has not ended by then never ends, on any machine
PLACES = (["--workers", "1"], ["--workers", "2"], ["--vratio", "3"], ["--nodes", "2"])


class Row:
    """One line of the table."""

    def __init__(self, line):
        columns = [None if text == "-" else text for text in line.rstrip("\n").split("\t")]
        self.name, self.tier = columns[0], columns[1]
        self.ranks = [int(size) for size in columns[2].split(",")]
        self.sources, self.packages = columns[3].split(), columns[4].split()
        words = (columns[5] or "").split()
        self.flags = [word for word in words if not word.startswith("cc=")]
        self.compiler = next((word[3:] for word in words if word.startswith("cc=")), None)
        self.options = (columns[6] or "").split()


def table():
    with open(HERE / "libraries.tsv", encoding="utf-8") as file:
        return {row.name: row for row in (Row(line) for line in file if not line.startswith("#"))}


def missing(packages):
    """Those that are not installed, as Debian's dpkg sees it; elsewhere all count as there, and compiling tells."""
    if shutil.which("dpkg-query") is None:
        return []
    query = lambda package: subprocess.run(["dpkg-query", "-W", "-f", "${Status}", package], capture_output=True, text=True, check=False).stdout
    return [package for package in packages if not query(package).endswith(" installed")]


def surroundings():
    """Without what would choose numbers of threads."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "OPENBLAS_"))}


class Mpi:
    """Compilers and a launcher."""

    def __init__(self, name, compilers, launcher, environment):
        self.name, self.compilers, self.launcher, self.environment = name, compilers, launcher, environment

    def build(self, row, directory):
        generated = []
        for source in row.sources:
            if source.endswith(".proto"):
                subprocess.run(["protoc", f"-I{HERE / 'programs'}", f"--cpp_out={directory}", source], check=True, timeout=HANG)
                generated.append(str(directory / source.replace(".proto", ".pb.cc")))
        sources = [str(HERE / "programs" / source) for source in row.sources if not source.endswith(".proto")]
        kind = pathlib.Path(sources[0]).suffix
        words = {".c": ["-std=gnu11", "-Wall", "-Wextra"], ".cpp": ["-std=c++17", "-Wall"], ".f90": ["-Wall", f"-J{directory}", "-ffree-line-length-none"]}[kind]
        if row.compiler is not None and self.name == "tmpi":
            words.insert(0, f"-cc={row.compiler}")
        binary = directory / f"{row.name}.{self.name}"
        environment = {**os.environ, **({"OMPI_CC": row.compiler} if row.compiler is not None else {})}
        subprocess.run([self.compilers[kind], *words, "-O1", "-g", f"-I{directory}", f"-I{HERE / 'programs'}", f"-I{ROOT / 'tests' / 'mpi'}", *sources,
                        *generated, "-o", str(binary), *row.flags], check=True, timeout=HANG, env=environment)
        return binary

    def command(self, row, ranks, binary, place):
        return [*self.launcher, "-n", str(ranks), *place, *row.options, str(binary)]

    def run(self, row, ranks, binary, place, directory):
        """The lines it printed, sorted (ranks print in any order), or a sentence about what went wrong."""
        command = self.command(row, ranks, binary, place)
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG + 30, check=False, cwd=directory,
                                  env={**surroundings(), "TMPDIR": str(directory), **self.environment}, errors="replace")
        except subprocess.TimeoutExpired as late:
            return None, f"{' '.join(command)}\nhas not ended after {HANG + 30} seconds; stderr:\n{(late.stderr or b'')[-4000:]}"
        if done.returncode != 0:
            return None, f"{' '.join(command)}\nended with code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-6000:]}"
        return sorted(line for line in done.stdout.splitlines() if line), ""


def mpis(build):
    tools = build / "bin"
    tmpi = Mpi("tmpi", {".c": str(tools / "tmpicc"), ".cpp": str(tools / "tmpicxx"), ".f90": str(tools / "tmpifort")},
               [str(tools / "tmpirun"), "--timeout", str(HANG)], {})
    if shutil.which("mpicc.openmpi") is None:
        return tmpi, None
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return tmpi, Mpi("openmpi", {".c": "mpicc.openmpi", ".cpp": "mpicxx.openmpi", ".f90": "mpif90.openmpi"},
                     ["mpirun.openmpi", "--oversubscribe", *root], {"OMPI_MCA_btl": "^openib"})


def test(row, sizes, build, directory):
    """How many runs were wrong."""
    tmpi, other = mpis(build)
    binary = tmpi.build(row, directory)
    other_binary = other.build(row, directory) if other is not None else None
    wrong = 0
    for ranks in sizes:
        want = None
        if other is not None:
            want, trouble = other.run(row, ranks, other_binary, [], directory)
            if want is None:
                print(f"{row.name}: the program fails under Open MPI, too: {trouble}")
                wrong += 1
                continue
        for place in PLACES:
            found, trouble = tmpi.run(row, ranks, binary, place, directory)
            if found is not None and want is not None and found != want:
                trouble = f"prints {found[:20]}, under Open MPI {want[:20]}"
            print(f"{row.name}: {ranks} ranks, {' '.join(place)}: {trouble or 'right'}", flush=True)
            wrong += bool(trouble)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=table())
    parser.add_argument("--packages", action="store_true", help="print the packages of all rows")
    parser.add_argument("--quick", action="store_true", help="the first number of ranks only")
    parser.add_argument("--build", default=str(ROOT / "build"), help="build directory of tmpi")
    parser.add_argument("--keep", help="a directory to work in, which stays")
    options = parser.parse_args()
    if options.packages:
        print(*sorted({package for row in table().values() for package in row.packages}))
        return 0
    if options.name is None:
        parser.error("a row of libraries.tsv is wanted")
    row = table()[options.name]
    if absent := missing(row.packages):
        print(f"skipped: not installed: {' '.join(absent)} (apt-get install --no-install-recommends {' '.join(absent)})")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix=f"tmpi-{row.name}-") as scratch:
        directory = pathlib.Path(options.keep or scratch).resolve()
        directory.mkdir(parents=True, exist_ok=True)
        return 1 if test(row, row.ranks[:1] if options.quick else row.ranks, pathlib.Path(options.build).resolve(), directory) else 0


if __name__ == "__main__":
    sys.exit(main())
