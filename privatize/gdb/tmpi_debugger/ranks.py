"""The ranks of a node process: which there are, and where each is."""

import bisect
import contextlib

import gdb

from .memory import facts, read, read_bytes, read_int, read_string


class Rank:
    """A rank, as it is while everything stands still."""

    def __init__(self, address):
        self.number = read_int(address + facts["Rank.world_rank"])
        self.task = read(address + facts["Rank.task"])

    def of_task(self, name, size=8):
        return read(self.task + facts["Task." + name], size)

    @property
    def state(self):
        """"Running", "Ready", "Blocked", ..."""
        return facts.named("TaskState::k", self.of_task("state", 1)) if self.task else "Init"

    @property
    def call(self):
        """The MPI function that it is in or was in last."""
        return read_string(self.of_task("call"))

    @property
    def worker_thread(self):
        """The kernel's number of the thread that runs its worker; 0: it does not run yet."""
        worker = self.of_task("worker")
        return read_int(worker + facts["RunLoop.thread_id_"]) if worker else 0

    @property
    def stack(self):
        """(base, size)"""
        at = self.task + facts["Task.stack"]
        return read(at), read(at + 8)

    def saved_registers(self):
        """Of a suspended rank, by the numbers of the processor's ABI for unwinders; None: it is suspended in no way that is known
        (src/ult/registers.cpp)."""
        context = self.of_task("context")
        order_at, back_at = facts.symbol("tmpi_saved_registers"), facts.symbol("tmpi_saved_instruction")
        if context == 0 or order_at is None or back_at is None:
            return None
        order = read_bytes(order_at, 7)
        back = read(back_at)
        for first in (1, 2):  # what lies in front of them: as much as Boost.Context has saved there
            words = [read(context + 8 * (first + i)) for i in range(len(order))]
            if words[-1] == back:
                registers = dict(zip(order, words))
                registers[STACK_POINTER] = context + 8 * (first + len(order))
                return registers
        return None


STACK_POINTER, INSTRUCTION = 7, 16


def all_ranks():
    """Those of this node process; empty: they have not started yet, or this is no node process."""
    if not facts.known():
        return []
    job = read(read(facts.symbol("tmpi_debugger_job")))
    if job == 0:
        return []
    first = read(job + facts["Job.local_"])
    return [Rank(read(first + 8 * i)) for i in range(read_int(job + facts["Job.local_count_"]))]


def rank_of_number(number):
    for rank in all_ranks():
        if rank.number == number:
            return rank
    return None


@contextlib.contextmanager
def same_thread_afterwards():
    thread, frame = gdb.selected_thread(), selected_frame()
    try:
        yield
    finally:
        if thread is not None and thread.is_valid() and thread != gdb.selected_thread():
            thread.switch()
        if frame is not None and frame.is_valid():
            frame.select()


def selected_frame():
    try:
        return gdb.selected_frame()
    except gdb.error:
        return None


def stack_pointers():
    """thread -> where its stack pointer is."""
    pointers = {}
    with same_thread_afterwards():
        for thread in gdb.selected_inferior().threads():
            if thread.is_valid() and thread.is_stopped():
                thread.switch()
                pointers[thread] = int(gdb.newest_frame().read_register("rsp"))
    return pointers


def thread_of_number(number):
    for thread in gdb.selected_inferior().threads():
        if thread.ptid[1] == number:
            return thread
    return None


def thread_on_stack(rank, pointers):
    """The thread that runs on the rank's stack, be it the rank's worker that has nothing to run; None: the rank is suspended."""
    base, size = rank.stack
    for thread, pointer in pointers.items():
        if base <= pointer < base + size:
            return thread
    return None


class Stacks:
    """Whose stack an address is in. Ranks keep their stacks, so that they are read once."""

    def __init__(self):
        self.forget()

    def forget(self):
        self.bases, self.found = [], []

    def rank_at(self, address):
        rank = self.search(address)
        if rank is None:
            self.found = sorted((*rank.stack, rank.number) for rank in all_ranks() if rank.task and rank.stack[0])
            self.bases = [base for base, _, _ in self.found]
            rank = self.search(address)
        return rank

    def search(self, address):
        place = bisect.bisect_right(self.bases, address) - 1
        if place < 0:
            return None
        base, size, number = self.found[place]
        return number if address < base + size else None


stacks = Stacks()
