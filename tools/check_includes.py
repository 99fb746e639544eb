#!/usr/bin/env python3
"""Fails on an #include that points up between the rooms of docs/design/architecture.md, on an include path that is not spelled from the root, and on
a source that does not include its own header first (which shows that the header compiles alone; tests/style relies on it).

    launch -> check -> observe -> mpi -> {sched, net} -> {ult, timers} -> base;    privatize -> base, and only launch includes it

A room may have rooms inside (mpi/base, mpi/datatype, ...): the same rule holds between them. Where the room itself comes before them (sched) its
own files are the contract that they fulfil.
"""

import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Every room, from the lowest to the highest, and what it may include besides itself: rooms that come before it. Who may include a room may
# include the rooms inside it. A folder that is not here belongs to the room around it; one that is in no room is an error.
ROOMS = {
    "include": "",
    "base": "",
    "msgq": "base",  # a library that debuggers load
    "privatize": "base",
    "ult": "base",
    "timers": "base",
    "sched": "base ult timers",  # the headers of the folder itself: the contract, which every room inside may include
    "sched/machine": "base ult timers sched",
    "sched/door": "base ult sched",
    "sched/loop": "base ult timers sched sched/door",
    "sched/sources": "base timers sched sched/machine sched/door sched/loop",
    "sched/files": "base sched sched/machine sched/door sched/loop sched/sources",
    "sched/mover": "base timers sched sched/door sched/loop sched/sources",
    "sched/worker": "base timers sched sched/door sched/loop sched/sources sched/files sched/mover",
    "sched/threads": "base ult sched sched/door sched/loop sched/sources sched/worker",
    "sched/progress": "base timers sched sched/machine sched/door sched/loop sched/sources sched/worker",
    "sched/process": "base ult timers sched sched/machine sched/door sched/loop sched/sources sched/mover sched/worker sched/threads sched/progress",
    "sched/explore": "base ult sched sched/door sched/mover",
    "net": "base ult timers",
    "net/tcp": "base ult timers net",
    "net/verbs": "base ult timers net net/tcp",
    "net/ofi": "base ult timers net net/tcp",
    "net/sim": "base ult timers net",
    "mpi/base": "include base",
    "mpi/datatype": "include base mpi/base",
    "mpi/op": "include base mpi/base mpi/datatype",
    "mpi/comm": "include base mpi/base",
    "mpi/match": "include base sched",
    "mpi/request": "include base sched mpi/base mpi/datatype mpi/comm mpi/match",
    "mpi/rank": "include base timers sched mpi/base mpi/datatype mpi/comm mpi/match mpi/request",
    "mpi/p2p": "include base sched mpi/base mpi/datatype mpi/comm mpi/match mpi/request mpi/rank",
    "mpi/remote": "include base timers sched net mpi/base mpi/datatype mpi/comm mpi/match mpi/request mpi/rank mpi/p2p",
    "mpi/shm": "include base sched mpi/base mpi/comm mpi/request mpi/rank",
    "mpi/coll": "include base sched mpi/base mpi/datatype mpi/op mpi/comm mpi/request mpi/rank mpi/p2p mpi/shm",
    "mpi/create": "include base sched mpi/base mpi/datatype mpi/comm mpi/request mpi/rank mpi/p2p mpi/shm mpi/coll",
    "mpi/rma": "include base sched net mpi/base mpi/datatype mpi/op mpi/comm mpi/request mpi/rank mpi/p2p mpi/remote mpi/shm mpi/coll mpi/create",
    "mpi/init": "include base timers sched mpi/base mpi/comm mpi/rank mpi/p2p mpi/shm mpi/coll mpi/create",
    "mpi/topo": "include base mpi/base mpi/comm mpi/coll mpi/create",
    "mpi/io": "include base timers sched mpi/base mpi/datatype mpi/op mpi/comm mpi/request mpi/rank mpi/p2p mpi/coll mpi/create",
    "mpi/save": "include base sched mpi/base mpi/datatype mpi/op mpi/comm mpi/match mpi/request mpi/rank mpi/p2p mpi/shm mpi/coll mpi/create mpi/init "
                "mpi/topo mpi/rma mpi/io",
    "mpi/diagnose": "include base sched mpi/base mpi/datatype mpi/comm mpi/match mpi/request mpi/rank mpi/p2p",
    "mpi/tool": "include base timers sched net mpi/base mpi/comm mpi/match mpi/rank mpi/p2p mpi/remote mpi/coll mpi/rma mpi/io",
    "mpi/api": "include base timers sched mpi/base mpi/datatype mpi/op mpi/comm mpi/match mpi/request mpi/rank mpi/p2p mpi/coll mpi/create "
               "mpi/rma mpi/init mpi/topo mpi/io mpi/tool",
    "mpi": "include base ult timers sched net",  # mpi/testing: unit tests run ranks without a launcher
    "observe": "include base ult timers sched net mpi",
    "advise": "base observe",
    "report": "base observe advise",
    "check": "include base ult timers sched net mpi observe",
    "replay": "include base sched mpi",
    "info": "include",  # an MPI program
    "fortran": "include",  # a library of its own, on top of the C interface
    "launch/system": "base net",
    "launch/wire": "base net launch/system",
    "launch/spec": "base net launch/system launch/wire",
    "launch/ports": "include base mpi launch/wire",
    "launch/neighbours": "base net launch/wire launch/ports",
    "launch/options": "base sched net mpi launch/system launch/wire launch/spec",
    "launch/attach": "base net launch/system launch/wire",
    "launch/plan": "base net launch/system launch/options launch/attach",
    "launch/report": "base observe report launch/system launch/spec",
    "launch/launcher": "include base net mpi replay launch/system launch/wire launch/spec launch/options launch/attach launch/plan launch/report launch/ports launch/neighbours",
    "launch/top": "base launch/system launch/wire launch/neighbours",
    "launch/control": "base sched net launch/wire launch/spec",
    "launch/node": "include base ult timers sched net mpi observe check replay privatize launch/system launch/wire launch/spec launch/ports launch/neighbours launch/control",
    "launch/library": "include base net sched mpi privatize launch/system launch/ports",
    "launch": "include base ult timers sched net mpi observe report check replay privatize",
}
ORDER = {room: index for index, room in enumerate(ROOMS)}
PUBLIC_HEADERS = {"mpi.h", "mpix.h"}
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".S", ".inc"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
# What only tests are made of may use every room inside the outermost one.
TEST = re.compile(r"_(test|test_support)\.\w+$|^type_map\.")


def rooms_around(room):
    """The room and those it lies in, from the inside out."""
    while room:
        if room in ROOMS:
            yield room
        room = room.rpartition("/")[0]


@functools.cache
def room_of_folder(folder):
    parts = folder.relative_to(ROOT).parts
    if parts[0] != "src":
        return parts[0]
    return next(rooms_around("/".join(parts[1:])), parts[1])


@functools.cache
def target_room(name, folder):
    """The room an include of `name` in a file of `folder` leads to; None for the system's headers."""
    if name in PUBLIC_HEADERS:
        return "include"
    room = next(rooms_around(name.rpartition("/")[0]), None)
    if room is None and (folder / name).exists():
        room = room_of_folder((folder / name).parent)
    return room


@functools.cache
def may_include(room, target, is_test):
    around = set(rooms_around(target))
    outermost = room.partition("/")[0]
    if is_test and (target.partition("/")[0] == outermost or outermost in ROOMS and may_include(outermost, target, False)):
        return True
    inside = room in around and ORDER[target] < ORDER[room]
    # Of a room around this one, only what lies in no other room inside: its contract.
    around = {other for other in around if other == target or not room.startswith(other + "/")}
    return inside or not around.isdisjoint(ROOMS[room].split())


def problems_of_table():
    """What a room may include comes before it, so that no arrows make a circle."""
    seen = set()
    for room, allowed in ROOMS.items():
        for other in allowed.split():
            if not any(r in seen for r in ROOMS if r == other or r.startswith(other + "/")):
                yield f"tools/check_includes.py: room {room} may include {other}, which does not come before it"
        seen.add(room)


def problems_of_page():
    """The tables of docs/design/architecture.md under "Inside src/ROOM" say the same of the rooms inside."""
    page = (ROOT / "docs/design/architecture.md").read_text(encoding="utf-8")
    for outer, section in re.findall(r"^### Inside src/(\w+)\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL):
        table = section.partition("| may include |")[2].partition("\n\n")[0]
        said = {room: set(re.findall(r"\w+", words)) for room, words in re.findall(r"^\| (\w+) \|(.*)\|$", table, re.MULTILINE)}
        for room, allowed in ROOMS.items():
            if room.startswith(outer + "/"):
                words = {word.removeprefix(outer + "/") for word in allowed.split() if word not in ("include", "base")}
                if said.pop(room.removeprefix(outer + "/"), None) != words:
                    yield f"docs/design/architecture.md: the row of {room} has to say: {', '.join(sorted(words))}"
        for room in said:
            yield f"docs/design/architecture.md: there is no room {outer}/{room} in tools/check_includes.py"


def problems_in(path, text):
    room = room_of_folder(path.parent)
    is_test = TEST.search(path.name) is not None
    for match in INCLUDE.finditer(text):
        kind, name = match.groups()
        where = f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"
        if ".." in name.split("/"):
            yield f'{where}: "{name}" climbs with ..: spell it from src/ or from the root'
            continue
        target = target_room(name, path.parent)
        if target is None and (ROOT / name).exists():
            yield f'{where}: "{name}" is in no room: tests, benchmarks and tools include the library, not the other way'
        if target is None or target == room:
            continue
        if room not in ROOMS:
            yield f"{where}: room {room} is not in docs/design/architecture.md; give it a place there and in tools/check_includes.py"
        elif not may_include(room, target, is_test):
            allowed = ", ".join(ROOMS[room].split()) or "nothing"
            yield f'{where}: {room} includes "{name}" of {target}; it may include only: {allowed}. Register a callback instead.'


def own_header_problem(path, text):
    """What is wrong if foo.cpp, beside which there is a foo.hpp or foo.h, includes something else first."""
    header = next((h for suffix in (".hpp", ".h") if (h := path.with_suffix(suffix)).exists()), None)
    if path.suffix != ".cpp" or header is None:
        return None
    first = INCLUDE.search(text)
    if first is not None and first[2].split("/")[-1] == header.name:
        return None
    return f"{path.relative_to(ROOT)}: its own header, {header.name}, has to be its first include"


def main():
    tops = ("src", "privatize", "tools")
    sources = {f: f.read_text(encoding="utf-8") for top in tops for f in sorted((ROOT / top).rglob("*")) if f.suffix in SUFFIXES}
    files = [f for f in sources if f.relative_to(ROOT).parts[0] != "tools"]
    problems = [*problems_of_table(), *problems_of_page()]
    problems += [problem for file in files for problem in problems_in(file, sources[file])]
    problems += [problem for file, text in sources.items() if (problem := own_header_problem(file, text))]
    print("\n".join(problems) if problems else f"{len(files)} files in {len(ROOMS)} rooms: every include points down")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
