"""The key of a job: it is drawn or there is no job, and it is not sent where others can read it."""

import os
import socket
import struct
import subprocess
import threading

from control_wire import MAGIC, VERSION
from harness import HANG, TMPIRUN, LaunchTest, main, program

HELLO, EXITS, DONE, JOB, END_NOW, HEARTBEAT = 1, 4, 8, 64, 69, 73


class NoRandomNumbersTest(LaunchTest):
    def without_random_numbers(self):
        """A library for LD_PRELOAD without which the kernel's random numbers cannot be had."""
        library = os.path.join(self.directory(), "none.so")
        text = "#include <errno.h>\n#include <sys/types.h>\n" \
               "ssize_t getrandom(void* to, size_t bytes, unsigned flags) { (void)to; (void)bytes; (void)flags; errno = ENOSYS; return -1; }\n"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=text.encode(), check=True)
        return library

    def test_the_job_does_not_start(self):
        job = self.run_job("-n", 4, "--nodes", 2, program("trivial.c"), env={"LD_PRELOAD": self.without_random_numbers()})
        self.check_failure(job, 1, "cannot draw the key of the connections between node processes", "getrandom: Function not implemented")
        self.assertEqual(job.out, b"")

    def test_one_node_process_needs_none(self):
        job = self.run_job("-n", 4, program("trivial.c"), env={"LD_PRELOAD": self.without_random_numbers()})
        self.assertEqual((job.code, job.out), (0, b"4 of 4\n"), job.err)


class Attached(threading.Thread):
    """A node process that somebody else has started, from tmpirun's side of view; keeps all that it hears."""

    def __init__(self, rank):
        super().__init__()
        self.rank = rank
        self.channel, self.theirs = socket.socketpair()
        self.heard = b""
        self.kinds = []

    def send(self, kind, payload=b""):
        self.channel.sendall(struct.pack("<IHHi", len(payload), kind, 0, -1) + payload)

    def exactly(self, count):
        data = b""
        while len(data) < count and (piece := self.channel.recv(count - len(data))):
            data += piece
        self.heard += data
        return data

    def run(self):
        self.channel.settimeout(HANG)
        self.send(HELLO, struct.pack("<IIi", MAGIC, VERSION, os.getpid()))
        while header := self.exactly(12):
            length, kind, _, _ = struct.unpack("<IHHi", header)
            self.exactly(length)
            self.kinds.append(kind)
            if kind == JOB:
                self.send(EXITS, struct.pack("<iii", self.rank, 0, 1))
                self.send(DONE)
                self.channel.close()
                return


class ChannelTest(LaunchTest):
    """tmpirun with node processes that others have started, over channels that are not encrypted."""

    KEY = bytes(range(100, 132))

    def test_the_key_is_not_sent(self):
        nodes = [Attached(rank) for rank in (0, 1)]
        reading, writing = os.pipe()
        os.write(writing, struct.pack("<Q", 0x1122334455667788) + self.KEY)
        os.close(writing)
        ends = [node.theirs.fileno() for node in nodes]
        text = f"-1 -1 {reading} alpha {ends[0]} 1 beta {ends[1]} 1"
        process = subprocess.Popen([TMPIRUN, "-n", "2", program("trivial.c")], env={**os.environ, "TMPI_ATTACHED": text},
                                   pass_fds=[reading, *ends], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.close(reading)
        for node in nodes:
            node.theirs.close()
            node.start()
        _, err = process.communicate(timeout=HANG)
        self.assertEqual(process.returncode, 0, err)
        for node in nodes:
            node.join(HANG)
            self.assertIn(JOB, node.kinds)
            self.assertIn(b"trivial", node.heard)
            self.assertIn(struct.pack("<Q", 0x1122334455667788), node.heard, "the number of the job is no secret")
            for length in (32, 8):
                self.assertNotIn(self.KEY[:length], node.heard)

    def test_a_key_that_is_not_there(self):
        run = subprocess.run([TMPIRUN, "-n", "1", program("trivial.c")], env={**os.environ, "TMPI_ATTACHED": "-1 -1 987 alpha -1 1"},
                             capture_output=True, text=True, timeout=HANG)
        self.assertEqual(run.returncode, 2)
        self.assertIn("there is no key in the pipe that was named: unset it", run.stderr)


if __name__ == "__main__":
    main()
