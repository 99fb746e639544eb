#!/usr/bin/env python3
"""What becomes of glibc's state under tmpi: privatize/libc_state.txt and libc_stateless.txt.

    tools/generate_libc_state.py                    writes the tables of docs/reference/libc-state.md
    tools/generate_libc_state.py --check            fails if they are not up to date, or a table contradicts itself
    tools/generate_libc_state.py --functions SHIM   fails on a function of the installed glibc without a row, and on a private one that
                                                    neither libtmpi-shim.so nor the runtime table defines, or the other way round
    tools/generate_libc_state.py --include FILE     writes the functions of which --check warns, for src/check
"""

import argparse
import ctypes
import itertools
import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass, field

from mpi_tables import ROOT, write_or_check

TABLE = ROOT / "privatize" / "libc_state.txt"
STATELESS = ROOT / "privatize" / "libc_stateless.txt"
PAGE = ROOT / "docs" / "reference" / "libc-state.md"
# Where the runtime table's functions are listed.
RUNTIME = [ROOT / "privatize" / name for name in ("runtime_table.cpp", "waiting_table.cpp", "waiting_streams.cpp", "descriptor_functions.cpp", "large_blocks.cpp",
                                                 "later_functions.cpp")]
LIBRARIES = ["libc.so.6", "libm.so.6", "libresolv.so.2", "ld-linux-x86-64.so.2"]
OWNER_KINDS = ["private", "switched", "refused", "shared", "common"]
WAITING_KINDS = ["yields", "holds"]
DEFINED_KINDS = ["private", "refused"]


@dataclass
class Row:
    kind: str
    state: str
    how: str = ""
    names: list = field(default_factory=list)
    later: list = field(default_factory=list)  # of the names, those that only versions after the table's have


def read_table():
    """(rows, version of glibc whose names they are but for later ones)"""
    rows, version, row, key = [], None, None, None
    text = TABLE.read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if line.startswith(" "):
            value = line.strip()
        else:
            key, _, value = line.partition(": ")
            if key == "glibc":
                version = value
                continue
            if key in OWNER_KINDS + WAITING_KINDS:
                row, key, value = Row(key, ""), "state", value
                rows.append(row)
            elif key not in ("how", "names", "later") or row is None:
                sys.exit(f"{TABLE}:{number}: \"{line}\" begins neither a row nor one of its parts")
        if key in ("names", "later"):
            row.names += value.split()
            row.later += value.split() if key == "later" else []
        else:
            setattr(row, key, f"{getattr(row, key)} {value}".strip())
    return rows, version


def read_stateless():
    """Names in the order of the file, those with suffixes spread out; and of them those that only versions after the table's have."""
    names, first_later, suffixes = [], None, []
    for line in STATELESS.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("suffixes "):
            suffixes = [s for s in line.removeprefix("suffixes ").rstrip(":").split() if s != "none"]
        elif line == "later:":
            first_later = len(names)
        else:
            names += [name + suffix for name in line.split() for suffix in [""] + suffixes]
    return names, names[first_later:] if first_later is not None else []


def contradictions():
    rows, _ = read_table()
    stateless, _ = read_stateless()
    owner = {}
    for place, names in [(row.kind, row.names) for row in rows if row.kind in OWNER_KINDS] + [("stateless", stateless)]:
        for name in names:
            if name in owner:
                yield f"{name} stands twice: {owner[name]} and {place}"
            owner[name] = place
    for row in rows:
        if not (row.state and row.how and row.names):
            yield f"{row.kind}: {row.state}: a row has a state, how and names"
        if row.kind in WAITING_KINDS:
            yield from (f"{name} is said to wait, but not what becomes of its state" for name in row.names if name not in owner)
    waiting = [name for row in rows if row.kind in WAITING_KINDS for name in row.names]
    yield from (f"{name} stands in two rows of those that wait" for name in set(waiting) if waiting.count(name) > 1)


def page_table(rows, kind):
    word = {"private": "how", "switched": "how", "refused": "why"}.get(kind, "what that means")
    if kind in WAITING_KINDS:
        lines = ["| calls | functions | when |", "| --- | --- | --- |"]
        lines += [f"| {row.state} | {', '.join(f'`{name}`' for name in row.names)} | {row.how} |" for row in rows if row.kind == kind]
    else:
        lines = [f"| state | {word} |", "| --- | --- |"]
        lines += [f"| {row.state} | {row.how} |" for row in rows if row.kind == kind]
    return "\n".join(lines)


def page():
    rows, _ = read_table()
    text = PAGE.read_text(encoding="utf-8")
    for kind in OWNER_KINDS + WAITING_KINDS:
        pattern = re.compile(rf"(<!-- {kind}: [^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)
        if len(pattern.findall(text)) != 1:
            sys.exit(f"{PAGE}: there is not one place for the rows of {kind}")
        text = pattern.sub(lambda match, kind=kind: f"{match[1]}\n{page_table(rows, kind)}\n\n{match[2]}", text)
    return text


def dynamic_symbols(library):
    out = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library], check=True, capture_output=True,
                         text=True).stdout
    return [line.split()[1:] for line in out.splitlines() if len(line.split()) == 3]


def path_of(soname):
    """Where the dynamic linker finds the library."""
    ctypes.CDLL(soname)
    for line in pathlib.Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        if line.endswith("/" + soname):
            return line.split()[-1]
    sys.exit(f"{soname} is loaded, but its file cannot be found in /proc/self/maps")


def exported_by_glibc():
    """{name: library}: what a program that is linked today may refer to, functions and variables."""
    exported = {}
    for library in LIBRARIES:
        for kind, symbol in dynamic_symbols(path_of(library)):
            name, _, version = symbol.partition("@@")
            if kind != "A" and version and version != "GLIBC_PRIVATE":
                exported.setdefault(name, library)
    return exported


def missing_functions(shim):
    rows, version = read_table()
    stateless, stateless_later = read_stateless()
    later = {name for row in rows for name in row.later}.union(stateless_later)
    kinds = {name: row.kind for row in rows if row.kind in OWNER_KINDS for name in row.names}
    exported = exported_by_glibc()
    for name, library in sorted(exported.items()):
        if name not in kinds and name not in stateless:
            yield f"{name} of {library} has no row in {TABLE.name} and does not stand in {STATELESS.name}"
    if glibc_version() == version:
        yield from (f"{name} is not a name of glibc {version}" for name in itertools.chain(kinds, stateless)
                   if name not in exported and name not in later)
    defined = {symbol.split("@")[0] for _, symbol in dynamic_symbols(shim)}
    for source in RUNTIME:
        defined |= set(re.findall(r'\{"(\w+)", address_of\(', source.read_text(encoding="utf-8")))
    for name in sorted(defined & exported.keys()):
        if kinds.get(name) not in DEFINED_KINDS:
            yield f"{name} is defined by the shim or the runtime table, and has no row of the kind {' or '.join(DEFINED_KINDS)}"
    required = {name for name, kind in kinds.items() if kind in DEFINED_KINDS and (name not in later or name in exported)}
    for name in sorted(required - defined):
        yield f"{name} is said to be {kinds[name]}, but neither the shim nor the runtime table defines it"


def glibc_version():
    function = ctypes.CDLL("libc.so.6").gnu_get_libc_version
    function.restype = ctypes.c_char_p
    return function().decode()


def include():
    """A line of C++ for each function that --check warns of, in alphabetical order."""
    def plain(text):
        return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).replace("`", "").replace("\\", "\\\\").replace('"', '\\"')
    rows, _ = read_table()
    functions = sorted(((name, row) for row in rows if row.kind == "shared" for name in row.names), key=lambda pair: pair[0])
    return "".join(f'{{"{name}", "{plain(row.state)}: {plain(row.how)}"}},\n' for name, row in functions)


def report(problems):
    problems = list(problems)
    print("\n".join(problems) or "every function of glibc is accounted for")
    return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--functions", metavar="SHIM", help="libtmpi-shim.so: look at what the installed glibc exports")
    parser.add_argument("--include", metavar="FILE", help="write the functions that --check warns of")
    options = parser.parse_args()
    if options.functions:
        return report(missing_functions(options.functions))
    if options.include:
        return write_or_check(options.include, include(), False)
    if report(contradictions()) != 0:
        return 1
    return write_or_check(PAGE, page(), options.check)


if __name__ == "__main__":
    sys.exit(main())
