#!/usr/bin/env python3
"""Compiles the MPI test programs with some MPI and runs them, outside CMake.

  tests/mpi/run.py --mpi mpich                   validate the tests themselves under Debian's MPICH (or: openmpi); as
                                                 mpi/under/mpich does in the longer tier
  tests/mpi/run.py --mpi tmpi --build build p2p  under tmpi, only the programs whose name contains p2p
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77  # exit code for ctest
HERE = pathlib.Path(__file__).resolve().parent


def read_table(path):
    """Rows of programs.tsv as (name, ranks, long ranks, seconds, MPIs under which it is not run)."""
    rows = []
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, ranks, long_ranks, seconds, not_under = line.split("\t")
            as_list = lambda text: [] if text == "-" else [int(n) for n in text.split(",")]
            rows.append((name, as_list(ranks), as_list(long_ranks), int(seconds), not_under.split(",")))
    return rows


def commands(mpi, build):
    """(compiler, function of (ranks, seconds) giving the launcher's words)."""
    if mpi == "tmpi":
        bin_dir = pathlib.Path(build).resolve() / "bin"
        return str(bin_dir / "tmpicc"), lambda n, s: [str(bin_dir / "tmpirun"), "-n", str(n), "--timeout", str(s)]
    if mpi == "openmpi":
        base = ["mpirun.openmpi", "--oversubscribe"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
        return "mpicc.openmpi", lambda n, s: base + ["-n", str(n)]
    return "mpicc.mpich", lambda n, s: ["mpirun.mpich", "-n", str(n)]


def run(command, seconds):
    """Runs a command with a limit; returns (succeeded, text)."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds)
        return done.returncode == 0, f"{done.stdout}exit code {done.returncode}"
    except subprocess.TimeoutExpired as expired:
        text = expired.stdout or b""
        return False, (text.decode(errors="replace") if isinstance(text, bytes) else text) + f"no end after {seconds} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", choices=["tmpi", "mpich", "openmpi"], default="tmpi")
    parser.add_argument("--build", default="build", help="build directory with bin/tmpicc (default: build)")
    parser.add_argument("--max-ranks", type=int, default=0, help="skip larger runs (default: 8 for other MPIs, all for tmpi)")
    parser.add_argument("--long", action="store_true", help="also the sizes of the long tier")
    parser.add_argument("--options", default="", help="further words for the launcher, e.g. '--workers 1 --sched random:3'")
    parser.add_argument("names", nargs="*", help="run only programs whose name contains one of these")
    options = parser.parse_args()
    compiler, launcher = commands(options.mpi, options.build)
    for program in compiler, launcher(1, 1)[0]:
        if shutil.which(program) is None:
            print(f"skipped: there is no {program} here")
            return SKIPPED
    most = options.max_ranks or (1 << 30 if options.mpi == "tmpi" else 8)
    failures, count, start = [], 0, time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        for name, ranks, long_ranks, seconds, not_under in read_table(HERE / "programs.tsv"):
            if options.mpi in not_under or (options.names and not any(part in name for part in options.names)):
                continue
            binary = os.path.join(scratch, name)
            flags = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wno-stringop-overflow", "-I", str(HERE)]
            ok, text = run([compiler, *flags, str(HERE / f"{name}.c"), "-o", binary, "-lm"], 120)
            if not ok:
                failures.append(name)
                print(f"{name}: does not compile\n{text}", flush=True)
                continue
            for n in [n for n in ranks + (long_ranks if options.long else []) if n <= most]:
                began = time.monotonic()
                ok, text = run([*launcher(n, seconds), *options.options.split(), binary], seconds + 10)
                count += 1
                print(f"{'ok    ' if ok else 'FAILED'} {name} n={n} {time.monotonic() - began:.2f} s", flush=True)
                if not ok:
                    failures.append(f"{name} n={n}")
                    print("    " + "\n    ".join(text.splitlines()[-60:]), flush=True)
    print(f"{count} runs, {len(failures)} failures, {time.monotonic() - start:.0f} s" + "".join(f"\n  {f}" for f in failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
