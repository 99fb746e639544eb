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

# What each finds. Leaks are not looked for under tmpirun; nothing is refused for that.
FOUND = {
    "address": r"SUMMARY: AddressSanitizer: heap-buffer-overflow .*planted\.c:\d+.* in write_past",
    "undefined": r"SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior .*planted\.c:\d+",
    "thread": r"SUMMARY: ThreadSanitizer: data race .*planted\.c:\d+.* in add",
}
LIBRARIES = {"gcc": {"address": "libasan.so", "thread": "libtsan.so", "leak": "liblsan.so"}, "clang": {"address": "libclang_rt.asan-{machine}.so"}}
# LLVM 14's shared library of ThreadSanitizer crashes in any process, /bin/true included.
KINDS = {"gcc": ("address", "undefined", "thread", "leak"), "clang": ("address", "undefined")}


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
        self.tools, self.kind, self.binary = tools, kind, directory / f"planted.{kind}"
        build(compiler, kind, tools, self.binary, check=True)

    def run(self, error, *options, preload=None):
        """Its libraries come into the node processes by themselves; `preload`: by the user's LD_PRELOAD."""
        environment = {**os.environ, **({"LD_PRELOAD": preload} if preload is not None else {})}
        return subprocess.run([self.tools / "tmpirun", "--timeout", str(HANG), "-n", str(RANKS), *options, self.binary, error], check=False, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG + 30)


def stand_in(directory):
    """What starts node processes of other machines on this one, without a descriptor or a variable of tmpirun's."""
    agent = directory / "agent"
    agent.write_text('#!/bin/sh\nshift\nexec env -i PATH="$PATH" HOME="$HOME" /bin/sh -c "$*"\n')
    agent.chmod(0o755)
    return agent


def build(compiler, kind, tools, binary, check):
    command = [tools / "tmpicc", f"-cc={compiler}", "-g", "-O1", f"-fsanitize={kind}", f"-I{HERE / 'programs'}", f"-I{HERE.parent / 'mpi'}",
               HERE / "programs" / "planted.c", "-o", binary, "-lm"]
    return subprocess.run(command, check=check, capture_output=not check, text=True, timeout=HANG)


def holds(what, condition, *runs):
    print(f"{what}: {'right' if condition else 'wrong'}", flush=True)
    for run in () if condition else runs:
        print(f"{run.args}: code {run.returncode}\n{run.stderr[-6000:]}")
    return 0 if condition else 1


def is_silent(run):
    return run.returncode == 0 and run.stderr == ""


def test_kind(program, compiler, places):
    wrong = 0
    for place in places:
        runs = right, found = program.run("none", *place), program.run(program.kind, *place)
        good = is_silent(right)
        if program.kind in FOUND:
            good = good and re.search(rf"^tmpirun: rank {RANKS - 1}: {FOUND[program.kind]}", found.stderr, re.MULTILINE) is not None
        wrong += holds(f"{compiler} -fsanitize={program.kind}, {' '.join(map(str, place))}", good, *runs)
    return wrong


def test(compiler, tools, directory):
    wrong = 0
    places = [("--workers", "1"), ("--workers", "2"), ("--nodes", "2"), ("--launch-agent", stand_in(directory), "--host", "alpha,beta")]
    for kind in KINDS[compiler]:
        program = Program(compiler, kind, tools, directory)
        wrong += test_kind(program, compiler, places)
        if kind == "address":
            quiet = program.run(kind, "-x", "ASAN_OPTIONS=halt_on_error=0:detect_leaks=0:help=1")
            wrong += holds("-x ASAN_OPTIONS reaches the library", "Available flags for AddressSanitizer" in quiet.stderr, quiet)
            table = subprocess.run([tools / "tmpirun", "--show-libraries", program.binary], check=False, capture_output=True, text=True, timeout=HANG)
            wrong += holds("--show-libraries", f"{os.path.basename(library(compiler, kind))[:10]}" in table.stdout, table)
        if kind in LIBRARIES[compiler]:
            preloaded = program.run("none", preload=library(compiler, kind))
            wrong += holds("in LD_PRELOAD already", is_silent(preloaded), preloaded)
    if compiler == "clang":
        refused = build(compiler, "leak", tools, directory / "planted.leak", check=False)
        wrong += holds("clang -fsanitize=leak is refused", refused.returncode != 0 and "-fsanitize=address looks for leaks, too" in refused.stderr, refused)
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
