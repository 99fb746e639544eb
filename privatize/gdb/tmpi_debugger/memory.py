"""Memory of the node process, and what it says of its own structures (src/base/debugger_fact.hpp)."""

import gdb

FACT = 48  # sizeof(DebuggerFact): a name of 40 bytes, a value of 8


def read_bytes(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def read(address, size=8, signed=False):
    return int.from_bytes(read_bytes(address, size), "little", signed=signed)


def read_int(address):
    return read(address, 4, True)


def read_string(address, most=4096):
    """Up to its end, or to where memory ends."""
    text = b""
    while len(text) < most:
        step = 64 - address % 64
        text += read_bytes(address, step)
        if b"\0" in text:
            return text[: text.index(b"\0")].decode(errors="replace")
        address += step
    return text.decode(errors="replace")


def write(address, value):
    gdb.selected_inferior().write_memory(address, value.to_bytes(8, "little"))


def address_of(symbol):
    """Of a symbol that tmpi-node exports for debuggers; None: this is none, or one of another version."""
    try:
        return int(gdb.parse_and_eval("(unsigned long)&%s" % symbol))
    except gdb.error:
        return None


class Facts:
    """Offsets and values, by name: facts["Rank.task"]. Read when first asked for."""

    ARRAYS = ("tmpi_facts_of_tasks", "tmpi_facts_of_ranks")

    def __init__(self):
        self.values = {}
        self.symbols = {}
        self.program = None

    def known(self):
        """They are there, of the program that gdb looks at now."""
        place = [address_of(array) for array in self.ARRAYS]
        if None in place:
            return False
        if place != self.program:
            self.values = {name: value for array in place for name, value in self.read_array(array)}
            self.symbols = {}
            self.program = place
        return True

    def symbol(self, name):
        """Its address; gdb looks through all images for it, so it is asked once."""
        if self.symbols.get(name) is None:
            self.symbols[name] = address_of(name)
        return self.symbols[name]

    @staticmethod
    def read_array(address):
        while True:
            fact = read_bytes(address, FACT)
            name = fact[:40].rstrip(b"\0").decode()
            if not name:
                return
            yield name, int.from_bytes(fact[40:], "little", signed=True)
            address += FACT

    def __getitem__(self, name):
        return self.values[name]

    def named(self, prefix, value):
        """The name behind "prefix" of the fact with this value: ("TaskState::k", 3): "Blocked"."""
        for name, other in self.values.items():
            if name.startswith(prefix) and other == value:
                return name[len(prefix) :]
        return None


facts = Facts()
