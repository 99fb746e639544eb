#!/usr/bin/env python3
"""Writes the manual pages of all programs and tmpi(7), from what the programs say of themselves (program_options.py).

    tools/generate_manuals.py VERSION BIN MANDIR [LINK:PROGRAM...]

Pages for the programs in BIN go into MANDIR/man1 and MANDIR/man7. LINK is another name of a program, as in mpicc:tmpicc.
"""

import datetime
import os
import pathlib
import re
import sys

from program_options import read_programs, write

EXIT_STATUS = {
    "tmpirun": "The first exit code of a rank that is not zero, 0 if there is none; the code given to MPI_Abort; 128 plus the number of a fatal "
               "signal; 124 after --timeout; 125 if all ranks wait for each other; 127 if the program is missing, 126 if it cannot be run; 2 "
               "for a wrong command line.",
}

TEMPLATE = pathlib.Path(__file__).with_name("manuals") / "tmpi.7.in"


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq").replace("^", "\\(ha").replace("~", "\\(ti")
    return re.sub(r"^\.", r"\\&.", text)


def paragraph(text):
    """One sentence on a line, as troff wants them."""
    return "\n".join(escaped(sentence) for sentence in re.split(r"(?<=[a-z0-9)][.:]) (?=[A-Z])", text))


def header(name, section, version):
    day = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp())), datetime.timezone.utc)
    return f'.TH {name.upper()} {section} "{day:%Y-%m-%d}" "tmpi {version}" "tmpi"\n'


def option_entry(option):
    names = [f"\\fB{escaped(name)}\\fR" for name in option.names]
    value = f"\\fI{escaped(option.argument)}\\fR"
    if option.argument.startswith("["):
        names[0] += value
    elif option.argument:
        names[-1] += ("" if option.names[-1].endswith("=") else " ") + value
    names = ", ".join(names)
    entry = f".TP\n{names}\n{paragraph(option.help[:1].upper() + option.help[1:])}\n"
    return entry + (f"Environment:\n.BR {option.variable} .\n" if option.variable else "")


def page(program, version, programs):
    name = program.name
    text = header(name, 1, version)
    text += f".SH NAME\n{escaped(name)} \\- {escaped(program.summary)}\n"
    command, _, rest = program.synopsis.partition(" ")
    text += f".SH SYNOPSIS\n.B {escaped(command)}\n{escaped(rest)}\n" if rest else f".SH SYNOPSIS\n.B {escaped(command)}\n"
    text += f".SH DESCRIPTION\n{paragraph(program.description)}\n"
    if program.also:
        text += f"It is installed as {escaped(', '.join(program.also))} too.\n"
    group = None
    if program.options:
        text += ".SH OPTIONS\n"
    for option in program.options:
        if option.group and option.group != group:
            group = option.group
            text += f".SS {group}\n"
        text += option_entry(option)
    if name in EXIT_STATUS:
        text += f".SH EXIT STATUS\n{paragraph(EXIT_STATUS[name])}\n"
    others = [other.name for other in programs if other.name != name and other.options]
    return text + ".SH SEE ALSO\n" + "".join(f".BR {escaped(other)} (1),\n" for other in others) + ".BR tmpi (7)\n"


def overview(version, programs):
    """tmpi(7)."""
    listed = "".join(f".TP\n.BR {escaped(program.name)} (1)\n{escaped(program.summary)}\n" for program in programs)
    variables = "".join(f".TP\n.B {option.variable}\n{escaped(option.names[0])}\n"
                        for program in programs for option in program.options if option.variable)
    text = TEMPLATE.read_text(encoding="utf-8")
    return header("tmpi", 7, version) + text.replace("@PROGRAMS@\n", listed).replace("@VARIABLES@\n", variables)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    version, binaries, manuals = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    programs = list(read_programs(binaries, sys.argv[4:]))
    for program in programs:
        write(manuals / "man1", "{}.1", page(program, version, programs), [program.name, *program.also])
    write(manuals / "man7", "{}.7", overview(version, programs), ["tmpi"])


if __name__ == "__main__":
    main()
