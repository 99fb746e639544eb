#!/usr/bin/env python3
"""Fails on an #include that points up between the rooms of docs/architecture.md, on an include path that is not spelled from the root, and on
a source that does not include its own header first (which shows that the header compiles alone; tests/style relies on it).

    launch -> check -> observe -> mpi -> {sched, net} -> {ult, timers} -> base;    privatize -> base, and only launch includes it
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What each room may include besides itself. A room that is not here is an error, so that a new one gets its place.
ALLOWED = {
    "base": set(),
    "ult": {"base"},
    "timers": {"base"},
    "sched": {"base", "ult", "timers"},
    "net": {"base", "ult", "timers"},
    "mpi": {"base", "ult", "timers", "sched", "net", "include"},
    "observe": {"base", "ult", "timers", "sched", "net", "mpi", "include"},
    "privatize": {"base"},
    "check": {"base", "ult", "timers", "sched", "net", "mpi", "observe", "include"},
    "launch": {"base", "ult", "timers", "sched", "net", "mpi", "observe", "check", "privatize", "include"},
}
# The same for the rooms inside a room, its folders: what each may include of its neighbours, from the lowest up. A room that is not here has
# none, or its folders are no rooms.
INSIDE = {
    "launch": {
        "system": set(),
        "wire": {"system"},
        "spec": {"wire", "system"},
        "options": {"spec", "wire", "system"},
        "attach": {"wire", "system"},
        "plan": {"options", "spec", "attach", "wire", "system"},
        "report": {"spec", "wire", "system"},
        "launcher": {"report", "plan", "attach", "options", "spec", "wire", "system"},
        "control": {"spec", "wire", "system"},
        "node": {"control", "spec", "wire", "system"},
        "library": set(),
    },
}
PUBLIC_HEADERS = {"mpi.h", "mpix.h"}
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".S", ".inc"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def room_of(path):
    parts = path.relative_to(ROOT).parts
    return parts[1] if parts[0] == "src" else parts[0]


def target_room(name, path):
    """The room an include of `name` in file `path` leads to; None for the system's headers."""
    if name in PUBLIC_HEADERS:
        return "include"
    first = name.split("/")[0]
    if "/" in name and first in ALLOWED:
        return first
    return room_of(path) if (path.parent / name).exists() else None


def inner_room_of(path):
    parts = path.relative_to(ROOT).parts
    return parts[2] if parts[0] == "src" and len(parts) > 3 else None


def inner_problem(room, path, name):
    """What is wrong with an include of `name`, of the same room as `path`, as far as the rooms inside it are concerned; None: nothing."""
    rooms = INSIDE.get(room)
    if rooms is None:
        return None
    here, there = inner_room_of(path), (name.split("/") + [""])[1] if name.startswith(f"{room}/") else inner_room_of(path)
    if here not in rooms or there not in rooms:
        return f"{room}/{there if here in rooms else here} is not in docs/architecture.md; give it a place there and in tools/check_includes.py"
    if here == there or there in rooms[here]:
        return None
    allowed = ", ".join(inner for inner in rooms if inner in rooms[here]) or "nothing"
    return f'{room}/{here} includes "{name}" of {room}/{there}; of {room} it may include only: {allowed}'


def problems_in(path):
    room = room_of(path)
    text = path.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        kind, name = match.groups()
        where = f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"
        if ".." in name.split("/"):
            yield f'{where}: "{name}" climbs with ..: spell it from src/ or from the root'
            continue
        target = target_room(name, path)
        if target == room and (problem := inner_problem(room, path, name)):
            yield f"{where}: {problem}"
        if target is None or target == room:
            continue
        if room not in ALLOWED:
            yield f"{where}: room {room} is not in docs/architecture.md; give it a place there and in tools/check_includes.py"
        elif target not in ALLOWED[room]:
            allowed = ", ".join(sorted(ALLOWED[room])) or "nothing"
            yield f'{where}: {room} includes "{name}" of {target}; it may include only: {allowed}. Register a callback instead.'


def own_header_problem(path):
    """What is wrong if foo.cpp, beside which there is a foo.hpp or foo.h, includes something else first."""
    header = next((h for suffix in (".hpp", ".h") if (h := path.with_suffix(suffix)).exists()), None)
    if path.suffix != ".cpp" or header is None:
        return None
    first = INCLUDE.search(path.read_text(encoding="utf-8"))
    if first is not None and first[2].split("/")[-1] == header.name:
        return None
    return f"{path.relative_to(ROOT)}: its own header, {header.name}, has to be its first include"


def main():
    tops = ("src", "privatize", "tools")
    sources = [f for top in tops for f in sorted((ROOT / top).rglob("*")) if f.suffix in SUFFIXES]
    files = [f for f in sources if room_of(f) != "tools"]
    problems = [problem for file in files for problem in problems_in(file)]
    problems += [problem for file in sources if (problem := own_header_problem(file))]
    print("\n".join(problems) if problems else f"{len(files)} files: every include points down")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
