"""gdb commands for a tmpi node process: `ranks` lists the ranks, `rank N` narrows gdb to one.

Every rank of a node process has its own image of the program, and gdb sees them all as shared libraries. `print global` then means
the first image's copy, and a breakpoint hits in every rank. `rank N` leaves only rank N's image in gdb's view: its variables are
shown, breakpoints hit in that rank alone; `rank all` brings the others back. The node process itself is not disturbed: only
the list for debuggers (privatize/debugger.hpp) is hidden.
"""

import gdb

# struct r_debug_extended and DebuggerEntry, of x86-64.
R_MAP = 8
L_ADDR, L_NAME, L_LD, L_NEXT, RANK = 0, 8, 16, 24, 40


def read(address, size=8):
    return int.from_bytes(bytes(gdb.selected_inferior().read_memory(address, size)), "little", signed=size == 4)


def write(address, value):
    gdb.selected_inferior().write_memory(address, value.to_bytes(8, "little"))


class Images:
    """The list of images as the node process built it, and what of it gdb is shown.

    To narrow gdb to a rank, the list is emptied and the rank's objects are added as symbol files. (To leave the rank in the list would
    not do: gdb takes the list for another linker namespace and searches that only while a frame of it is selected.)
    """

    def __init__(self):
        self.first = 0  # head of the hidden list; 0: nothing is hidden
        self.added = []  # an address in each symbol file that was added

    def head(self):
        try:
            return int(gdb.parse_and_eval("(unsigned long)&tmpi_debugger_list"))
        except gdb.error:
            raise gdb.GdbError("this is no tmpi node process (attach to tmpi-node), or its ranks have not started yet")

    def entries(self):
        """(address, rank, name) of every object of every image, in order."""
        entry = self.first or read(self.head() + R_MAP)
        while entry:
            name = gdb.Value(read(entry + L_NAME)).cast(gdb.lookup_type("char").pointer()).string()
            yield entry, read(entry + RANK, 4), name
            entry = read(entry + L_NEXT)

    def show_all(self):
        for address in self.added:
            quietly("remove-symbol-file -a %d" % address)
        self.added = []
        if self.first:
            write(self.head() + R_MAP, self.first)
            self.first = 0
            reread()

    def narrow(self, rank):
        chosen = [(entry, name) for entry, owner, name in self.entries() if owner == rank]
        if not chosen:
            raise gdb.GdbError("rank %d is not in this node process; `ranks` lists those that are" % rank)
        self.show_all()
        self.first = read(self.head() + R_MAP)
        write(self.head() + R_MAP, 0)
        reread()
        for entry, name in chosen:
            quietly('add-symbol-file "%s" -o %d' % (name, read(entry + L_ADDR)))
            self.added.append(read(entry + L_LD))


images = Images()


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


class Rank(gdb.Command):
    """rank N: show only rank N's image (its variables, breakpoints in it alone).
rank all: show the images of all ranks.
rank: say whose image the selected frame is in."""

    def __init__(self):
        super().__init__("rank", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        argument = argument.strip()
        if argument == "":
            self.show()
            return
        if argument == "all":
            images.show_all()
        else:
            try:
                number = int(argument)
            except ValueError:
                raise gdb.GdbError("rank: a number or `all`, not %r" % argument)
            images.narrow(number)

    def show(self):
        pc = gdb.selected_frame().pc()
        best = None
        for entry, owner, name in images.entries():
            base = read(entry)
            if base <= pc and (best is None or base > best[0]):
                best = (base, owner, name)
        if best is None or gdb.execute("info symbol %d" % pc, to_string=True).startswith("No symbol"):
            print("the selected frame is in no rank's image")
        else:
            print("rank %d, %s" % (best[1], best[2]))


class Ranks(gdb.Command):
    """ranks: list the ranks of this node process with their programs."""

    def __init__(self):
        super().__init__("ranks", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        seen = set()
        for _, owner, name in images.entries():
            if owner not in seen:
                seen.add(owner)
                print("rank %d: %s" % (owner, name))


Rank()
Ranks()
