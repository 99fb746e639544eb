"""The images of a node process, and how gdb is narrowed to one rank's.

Every rank has its own image of the program, and gdb sees them all as shared libraries. `print global` then means the first image's
copy, and a breakpoint hits in every rank. Narrowed, only one rank's image is in gdb's view. The node process itself is not
disturbed: only the list for debuggers (privatize/debugger.hpp) is hidden.
"""

import bisect

import gdb

from .memory import address_of, read, read_int, read_string, write

# struct DebuggerList and DebuggerEntry (privatize/debugger.cpp), of x86-64.
R_MAP, FIRST = 8, 48
L_ADDR, L_NAME, L_LD, L_NEXT, RANK, END = 0, 8, 16, 24, 40, 48


class Image:
    """An object of a rank's image."""

    def __init__(self, entry):
        self.base, self.name_at, self.dynamic, self.next = (read(entry + at) for at in (L_ADDR, L_NAME, L_LD, L_NEXT))
        self.rank = read_int(entry + RANK)
        self.end = read(entry + END)

    @property
    def name(self):
        return read_string(self.name_at)


class Images:
    """To narrow gdb to a rank, the list is emptied and the rank's objects are added as symbol files. (To leave the rank in the list
    would not do: gdb takes the list for another linker namespace and searches that only while a frame of it is selected.) Of a core
    file, where nothing can be hidden, gdb is made to forget its list, and all that is shared is added as symbol files, too."""

    def __init__(self):
        self.hidden = False  # the list is
        self.added = []  # an address in each symbol file that was added
        self.rank = None  # narrowed to it
        self.bases = []

    def head(self):
        head = address_of("tmpi_debugger_list")
        if head is None:
            raise gdb.GdbError("this is no tmpi node process (attach to tmpi-node), or its ranks have not started yet")
        return head

    def all(self):
        """Every object of every image, in order."""
        entry = read(self.head() + FIRST)
        while entry:
            image = Image(entry)
            yield image
            entry = image.next

    def at(self, address):
        """The object that the address is in; None: it is in no image. After look()."""
        place = bisect.bisect_right(self.bases, address) - 1
        image = self.sorted[place] if place >= 0 else None
        return image if image is not None and address < image.end else None

    def look(self):
        """Where they are now, for at()."""
        self.sorted = sorted(self.all(), key=lambda image: image.base)
        self.bases = [image.base for image in self.sorted]

    def show_all(self):
        self.forget_added()
        self.rank = None
        if not self.hidden:
            return
        if not is_core():
            write(self.head() + R_MAP, read(self.head() + FIRST))
        self.hidden = False
        reread()

    def narrow(self, rank):
        chosen = [image for image in self.all() if image.rank == rank]
        if not chosen:
            raise gdb.GdbError("rank %d is not in this node process; `ranks` lists those that are" % rank)
        shared = self.hide() if not self.hidden else []
        self.forget_added()
        for image in chosen:
            quietly('add-symbol-file "%s" -o %d' % (image.name, image.base))
            self.added.append(image.dynamic)
        for name, base in shared:
            quietly('add-symbol-file "%s" -o %d' % (name, base))
        self.rank = rank

    def hide(self):
        """Returns (name, base) of what has gone with them and is no rank's."""
        head = self.head()
        if not is_core():
            write(head + R_MAP, 0)
            self.hidden = True
            reread()
            return []
        shared = list(shared_libraries(head))
        self.hidden = True
        quietly("nosharedlibrary")
        return shared

    def forget_added(self):
        for address in self.added:
            quietly("remove-symbol-file -a %d" % address)
        self.added = []


def shared_libraries(head):
    """(name, base) of the dynamic linker's own list. It is in the debugger's list in front of ours, by r_ldbase of both (r_debug)."""
    debug = address_of("_r_debug")
    entry = read(debug + R_MAP) if debug is not None and debug != head else 0
    while entry:
        name = read_string(read(entry + L_NAME))
        if name.startswith("/"):
            yield name, read(entry + L_ADDR)
        entry = read(entry + L_NEXT)


def is_core():
    return gdb.selected_inferior().pid == 0 or "core" in (connection_type() or "")


def connection_type():
    connection = getattr(gdb.selected_inferior(), "connection", None)
    return connection.type if connection is not None else None


def quietly(command):
    confirm = gdb.parameter("confirm")
    gdb.execute("set confirm off")
    try:
        gdb.execute(command, to_string=True)
    finally:
        gdb.execute("set confirm %s" % ("on" if confirm else "off"))


def reread():
    """gdb renews its copy of the list only at loader events or when it has none."""
    quietly("nosharedlibrary")
    quietly("sharedlibrary")


images = Images()
