#!/usr/bin/env python3
"""Writes the table of src/observe/functions.cpp: for every MPI function how to read bytes, peer, tag and communicator from its arguments.

    tools/generate_recorded_functions.py OUTPUT

One line per function of src/mpi/abi/functions.tsv, in the order of the table: TMPI_RECORDED(MPI_Send, (Shape{...})). What an argument means
is known by its name, which the MPI report uses consistently. Not recorded: functions that only read a clock
or convert a handle, the tools' own interface (MPI_T_), and MPI_Pcontrol, which switches the recording.
"""

import re
import sys

import mpi_tables

# Argument names by their meaning, the first that a function has counts. In the order of Shape's members.
ROLES = {
    "count": ("count", "sendcount", "sendcounts", "incount", "origin_count"),
    "type": ("datatype", "sendtype", "sendtypes", "origin_datatype"),
    "receive_count": ("recvcount", "recvcounts"),
    "receive_type": ("recvtype", "recvtypes"),
    "send_buffer": ("sendbuf",),
    "peer": ("dest", "target_rank", "source"),
    "tag": ("tag", "sendtag"),
    "root": ("root",),
    "comm": ("comm", "comm_old", "local_comm", "intercomm"),
    "status": ("status",),
    "request": ("request", "array_of_requests"),
}
# Members of Shape that each rule needs, beside peer, tag, root and comm, which every timeline shows.
SHOWN = {"peer", "tag", "root", "comm"}
BOTH_SIDES = {"count", "type", "receive_count", "receive_type"}
NEEDS = {
    "kNone": set(),
    "kBuffer": {"count", "type"},
    "kElement": {"type"},
    "kReceived": {"status"},
    "kRead": {"status"},
    "kStarted": {"request"},
    "kStartedAll": {"count", "request"},
    "kContribution": BOTH_SIDES | {"send_buffer"},
    "kToEach": BOTH_SIDES | {"send_buffer"},
    "kToNeighbours": {"count", "type"},
    "kScattered": BOTH_SIDES,
    "kReduced": {"receive_count", "type"},
}

# How the bytes of a call come out of these arguments; the rest of the name without the prefix I of nonblocking forms. docs/reference/profiling.md.
RULES = [
    (r"Recv|Mrecv", "kReceived"),
    (r"Start", "kStarted"),
    (r"Startall", "kStartedAll"),
    (r"([BSR]?send|Sendrecv|Sendrecv_replace|Recv|Mrecv|Bcast|Reduce|Allreduce|Scan|Exscan)", "kBuffer"),
    (r"(R?put|R?get|R?accumulate|R?get_accumulate|Get_accumulate)", "kBuffer"),
    (r"Fetch_and_op|Compare_and_swap", "kElement"),
    (r"(Gather|Gatherv|Allgather|Allgatherv|Neighbor_allgather|Neighbor_allgatherv)", "kContribution"),
    (r"Alltoall[vw]?", "kToEach"),
    (r"Neighbor_alltoall[vw]?", "kToNeighbours"),
    (r"Scatterv?", "kScattered"),
    (r"Reduce_scatter(_block)?", "kReduced"),
    (r"File_read(_at|_shared|_ordered)?(_all)?", "kRead"),
    (r"File_i?(read|write)\w*", "kBuffer"),
]


def recorded(row):
    return row.result == "int" and not re.search(r"^MPI_T_|_(from|to)int$|^MPI_Pcontrol$", row.name)


def argument_names(row):
    if row.params == "void":
        return []
    return [re.search(r"(\w+)(\[\w*\])*$", parameter.strip()).group(1) for parameter in row.params.split(",")]


def rule_of(name, roles):
    if not {"count", "receive_count", "type"} & roles.keys() and not name.startswith("Start"):
        return "kNone"
    nonblocking = name[1:].capitalize() if re.match(r"I[a-z]", name) else name
    for pattern, rule in RULES:
        # What a nonblocking receive will bring is not known when it is posted: its buffer counts.
        if rule == "kReceived" and nonblocking != name:
            continue
        if re.fullmatch(pattern, nonblocking, re.IGNORECASE if "send" in pattern or "put" in pattern else 0):
            return rule
    return "kNone"


def shape(row):
    names = argument_names(row)
    parameters = row.params.split(",")
    roles = {}
    for role, candidates in ROLES.items():
        found = [names.index(candidate) for candidate in candidates if candidate in names]
        # What is shown is a value; behind a pointer of that name stands a result.
        if found and not (role in SHOWN and "*" in parameters[found[0]]):
            roles[role] = found[0]
    plain = row.name.removeprefix("MPI_").removesuffix("_c")
    # Of a window: who is locked, flushed or asked for.
    if plain.startswith("Win_") and "rank" in names:
        roles["peer"] = names.index("rank")
    rule = rule_of(plain, roles)
    roles = {role: index for role, index in roles.items() if role in SHOWN | NEEDS[rule]}
    fields = [f".bytes = Bytes::{rule}"] + [f".{role} = {index}" for role, index in roles.items()]
    arrays = {role for role, index in roles.items() if re.search(r"[*\[]", parameters[index])}
    fields += [f".{flag} = true" for flag, role in (("counts", "count"), ("receive_counts", "receive_count"), ("types", "type")) if role in arrays]
    if arrays & {"count", "receive_count"} and row.name.endswith("_c"):
        fields.append(".large = true")
    return "Shape{" + ", ".join(fields) + "}"


def main():
    rows = [row for row in mpi_tables.functions() if recorded(row)]
    lines = ["// Generated by tools/generate_recorded_functions.py from src/mpi/abi/functions.tsv."]
    lines += [f"TMPI_RECORDED({row.name}, ({shape(row)}))" for row in rows]
    with open(sys.argv[1], "w", encoding="utf-8") as output:
        output.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
