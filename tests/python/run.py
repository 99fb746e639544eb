#!/usr/bin/env python3
"""Python scripts as ranks: what an interpreter and its packages keep is each rank's own.

  tests/python/run.py SCRIPT [--quick] [--build BUILD] [--python PROGRAM]

A script of scripts/ checks itself on all ranks and prints "right" on one. It runs with 4 and 16 ranks on two workers and on two nodes; --quick: with 4.
"""
import argparse
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77  # SKIP_RETURN_CODE
HANG = 240  # seconds: whatever has not ended by then never ends, on any machine
NEEDS = {"arrays": ("numpy",), "science": ("numpy", "scipy", "h5py", "matplotlib")}
PLACES = (["--workers", "2"], ["--workers", "2", "--nodes", "2"])


def missing(python, modules):
    """Those that the interpreter itself has not."""
    return [name for name in modules if subprocess.run([python, "-c", f"import {name}"], capture_output=True, timeout=HANG, check=False).returncode != 0]


def cannot_run(tmpirun, python):
    """Why that Python is none for ranks here."""
    tried = subprocess.run([tmpirun, "-n", "2", python, "-S", "-c", "print('runs')"], capture_output=True, text=True, timeout=HANG, check=False)
    return "" if tried.stdout == "runs\n" * 2 else tried.stderr.strip()


def trouble_of(command):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TMPI_", "OMP_", "OPENBLAS_", "PYTHON"))}
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=HANG + 30, check=False, env=environment)
    except subprocess.TimeoutExpired as late:
        return f"has not ended after {HANG + 30} seconds; stderr:\n{(late.stderr or b'')[-4000:]}"
    if (done.stdout, done.returncode) == ("right\n", 0):
        return ""
    return f"ended with code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-6000:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("script", choices=sorted(path.stem for path in (HERE / "scripts").glob("*.py") if path.stem != "ranks"))
    parser.add_argument("--quick", action="store_true", help="4 ranks only")
    parser.add_argument("--build", default=str(HERE.parent.parent / "build"), help="build directory of tmpi")
    parser.add_argument("--python", default="/usr/bin/python3", help="the interpreter")
    options = parser.parse_args()
    tmpirun = str(pathlib.Path(options.build).resolve() / "bin" / "tmpirun")
    absent = missing(options.python, NEEDS.get(options.script, ()))
    why = f"{options.python} has no {', '.join(absent)}" if absent else cannot_run(tmpirun, options.python)
    if why:
        print(f"skipped: {why}")
        return SKIPPED
    wrong = 0
    for ranks in ("4",) if options.quick else ("4", "16"):
        for place in PLACES:
            command = [tmpirun, "--timeout", str(HANG), "-n", ranks, *place, options.python, "-B", str(HERE / "scripts" / f"{options.script}.py")]
            trouble = trouble_of(command)
            print(f"{options.script}: {ranks} ranks, {' '.join(place)}: {trouble or 'right'}", flush=True)
            wrong += bool(trouble)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
