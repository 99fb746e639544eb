#!/usr/bin/env python3
"""Sanitizers on a program's ranks (programs/planted.c): an error that one rank makes is found, and the report's last line names the rank; a right program
is silent.

  tests/libraries/test_sanitizers.py COMPILER [--build BUILD]
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77  # SKIP_RETURN_CODE
HANG = 240
RANKS = 5

# What each finds, and how its library is called, which must be in the process from its start; None: it may come later.
FOUND = {
    "address": r"SUMMARY: AddressSanitizer: heap-buffer-overflow .*planted\.c:\d+.* in write_past",
    "undefined": r"SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior .*planted\.c:\d+",
    "thread": r"SUMMARY: ThreadSanitizer: data race .*planted\.c:\d+.* in add",
}
LIBRARIES = {"gcc": {"address": "libasan.so", "thread": "libtsan.so"}, "clang": {"address": "libclang_rt.asan-{machine}.so"}}
# LLVM 14's shared library of ThreadSanitizer crashes in any process, /bin/true included.
KINDS = {"gcc": ("address", "undefined", "thread"), "clang": ("address", "undefined")}


def library(compiler, kind):
    """Path of the sanitizer's library, to be preloaded."""
    name = LIBRARIES[compiler].get(kind)
    if name is None:
        return None
    question = [compiler, "-print-file-name=" + name.format(machine=os.uname().machine)]
    path = subprocess.run(question, check=True, capture_output=True, text=True, timeout=HANG).stdout.strip()
    return os.path.realpath(path)


class Program:
    def __init__(self, compiler, kind, tools, directory):
        self.tools, self.kind, self.library = tools, kind, library(compiler, kind)
        self.binary = directory / f"planted.{kind}"
        build(compiler, kind, tools, self.binary, check=True)

    def run(self, error, *options):
        environment = {**os.environ, **({"LD_PRELOAD": self.library} if self.library is not None else {})}
        return subprocess.run([self.tools / "tmpirun", "--timeout", str(HANG), "-n", str(RANKS), *options, self.binary, error], check=False, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG + 30)


def build(compiler, kind, tools, binary, check):
    command = [tools / "tmpicc", f"-cc={compiler}", "-g", "-O1", f"-fsanitize={kind}", f"-I{HERE / 'programs'}", f"-I{HERE.parent / 'mpi'}",
               HERE / "programs" / "planted.c", "-o", binary, "-lm"]
    return subprocess.run(command, check=check, capture_output=not check, text=True, timeout=HANG)


def test(compiler, tools, directory):
    wrong = 0
    for kind in KINDS[compiler]:
        program = Program(compiler, kind, tools, directory)
        for place in (("--workers", "1"), ("--workers", "2"), ("--nodes", "2")):
            right = program.run("none", *place)
            found = program.run(kind, *place)
            last = re.compile(rf"^tmpirun: rank {RANKS - 1}: {FOUND[kind]}", re.MULTILINE)
            good = right.returncode == 0 and right.stderr == "" and last.search(found.stderr) is not None
            print(f"{compiler} -fsanitize={kind}, {' '.join(place)}: {'right' if good else 'wrong'}", flush=True)
            if not good:
                print(f"without an error: code {right.returncode}\n{right.stderr[-3000:]}\nwith one: code {found.returncode}\n{found.stderr[-6000:]}")
                wrong += 1
    if compiler == "clang":
        refused = build(compiler, "leak", tools, directory / "planted.leak", check=False)
        if refused.returncode == 0 or "-fsanitize=address looks for leaks, too" not in refused.stderr:
            print(f"clang -fsanitize=leak is not refused: {refused.stderr}")
            wrong += 1
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compiler", choices=KINDS)
    parser.add_argument("--build", default=str(HERE.parent.parent / "build"), help="build directory of tmpi")
    options = parser.parse_args()
    if shutil.which(options.compiler) is None:
        print(f"skipped: there is no {options.compiler} here")
        return SKIPPED
    for kind in LIBRARIES[options.compiler]:
        if not os.path.exists(library(options.compiler, kind)):
            print(f"skipped: {options.compiler} has no library for -fsanitize={kind} here (clang's are in libclang-rt-14-dev)")
            return SKIPPED
    with tempfile.TemporaryDirectory(prefix="tmpi-sanitizers-") as scratch:
        return 1 if test(options.compiler, pathlib.Path(options.build).resolve() / "bin", pathlib.Path(scratch)) else 0


if __name__ == "__main__":
    sys.exit(main())
