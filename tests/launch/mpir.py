"""What a debugger does by the MPIR process acquisition interface, version 1.1: finds its variables in tmpirun's symbol table, starts tmpirun under
ptrace or attaches to one that runs, stops in MPIR_Breakpoint, and reads the table of processes."""

import ctypes
import os
import signal
import struct
import subprocess

PTRACE_TRACEME, PTRACE_CONT, PTRACE_GETREGS, PTRACE_SETREGS, PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 0, 7, 12, 13, 17, 0x4206, 0x4207
PTRACE_EVENT_STOP = 128  # where PTRACE_INTERRUPT stops it
RIP = 16  # of struct user_regs_struct, in words
DEBUG_SPAWNED, DEBUG_ABORTING = 1, 2

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


def ptrace(request, pid, address=None, data=None):
    if _libc.ptrace(request, pid, address, data) == -1:
        raise OSError(ctypes.get_errno(), f"ptrace {request}")


class Starter:
    """tmpirun, stopped."""

    def __init__(self, pid, tmpirun):
        self.pid, self.path = pid, os.path.realpath(tmpirun)
        symbols = subprocess.run(["nm", "-D", "--defined-only", self.path], capture_output=True, text=True, check=True).stdout
        self.symbols = {line.split()[2]: int(line.split()[0], 16) for line in symbols.splitlines() if "MPIR_" in line}

    @classmethod
    def start(cls, tmpirun, arguments, env, stderr):
        pid = os.fork()
        if pid == 0:
            os.dup2(stderr, 2)
            ptrace(PTRACE_TRACEME, 0)
            os.execve(tmpirun, [tmpirun, *arguments], env)
        os.waitpid(pid, 0)  # it has become tmpirun
        return cls(pid, tmpirun)

    @classmethod
    def attach(cls, pid, tmpirun):
        """By PTRACE_SEIZE: the SIGSTOP of PTRACE_ATTACH comes second if a signal was under way, and then stops tmpirun after detach()."""
        ptrace(PTRACE_SEIZE, pid)
        ptrace(PTRACE_INTERRUPT, pid)
        while True:
            _, status = os.waitpid(pid, 0)
            if status >> 16 == PTRACE_EVENT_STOP:
                return cls(pid, tmpirun)
            ptrace(PTRACE_CONT, pid, None, os.WSTOPSIG(status))

    def base(self):
        with open(f"/proc/{self.pid}/maps") as file:
            return next(int(line.split("-")[0], 16) for line in file if line.rstrip().endswith(self.path))

    def address(self, name):
        return self.base() + self.symbols[name]

    def read(self, address, size):
        with open(f"/proc/{self.pid}/mem", "rb") as memory:
            memory.seek(address)
            return memory.read(size)

    def write(self, address, data):
        with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(address)
            memory.write(data)

    def integer(self, name):
        return struct.unpack("i", self.read(self.address(name), 4))[0]

    def pointer(self, address):
        return struct.unpack("Q", self.read(address, 8))[0]

    def text(self, address):
        text = b""
        while not text.endswith(b"\0"):
            text += self.read(address + len(text), 1)
        return text[:-1].decode()

    def set_breakpoint(self):
        where = self.address("MPIR_Breakpoint")
        self.original = self.read(where, 1)
        self.write(where, b"\xcc")

    def go_on(self):
        """Until it comes to the breakpoint (True) or ends (False). Signals are its own."""
        number = 0
        while True:
            ptrace(PTRACE_CONT, self.pid, None, number)
            _, status = os.waitpid(self.pid, 0)
            if not os.WIFSTOPPED(status):
                self.status = status
                return False
            number = os.WSTOPSIG(status)
            if number == signal.SIGTRAP:
                self.leave_breakpoint()
                return True

    def leave_breakpoint(self):
        """The function does nothing: it goes on behind it, as if it had returned."""
        registers = (ctypes.c_ulonglong * 27)()
        ptrace(PTRACE_GETREGS, self.pid, None, ctypes.addressof(registers))
        stack = 19
        assert registers[RIP] == self.address("MPIR_Breakpoint") + 1, hex(registers[RIP])
        registers[RIP] = self.pointer(registers[stack])
        registers[stack] += 8
        ptrace(PTRACE_SETREGS, self.pid, None, ctypes.addressof(registers))

    def table(self):
        """(host, program, process) by rank."""
        first = self.pointer(self.address("MPIR_proctable"))
        rows = [struct.unpack("QQi", self.read(first + 24 * rank, 20)) for rank in range(self.integer("MPIR_proctable_size"))]
        return [(self.text(host), self.text(program), process) for host, program, process in rows]

    def detach(self):
        ptrace(PTRACE_DETACH, self.pid)
