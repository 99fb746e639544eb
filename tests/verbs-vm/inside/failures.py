"""Bad days: the job ends within 5 s, with one sentence that says what it was."""

import os
import signal
import subprocess
import time

from harness import PROMPTLY, wait_for
from support import DEVICES, INTERFACES, NET, VerbsTest, built, limited

TRAFFIC = ("tests", "verbs-vm", "traffic")
CANCELLED = ("tests", "verbs-vm", "cancelled")
SMALL = 1000  # bytes
LARGE = 8 << 20


def do(*words):
    subprocess.run(words, check=True, capture_output=True)


class Traffic(VerbsTest):
    def traffic(self, bytes_each, *words, net=NET, program=TRAFFIC):
        """A job whose two ranks send messages to and fro without end, and have begun."""
        job = self.start("-n", 2, "--nodes", 2, "--net", net, "--no-deadlock-check", built(*program), bytes_each, *words)
        job.read_until(b"under way\n")
        return job

    def lose_packets(self, percent):
        """What one port sends is lost, although both are up."""
        self.addCleanup(do, "tc", "qdisc", "del", "dev", INTERFACES[0], "root")
        do("tc", "qdisc", "add", "dev", INTERFACES[0], "root", "netem", "loss", f"{percent}%")


class FailuresTest(Traffic):
    def ends(self, job, begun, code, *texts):
        job.finish(6 * PROMPTLY)
        seconds = time.monotonic() - begun
        err = job.err.decode(errors="replace")
        self.check_failure(job, code, *texts)
        self.check_nothing_left(job)
        self.assertLess(seconds, PROMPTLY, err)
        print(f"{seconds:.1f} s: {err.splitlines()[0]}")

    def restore(self):
        """Both ports active again."""
        for interface in INTERFACES:
            do("ip", "link", "set", interface, "up")

        def active():
            return subprocess.run(["rdma", "link"], capture_output=True, text=True).stdout.count("state ACTIVE") == len(DEVICES)

        wait_for(active, "both ports")

    def test_cable_pulled(self):
        self.addCleanup(self.restore)
        job = self.traffic(SMALL)
        begun = time.monotonic()
        do("ip", "link", "set", INTERFACES[1], "down")
        self.ends(job, begun, 1, "has gone down")

    def test_cable_pulled_while_megabytes_are_read(self):
        self.addCleanup(self.restore)
        job = self.traffic(LARGE)
        begun = time.monotonic()
        do("ip", "link", "set", INTERFACES[1], "down")
        self.ends(job, begun, 1, "has gone down")

    def test_peer_killed_while_megabytes_are_read(self):
        """Linux 6.1 keeps both processes in their exit for 50 s: nobody waits for that, and what they have started ends."""
        job = self.traffic(LARGE, "child")
        victim = job.node_pids(2)[1]
        begun = time.monotonic()
        os.kill(victim, signal.SIGKILL)
        self.ends(job, begun, 128 + signal.SIGKILL, "was killed by signal 9")

    def lose(self, bytes_each, program=TRAFFIC):
        job = self.traffic(bytes_each, program=program)
        begun = time.monotonic()
        self.lose_packets(100)
        self.ends(job, begun, 1, "does not answer")

    def test_packets_are_lost(self):
        self.lose(SMALL)

    def test_packets_are_lost_while_megabytes_are_read(self):
        self.lose(LARGE)

    def test_packets_are_lost_of_messages_that_are_cancelled(self):
        """The error completes what belongs to requests that are being cancelled, or are gone already."""
        self.lose(SMALL, CANCELLED)

    def test_packets_are_lost_of_megabytes_that_are_cancelled(self):
        self.lose(LARGE, CANCELLED)

    def test_little_memory_may_be_locked(self):
        """As an ordinary user, since root may lock what it likes."""
        begun = time.monotonic()
        job = self.start(*limited(64 << 10), "-n", 2, "--nodes", 2, "--net", NET, built(*TRAFFIC), SMALL, tmpirun="setpriv")
        self.ends(job, begun, 126, "ulimit -l")
