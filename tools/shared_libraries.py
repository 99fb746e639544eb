#!/usr/bin/env python3
"""The table of libraries that ranks share (privatize/shared_libraries.hpp) as it stands in docs/design/privatization.md.

    tools/shared_libraries.py            prints the table
    tools/shared_libraries.py --check    fails if the page has another one
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = "| libraries (beginnings of sonames) | why |\n| --- | --- |\n"


def text_of(literals):
    return "".join(re.findall(r'"([^"]*)"', literals))


def rows():
    header = (ROOT / "privatize/shared_libraries.hpp").read_text()
    table = header[header.index("kSharedLibraries[] = {"):]
    table = table[table.index("{") + 1:table.index("\n};")]
    literals = r'((?:"[^"]*"\s*)+)'
    for names, why in re.findall(r"\{SharedKind::\w+,\s*" + literals + r",\s*" + literals + r"\}", table):
        yield " ".join(f"`{name.rstrip('.')}`" for name in text_of(names).split()), text_of(why)


def table():
    lines = [f"| {names} | {why} |\n" for names, why in rows()]
    assert len(lines) > 3, "the header's table was not understood"
    return HEAD + "".join(lines)


if sys.argv[1:] == ["--check"]:
    if table() not in (ROOT / "docs/design/privatization.md").read_text():
        sys.exit("docs/design/privatization.md: the table of shared libraries differs from shared_libraries.hpp; paste what "
                 "tools/shared_libraries.py prints")
else:
    print(table(), end="")
