#!/usr/bin/env python3
"""Writes the tables of the pages that programs print: options (tmpirun), performance variables and events (tmpi-info), the
ways of messages (tmpi-node).

    tools/generate_tables.py BIN            writes them, by the programs in BIN
    tools/generate_tables.py --check BIN    fails if one is not up to date
"""

import argparse
import pathlib
import re
import subprocess
import sys

from mpi_tables import ROOT, write_or_check

DOCS = ROOT / "docs"
# The page, the name of the table there, the command that prints it.
TABLES = [
    ("reference/tmpirun.md", "options", ["tmpirun", "--print-markdown"]),
    ("reference/tools-interface.md", "variables", ["tmpi-info", "--markdown", "--variables"]),
    ("reference/tools-interface.md", "events", ["tmpi-info", "--markdown", "--events"]),
    ("design/matching.md", "ways", ["tmpi-node", "--list-ways"]),
]


def printed(binaries, command):
    return subprocess.run([binaries / command[0], *command[1:]], capture_output=True, text=True, check=True).stdout.strip("\n")


def with_table(page, name, table):
    """The page with the table between its two marks."""
    begin = f"<!-- {name}: made by tools/generate_tables.py -->\n\n"
    pattern = re.compile(re.escape(begin) + r".*?(?=\n\n<!-- end -->)", re.DOTALL)
    if len(pattern.findall(page)) != 1:
        sys.exit(f"there is not one place for the table \"{name}\"")
    return pattern.sub(lambda _: begin + table, page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("binaries", type=pathlib.Path, metavar="BIN", help="folder of tmpirun, tmpi-node and tmpi-info")
    options = parser.parse_args()
    failed = 0
    for page in sorted({table[0] for table in TABLES}):
        path = DOCS / page
        text = path.read_text(encoding="utf-8")
        for _, name, command in (table for table in TABLES if table[0] == page):
            text = with_table(text, name, printed(options.binaries, command))
        failed |= write_or_check(path, text, options.check)
    return failed


if __name__ == "__main__":
    sys.exit(main())
