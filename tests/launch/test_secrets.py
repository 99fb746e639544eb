"""The key of a job: it is drawn or there is no job, and it is not sent where others can read it."""

import ctypes
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


class SealedStream:
    """The node process's end of src/net/sealed_stream.hpp, by libsodium."""

    CONTROL, LAUNCHER = 2, -1
    HEADER, OVERHEAD = 24, 17

    def __init__(self, key, number):
        self.sodium = ctypes.CDLL("libsodium.so.23")
        self.sodium.sodium_init()
        size = self.sodium.crypto_secretstream_xchacha20poly1305_statebytes()
        self.sending, self.receiving = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
        self.receiving_key = self.key_of(key, self.LAUNCHER, number)
        header = ctypes.create_string_buffer(self.HEADER)
        self.sodium.crypto_secretstream_xchacha20poly1305_init_push(self.sending, header, self.key_of(key, number, self.LAUNCHER))
        self.header = header.raw

    def key_of(self, key, sender, receiver):
        statement = struct.pack("<20siii", b"tmpi sealed stream", self.CONTROL, sender, receiver)
        derived = ctypes.create_string_buffer(32)
        self.sodium.crypto_auth(derived, statement, ctypes.c_ulonglong(len(statement)), key)
        return derived.raw

    def begin(self, header):
        if self.sodium.crypto_secretstream_xchacha20poly1305_init_pull(self.receiving, header, self.receiving_key) != 0:
            raise AssertionError("tmpirun's stream does not begin with a header")

    def seal(self, plain):
        sealed = ctypes.create_string_buffer(len(plain) + self.OVERHEAD)
        self.sodium.crypto_secretstream_xchacha20poly1305_push(self.sending, sealed, None, plain, ctypes.c_ulonglong(len(plain)), None,
                                                               ctypes.c_ulonglong(0), ctypes.c_ubyte(0))
        return struct.pack("<I", len(sealed)) + sealed.raw

    def open(self, sealed):
        plain = ctypes.create_string_buffer(max(len(sealed) - self.OVERHEAD, 1))
        if self.sodium.crypto_secretstream_xchacha20poly1305_pull(self.receiving, plain, None, None, sealed, ctypes.c_ulonglong(len(sealed)), None,
                                                                  ctypes.c_ulonglong(0)) != 0:
            raise AssertionError("what tmpirun has sent does not open")
        return plain.raw[:len(sealed) - self.OVERHEAD]


class Attached(threading.Thread):
    """A node process that somebody else has started, from tmpirun's side of view; keeps all that it hears, and what that means."""

    def __init__(self, rank, key):
        super().__init__()
        self.rank = rank
        self.channel, self.theirs = socket.socketpair()
        self.stream = SealedStream(key, rank)
        self.heard = b""
        self.opened = b""
        self.read = 0  # of what has been opened
        self.kinds = []

    def send(self, kind, payload=b""):
        self.channel.sendall(self.stream.seal(struct.pack("<IHHi", len(payload), kind, 0, -1) + payload))

    def raw(self, count):
        data = b""
        while len(data) < count and (piece := self.channel.recv(count - len(data))):
            data += piece
        self.heard += data
        return data

    def exactly(self, count):
        while len(self.opened) - self.read < count and (length := self.raw(4)):
            self.opened += self.stream.open(self.raw(struct.unpack("<I", length)[0]))
        self.read += count
        return self.opened[self.read - count:self.read]

    def run(self):
        self.channel.settimeout(HANG)
        self.channel.sendall(self.stream.header)
        self.send(HELLO, struct.pack("<IIi", MAGIC, VERSION, os.getpid()))
        self.stream.begin(self.raw(SealedStream.HEADER))
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
    """tmpirun with node processes that others have started, over channels that anybody may read."""

    KEY = bytes(range(100, 132))

    def test_nothing_is_read_between_and_the_key_is_not_sent(self):
        nodes = [Attached(rank, self.KEY) for rank in (0, 1)]
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
            for plain in (b"trivial", struct.pack("<Q", 0x1122334455667788)):
                self.assertIn(plain, node.opened)
                self.assertNotIn(plain, node.heard)
            for length in (32, 8):
                self.assertNotIn(self.KEY[:length], node.opened)
                self.assertNotIn(self.KEY[:length], node.heard)

    def test_a_key_that_is_not_there(self):
        run = subprocess.run([TMPIRUN, "-n", "1", program("trivial.c")], env={**os.environ, "TMPI_ATTACHED": "-1 -1 987 alpha -1 1"},
                             capture_output=True, text=True, timeout=HANG)
        self.assertEqual(run.returncode, 2)
        self.assertIn("there is no key in the pipe that was named: unset it", run.stderr)


if __name__ == "__main__":
    main()
