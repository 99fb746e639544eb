#!/usr/bin/env python3
"""guide.py --build BUILD: runs the commands of docs/guide/ as they stand there, but for those that need other machines, Slurm or a Python
for ranks. Programs are the examples, and the guide's hello.c under the names that it gives to a user's programs."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# What cannot run here: other hosts, Slurm and Open MPI (tests/launch), Python, R and Octave, a debugger or a job to be looked at; what is run by the other tests.
ELSEWHERE = re.compile(r"node1|\./app|python|octave|exec/R |--stacks|--restart|--(add|remove)-host|--checkpoint-now|setup\.py|tmpi-gdb|^tmpi-top|^kill|^(salloc|srun|scripts/|cmake|export|\./configure|make|#)")
# Of the first that a command has.
CODES = {"./deadlock": 125, "--mended": 0, "--explore ./two_parts": 1, "--replay two_parts": 1}
LIMIT = 120  # seconds, for one command
HEAT_F90 = "program heat\n  use mpi_f08\n  call mpi_init()\n  call mpi_finalize()\nend program\n"


def commands(page):
    """The commands in the blocks of code of a page, in their order."""
    for line in page.read_text(encoding="utf-8").splitlines():
        if re.match(r" {4}\S", line):
            command = re.sub(r"\s{2,}#.*", "", line).strip()
            if re.match(r"(tmpi\w|tmpi-|\./)", command) and not ELSEWHERE.search(command):
                yield command


def prepare(folder, build):
    """The programs that the guide names."""
    for name in ("demo_overlap", "particles", "deadlock", "two_parts"):
        shutil.copy(build / "examples" / name, folder / name)
    text = (ROOT / "docs" / "guide" / "run.md").read_text(encoding="utf-8")
    hello = re.search(r"```c\n(.*?)```", text, re.DOTALL).group(1)
    for name in ("hello.c", "heat.c"):
        (folder / name).write_text(hello, encoding="utf-8")
    (folder / "heat.f90").write_text(HEAT_F90, encoding="utf-8")
    (folder / "hosts").write_text("localhost slots=4\n", encoding="utf-8")
    for name in ("hello", "heat", "hybrid", "master", "worker"):
        subprocess.run([build / "bin" / "tmpicc", "hello.c", "-o", name], cwd=folder, check=True)


def run(command, folder, build):
    """What is wrong with it, or nothing."""
    environment = {**os.environ, "PATH": f"{build / 'bin'}:{os.environ['PATH']}"}
    shorter = re.sub(r"\./demo_overlap$", "./demo_overlap --steps 20 --quiet", command)
    try:
        done = subprocess.run(shorter, shell=True, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return f"has not ended after {LIMIT} s"
    wanted = next((code for word, code in CODES.items() if word in command), 0)
    return None if done.returncode == wanted else f"exit code {done.returncode}, not {wanted}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build.resolve()
    failed = number = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder, build)
        for page in sorted((ROOT / "docs" / "guide").glob("*.md")):
            for command in commands(page):
                number += 1
                wrong = run(command, folder, build)
                if wrong:
                    failed += 1
                    print(f"{page.name}: {command}: {wrong}")
    print(f"{number} commands, {failed} wrong")
    return 1 if failed or not number else 0


if __name__ == "__main__":
    sys.exit(main())
