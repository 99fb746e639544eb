"""Bad days: whatever happens to devices, cables and peers, the job ends within 5 s, with one sentence that says what it was."""

import os
import signal
import subprocess
import time

from harness import PROMPTLY, wait_for
from support import ADDRESSES, DEVICES, INTERFACES, NET, VerbsTest, built, limited

TRAFFIC = ("tests", "verbs-vm", "traffic")
SMALL, LARGE = 1000, 32 << 20


def do(*words):
    subprocess.run(words, check=True, capture_output=True)


class FailuresTest(VerbsTest):
    def traffic(self, bytes_each):
        """A job whose two ranks send messages to and fro without end, and have begun."""
        job = self.start("-n", 2, "--nodes", 2, "--net", NET, "--no-deadlock-check", built(*TRAFFIC), bytes_each)
        job.read_until(b"under way\n")
        return job

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
        for bytes_each in (SMALL, LARGE):
            with self.subTest(bytes_each):
                job = self.traffic(bytes_each)
                begun = time.monotonic()
                do("ip", "link", "set", INTERFACES[1], "down")
                self.ends(job, begun, 1, "has gone down")
                self.restore()

    def test_messages_that_do_not_arrive(self):
        """All links are up, but what is sent gets lost: the queue pair ends in error, since nothing is acknowledged."""
        self.addCleanup(lambda: do("ip", "neigh", "flush", "dev", INTERFACES[0]))
        do("ip", "neigh", "flush", "dev", INTERFACES[0])
        job = self.traffic(SMALL)
        begun = time.monotonic()
        do("ip", "neigh", "replace", ADDRESSES[1], "lladdr", "02:00:00:00:00:63", "dev", INTERFACES[0], "nud", "permanent")
        self.ends(job, begun, 1, "does not answer")
        do("ip", "neigh", "del", ADDRESSES[1], "dev", INTERFACES[0])

    def test_peer_killed_in_the_middle_of_a_read(self):
        for victim in (0, 1):
            with self.subTest(victim=victim):
                job = self.traffic(LARGE)
                time.sleep(0.3)
                begun = time.monotonic()
                os.kill(job.node_pids(2)[victim], signal.SIGKILL)
                self.ends(job, begun, 137, f"node process {victim} on host", "killed by signal 9 (Killed)")

    def test_little_memory_may_be_locked(self):
        """As an ordinary user, since root may lock what it likes."""
        begun = time.monotonic()
        job = self.start(*limited(64 << 10), "-n", 2, "--nodes", 2, "--net", NET, built(*TRAFFIC), SMALL, tmpirun="setpriv")
        self.ends(job, begun, 126, "ulimit -l")
