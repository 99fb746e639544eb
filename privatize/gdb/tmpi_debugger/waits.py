"""What a rank waits for, in words: from the note that it leaves in its task (src/mpi/request/blocked.hpp)."""

from .memory import facts, read, read_int, read_string


MASK = (1 << 64) - 1


class Note:
    def __init__(self, rank):
        note = rank.task + facts["Task.note"]
        word = lambda name: read(note + 8 * facts["NoteWord::" + name])
        what, whom = word("kWhat"), word("kWhom")
        self.kind = facts.named("WaitKind::k", what & 0xFF)
        self.first = facts.named("WaitKind::k", what >> 8 & 0xFF)
        self.pending = what >> 32
        self.peer, self.tag = signed(whom >> 32), signed(whom)
        self.context, self.where = word("kContext"), word("kWhere")
        self.collective = word("kCollectiveComm")


def signed(word):
    word &= 0xFFFFFFFF
    return word - (1 << 32) if word >> 31 else word


def name_of(comm):
    """Of a communicator: its std::string begins with where the text is."""
    if comm and read(comm + facts["Comm.context"]) == facts["kWorldContext"]:
        return "MPI_COMM_WORLD"
    name = read_string(read(comm + facts["Comm.name"])) if comm else ""
    return name or "a communicator without a name"


def world_rank(comm, peer):
    """Of rank `peer` in messages on the communicator. Pointers of smart pointers and vectors come first in them."""
    group = read(read(comm + facts["Comm.shared"]) + facts["CommShared.peers"])
    members = read(group + facts["Group.members_"])
    if members:
        return read_int(members + 4 * peer)
    return read_int(group + facts["Group.first_"]) + peer * read_int(group + facts["Group.stride_"])


def message(note, kind, comm):
    mark = facts["kCollective"] & MASK
    collective = note.context & mark != 0
    world = note.context & ~mark == facts["kWorldContext"]
    if note.peer == facts["MPI_ANY_SOURCE"]:
        peer = "any source"
    elif world or not comm:
        peer = "rank %d" % note.peer + ("" if world else " there")
    else:
        peer = "rank %d (rank %d there)" % (world_rank(comm, note.peer), note.peer)
    tag = "any tag" if note.tag == facts["MPI_ANY_TAG"] else "tag %d" % note.tag
    name = "MPI_COMM_WORLD" if world else name_of(comm)
    direction = "to" if kind == "Send" else "from"
    return "%s %s%s on %s" % (direction, peer, "" if collective else " with " + tag, name)


def waits_for(rank):
    """"from rank 3 with tag 5 on MPI_COMM_WORLD"; empty: it does not say."""
    note = Note(rank)
    kind = note.kind
    if note.collective and kind in ("Nothing", "Send", "Receive", "All", "Any"):
        return "on " + name_of(note.collective)
    if kind in ("Send", "Receive", "Probe"):
        return message(note, kind, note.where)
    if kind in ("All", "Any"):
        first = "a nonblocking operation"
        if note.first in ("Send", "Receive"):
            first = ("a send " if note.first == "Send" else "a receive ") + message(note, note.first, 0)
        if note.pending <= 1:
            return "for " + first
        return "for %s of %d requests, the first one %s" % (kind.lower(), note.pending, first)
    return {
        "Collective": lambda: "on " + name_of(note.where),
        "Operation": lambda: "for the other members",
        "Started": lambda: "for the end of nonblocking operations that it has started",
        "Window": lambda: "for other members of a window",
        "Port": lambda: "for the other end of a port that rank %d has opened" % note.peer,
        "Outside": lambda: "for the other end of a port that rank %d has opened" % note.peer,
        "Socket": lambda: "for the other end of the socket %d" % note.tag,
        "OwnSocket": lambda: "for the other end of the socket %d" % note.tag,
    }.get(kind, lambda: "")()
