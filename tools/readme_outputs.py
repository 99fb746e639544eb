#!/usr/bin/env python3
"""README.md shows what tmpi prints. Blocks of the kind "console" begin with "$ COMMAND"; the rest is what it has printed.

    tools/readme_outputs.py BUILD            runs the commands and writes README.md anew; figures depend on the machine
    tools/readme_outputs.py --check BUILD    fails if what they print now has not the same shape: lines without figures are the same

The commands run in BUILD/examples, with BUILD/bin on PATH.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

README = pathlib.Path(__file__).resolve().parent.parent / "README.md"
BLOCK = re.compile(r"(?<=```console\n)\$ ([^\n]*)\n(.*?)(?=```)", re.DOTALL)


def printed(build, command):
    environment = dict(os.environ, PATH=f"{build / 'bin'}:{os.environ['PATH']}")
    done = subprocess.run(command, shell=True, cwd=build / "examples", env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120, check=False)
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"


def shape(text):
    """Lines that say no figures, and how the others begin."""
    return {re.sub(r"\s+", " ", re.split(r"\d", line)[0]).strip() for line in text.splitlines()} - {""}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("build", type=pathlib.Path)
    options = parser.parse_args()
    build = options.build.resolve()
    text = README.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    if not blocks:
        sys.exit("README.md has no console blocks")
    if not options.check:
        README.write_text(BLOCK.sub(lambda block: f"$ {block[1]}\n{printed(build, block[1])}", text), encoding="utf-8")
        return
    for command, shown in blocks:
        now = printed(build, command)
        if missing := shape(shown) - shape(now):
            sys.exit(f"`{command}` does not print any more what README.md shows: {sorted(missing)}\nit prints:\n{now}\n"
                     f"tools/readme_outputs.py {options.build} writes it anew")


if __name__ == "__main__":
    main()
