#!/usr/bin/env python3
"""every_compiler.py BUILD [COMPILER...]: each g++-N and clang++-N of this machine, or those named, accepts the sources of a built tree, with its warnings as errors.

Sources in C are for the gcc-N or clang-N beside it. Nothing is written (-fsyntax-only). Skipped if there is none beside the tree's own.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

# What only the tree's own compiler is asked for. clang 22 and later read no header that was precompiled with another -O.
DROPPED = re.compile(r"-O.|-mmemset-strategy=.*|-munroll-only-small-loops|-mvzeroupper|--param=ggc.*|-fpch-preprocess|-Winvalid-pch|-Werror")
PRECOMPILED = "_pch.hxx.cxx"


def compilers():
    found = {}
    for folder in os.environ["PATH"].split(os.pathsep):
        for path in pathlib.Path(folder).glob("*+-[0-9]*"):
            if re.fullmatch(r"(g|clang)\+\+-\d+", path.name):
                found.setdefault(path.name, str(path))
    return found


def words_for(compiler, command, folder):
    """The words of a command of the tree for another compiler, but for its output, with copies of the headers that are precompiled."""
    words = shlex.split(command)
    if "-include" in words:
        place = words.index("-include") + 1
        words[place] = behind(words[place], folder)
    cut = words.index("-o")
    words = [word for word in words[1:cut] + words[cut + 2:] if word != "-c" and not DROPPED.fullmatch(word)]
    more = ["-Wno-unknown-warning-option"] if "clang" in compiler else []
    return [compiler, *words, *more, "-O2", "-Werror"]


def behind(header, folder):
    """A header that includes `header`: beside that one lies what the tree's compiler has made of it, beside this what another one has."""
    path = pathlib.Path(folder) / (header.replace("/", "_") + ".hpp")
    if not path.exists():  # clang remembers its time
        path.write_text(f'#include "{header}"\n')
    return str(path)


def precompile(compiler, entry, folder):
    """As the tree has it: half of a source's time is the headers that all include."""
    words = words_for(compiler, entry["command"], folder)
    place = words.index("-include")
    header = words[place + 1]
    del words[place:place + 2]
    words[words.index(entry["file"])] = header
    subprocess.run([*words, "-o", header + ".gch"], cwd=entry["directory"], check=True)


def refused(compiler, entry, folder):
    if entry["file"].endswith(".c"):
        compiler = compiler.replace("clang++", "clang").replace("g++", "gcc")
    words = words_for(compiler, entry["command"], folder)
    result = subprocess.run([*words, "-fsyntax-only"], cwd=entry["directory"], capture_output=True, text=True)
    return result.stderr if result.returncode else ""


def asked(compiler, sources):
    """What is compiled with one compiler. That headers compile alone depends on the library's headers: each g++ has its own, clang has g++'s."""
    alone = "/tmpi_headers.dir/"  # the target of tests/style/CMakeLists.txt
    return [entry for entry in sources if "clang" not in compiler or alone not in entry["command"]]


def refusals(compiler, entries, folder, pool):
    """What the compiler says of the sources that it refuses, and how many it was asked for."""
    for entry in entries:
        if entry["file"].endswith(PRECOMPILED):
            precompile(compiler, entry, folder)
    sources = asked(compiler, [entry for entry in entries if not entry["file"].endswith(PRECOMPILED)])
    return list(filter(None, pool.map(lambda entry: refused(compiler, entry, folder), sources))), len(sources)


def main():
    build = pathlib.Path(sys.argv[1])
    entries = [entry for entry in json.loads((build / "compile_commands.json").read_text()) if entry["file"].endswith((".cpp", ".cxx", ".c"))]
    if not entries:
        sys.exit(f"{build} has no sources")
    named = sys.argv[2:]
    own = os.path.basename(os.path.realpath(shlex.split(next(entry["command"] for entry in entries if not entry["file"].endswith(".c")))[0]))
    found = {name: path for name, path in compilers().items() if (name in named if named else not own.endswith(name))}
    if not found:
        print(f"skipped: there is no g++-N or clang++-N beside {own} here: apt-get install "
              "$(apt-cache pkgnames | grep -Ex '(clang|g[+][+])-[0-9]+')")
        sys.exit(77)
    failed = False
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for name, path in sorted(found.items()):
            with tempfile.TemporaryDirectory() as folder:
                errors, count = refusals(path, entries, folder, pool)
            print(f"{name}: {count - len(errors)} of {count} sources", *errors[:5], sep="\n", flush=True)
            failed = failed or bool(errors)
    sys.exit(failed)


main()
