"""Some packets are lost, not all: what is lost is sent again."""

import os
import select
import time

import failures
from harness import PROMPTLY
from support import NET

BYTES = 100_000


class LossyTest(failures.Traffic):
    def goes_on(self, job, seconds):
        """Whether the job has gone on for so long, or has ended before. Fails if it does neither for as long as it may wait."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            ready, _, _ = select.select([job.process.stdout], [], [], 2 * PROMPTLY)
            self.assertTrue(ready, "the job neither goes on nor ends")
            if not os.read(job.process.stdout.fileno(), 1 << 16):
                return False
        return True

    def test_some_packets_are_lost(self):
        """What is lost is sent again, or the job ends: software RoCE forgets a request now and then (tests/verbs-vm/README.md)."""
        job = self.traffic(BYTES, net=f"{NET}:patience=3")
        self.lose_packets(2)
        if self.goes_on(job, 5):
            print("the job went on")
            return
        job.finish()
        self.assertRegex(job.err, rb"has neither done|does not answer|does not say why")
        self.check_failure(job, 1)
        self.check_nothing_left(job)
        print(job.err.decode().splitlines()[0])
