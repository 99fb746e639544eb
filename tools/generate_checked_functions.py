#!/usr/bin/env python3
"""Writes the table of src/check/functions.cpp: for every MPI function what --check must know of its arguments.

    tools/generate_checked_functions.py OUTPUT

One line per function of src/mpi/abi/functions.tsv and per removed function of beyond.tsv:

    TMPI_CHECKED(MPI_Isend, (Function{...}))

Which arguments are handles, and whether they are used, made or freed, is read from the types of the parameters and from the lists below;
which argument is the count, the root, the operator ... from the names, which the MPI report uses consistently.
"""

import re
import sys

import mpi_tables

KINDS = {
    "Comm": "kComm", "Datatype": "kType", "Request": "kRequest", "Group": "kGroup", "Op": "kOp", "Info": "kInfo",
    "Errhandler": "kErrhandler", "Session": "kSession", "Message": "kMessage", "File": "kFile", "Win": "kWin",
}

FREEING = {"Comm_free", "Comm_disconnect", "Type_free", "Request_free", "Group_free", "Op_free", "Info_free", "Errhandler_free",
           "Session_finalize", "Mrecv", "Imrecv", "File_close", "Win_free"}
COMPLETING = {"Wait", "Test", "Waitall", "Testall", "Waitany", "Testany", "Waitsome", "Testsome"}
BY_POINTER = {"Start", "Cancel", "Type_commit"}
CONSTANT = {"Type_create_f90_complex", "Type_create_f90_integer", "Type_create_f90_real", "Type_match_size", "Type_get_value_index"}
# Arguments that are looked at in one process only; and that of a call which may follow MPI_Request_free.
NOT_SIGNIFICANT = {("Intercomm_create", "peer_comm"), ("Comm_spawn", "info"), ("Comm_connect", "info"), ("Comm_accept", "info"),
                   ("Grequest_complete", "request")}

# Argument names by their meaning, in the order of Places' members.
PLACES = {
    "comm": ("comm", "comm_old", "local_comm", "intercomm"),
    "members": ("comm", "comm_old", "local_comm", "intercomm", "fh", "win"),
    "root": ("root",),
    "op": ("op",),
    "buffer": ("sendbuf", "buf", "buffer"),
    "count": ("sendcount", "count"),
    "type": ("sendtype", "datatype"),
    "counts": ("sendcounts",),
    "displs": ("sdispls",),
    "types": ("sendtypes",),
    "receive_buffer": ("recvbuf",),
    "receive_count": ("recvcount", "recvcounts"),
    "receive_type": ("recvtype",),
    "receive_counts": ("recvcounts",),
    "receive_displs": ("rdispls",),
    "receive_types": ("recvtypes",),
    "dest": ("dest",),
    "source": ("source",),
    "message": ("message",),
    "request": ("request", "array_of_requests"),
    "requests": ("count", "incount"),
    "flag": ("flag", "outcount"),
    "index": ("index", "array_of_indices", "indx"),
    "target": ("target_rank",),
    "disp": ("target_disp",),
    "target_count": ("target_count",),
    "target_type": ("target_datatype", "datatype"),
    "origin": ("origin_addr",),
    "origin_count": ("origin_count",),
    "origin_type": ("origin_datatype", "datatype"),
    "result": ("result_addr",),
    "result_count": ("result_count",),
    "result_type": ("result_datatype", "datatype"),
}
PLACES_OF_TARGETS = {"target", "disp", "target_count", "target_type", "origin", "origin_count", "origin_type", "result", "result_count", "result_type"}
PLACES_OF_REQUESTS = {"request", "requests", "flag", "index"}

# What a call does with memory of a window.
ONE_SIDED = {"Put": "kPut", "Rput": "kPut", "Get": "kGet", "Rget": "kGet"}
ONE_SIDED |= {name: "kAtomic" for name in ("Accumulate", "Raccumulate", "Get_accumulate", "Rget_accumulate", "Fetch_and_op", "Compare_and_swap")}

# What a call says of the order of calls of one-sided communication.
ORDERING = {"Win_create": "kMakes", "Win_allocate": "kMakes", "Win_allocate_shared": "kMakes", "Win_create_dynamic": "kMakes", "Win_free": "kFence",
            "Win_fence": "kFence", "Win_lock": "kLock", "Win_unlock": "kUnlock", "Win_lock_all": "kLock", "Win_unlock_all": "kUnlock", "Win_flush": "kFlush",
            "Win_flush_all": "kFlush", "Win_flush_local": "kFlushLocal", "Win_flush_local_all": "kFlushLocal", "Win_sync": "kSync", "Win_post": "kPost",
            "Win_start": "kStart", "Win_complete": "kComplete", "Win_wait": "kWait", "Win_test": "kWait", "Cancel": "kCancels", "Parrived": "kReceives"}
ORDERING |= {name: "kReceives" for name in COMPLETING | {"Recv", "Mrecv", "Sendrecv", "Sendrecv_replace", "Request_get_status", "Request_get_status_all",
                                                         "Request_get_status_any", "Request_get_status_some"}}
ORDERING |= {name: "kSees" for name in ("Probe", "Iprobe", "Mprobe", "Improbe")}
ORDERING |= {name: "kTells" for name in ("Start", "Startall", "Pready", "Pready_range", "Pready_list")}
ORDERING |= {name: "kTellsAndHears" for name in ("Comm_create_group", "Comm_create_from_group", "Intercomm_create_from_groups")}

# What a message or collective does with its buffers.
TRAFFIC = {
    "Send": "kSend", "Bsend": "kSend", "Ssend": "kSend", "Rsend": "kSend", "Recv": "kReceive", "Mrecv": "kReceive",
    "Sendrecv": "kSendReceive", "Sendrecv_replace": "kReplace", "Bcast": "kBcast", "Reduce": "kReduce", "Allreduce": "kReduceAll",
    "Scan": "kReduceAll", "Exscan": "kReduceAll", "Gather": "kGather", "Scatter": "kScatter", "Allgather": "kAllgather",
    "Alltoall": "kAlltoall", "Neighbor_allgather": "kNeighborAllgather", "Neighbor_alltoall": "kNeighborAlltoall", "File_read": "kFileRead", "File_write": "kFileWrite",
}

# How the data is spread over the members; the varying forms of a function (v, w) like itself.
PATTERN = {
    "Gather": "kGather", "Scatter": "kScatter", "Allgather": "kAllgather", "Alltoall": "kAlltoall", "Reduce": "kReduce",
    "Allreduce": "kReduceAll", "Scan": "kReduceAll", "Exscan": "kReduceAll", "Reduce_scatter": "kReduceScatter",
    "Reduce_scatter_block": "kReduceScatter", "Neighbor_allgather": "kNeighborAllgather", "Neighbor_alltoall": "kNeighborAlltoall",
}

# What must be the same in all members of the communicator, beside the function.
MATCH = {
    "Bcast": "kBcast", "Reduce": "kReduce", "Allreduce": "kReduceAll", "Scan": "kReduceAll", "Exscan": "kReduceAll",
    "Gather": "kGather", "Scatter": "kScatter", "Gatherv": "kRoot", "Scatterv": "kRoot", "Allgather": "kReceived",
    "Comm_spawn": "kRoot", "Comm_spawn_multiple": "kRoot", "Comm_accept": "kRoot", "Comm_connect": "kRoot",
    "Alltoall": "kReceived", "Reduce_scatter": "kReduceScatter", "Reduce_scatter_block": "kReduceBlock",
}
MATCH |= {name: "kFunction" for name in (
    "Finalize Barrier Allgatherv Alltoallv Alltoallw Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv "
    "Neighbor_alltoallw Comm_dup Comm_dup_with_info Comm_idup Comm_idup_with_info Comm_create Comm_split Comm_split_type Comm_free "
    "Comm_disconnect Comm_set_info Cart_create Cart_sub Graph_create Dist_graph_create Dist_graph_create_adjacent Intercomm_create "
    "Intercomm_merge Win_create_dynamic Win_free Win_set_info File_close File_set_info File_sync").split()}
MATCH |= {"File_open": "kOpen", "Win_create": "kWindow", "Win_allocate": "kWindow", "Win_allocate_shared": "kWindow", "Win_fence": "kFence",
          "File_set_size": "kSize", "File_preallocate": "kSize", "File_set_view": "kView", "File_seek_shared": "kSeek",
          "File_set_atomicity": "kAtomicity"}
# All members of a file read and write: by a call, or begin and end it.
TOGETHER = r"File_i?(read|write)(_at_all|_all|_ordered)(_begin|_end)?$"

# Arguments that such functions compare, in the order of Function::agreed.
AGREED = {"kOpen": ("amode",), "kWindow": ("size", "disp_unit", "info"), "kFence": ("assert",), "kSize": ("size",), "kView": ("datarep", "etype"),
          "kSeek": ("offset", "whence"), "kAtomicity": ("flag",)}

# A file must have no operation that is pending (MPI report, 14.2.2, 14.2.4, 14.2.5, 14.3, 14.6.1).
SETTLED = ("File_close", "File_set_size", "File_preallocate", "File_set_view", "File_sync")


def checked(row):
    return row.result == "int" and not re.search(r"^MPI_T_|_(from|to)int$|^MPI_Pcontrol$", row.name)


def parsed(parameter):
    """(type, pointer or array marks, name)."""
    found = re.fullmatch(r"(?:const )?([\w ]+?) ?(\**)(\w+)((?:\[\w*\])*)", parameter.strip())
    return (found.group(1), found.group(2) + found.group(4), found.group(3)) if found else ("", "", "")


def use_of(name, parameter):
    """What the call does with a handle: a member of Use."""
    kind, marks, argument = parsed(parameter)
    array = "[" in marks
    if (name, argument) in NOT_SIGNIFICANT or "array_of_info" in argument or argument in ("sendtypes", "recvtypes"):
        return "kNone"
    if name.startswith("Request_get_status"):
        return "kQueried"
    if marks == "":
        return "kIn"
    if name in FREEING:
        # Imrecv's request is made, its message is used up.
        return "kOut" if name == "Imrecv" and kind == "MPI_Request" else "kFreed"
    if name in COMPLETING:
        return "kCompleted"
    if name in BY_POINTER or array and name in ("Startall", "Type_create_struct", "Type_struct"):
        return "kInPlace"
    if array:
        return "kContents" if name == "Type_get_contents" else "kNone"
    if name.startswith("Comm_idup") and kind == "MPI_Comm":
        return "kOutLater"
    return "kOutConstant" if name in CONSTANT else "kOut"


def function(row):
    plain = row.name.removeprefix("MPI_").removesuffix("_c")
    parameters = [] if row.params == "void" else row.params.split(",")
    names = [parsed(parameter)[2] for parameter in parameters]
    has_request = any(re.search(r"MPI_Request \*request$", parameter.strip()) for parameter in parameters)
    persistent = plain.endswith("_init") and has_request
    nonblocking = has_request and not persistent and re.match(r"I[a-z]|File_i", plain) is not None
    base = plain.removesuffix("_init") if persistent else plain[1:].capitalize() if nonblocking else plain
    # The halves of a split collective are no call of their own.
    if (file_access := re.match(r"File_i?(read|write)(?!.*_(begin|end)$)", plain)) is not None:
        base = "File_" + file_access.group(1)

    uses = []
    for index, parameter in enumerate(parameters):
        handle = re.fullmatch(r"MPI_(\w+)", parsed(parameter)[0])
        if handle and handle.group(1) in KINDS and (use := use_of(plain, parameter)) != "kNone":
            length = next((names.index(count) for count in ("count", "incount") if "[" in parsed(parameter)[1] and count in names), -1)
            uses.append(f"{{{index}, HandleKind::{KINDS[handle.group(1)]}, Use::{use}, {length}}}")

    on_requests = any("Use::kCompleted" in use or "Use::kQueried" in use for use in uses) or plain in ("Start", "Startall")
    traffic = TRAFFIC.get(base, "kNone")
    match = "kFunction" if re.match(TOGETHER, plain) else MATCH.get(base, MATCH.get(plain, "kNone"))
    pattern = PATTERN.get(base, PATTERN.get(re.sub("[vw]$", "", base), "kNone"))
    # The one list of displacements of gatherv and scatterv belongs to the side that has counts.
    names = [("sdispls" if "sendcounts" in names else "rdispls") if name == "displs" else name for name in names]
    wanted = PLACES_OF_REQUESTS if on_requests else {"flag"} if plain == "Improbe" else set()
    if traffic != "kNone" or match != "kNone":
        wanted = set(PLACES) - PLACES_OF_REQUESTS - PLACES_OF_TARGETS | {"request"}
    if plain in ONE_SIDED:
        wanted = PLACES_OF_TARGETS | {"members", "op"}
    places = []
    on_window = plain.startswith("Win_") and plain in ORDERING and match == "kNone"
    if on_window:
        wanted = {"members", "flag"}
        places += [f".target = {names.index('rank')}"] if "rank" in names else []
    for place, candidates in PLACES.items():
        found = next((candidate for candidate in candidates if candidate in names), None)
        if place in wanted and found:
            places.append(f".{place} = {names.index(found)}")
    fields = [f'.name = "{row.name}"']
    if uses:
        fields.append(".handle_count = %d, .handles = {{%s}}" % (len(uses), ", ".join(uses)))
    if places:
        fields.append(".at = {" + ", ".join(sorted(places, key=lambda place: list(PLACES).index(place[1:].split()[0]))) + "}")
    if traffic != "kNone":
        fields.append(f".traffic = Traffic::{traffic}")
    if pattern != "kNone":
        fields.append(f".pattern = Pattern::{pattern}")
    if plain in ONE_SIDED:
        fields.append(f".one_sided = OneSided::{ONE_SIDED[plain]}")
    if plain in ORDERING:
        fields.append(f".ordering = Ordering::{ORDERING[plain]}")
    if match != "kNone":
        fields.append(f".match = Match::{match}")
    # A window is what the functions that make one give back.
    members = next((name for name in PLACES["members"] if name in names), "")
    if match != "kNone" and members in ("fh", "win"):
        fields.append(".on = HandleKind::" + {"fh": "kFile", "win": "kWin"}[members])
    if match in AGREED:
        fields.append(".agreed = {" + ", ".join(str(names.index(name)) for name in AGREED[match]) + "}")
    if match != "kNone" and (half := re.search("_(begin|end)$", plain)):
        fields.append(f".half = Half::k{half.group(1).capitalize()}")
    if plain in SETTLED:
        fields.append(".settled = true")
    if persistent or nonblocking:
        fields.append(".lifetime = Lifetime::" + ("kPersistent" if persistent else "kNonblocking"))
    if plain == "Type_create_darray":
        fields.append(f".distribs = {names.index('array_of_distribs')}")
    if plain in ("Start", "Startall"):
        fields.append(".starts = true")
    if row.name.endswith("_c"):
        fields.append(".large = true")
    return "Function{" + ", ".join(fields) + "}"


def main():
    rows = [row for row in mpi_tables.functions() + mpi_tables.beyond("removed_func") if checked(row)]
    lines = ["// Generated by tools/generate_checked_functions.py from the tables in src/mpi/abi."]
    lines += [f"TMPI_CHECKED({row.name}, ({function(row)}))" for row in rows]
    with open(sys.argv[1], "w", encoding="utf-8") as output:
        output.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
