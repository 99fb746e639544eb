"""What the emulated machine's kernel complains of: its driver for devices in software has faults of its own, which must not pass for ours."""

import os
import re

COMPLAINT = re.compile(r"\b(WARNING|BUG|Oops|INFO): |refcount_t: |general protection fault|soft lockup|hung_task")
FUNCTION = re.compile(r"^ *(\??) *([A-Za-z_]\w*)(?:\.\w+)*\+0x[0-9a-f]+/")
MOST_FUNCTIONS = 6  # of a call trace: those that say where it was


class KernelLog:
    """The kernel's log from when this was made."""

    def __init__(self):
        self.log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.log, 0, os.SEEK_END)

    def lines(self):
        """All that is new since the last time."""
        while True:
            try:
                record = os.read(self.log, 8192)
            except BlockingIOError:
                return
            except BrokenPipeError:  # it has been overwritten before we came: the next one is the oldest that is left
                continue
            yield record.decode(errors="replace").partition(";")[2].split("\n")[0]

    def complaints(self):
        """What is new since the last time: a sentence each, with the functions in which it was."""
        return complaints_of(self.lines())


def complaints_of(lines):
    found, functions = [], []
    for line in lines:
        if COMPLAINT.search(line):
            functions = []
            found.append((line.strip(), functions))
        elif found and len(functions) < MOST_FUNCTIONS:
            function = FUNCTION.match(line)
            if function and not function.group(1):  # not what only lay on the stack
                functions.append(function.group(2))
    return [line + (f" ({' < '.join(functions)})" if functions else "") for line, functions in found]
