#!/usr/bin/env python3
"""markdown_lines.py ROOT: fails and names lines of more than 120 characters in the repository's Markdown. Rows of tables are exempt, which
cannot be broken, and blocks of the kind "console", which show what a program has printed."""

import pathlib
import sys

WIDTH = 120
SKIPPED = {"build", ".git"}


def too_long(path):
    console = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            console = line == "```console"
        if len(line) > WIDTH and not console and not line.lstrip().startswith("|"):
            yield number, len(line)


def main():
    root = pathlib.Path(sys.argv[1])
    pages = [page for page in sorted(root.rglob("*.md")) if not SKIPPED & set(page.relative_to(root).parts)]
    wrong = [f"{page.relative_to(root)}:{number}: {length} characters" for page in pages for number, length in too_long(page)]
    if wrong:
        print(f"lines of more than {WIDTH} characters:")
        print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
