#!/usr/bin/env python3
"""The examples give the same answers under every MPI: those of the build tree, and compiled with each mpicc found (Debian's MPICH and Open MPI); runs
them with the same number of ranks, and compares the numbers that they print as "result".

  tests/examples/compare.py --build BUILD [--peers mpich,openmpi]
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "examples"

# Example, arguments, ranks. Small, because other MPIs spin when ranks share cores.
RUNS = [
    ("heat2d.c", ["--nx", "60", "--ny", "47", "--steps", "40"], 4),
    ("heat2d.c", ["--nx", "33", "--ny", "70", "--steps", "30"], 3),
    ("cg27.c", ["--nx", "16", "--ny", "17", "--nz", "19"], 4),
    ("cg27.c", ["--nx", "12", "--ny", "12", "--nz", "24", "--split", "z", "--tolerance", "1e-6", "--iterations", "200"], 3),
    ("particles.cpp", ["--particles", "900", "--box", "14", "--steps", "40"], 4),
    ("master_worker.c", ["--width", "120", "--height", "90", "--iterations", "200"], 4),
    ("demo_overlap.c", ["--steps", "10", "--work", "1000", "--quiet"], 3),
    ("heat_f08.f90", ["60", "47", "40"], 4),
    ("heat_mpi.f90", ["33", "70", "30"], 3),
    ("heat_mpif.f", ["60", "47", "40"], 4),
    ("spectral.f90", ["32", "5"], 4),
]
MODULES = {"heat_f08.f90": ["heat_stencil.f90"], "heat_mpi.f90": ["heat_stencil.f90"], "heat_mpif.f": ["heat_stencil.f90"]}
LACKS = {"openmpi": {"heat_f08.f90"}}  # nonblocking calls of Open MPI 4's mpi_f08 take no sections of arrays: the result is another one
TOLERANCE = 1e-9  # relative; the order in which a reduction combines may differ between libraries


class Mpi:
    """Compilers and a launcher, and where programs are that have been built already."""

    def __init__(self, name, cc, cxx, fc, launcher, built=None):
        self.name, self.cc, self.cxx, self.fc, self.launcher, self.built = name, cc, cxx, fc, launcher, built

    def has(self, source):
        return ".f" not in source or shutil.which(self.fc) is not None and source not in LACKS.get(self.name, ())

    def build(self, source, directory):
        """Its program: that of the build tree if it has it there, else compiled into `directory`."""
        if self.built is not None and (self.built / source.split(".")[0]).exists():
            return self.built / source.split(".")[0]
        binary = directory / f"{source.split('.')[0]}.{self.name}"
        if not binary.exists():
            compiler = [self.cxx, "-std=c++17"] if source.endswith(".cpp") else [self.cc, "-std=gnu11"]
            if ".f" in source:
                compiler = [self.fc, f"-J{directory}"]
            sources = [str(EXAMPLES / s) for s in [*MODULES.get(source, []), source]]
            subprocess.run([*compiler, "-O1", "-w", *sources, "-o", str(binary), "-lm"], check=True, timeout=900)
        return binary

    def results(self, binary, arguments, ranks):
        """{name: number} of the "result" lines; raises if the run failed or its own check did."""
        command = [*self.launcher, "-n", str(ranks), str(binary), *arguments]
        surroundings = {**os.environ, "TMPDIR": str(binary.parent)}  # launchers share files there with others of their kind
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False,
                              env=surroundings)
        if done.returncode != 0 or "FAILED" in done.stdout:
            raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
        words = [line.split() for line in done.stdout.splitlines() if line.startswith("result ")]
        return {w[1]: float(w[2]) for w in words}


def peers(names):
    known = {
        "mpich": Mpi("mpich", "mpicc.mpich", "mpicxx.mpich", "mpif90.mpich", ["mpirun.mpich"]),
        "openmpi": Mpi("openmpi", "mpicc.openmpi", "mpicxx.openmpi", "mpif90.openmpi",
                       ["mpirun.openmpi", "--oversubscribe"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])),
    }
    return [known[name] for name in names if shutil.which(known[name].cc)]


def differences(own, other):
    names = set(own) | set(other)
    same = lambda a, b: a is not None and b is not None and abs(a - b) <= TOLERANCE * max(abs(a), abs(b))
    return [f"{n}: {own.get(n)} against {other.get(n)}" for n in sorted(names) if not same(own.get(n), other.get(n))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="build directory of tmpi")
    parser.add_argument("--peers", default="mpich,openmpi")
    options = parser.parse_args()
    bin_dir = pathlib.Path(options.build).resolve() / "bin"
    tmpi = Mpi("tmpi", str(bin_dir / "tmpicc"), str(bin_dir / "tmpicxx"), str(bin_dir / "tmpifort"), [str(bin_dir / "tmpirun")],
               bin_dir.parent / "examples")
    others = peers(options.peers.split(","))
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(scratch)
        for source, arguments, ranks in RUNS:
            if not tmpi.has(source):
                continue
            own = tmpi.results(tmpi.build(source, directory), arguments, ranks)
            if not own:
                sys.exit(f"{source} prints no result")
            for other in others:
                if not other.has(source):
                    continue
                found = differences(own, other.results(other.build(source, directory), arguments, ranks))
                failures += bool(found)
                print(f"{source} with {ranks} ranks, tmpi against {other.name}: {'same' if not found else '; '.join(found)}", flush=True)
    print(f"{len(RUNS)} runs, peers: {', '.join(o.name for o in others) or 'none installed'}, {failures} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
