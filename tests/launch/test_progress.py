"""--progress: what comes while every rank computes, and what that costs when nothing does."""

import os

from harness import LaunchTest, main, program

WIRES = (("tcp", "rts-cts"), ("tcp", "early-cts"), ("sim", "rts-cts"), ("sim", "read"), ("sim", "early-cts"))


class Progress(LaunchTest):
    def overlapped(self, mode, *words, ranks=2, options=(), limit=60):
        return self.run_job("-n", ranks, "--nodes", 2, "--workers", 1, "--progress", mode, *options, program("overlapped.c"), *words, limit)

    def test_messages_come_while_all_compute(self):
        for mode in ("thread", "core"):
            for net, rndv in WIRES:
                with self.subTest(mode=mode, net=net, rndv=rndv):
                    job = self.overlapped(mode, "messages", options=("--net", net, "--rndv", rndv))
                    self.assertEqual(job.code, 0, job.out + job.err)

    def test_without_they_do_not(self):
        for mode in ("poll", "auto"):
            job = self.overlapped(mode, "messages", options=("--net", "sim", "--rndv", "rts-cts"), limit=0.3)
            self.assertEqual(job.code, 3, job.out + job.err)
            self.assertIn(b"did not come while all computed", job.out)

    def test_many_ranks_of_a_core(self):
        job = self.overlapped("thread", "spread", ranks=8, options=("--net", "sim"))
        self.assertEqual(job.code, 0, job.out + job.err)

    def test_thousands_of_ranks(self):
        job = self.run_job("-n", 2000, "--nodes", 2, "--map-by", "cyclic", "--progress", "thread", program("ring.c"))
        self.assertEqual(job.code, 0, job.err)

    def test_nothing_under_way_wakes_nobody(self):
        seconds = float(os.environ.get("TMPI_TEST_IDLE", "1"))
        job = self.overlapped("thread", "idle", limit=seconds)
        self.assertEqual(job.code, 0, job.err)
        for line in job.out.decode().splitlines():
            before, meanwhile = map(int, line.split())
            self.assertGreaterEqual(before, 0)
            self.assertEqual(meanwhile, 0)

    def test_a_job_of_one_process_has_no_such_thread(self):
        job = self.run_job("-n", 2, "--progress", "thread", "--report-bindings", program("overlapped.c"), "idle", 0.01)
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(job.out, b"-1 0\n-1 0\n")
        self.assertNotIn(b"progress thread", job.err)

    def test_bindings(self):
        job = self.overlapped("thread", "idle", options=("--report-bindings",), limit=0.01)
        self.assertEqual(job.err.count(b": progress thread: not bound, sleeps while cores are at it\n"), 2, job.err)
        job = self.overlapped("poll", "idle", options=("--report-bindings",), limit=0.01)
        self.assertNotIn(b"progress thread", job.err)
        # Node processes of one machine share its cores: each has one, or there are enough for one more.
        job = self.overlapped("core", "idle", options=("--report-bindings",), limit=0.01)
        self.assertEqual(job.err.count(b": progress thread"), 2, job.err)
        self.assertRegex(job.err.decode(), r"progress thread( 0: core \d+ \(PU \d+\), NUMA node \d|.*no core of its own|: not bound)")

    def test_a_node_dies(self):
        for mode in ("thread", "core"):
            job = self.run_job("-n", 4, "--nodes", 2, "--progress", mode, program("misbehave.c"), "segv", 1)
            self.assertNotEqual(job.code, 0)

    def test_what_is_accepted(self):
        job = self.run_job("--progress", "never", program("overlapped.c"), "idle", 1)
        self.assertIn(b"accepted are 'auto', 'poll', 'thread' and 'core[:N]'", job.err)


if __name__ == "__main__":
    main()
