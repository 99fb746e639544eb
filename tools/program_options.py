"""What tmpi's programs and their options are, as the programs say it themselves: tmpirun prints its table of options, the others --help."""

import collections
import re
import subprocess

# names: every spelling. argument: what its value is called, empty: a flag, "[=FILE]": may be left out. values: what it can begin with.
Option = collections.namedtuple("Option", "names argument help variable values group", defaults=("", (), ""))
# also: names under which it is installed as well.
Program = collections.namedtuple("Program", "name summary synopsis description options also")

# Each program with what it is for, and how it is asked for its options; those that others start have none.
PROGRAMS = {
    "tmpirun": ("run an MPI program with many ranks per core", ["--print-options"]),
    "tmpicc": ("compile C programs for tmpirun", ["-showme:help"]),
    "tmpicxx": ("compile C++ programs for tmpirun", ["-showme:help"]),
    "tmpifort": ("compile Fortran programs for tmpirun", ["-showme:help"]),
    "tmpi-fortran-modules": ("make tmpi's Fortran modules for another compiler", ["--help"]),
    "tmpi-gdb": ("debug the ranks of a node process", ["--help"]),
    "tmpi-advise": ("say from a profile what would make a job faster", ["--help"]),
    "tmpi-report": ("make a page for the browser from profiles", ["--help"]),
    "tmpi-top": ("show what a running job does, as it goes on", ["--help"]),
    "tmpi-info": ("list what tools can ask the library", ["--help"]),
    "tmpi-node": ("node process of a job of tmpirun", None),
    "tmpi-slurm": ("gather the node processes of a job in an allocation of Slurm", None),
    "tmpi-pmix": ("gather the node processes that a PMIx server has started", None),
    "tmpi-python": ("interpreter of ranks whose Python can be mapped only once", None),
}

# What those do that take no options of a user.
STARTED_BY_OTHERS = {
    "tmpi-node": ("tmpi-node [options] PROGRAM [arguments] [: [options] PROGRAM [arguments]]...",
                  "Runs the ranks of one machine. tmpirun starts it; so may a PMIx server (mpirun, prterun, srun --mpi=pmix), one on each "
                  "machine. It then takes tmpirun's options, but those that choose hosts."),
    "tmpi-slurm": ("tmpi-slurm", "What tmpirun becomes inside an allocation of Slurm: srun starts one node process on each machine."),
    "tmpi-pmix": ("tmpi-pmix", "What tmpi-node becomes when a PMIx server has started it, until the node processes know of each other."),
    "tmpi-python": ("tmpi-python [ARGUMENTS OF python3]",
                    "What ranks run in place of a python3 that lies at fixed addresses. tmpirun chooses it; it is not started by itself."),
}


def of_table(lines):
    """The options of tmpirun --print-options."""
    for line in lines.splitlines():
        names, variable, argument, values, group, text = line.split("\t")
        yield Option(tuple(names.split()), argument, text, variable, tuple(values.split()), group)


def of_help(text):
    """(synopsis, description, options) of a help text: "usage: ...", sentences, lines of options, sentences."""
    first, *rest = text.strip("\n").split("\n")
    options, sentences = [], []
    for line in rest:
        found = re.match(r"  (-\S.*?)  +(\S.*)$", line)
        if not found:
            sentences.append(line.strip())
            continue
        spellings = [part.split(" ") for part in found[1].split(", ")]
        names = tuple(words[0] for words in spellings)
        argument = " ".join(spellings[-1][1:])
        if names[0].endswith("=COMPILER"):
            names, argument = (names[0][:-len("COMPILER")],), "COMPILER"
        options.append(Option(names, argument, found[2]))
    return first.removeprefix("usage: "), " ".join(sentences), options


def read_programs(binaries, links):
    """All programs, as those in the folder `binaries` describe themselves; `links` are "mpicc:tmpicc" and the like."""
    for name, (summary, question) in PROGRAMS.items():
        also = [link.split(":")[0] for link in links if link.split(":")[1] == name]
        if question is None:
            yield Program(name, summary, *STARTED_BY_OTHERS[name], [], also)
            continue
        said = subprocess.run([binaries / name, *question], capture_output=True, text=True, check=True, timeout=60).stdout
        if name == "tmpirun":
            yield Program(name, summary, "tmpirun [options] PROGRAM [arguments] [: [options] PROGRAM [arguments]]...",
                          "Runs an MPI program built with tmpicc, tmpicxx or tmpifort: the ranks are fibers of one process per machine, V of "
                          "them on each core. Long options are accepted with one dash too. An option's environment variable sets its "
                          "default; for a flag its value is 1 or 0.", list(of_table(said)), also)
        else:
            yield Program(name, summary, *of_help(said), also)


def write(folder, name, text, also):
    """A file of a program, and links to it for its other names: `name` has {} where the program's name stands."""
    folder.mkdir(parents=True, exist_ok=True)
    program, *links = also
    (folder / name.format(program)).write_text(text, encoding="utf-8")
    for link in links:
        path = folder / name.format(link)
        path.unlink(missing_ok=True)
        path.symlink_to(name.format(program))
