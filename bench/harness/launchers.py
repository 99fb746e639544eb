"""How a benchmark is compiled and started under tmpi, Open MPI and MPICH, placed alike on the same CPUs."""
import os
import pathlib
import shutil
import subprocess
import time
from dataclasses import dataclass

# Pins rank i to the i-th of the CPUs in $BENCH_CPUS, cyclically, whatever launcher started it.
PIN = (
    'r=${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-${PMI_RANK:-0}}}; set -f; i=0; n=0; for c in $BENCH_CPUS; do n=$((n+1)); done; '
    'for c in $BENCH_CPUS; do [ $i = $((r % n)) ] && exec taskset -c $c "$@"; i=$((i+1)); done'
)


@dataclass
class Outcome:
    """What a run printed; `error` is a short sentence if it did not end well."""

    text: str
    seconds: float
    error: str = ""


HEADERS = pathlib.Path(__file__).resolve().parent.parent.parent / "include"


def finish(command, environment, limit):
    """Runs a command; kills its whole process group when the limit is over."""
    start = time.monotonic()
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, start_new_session=True
    )
    try:
        text, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 15)
        try:
            text, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            text, _ = process.communicate()
        return Outcome(text, limit, f"no end in {limit:.0f} s")
    seconds = time.monotonic() - start
    error = "" if process.returncode == 0 else f"exit code {process.returncode}: " + " ".join(text.split())[-160:]
    return Outcome(text, seconds, error)


class Launcher:
    """One MPI. `start` runs a compiled program with `ranks` ranks on `cpus`."""

    name = ""
    compiler = ""

    def __init__(self, directory):
        self.directory = directory / self.key

    @property
    def key(self):
        return self.name.lower().replace(" ", "")

    def available(self):
        return shutil.which(self.compiler) is not None

    def compile(self, source):
        """The program's path; compiles it if it is older than its source or our headers."""
        binary = self.directory / source.stem
        newest = max(p.stat().st_mtime for p in [source, *source.parent.glob("*.h"), *HEADERS.glob("*.h")])
        if not binary.exists() or binary.stat().st_mtime < newest:
            self.directory.mkdir(parents=True, exist_ok=True)
            unfinished = binary.with_name(f"{binary.name}.{os.getpid()}")  # two experiments may want the same program at a time
            subprocess.run([self.compiler, "-std=gnu11", "-O2", "-w", str(source), "-o", str(unfinished), "-lm"], check=True)
            unfinished.replace(binary)
        return binary

    def start(self, binary, arguments, ranks, cpus, limit, settings=None):
        environment = dict(os.environ, BENCH_CPUS=" ".join(map(str, cpus)), **(settings or {}))
        command = ["taskset", "-c", ",".join(map(str, cpus)), *self.words(ranks, cpus), *self.pinned(ranks, cpus), str(binary), *arguments]
        return finish(command, environment, limit)

    def words(self, ranks, cpus):
        raise NotImplementedError

    def pinned(self, ranks, cpus):
        """Peers: one rank per CPU is pinned; more ranks than CPUs are left to the operating system on these CPUs."""
        return ["sh", "-c", PIN, "sh"] if ranks <= len(cpus) else []


class Tmpi(Launcher):
    name = "tmpi"

    def __init__(self, directory, build):
        super().__init__(directory)
        self.build = build
        self.compiler = str(build / "bin" / "tmpicc")
        self.tmpirun = str(build / "bin" / "tmpirun")

    def words(self, ranks, cpus):
        return [self.tmpirun, "-n", str(ranks), "--workers", str(min(ranks, len(cpus)))]

    def pinned(self, ranks, cpus):
        return []  # tmpirun binds its workers to the allowed CPUs


class OpenMpi(Launcher):
    name = "Open MPI"
    compiler = "mpicc.openmpi"

    def words(self, ranks, cpus):
        words = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"]
        if os.geteuid() == 0:
            words.append("--allow-run-as-root")
        if ranks > len(cpus):  # the best it can do where ranks share a core
            words += ["--mca", "mpi_yield_when_idle", "1"]
        return words + ["-n", str(ranks)]


class Mpich(Launcher):
    name = "MPICH"
    compiler = "mpicc.mpich"

    def words(self, ranks, cpus):
        return ["mpirun.mpich", "-bind-to", "none", "-n", str(ranks)]


def all_launchers(build):
    directory = pathlib.Path(build).resolve() / "bench"
    return [Tmpi(directory, pathlib.Path(build).resolve()), OpenMpi(directory), Mpich(directory)]
