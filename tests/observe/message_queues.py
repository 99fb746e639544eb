"""What a debugger does by the message queue interface: it looks up MPIR_dll_name in a process that stands still, loads that library, lets
it read the process through callbacks, and asks for communicators and queues."""

import contextlib
import ctypes
import os
import signal
import struct
import subprocess
import time
from ctypes import CFUNCTYPE, POINTER, byref, c_char, c_char_p, c_int, c_long, c_size_t, c_ulong, c_void_p

OK, NO_INFORMATION, END_OF_LIST = 0, 1, 2
PENDING, MATCHED, COMPLETE = 0, 1, 2
SENDS, RECEIVES, UNEXPECTED = 0, 1, 2


class Communicator(ctypes.Structure):
    _fields_ = [("unique_id", c_ulong), ("local_rank", c_long), ("size", c_long), ("name", c_char * 64)]


class PendingOperation(ctypes.Structure):
    _fields_ = [("status", c_int), ("desired_local_rank", c_long), ("desired_global_rank", c_long), ("tag_wild", c_int), ("desired_tag", c_long),
                ("desired_length", c_long), ("system_buffer", c_int), ("buffer", c_ulong), ("actual_local_rank", c_long),
                ("actual_global_rank", c_long), ("actual_tag", c_long), ("actual_length", c_long), ("extra_text", (c_char * 64) * 5)]

    def text(self):
        return [line.value.decode() for line in self.extra_text if line.value]


HANDLE = c_void_p


class BasicCallbacks(ctypes.Structure):
    _fields_ = [("malloc", CFUNCTYPE(c_void_p, c_size_t)), ("free", CFUNCTYPE(None, c_void_p)), ("dprints", CFUNCTYPE(None, c_char_p)),
                ("errorstring", CFUNCTYPE(c_char_p, c_int)), ("put_image_info", CFUNCTYPE(None, HANDLE, c_void_p)),
                ("get_image_info", CFUNCTYPE(c_void_p, HANDLE)), ("put_process_info", CFUNCTYPE(None, HANDLE, c_void_p)),
                ("get_process_info", CFUNCTYPE(c_void_p, HANDLE))]


class ImageCallbacks(ctypes.Structure):
    _fields_ = [("get_type_sizes", CFUNCTYPE(None, HANDLE, c_void_p)), ("find_function", CFUNCTYPE(c_int, HANDLE, c_char_p, c_int, POINTER(c_ulong))),
                ("find_symbol", CFUNCTYPE(c_int, HANDLE, c_char_p, POINTER(c_ulong))), ("find_type", CFUNCTYPE(c_void_p, HANDLE, c_char_p, c_int)),
                ("field_offset", CFUNCTYPE(c_int, c_void_p, c_char_p)), ("sizeof", CFUNCTYPE(c_int, c_void_p))]


class ProcessCallbacks(ctypes.Structure):
    _fields_ = [("get_global_rank", CFUNCTYPE(c_int, HANDLE)), ("get_image", CFUNCTYPE(c_void_p, HANDLE)),
                ("fetch_data", CFUNCTYPE(c_int, HANDLE, c_ulong, c_int, c_void_p)),
                ("target_to_host", CFUNCTYPE(None, HANDLE, c_void_p, c_void_p, c_int))]


def callbacks(kind, methods):
    """Each callback of the table is the function of its name; one without is never to be called."""
    def never(name):
        def call(*_):
            raise AssertionError(f"the library called {name}")
        return call

    return kind(*(function(methods.get(name, never(name))) for name, function in kind._fields_))


@contextlib.contextmanager
def standing_still(pid):
    os.kill(pid, signal.SIGSTOP)
    try:
        until = time.monotonic() + 60
        while True:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                if file.read().rpartition(")")[2].split()[0] in "Tt":
                    break
            assert time.monotonic() < until
            time.sleep(0.01)
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


class Debugger:
    IMAGE, PROCESS = 1000, 2000  # its handles

    def __init__(self, pid):
        self.pid = pid
        self.memory = open(f"/proc/{pid}/mem", "rb", buffering=0)
        executable = os.readlink(f"/proc/{pid}/exe")
        symbols = subprocess.run(["nm", "-D", "--defined-only", executable], capture_output=True, text=True, check=True).stdout
        self.symbols = {line.split()[2]: int(line.split()[0], 16) for line in symbols.splitlines()}
        with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
            base = next(int(line.split("-")[0], 16) for line in file if line.rstrip().endswith(executable))
        if is_relocated(executable):
            self.symbols = {name: value + base for name, value in self.symbols.items()}
        self.infos = {}
        self.reads, self.readable = 0, True
        self.library = ctypes.CDLL(self.read(self.symbols["MPIR_dll_name"], 4096).split(b"\0")[0].decode())
        for name in ("mqs_version_string", "mqs_dll_error_string"):
            getattr(self.library, name).restype = c_char_p

    def close(self):
        self.memory.close()

    def read(self, address, size):
        self.memory.seek(address)
        return self.memory.read(size)

    def fetch(self, process, address, size, into):
        assert process == self.PROCESS
        self.reads += 1
        if not self.readable:
            return 100
        try:
            data = self.read(address, size)
        except OSError:
            return 100
        ctypes.memmove(into, data, len(data))
        return OK if len(data) == size else 100

    def find_symbol(self, image, name, address):
        assert image == self.IMAGE
        if name.decode() not in self.symbols:
            return NO_INFORMATION
        address[0] = self.symbols[name.decode()]
        return OK

    def call(self, name, *arguments, expected=OK):
        result = getattr(self.library, "mqs_" + name)(*arguments)
        assert result == expected, f"mqs_{name}: {result}, {self.library.mqs_dll_error_string(result).decode()}"

    def introduce(self):
        """Whether the image has queues, and the sentence that says why not."""
        self.tables = (
            callbacks(BasicCallbacks, {"put_image_info": self.infos.__setitem__, "get_image_info": self.infos.get,
                                       "put_process_info": self.infos.__setitem__, "get_process_info": self.infos.get}),
            callbacks(ImageCallbacks, {"find_symbol": self.find_symbol}),
            callbacks(ProcessCallbacks, {"get_image": lambda process: self.IMAGE, "fetch_data": self.fetch}))
        basic, image, process = self.tables
        self.library.mqs_setup_basic_callbacks(byref(basic))
        assert self.library.mqs_version_compatibility() == 2 and self.library.mqs_dll_taddr_width() == 8
        why = c_char_p()
        self.call("setup_image", c_void_p(self.IMAGE), byref(image))
        has = self.library.mqs_image_has_queues(c_void_p(self.IMAGE), byref(why)) == OK
        self.call("setup_process", c_void_p(self.PROCESS), byref(process))
        return has, why.value.decode() if why.value else ""

    def set_up(self):
        assert self.introduce() == (True, "")
        why = c_char_p()
        self.call("process_has_queues", c_void_p(self.PROCESS), byref(why))

    def tear_down(self):
        self.library.mqs_destroy_process_info(c_void_p(self.infos.pop(self.PROCESS)))
        self.library.mqs_destroy_image_info(c_void_p(self.infos.pop(self.IMAGE)))

    def queues(self):
        """name -> (communicator, world ranks of its group, [sends, receives, unexpected messages])"""
        process = c_void_p(self.PROCESS)
        self.call("update_communicator_list", process)
        self.call("setup_communicator_iterator", process)
        found = {}
        while True:
            communicator = Communicator()
            self.call("get_communicator", process, byref(communicator))
            group = (c_int * communicator.size)()
            self.call("get_comm_group", process, group)
            name = communicator.name.decode()
            assert name not in found, name
            found[name] = (communicator, list(group), [self.operations(kind) for kind in (SENDS, RECEIVES, UNEXPECTED)])
            if self.library.mqs_next_communicator(process) == END_OF_LIST:
                return found

    def operations(self, kind):
        process = c_void_p(self.PROCESS)
        self.call("setup_operation_iterator", process, kind)
        found = []
        while True:
            operation = PendingOperation()
            result = self.library.mqs_next_operation(process, byref(operation))
            if result == END_OF_LIST:
                return found
            assert result == OK, result
            found.append(operation)


def is_relocated(executable):
    with open(executable, "rb") as file:
        return struct.unpack_from("H", file.read(18), 16)[0] == 3  # ET_DYN


def queues_of(pid):
    with standing_still(pid):
        debugger = Debugger(pid)
        debugger.set_up()
        found = debugger.queues()
        debugger.tear_down()
        debugger.close()
    return found
