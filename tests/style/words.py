#!/usr/bin/env python3
"""words.py ROOT: the words of the code are those of docs/reference/glossary.md.

Fails if a word of retired_words.tsv has come back (in sources, comments, messages, option and help texts, file names or documents), or if the
glossary is not one line for each term, in alphabetical order.
"""

import functools
import pathlib
import re
import sys

FOLDERS = ["src", "privatize", "include", "docs", "tools", "bench", "examples", "scripts", "cmake", "tests"]
PAGES = ["README.md", "CONTRIBUTING.md", "CMakeLists.txt"]
SUFFIXES = {".cpp", ".hpp", ".h", ".c", ".S", ".py", ".md", ".tsv", ".cmake", ".txt", ".in", ".list", ".map", ".sh", ".inc", ".f90", ""}
# A change log names what has been; the table and its reader name the words themselves.
EXEMPT = {"CHANGELOG.md", "tests/style/retired_words.tsv", "tests/style/words.py"}
# Parts of identifiers and words: hasMail, has_mail, kHasMail and "has mail" are all "has", "mail".
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class Retired:
    def __init__(self, row):
        words, self.instead, where, allowed = (row.split("\t") + [""])[:4]
        self.words = words
        self.each = words.split(" ")
        self.pattern = re.compile(r"(?<![^ ])" + words + r"(?![^ ])")  # in parts joined by blanks
        self.where = None if where == "*" else tuple(where.split(","))
        self.allowed = re.compile(allowed) if allowed else None

    def found(self, name, line, parts):
        if self.where and not name.startswith(self.where):
            return False
        return self.pattern.search(parts) is not None and not (self.allowed and self.allowed.search(line))


def parts_of(text):
    return " ".join(part.lower() for part in PART.findall(text))


def files_of(root):
    for folder in FOLDERS:
        yield from (path for path in sorted((root / folder).rglob("*")) if path.is_file() and path.suffix in SUFFIXES)
    yield from (root / page for page in PAGES if (root / page).exists())


def retired_words(root, table):
    complaints = []
    every = {each for word in table for each in word.each}
    # Which of them a part is, asked once for each part, not for each place where it stands.
    matches = functools.cache(lambda part: {each for each in every if re.fullmatch(each, part)})
    for path in files_of(root):
        name = str(path.relative_to(root))
        if name in EXEMPT:
            continue
        complaints += [f"{name}: the file's name: \"{word.words}\" is now: {word.instead}" for word in table if word.found(name, name, parts_of(name))]
        text = path.read_text(encoding="utf-8")
        whole = parts_of(text)
        there = set().union(*map(matches, set(whole.split())))
        # Line by line only what is there at all.
        suspects = [word for word in table if there.issuperset(word.each) and word.pattern.search(whole)]
        complaints += [f"{name}:{number}: \"{word.words}\" is now: {word.instead}" for number, line in enumerate(text.splitlines(), 1)
                       for word in suspects if word.found(name, line, parts_of(line))]
    return complaints


def glossary(page):
    """What is wrong with its table: rows "| term | meaning |"."""
    if not page.exists():
        return ["docs/reference/glossary.md is missing"]
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")][2:]
    complaints, last = [], ""
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        if len(cells) != 2 or not all(cells):
            complaints.append(f"docs/reference/glossary.md: not \"| term | meaning |\": {row}")
            continue
        key = re.sub(r"[^a-z0-9]+", " ", cells[0].lower()).strip()
        if key <= last:
            complaints.append(f"docs/reference/glossary.md: \"{cells[0]}\" stands behind \"{last}\", or twice")
        last = key
    if not rows:
        complaints.append("docs/reference/glossary.md has no table")
    return complaints


def main():
    root = pathlib.Path(sys.argv[1])
    table = [Retired(row) for row in pathlib.Path(__file__).with_name("retired_words.tsv").read_text(encoding="utf-8").splitlines()
             if row and not row.startswith("#")]
    complaints = retired_words(root, table) + glossary(root / "docs" / "reference" / "glossary.md")
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
