#!/usr/bin/env python3
"""every_compiler.py BUILD: each g++-N and clang++-N of this machine accepts the C++ sources of a built tree, with its warnings as errors.

Nothing is written (-fsyntax-only). Skipped if there is none beside the tree's own.
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

# What only the tree's own compiler is asked for.
DROPPED = re.compile(r"-mmemset-strategy=.*|--param=ggc.*|-fpch-preprocess|-Winvalid-pch|-Werror")


def compilers():
    found = {}
    for folder in os.environ["PATH"].split(os.pathsep):
        for path in pathlib.Path(folder).glob("*+-[0-9]*"):
            if re.fullmatch(r"(g|clang)\+\+-\d+", path.name):
                found.setdefault(path.name, str(path))
    return found


def behind(header, folder):
    """A header that includes `header`: clang takes the precompiled one beside it for its own."""
    path = pathlib.Path(folder) / (header.replace("/", "_") + ".hpp")
    path.write_text(f'#include "{header}"\n')
    return str(path)


def command_with(compiler, entry, folder):
    words = shlex.split(entry["command"])
    if "-include" in words:
        place = words.index("-include") + 1
        words[place] = behind(words[place], folder)
    cut = words.index("-o")
    words = [word for word in words[1:cut] + words[cut + 2:] if word != "-c" and not DROPPED.fullmatch(word)]
    more = ["-Wno-unknown-warning-option"] if "clang" in compiler else []
    return [compiler, *words, *more, "-Werror", "-fsyntax-only"]


def refused(compiler, entry, folder):
    result = subprocess.run(command_with(compiler, entry, folder), cwd=entry["directory"], capture_output=True, text=True)
    return result.stderr if result.returncode else ""


def main():
    build = pathlib.Path(sys.argv[1])
    commands = json.loads((build / "compile_commands.json").read_text())
    sources = [entry for entry in commands if entry["file"].endswith((".cpp", ".cxx")) and not entry["file"].endswith("_pch.hxx.cxx")]
    found = compilers()
    own = os.path.basename(os.path.realpath(shlex.split(sources[0]["command"])[0]))
    found.pop(own.replace("x86_64-linux-gnu-", ""), None)
    if not sources:
        sys.exit(f"{build} has no C++ sources")
    if not found:
        print(f"skipped: there is no g++-N or clang++-N beside {own} here: apt-get install "
              "$(apt-cache pkgnames | grep -Ex '(clang|g[+][+])-[0-9]+')")
        sys.exit(77)
    failed = False
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for name, path in sorted(found.items()):
            errors = list(filter(None, pool.map(lambda entry: refused(path, entry, folder), sources)))
            print(f"{name}: {len(sources) - len(errors)} of {len(sources)} sources", *errors[:5], sep="\n", flush=True)
            failed = failed or bool(errors)
    sys.exit(failed)


main()
