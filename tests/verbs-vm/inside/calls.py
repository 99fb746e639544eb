"""Calls to the system per message in a steady state, counted by the kernel (tracefs).

A device in software takes work requests by a write() each, which stands for the store to a register of a real one: those are expected, one
per frame. Nothing else may come with messages. What comes with time (looks at what is rare, every 2 ms) is counted per second.

The job itself says when to count, after rounds that do not count: while a queue pair is being connected, which takes as long as the slower of
the two processes takes to start, all that polls looks at what is rare each time.
"""

import os
import re
import subprocess

from support import NET, VerbsTest, built, perftest

TRACING = "/sys/kernel/tracing"
ENTERED = TRACING + "/events/raw_syscalls/sys_enter"
COUNT = "hist:keys=common_pid.execname,id.syscall:size=8192"

FEW = 0.05  # per message: what has nothing to do with messages


class CallsTest(VerbsTest):
    def setUp(self):
        if not os.path.exists(ENTERED):
            subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACING], check=True)
        self.trigger(COUNT + ":pause")
        self.addCleanup(self.trigger, "!" + COUNT)

    def trigger(self, words):
        with open(ENTERED + "/trigger", "a") as file:  # else all triggers are removed
            file.write(words)

    def counted(self):
        """(process, call, how often) so far."""
        with open(ENTERED + "/hist") as file:
            found = re.findall(r"common_pid: (\S.*?) +\[ *\d+\], id: (\S+) .*hitcount: +(\d+)", file.read())
        return [(process, name, int(hits)) for process, name, hits in found]

    def per_message(self, rounds, bytes_each):
        """Calls of the two node processes per message by name, and seconds per message."""
        out = self.passes(2, built("tests", "verbs-vm", "steady"), rounds, bytes_each, "test", ENTERED + "/trigger", COUNT + ":cont", COUNT + ":pause")
        seconds = float(out.split()[1]) * 1e-6
        each = {}
        for process, name, hits in self.counted():
            if not process.startswith(("python", "tmpirun")):
                each[name] = each.get(name, 0) + hits / (2 * rounds)
        print(f"{bytes_each} bytes: " + ", ".join(f"{name} {count:.3f}" for name, count in sorted(each.items()))
              + f" calls per message, each of which takes {seconds * 1e6:.0f} us")
        return each, seconds

    def check(self, each, seconds, most_writes):
        """Nothing but what the adapter is told, and what is looked at every 2 ms however little there is to send."""
        self.assertGreater(each.get("sys_write", 0), 0.5)  # else nothing has been counted
        looks = 2 * seconds / 2e-3  # by two processes, with a call for tcp and one for the adapter's events
        for name, count in each.items():
            if name == "sys_write":
                self.assertLess(count, most_writes)
            elif name in ("sys_epoll_wait", "sys_read"):
                self.assertLess(count, looks + FEW, name)
            else:
                self.assertLess(count, FEW, name)

    def writes_of_perftest(self, rounds):
        """All of its calls of write() in a run of so many messages each way, from its beginning to its end."""
        def writes():
            return sum(hits for process, name, hits in self.counted() if process.startswith("ib_send_lat") and name == "sys_write")

        before = writes()
        self.trigger(COUNT + ":cont")
        perftest("ib_send_lat", "-s", "8", "-n", str(rounds))
        self.trigger(COUNT + ":pause")
        return writes() - before

    def test_the_write_is_the_device_s(self):
        """A program that calls nothing but the device's library pays the same: its longer run has one more for each message more."""
        few, many = 500, 2500
        more = (self.writes_of_perftest(many) - self.writes_of_perftest(few)) / (2 * (many - few))
        print(f"ib_send_lat: sys_write {more:.3f} calls per message")
        self.assertAlmostEqual(more, 1, delta=FEW)

    def test_small_messages(self):
        self.check(*self.per_message(1500, 8), 1.1)

    def test_large_messages_from_the_same_buffers(self):
        self.check(*self.per_message(100, 256 << 10), 6)
