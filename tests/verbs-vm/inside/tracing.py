"""Who may read the memory of a node process, where the kernel asks (Yama): with --net sim node processes read each other's."""

import ctypes
import errno
import os

from harness import TMPIRUN, LaunchTest
from support import built

SCOPE = "/proc/sys/kernel/yama/ptrace_scope"
USER = 65534


def reads(pid):
    """The errno of reading a byte of that process as a process of the same user that is no descendant of tmpirun; 0: it can."""
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
        libc = ctypes.CDLL(None, use_errno=True)
        libc.process_vm_readv.restype = ctypes.c_ssize_t
        try:
            with open(f"/proc/{pid}/maps") as maps:
                address = int(maps.readline().split("-")[0], 16)
        except (OSError, ValueError):
            os._exit(errno.ESRCH)
        to = ctypes.create_string_buffer(1)

        class Vector(ctypes.Structure):
            _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

        got = libc.process_vm_readv(pid, ctypes.byref(Vector(ctypes.addressof(to), 1)), 1, ctypes.byref(Vector(address, 1)), 1, 0)
        os._exit(0 if got == 1 else ctypes.get_errno())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class TracingTest(LaunchTest):
    def setUp(self):
        with open(SCOPE) as file:
            before = file.read()
        self.addCleanup(self.set_scope, before)
        self.set_scope("1")

    def set_scope(self, value):
        with open(SCOPE, "w") as file:
            file.write(value)

    def test_node_processes_read_each_other_and_nobody_else_reads_them(self):
        job = self.start(f"--reuid={USER}", f"--regid={USER}", "--clear-groups", TMPIRUN, "-n", 2, "--nodes", 2, "--net", "sim:fdr-ib", "-v",
                         built("tests", "verbs-vm", "steady"), 40, 1 << 20, tmpirun="setpriv")
        answers = set()
        nodes = job.node_pids(2)
        while job.process.poll() is None:  # from before they have said who may to their end
            answers.update(map(reads, nodes))
        job.finish()
        err = job.err.decode(errors="replace")
        self.assertEqual(job.code, 0, err)
        self.assertIn("sim: modelled wire", err)
        self.assertNotIn("no reads of other nodes' memory", err)
        self.assertEqual(answers - {errno.ESRCH}, {errno.EPERM})
