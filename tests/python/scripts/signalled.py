"""Signals for one rank, its timers, and faulthandler."""

import faulthandler
import os
import signal
import tempfile
import threading
import time

from ranks import rank, step

got = []
signal.signal(signal.SIGUSR1, lambda number, frame: got.append((number, rank)))
signal.signal(signal.SIGALRM, lambda number, frame: got.append((number, rank)))
step()
os.kill(os.getpid(), signal.SIGUSR1)
signal.raise_signal(signal.SIGUSR1)
for _ in range(1000):
    if len(got) == 2:
        break
    time.sleep(0.001)
assert got == [(signal.SIGUSR1, rank)] * 2, got
step()
got.clear()
signal.setitimer(signal.ITIMER_REAL, 0.01)
while not got:
    time.sleep(0.001)
assert got == [(signal.SIGALRM, rank)], got
step()


class Late(Exception):
    pass


def interrupt(number, frame):
    raise Late


signal.signal(signal.SIGALRM, interrupt)
signal.alarm(1)
try:
    time.sleep(60)
    raise AssertionError("not interrupted")
except Late:
    pass
signal.signal(signal.SIGALRM, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
os.kill(os.getpid(), signal.SIGUSR2)
assert signal.sigwait([signal.SIGUSR2]) == signal.SIGUSR2
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
try:
    signal.raise_signal(signal.SIGINT)
    raise AssertionError("no KeyboardInterrupt")
except KeyboardInterrupt:
    pass
step()


def nested():
    faulthandler.dump_traceback(file)


with tempfile.TemporaryFile("w+") as file:
    nested()
    file.seek(0)
    text = file.read()
    assert "in nested" in text and "Current thread" in text, text
with tempfile.TemporaryFile("w+") as file:
    faulthandler.dump_traceback_later(0.05, file=file)
    waiting = threading.Event()
    waiting.wait(0.5)
    faulthandler.cancel_dump_traceback_later()
    file.seek(0)
    text = file.read()
    assert "Timeout" in text and "threading.py" in text, text
with tempfile.TemporaryFile("w+") as file:
    faulthandler.register(signal.SIGUSR1, file=file)
    os.kill(os.getpid(), signal.SIGUSR1)
    time.sleep(0.01)
    file.seek(0)
    assert "signalled.py" in file.read()
faulthandler.enable()
step()
if rank == 0:
    print("right")
