#!/usr/bin/env python3
"""Which sources of a target can be compiled together: "TARGET FILE" on standard input, one per line; prints "TARGET GROUP FILE" for each that
shares a translation unit with others (cmake/TmpiGrouped.cmake hands this to CMake's unity build).

Never two of which one declares a name for itself (in an anonymous namespace, static, a macro, a type of a .cpp) that the other one uses or the
other's headers declare; nor two that define macros differently which their headers look at. It reads the text, not the language: a name too
many makes a group smaller, nothing else.
"""

import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LARGEST = 20  # files: several compilers share a room of a few dozen, and an edit compiles no more than these again
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
HEADER = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+\.(?:hpp|h))"', re.MULTILINE)
OWN_TEXT = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+\.(?:cpp|inc))"', re.MULTILINE)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)
TYPE = re.compile(r"\b(?:struct|class|union|enum(?:\s+(?:class|struct))?|concept)\s+(\w+)")
ALIAS = re.compile(r"\busing\s+(\w+)\s*=|\btypedef\b.*?(\w+)\s*$", re.DOTALL)
ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]|\b(?:alignas|decltype|__attribute__)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
FUNCTION = re.compile(r"[^=(]*?(\w+)\s*\(")
VARIABLE = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*(?:=[^,]*)?(?:,|$)")  # by "int a[2] = ..., b": a and b
WORD = re.compile(r"[A-Za-z_]\w*")
BASES = re.compile(r"^((?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+\w+(?:\s+final)?)\s*:(?!:).*", re.DOTALL)
MEMBER = re.compile(r"(?:\.|->)\s*[A-Za-z_]\w*")  # found in a class, whatever the file calls by this name
# What the expressions above take for a name now and then.
NO_NAMES = set("auto bool char class const double enum final float int long noexcept nullptr operator return short signed size_t struct unsigned void".split())


def text_of(path):
    """A file's text, with that of the .cpp and .inc files it includes."""
    text = path.read_text(encoding="utf-8")
    for name in OWN_TEXT.findall(text):
        for base in (path.parent, ROOT / "src", ROOT):
            if (base / name).exists():
                text += text_of(base / name)
                break
    return text


def statements(text):
    """(statement, is it the file's own) for what stands in namespaces, outside all other braces; of an enumeration its body too."""
    scopes, start = [], 0  # of every open brace: "named", "own" (anonymous) or "body"
    for match in re.finditer(r"[{};]", text):
        piece, start_of_piece, start = text[start:match.start()].strip(), start, match.end()
        outside = "body" not in scopes
        own = "own" in scopes
        if match.group() == ";":
            if outside and piece:
                yield piece, own
        elif match.group() == "{":
            if outside and piece and not piece.startswith("namespace"):
                yield piece, own
            if not outside or not piece.startswith("namespace"):
                scopes.append("body")
            else:
                scopes.append("own" if piece == "namespace" else "named")
        elif scopes:
            if scopes.count("body") == 1 and re.search(r"\benum\b[^;{}]*\{\s*$", text[:start_of_piece][-200:]):
                yield from ((word, own) for word in re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", piece))
            scopes.pop()


def names_of(piece, own):
    """The names a statement declares for its file alone."""
    if piece.startswith(("using namespace", "extern", "TEST_CASE", "static_assert")):
        return set()
    if piece.startswith("using") and "=" not in piece:  # may stand there twice, and if it means two things the compiler says so
        return set()
    piece = ATTRIBUTE.sub("", piece)
    piece = re.sub(r"^(?:template\s*<[^{;]*?>\s*(?=[A-Za-z]))+", "", piece.strip())
    piece = BASES.sub(r"\1", piece)
    names = set(TYPE.findall(piece)) | {name for pair in ALIAS.findall(piece) for name in pair if name}
    if own or re.search(r"\bstatic\b", piece):
        function = FUNCTION.match(piece)
        names |= {function[1]} if function else set(VARIABLE.findall(piece))
    return names - NO_NAMES


@functools.cache
def header(path):
    """(names that a header declares for everybody, words of its conditions, headers it includes)."""
    text = path.read_text(encoding="utf-8")
    code = NOISE.sub(" ", text)
    names = set(dict(MACRO.findall(code)))
    for piece, _ in statements(DIRECTIVE.sub("", code)):
        names |= names_of(piece, True)
    conditions = {word for line in re.findall(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b.*", code, re.MULTILINE) for word in WORD.findall(line)}
    return names, conditions, headers_of(path, text)


def headers_of(path, text):
    found = ((base / name for base in (path.parent, ROOT / "src", ROOT, ROOT / "include") if (base / name).exists()) for name in HEADER.findall(text))
    return {file.resolve() for file in (next(candidates, None) for candidates in found) if file}


def closure(headers):
    """All headers that these include, themselves among them."""
    todo, seen = list(headers), set()
    while todo:
        if (path := todo.pop()) not in seen:
            seen.add(path)
            todo += header(path)[2]
    return seen


class Source:
    def __init__(self, path):
        text = text_of(path)
        code = NOISE.sub(" ", text)
        self.path = path
        self.words = set(WORD.findall(MEMBER.sub(" ", code)))
        self.macros = dict(MACRO.findall(code))
        self.own = set(self.macros)
        for piece, own in statements(DIRECTIVE.sub("", code)):
            self.own |= names_of(piece, own)
        conditions = set()
        for names, looked_at, _ in map(header, closure(headers_of(path, text))):
            self.words |= names
            conditions |= looked_at
        # What a header makes of them holds for a whole translation unit.
        self.settings = frozenset((name, value) for name, value in self.macros.items() if name in conditions)

    def goes_with(self, other):
        agreed = {name for name, _ in self.macros.items() & other.macros.items()}
        return not ((self.own & other.words | other.own & self.words) - agreed)


def groups_of(paths):
    """Lists of sources, each list one translation unit: every file goes to the first group it fits in, the least compatible ones first."""
    sources = [Source(path) for path in paths]
    sources.sort(key=lambda source: sum(source.goes_with(other) for other in sources))
    groups = {}
    for source in sources:
        alike = groups.setdefault(source.settings, [])
        for group in alike:
            if len(group) < LARGEST and all(source.goes_with(other) for other in group):
                group.append(source)
                break
        else:
            alike.append([source])
    return [group for alike in groups.values() for group in alike]


def main():
    targets = {}
    for line in sys.stdin:
        target, path = line.split()
        targets.setdefault(target, []).append(pathlib.Path(path))
    for target, paths in targets.items():
        for number, group in enumerate(groups_of(paths)):
            if len(group) > 1:
                for source in group:
                    print(target, number, source.path)


if __name__ == "__main__":
    main()
