#!/usr/bin/env python3
"""links.py ROOT: fails on links of the repository's Markdown that lead nowhere, to a file or to a heading, and on pages of docs/ that sources
name and that are not there."""

import pathlib
import re
import sys

SKIPPED = {"build", ".git"}
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(r"\bdocs/[\w/-]+\.md\b")
SOURCES = ("*.cpp", "*.hpp", "*.c", "*.h", "*.S", "*.py", "*.cmake", "CMakeLists.txt", "*.in", "*.txt", "*.tsv", "*.sh", "*.f90", "*.F90")
PROGRAMS = ("bench", "scripts", "tests", "tools")  # folders with programs whose names have no ending


def without_code(text):
    """The text with what stands in blocks of code and in `code` blanked, line by line."""
    lines, fence = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            fence = not fence
        lines.append("" if fence or line.startswith("    ") and not line.lstrip().startswith(("-", "[")) else line)
    return lines


def anchors(page):
    """What GitHub calls the headings of a page."""
    found = set()
    for line in without_code(page.read_text(encoding="utf-8")):
        if line.startswith("#"):
            name = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip())
            found.add(re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-"))
    return found


def skipped(root, path):
    parts = path.relative_to(root).parts
    return bool(SKIPPED & set(parts)) or (root / parts[0] / "CMakeCache.txt").exists()


def dead_links(root, page):
    for number, line in enumerate(without_code(page.read_text(encoding="utf-8")), 1):
        for target in LINK.findall(line):
            if "://" in target or target.startswith("mailto:"):
                continue
            name, _, heading = target.partition("#")
            other = page.parent / name if name else page
            if not other.exists():
                yield f"{page.relative_to(root)}:{number}: {target}: there is no such file"
            elif heading and other.suffix == ".md" and heading not in anchors(other):
                yield f"{page.relative_to(root)}:{number}: {target}: there is no such heading"


def sources(root):
    for pattern in SOURCES:
        yield from root.rglob(pattern)
    for folder in PROGRAMS:
        yield from (path for path in (root / folder).rglob("*") if path.is_file() and not path.suffix)


def dead_names(root, path):
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        for name in NAMED.findall(line):
            if not (root / name).exists():
                yield f"{path.relative_to(root)}:{number}: there is no {name}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    complaints = []
    for page in sorted(root.rglob("*.md")):
        if not skipped(root, page):
            complaints += dead_links(root, page)
            complaints += dead_names(root, page)
    for path in sorted(set(sources(root))):
        if not skipped(root, path):
            complaints += dead_names(root, path)
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
