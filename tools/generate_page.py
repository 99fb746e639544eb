#!/usr/bin/env python3
"""Puts the report page together: src/report/page/page.html with its style, its scripts and d3 in it.

    tools/generate_page.py OUT [D3]    D3: d3.min.js of Debian's node-d3 or of npm's d3, version 5 or later

Without D3 what is written is empty, and tmpirun --report says why there is no page (src/report/page.cpp).
"""

import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "src" / "report" / "page"
# Where packages have it: npm's beside dist/, Debian's in its own place.
LICENCES = ["../LICENSE", "/usr/share/doc/node-d3/copyright"]


def licence_of(d3):
    for place in LICENCES:
        path = d3.parent / place
        if path.is_file():
            return path.read_text(encoding="utf-8")
    return None


def included(match, d3, licence):
    name = match[1]
    if name == "d3":
        # A pattern of files in it, such as types-d3-*/LICENSE, must not end the comment.
        comment = licence.strip().replace("*/", "* /")
        return f"/*\n{comment}\n*/\n{d3.read_text(encoding='utf-8')}"
    return (PAGE / name).read_text(encoding="utf-8").rstrip("\n")


def main():
    out = pathlib.Path(sys.argv[1])
    if len(sys.argv) < 3 or not pathlib.Path(sys.argv[2]).is_file():
        out.write_text("", encoding="utf-8")
        return
    d3 = pathlib.Path(sys.argv[2])
    licence = licence_of(d3)
    if licence is None:
        print(f"{d3}: its licence, which has to be in every page, is in none of {', '.join(LICENCES)}: pages are left out", file=sys.stderr)
        out.write_text("", encoding="utf-8")
        return
    page = (PAGE / "page.html").read_text(encoding="utf-8")
    # An inlined script must not end its element by itself.
    text = re.sub(r"@include ([\w.-]+)@", lambda match: included(match, d3, licence).replace("</script", "<\\/script"), page)
    out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
