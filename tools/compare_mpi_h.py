#!/usr/bin/env python3
"""Compares any mpi.h with the ABI's tables in src/mpi/abi: every constant, type, field of MPI_Status and prototype.

    tools/compare_mpi_h.py MPI_H [--compiler CC]            prints what differs and what is missing; exit code 1: something differs
    tools/compare_mpi_h.py --page NAME=MPI_H ... [--write]  the table "measured" of docs/reference/abi.md; --write puts it there

What is compared is compiled, one line each, and nothing is run: a line that does not compile differs, or is not there.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

import mpi_tables

PAGE = mpi_tables.ROOT / "docs" / "reference" / "abi.md"
BEGIN, END = "<!-- measured: tools/compare_mpi_h.py --page -->", "<!-- end of measured -->"


class Line:
    """A line of C that compiles only if the header says what the table says."""

    def __init__(self, kind, name, check, present):
        self.kind, self.name, self.check, self.present = kind, name, check, present


def lines():
    for row in mpi_tables.read("types"):
        if "." in row.type:
            field = row.type.split(".")[1]
            offset = re.search(r"@offset (\d+)", row.form).group(1)
            yield Line("type", row.type, f"_Static_assert(offsetof(MPI_Status, {field}) == {offset}, \"\");",
                       f"_Static_assert(offsetof(MPI_Status, {field}) >= 0, \"\");")
        else:
            yield Line("type", row.type, f"_Static_assert(sizeof({row.type}) == {row.size} && _Alignof({row.type}) == {row.align}, \"\");",
                       f"_Static_assert(sizeof({row.type}) > 0, \"\");")
    enumerated = [row.type for row in mpi_tables.read("types") if row.form == "enum"]
    for row in mpi_tables.read("constants"):
        if row.ctype == "fortran":
            continue
        integer = row.ctype in ("int", "enum", "MPI_Offset") or row.ctype in enumerated
        # That of a pointer is no constant expression to all, but gcc and clang count with it in the size of an array.
        yield Line("constant", row.name, f"_Static_assert(({row.name}) == ({row.value}), \"\");" if integer
                   else f"int is_{row.name}[(long)({row.name}) == ({row.value}) ? 1 : -1];",
                   f"static const int there_{row.name} = sizeof({row.name});")
    for row in mpi_tables.functions():
        for prefix in ("", "P"):
            name = prefix + row.name
            yield Line("function", name, f"{row.result} {name}({row.params or 'void'});", f"static void* const there_{name} = (void*)&{name};")


def failing(compiler, header, texts):
    """The indices of the texts that do not compile behind the header."""
    with tempfile.TemporaryDirectory() as place:
        source = os.path.join(place, "lines.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(f'#include <stddef.h>\n#include "{os.path.abspath(header)}"\n')
            for index, text in enumerate(texts):
                file.write(f'#line {index + 1} "lines"\n{text}\n')
        command = [compiler, "-std=gnu11", "-w", "-fsyntax-only", "-fmax-errors=0" if "gcc" in compiler or compiler == "cc" else "-ferror-limit=0", source]
        run = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    failed = {int(number) - 1 for number in re.findall(r"^lines:(\d+):(?:\d+:)? (?:fatal )?error:", run.stderr, re.MULTILINE)}
    if run.returncode != 0 and not failed:
        sys.exit(f"{header}: does not compile by itself:\n{run.stderr}")
    return failed


def compare(compiler, header):
    """Lists of lines: all, those that differ, those whose name is not there."""
    table = list(lines())
    wrong = failing(compiler, header, [line.check for line in table])
    suspects = [table[index] for index in sorted(wrong)]
    # Naming an undeclared function is an error of its own line; declaring it is none, so all functions are asked.
    asked = suspects + [line for line in table if line.kind == "function" and line not in suspects]
    absent = {asked[index] for index in failing(compiler, header, [line.present for line in asked])}
    return table, [line for line in suspects if line not in absent], [line for line in table if line in absent]


def names(found):
    """MPI_X for MPI_X and PMPI_X."""
    return sorted({line.name.removeprefix("P") for line in found})


def version_of(compiler, header):
    macros = subprocess.run([compiler, "-E", "-dM", header], check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"^#define (MPI_ABI_(?:SUB)?VERSION) \(?(\d+)\)?$", macros, re.MULTILINE))
    return f"{found.get('MPI_ABI_VERSION', '?')}.{found.get('MPI_ABI_SUBVERSION', '?')}"


def row_of(compiler, name, header):
    table, different, absent = compare(compiler, header)
    cells = [name, version_of(compiler, header)]
    for kind in ("constant", "type", "function"):
        count = sum(line.kind == kind for line in table) - sum(line.kind == kind for line in absent)
        cells.append(f"{count}, {sum(line.kind == kind for line in different)} differ")
    cells.append(", ".join(f"`{other}`" for other in names(different)) or "nothing")
    missing = names(absent)
    cells.append(", ".join(f"`{other}`" for other in missing[:6]) + (f" and {len(missing) - 6} more" if len(missing) > 6 else "") or "nothing")
    return "| " + " | ".join(cells) + " |"


def page(compiler, headers):
    yield BEGIN
    yield ""
    yield "| `mpi.h` of | ABI | constants | types | prototypes | what differs | what is not there |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name, header in headers:
        yield row_of(compiler, name, header)
    yield ""
    yield END


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="+", metavar="[NAME=]MPI_H")
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--page", action="store_true", help="write the table of the documentation")
    parser.add_argument("--write", action="store_true", help="into docs/reference/abi.md")
    options = parser.parse_args()
    if options.page:
        text = "\n".join(page(options.compiler, [header.split("=", 1) for header in options.headers]))
        if not options.write:
            print(text)
            return 0
        old = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(old[:old.index(BEGIN)] + text + old[old.index(END) + len(END):], encoding="utf-8")
        return 0
    code = 0
    for header in options.headers:
        table, different, absent = compare(options.compiler, header)
        print(f"{header}: {len(table)} compared, {len(different)} differ, {len(absent)} are not there")
        for what, found in (("differs", different), ("is not there", absent)):
            for line in found:
                print(f"  {line.name} {what}" + (f"; the ABI has: {line.check}" if what == "differs" else ""))
        code |= bool(different)
    return code


if __name__ == "__main__":
    sys.exit(main())
