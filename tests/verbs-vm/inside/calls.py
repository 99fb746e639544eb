"""Calls to the system per message in a steady state, counted by the kernel (tracefs).

A device in software takes work requests by a write() each, which stands for the store to a register of a real one: those are expected, one
per frame. Nothing else may come with messages. What comes with time (looks at what is rare, every few milliseconds) is counted per second.
"""

import os
import re
import subprocess

from support import NET, VerbsTest, built

TRACING = "/sys/kernel/tracing"
ENTERED = TRACING + "/events/raw_syscalls/sys_enter"
COUNT = "hist:keys=common_pid.execname,id.syscall:size=8192"

FEW = 0.05  # per message: two jobs do not begin and end with exactly as many


def counted(run):
    """What RUN() returns, and how often each system call was made meanwhile by processes of tmpi."""
    if not os.path.exists(ENTERED):
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACING], check=True)
    with open(ENTERED + "/trigger", "w") as file:
        file.write(COUNT)
    try:
        result = run()
        with open(ENTERED + "/hist") as file:
            text = file.read()
    finally:
        with open(ENTERED + "/trigger", "w") as file:
            file.write("!" + COUNT)
    calls = {}
    for process, name, hits in re.findall(r"common_pid: (\S.*?) +\[ *\d+\], id: (\S+) .*hitcount: +(\d+)", text):
        if not process.startswith(("python", "tmpirun")):
            calls[name] = calls.get(name, 0) + int(hits)
    return result, calls


class CallsTest(VerbsTest):
    def per_message(self, few, many, bytes_each, *options):
        """Calls per message by name, from a job with MANY rounds and one with FEW, which begin and end alike; and seconds per message."""
        results = []
        for rounds in (few, many):
            out, calls = counted(lambda: self.passes(2, built("tests", "verbs-vm", "steady"), rounds, bytes_each, "test", options=options))
            results.append((calls, float(out.split()[1]) * 1e-6))
        (with_few, _), (with_many, seconds) = results
        each = {name: (with_many[name] - with_few.get(name, 0)) / (2 * (many - few)) for name in with_many}
        print(f"{bytes_each} bytes: " + ", ".join(f"{name} {count:.3f}" for name, count in sorted(each.items()) if abs(count) > 0.001)
              + f" calls per message, each of which takes {seconds * 1e6:.0f} us")
        return each, seconds

    def check(self, each, seconds, most_writes, most_looks=0):
        """Nothing but what the adapter is told, and what is looked at every 2 ms however little there is to send."""
        looks = 2 * seconds / 2e-3  # by two processes
        for name, count in each.items():
            if name == "sys_write":
                self.assertLess(count, most_writes)
            elif name in ("sys_epoll_wait", "sys_read"):
                self.assertLess(count, 10 * looks + FEW, name)
            elif name == "sys_ioctl":  # has memory been unmapped since? Not: registers memory, asks for an event
                self.assertLess(count, most_looks + FEW)
            else:
                self.assertLess(count, FEW, name)

    def test_small_messages(self):
        self.check(*self.per_message(300, 1800, 8), 1.2)

    def test_large_messages_from_the_same_buffers(self):
        self.check(*self.per_message(30, 130, 256 << 10), 8, most_looks=4)
