#!/usr/bin/env python3
"""platform.py ROOT: what only x86-64 has stands where docs/design/architecture.md, "What a port needs", says that it does.

Fails if a source outside of those files has instructions, registers, intrinsics or relocations of the processor, if a file of assembly is none of
them, or if one of them is not there. Tests may have what they like: who ports tmpi will see them fail.
"""

import pathlib
import re
import sys

FOLDERS = ["src", "privatize", "include", "tools"]
SUFFIXES = {".cpp", ".hpp", ".h", ".c", ".S", ".inc"}
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# Not a symbol's name for the linker (`int f() __asm__("name")`).
PARTICULAR = re.compile(r"\b(?:__asm__|asm)\s+(?:volatile|goto)\b|\b\w*(?:immintrin|x86intrin|cpuid)\.h\b|\b_mm\d*_\w+|\b__builtin_ia32_\w+|\b__rdtscp?\b|"
                        r"\bR_X86_64_\w+|\bEM_X86_64\b|\bREG_R(?:IP|SP|BP|[A-D]X|SI|DI|\d+)\b|\b__(?:x86_64|amd64|AVX\w*|SSE\w*)__")


def places_of(page):
    """The paths that the first column of the section's table names: files and folders, from the root."""
    section = page.read_text(encoding="utf-8").split("\n## What a port needs\n", 1)[1].split("\n## ", 1)[0]
    places = []
    for row in (line for line in section.splitlines() if line.startswith("| `")):
        folder = pathlib.PurePosixPath()
        for name in re.findall(r"`([^`]+)`", row.split(" | ", 1)[0]):
            # Behind the first name its neighbours: "`src/a/b.cpp`, `c.cpp`", or "`.hpp`" for a header of the same name.
            if "/" in name:
                path = pathlib.PurePosixPath(name.rstrip("/"))
                folder = path.parent
            else:
                path = path.with_suffix(name) if name.startswith(".") else folder / name
            places.append(path)
    return places


def main():
    root = pathlib.Path(sys.argv[1])
    places = places_of(root / "docs" / "design" / "architecture.md")
    complaints = [f"docs/design/architecture.md, What a port needs: there is no {place}" for place in places if not (root / place).exists()]
    if not places:
        complaints.append("docs/design/architecture.md, What a port needs: there is no table")
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root)
            if path.suffix not in SUFFIXES or path.stem.endswith("_test") or any(name.is_relative_to(place) for place in places):
                continue
            text = COMMENT.sub(lambda comment: "\n" * comment.group().count("\n"), path.read_text(encoding="utf-8"))
            found = [(text.count("\n", 0, match.start()) + 1, match.group()) for match in PARTICULAR.finditer(text)]
            if path.suffix == ".S":
                found = found or [(1, "a file of assembly")]
            complaints += [f"{name}:{line}: {what}: belongs to src/base/platform.hpp, or into the table \"What a port needs\" of docs/design/architecture.md"
                           for line, what in found]
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
