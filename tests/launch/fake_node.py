#!/usr/bin/env python3
"""A node process that misbehaves on demand: tests tmpirun's side of the control channel. The scenario is named in FAKE_NODE."""

import os
import signal
import socket
import struct
import subprocess
import sys
import time

from control_wire import MAGIC, VERSION

HELLO, NOTICE, OUTPUT, EXITS, STDIN_WANTED, STATE_DUMP, END, DONE = 1, 2, 3, 4, 5, 6, 7, 8
ADDRESS, LOST, USES_MPI, QUIESCENT, QUIESCENCE_ANSWER, WAIT_FOR_EDGES = 9, 10, 11, 12, 13, 14
JOB, STDIN, SIGNAL, STATE_DUMP_WANTED, ADDRESSES, END_NOW = 64, 65, 66, 67, 68, 69
UNLESS_HANDLED = 256  # of STATE_DUMP_WANTED, and the number of a signal

REMOTE = sys.argv[1] == "--remote"  # over stdin and stdout


class StandardStreams:
    """What is used of a socket."""

    def sendall(self, data):
        os.write(1, data)

    def recv(self, count):
        return os.read(0, count)


channel = StandardStreams() if REMOTE else socket.socket(fileno=int(sys.argv[2]))
if REMOTE:
    channel.sendall(b"tmpi-node speaks\n")


def frame(kind, payload=b"", rank=-1, detail=0):
    return struct.pack("<IHHi", len(payload), kind, detail, rank) + payload


def send(*arguments, **options):
    channel.sendall(frame(*arguments, **options))


def hello(version=VERSION):
    send(HELLO, struct.pack("<IIi", MAGIC, version, os.getpid()))


def receive():
    def exactly(count):
        data = b""
        while len(data) < count:
            piece = channel.recv(count - len(data))
            if not piece:
                sys.exit(0)
            data += piece
        return data

    length, kind, detail, rank = struct.unpack("<IHHi", exactly(12))
    return kind, detail, exactly(length)


def exits(*records):
    send(EXITS, b"".join(struct.pack("<iii", rank, code, 1) for rank, code in records))


def start():
    hello()
    assert receive()[0] == JOB


def one_by_one():
    """The stream in single bytes."""
    data = frame(HELLO, struct.pack("<IIi", MAGIC, VERSION, 1)) + frame(OUTPUT, b"hello\n", 0, 1) + frame(DONE)
    for i in range(len(data)):
        channel.sendall(data[i:i + 1])


def garbage():
    channel.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    time.sleep(900)


def wrong_version():
    hello(VERSION + 1)
    time.sleep(900)


def other_tmpi():
    """The same protocol, another release."""
    text = b"0.0.1"
    send(HELLO, struct.pack("<IIi", MAGIC, VERSION, 1) + struct.pack("<q", len(text)) + text)
    time.sleep(900)


def unknown_type():
    start()
    send(999)
    time.sleep(900)


def cut_frame():
    start()
    channel.sendall(frame(OUTPUT, b"x" * 100, 0, 1)[:50])


def dies_early():
    os.kill(os.getpid(), signal.SIGKILL)


def dies_with_output():
    start()
    send(OUTPUT, b"last output", 1, 1)
    exits((0, 0))
    os.kill(os.getpid(), signal.SIGKILL)


def exits_silently():
    start()
    os._exit(7)


def first_code():
    start()
    exits((2, 0), (1, 9), (0, 4))
    send(DONE)


def hostile_ranks():
    """Records that name ranks which do not exist."""
    start()
    exits((-5, 3), (2**31 - 1, 3), (0, 0))
    send(OUTPUT, b"fine\n", 1 << 30, 1)
    send(STATE_DUMP, b"\xff" * 11)
    send(DONE)


def deaf():
    """Ignores everything, and so does its child, in a session of its own."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    start()
    subprocess.Popen(["sleep", "900"], start_new_session=True)
    send(OUTPUT, b"ready\n", 0, 1)
    time.sleep(900)


def pipes():
    start()
    os.write(1, b"raw out\n")
    os.write(2, b"raw err\n")
    send(DONE)


def loses():
    """Each says that the other does not answer, node process 0 first."""
    other = 1 - own_number()
    while other == 0 and not os.path.exists("told"):
        time.sleep(0.01)
    send(LOST, b"the connection was reset", other)
    time.sleep(0.2)
    open("told", "w").close()
    time.sleep(900)


def own_number():
    """Which of the node processes this one is, from the job's description."""
    hello()
    payload = receive()[2]
    length = struct.unpack_from("<q", payload)[0]
    return struct.unpack_from("<q", payload, 8 + length + 8)[0]


def one_loses():
    """Only node process 0 says it, and 1 says nothing."""
    if own_number() == 0:
        send(LOST, b"the connection was reset", 1)
    time.sleep(900)


def loses_the_dead():
    """The same, and then it turns out that node process 1 has died."""
    if own_number() == 1:
        while not os.path.exists("told"):
            time.sleep(0.01)
        time.sleep(0.4)
        os.kill(os.getpid(), signal.SIGKILL)
    send(LOST, b"the connection was reset", 1)
    open("told", "w").close()
    while receive()[0] != END_NOW:
        pass
    send(END, struct.pack("<i", 0), detail=6)


def hostile_frames():
    """Frames that make no sense for one of several node processes."""
    start()
    for kind in (LOST, ADDRESS, QUIESCENT, QUIESCENCE_ANSWER, WAIT_FOR_EDGES, USES_MPI, STATE_DUMP):
        for payload in (b"", b"\xff" * 7, b"\xff" * 64):
            send(kind, payload, -7, 1)
            send(kind, payload, 1 << 30, 1)
    exits((0, 0), (1, 0), (2, 0), (3, 0))
    send(OUTPUT, b"fine\n", 0, 1)
    send(DONE, b"\xff" * 3)


def echo():
    start()
    total = b""
    while True:
        send(STDIN_WANTED, rank=0)
        kind, _, data = receive()
        if kind != STDIN:
            continue
        if not data:
            break
        total += data
    for at in range(0, len(total), 30000):
        send(OUTPUT, total[at:at + 30000], 0, 1)
    send(DONE)


def takes_one_line():
    start()
    send(OUTPUT, b"Name? ", 0, 1)
    send(STDIN_WANTED, rank=0)
    send(OUTPUT, b"hello " + receive()[2], 0, 1)
    send(DONE)


def flood():
    start()
    block = frame(OUTPUT, b"y" * 99 + b"\n", 0, 1) * 300
    while True:
        channel.sendall(block)


def state_dump():
    """Handles SIGUSR1 from the second one on."""
    start()
    send(OUTPUT, b"ready\n", 0, 1)
    handled = False
    while True:
        kind, detail, _ = receive()
        if kind == STATE_DUMP_WANTED and detail > UNLESS_HANDLED:
            send(OUTPUT, b"signal %d\n" % (detail - UNLESS_HANDLED), 0, 1)
        if kind == STATE_DUMP_WANTED and handled:
            send(STATE_DUMP, detail=1)
        elif kind == STATE_DUMP_WANTED:
            handled = True
            name = b"MPI_Recv"
            send(STATE_DUMP, struct.pack("<iiiHHHH", 0, 3, -1, 3, 0, len(name), 0) + name + struct.pack("<iiiHHHH", 3, 1, -1, 1, 0, 0, 0))
        elif kind == SIGNAL:
            send(OUTPUT, b"signal %d\n" % detail, 0, 1)
            if detail == signal.SIGTERM:
                send(END, struct.pack("<i", 143), detail=4)
                break


globals()[os.environ["FAKE_NODE"]]()
