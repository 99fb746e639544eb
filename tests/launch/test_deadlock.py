"""Jobs whose ranks wait for each other end by themselves, with a report; jobs that only look like it do not."""

import os
import subprocess
import time

from harness import HANG, LaunchTest, claims_time, main, program

DEADLOCK = 125
SHORT = ("--polling-limit", 1)  # whoever polls keeps a core busy


class DeadlockTest(LaunchTest):
    def report(self, ranks, case, *options):
        job = self.promptly(2, self.run_job("-n", ranks, *options, "-q", program("deadlock.c"), case))
        err = job.err.decode()
        self.assertEqual(job.code, DEADLOCK, err)
        self.assertIn("tmpirun: deadlock: every rank that has not finished is blocked in MPI", err)
        return err

    @claims_time
    def test_ring(self):
        for workers in (1, 2):
            err = self.report(8, "ring", "--workers", workers)
            self.assertIn("  rank 7: blocked in MPI_Recv from rank 0 with tag 7 on MPI_COMM_WORLD\n", err)
            self.assertIn("  ranks 0-6 (7): blocked in MPI_Recv from its rank + 1 with tag 7 on MPI_COMM_WORLD\n", err)
            self.assertIn("a cycle of 8: rank ", err)

    def test_wrong_tag(self):
        err = self.report(2, "tag")
        self.assertIn("  rank 0: blocked in MPI_Finalize", err)
        self.assertIn("  rank 1: blocked in MPI_Recv from rank 0 with tag 5 on MPI_COMM_WORLD\n", err)
        self.assertIn("rank 1 waits for a message from rank 0 with tag 5, but one from rank 0 with tag 6 has come", err)

    @claims_time
    def test_collective(self):
        err = self.report(5, "collective", "--vratio", 2)
        self.assertIn("  ranks 1-4 (4): blocked in MPI_Barrier on solver\n", err)
        self.assertIn("  rank 0: blocked in MPI_Recv from rank 1 (rank 1 there) with tag 3 on solver\n", err)
        self.assertIn("a cycle of 2: rank 0 waits for rank 1, which waits for rank 0\n", err)

    def test_partner_in_finalize(self):
        err = self.report(3, "ended")
        self.assertIn("  rank 0: blocked in MPI_Recv from rank 1 with tag 3 on MPI_COMM_WORLD\n", err)
        self.assertIn("  ranks 1-2 (2): blocked in MPI_Finalize on MPI_COMM_WORLD\n", err)

    def test_waitall(self):
        err = self.report(4, "waitall")
        self.assertIn("  ranks 0-3 (4): blocked in MPI_Waitall for all of 2 requests, the first one a receive from any source "
                      "with tag 1 on MPI_COMM_WORLD\n", err)
        self.assertIn("a cycle of 2: ", err)

    def test_nonblocking_collective(self):
        # With a progress thread other threads work for the ranks, which is no reason to be silent.
        for options in ((), ("--nodes", 2, "--progress", "thread"), ("--nodes", 2, "--workers", 2, "--progress", "thread")):
            err = self.report(4, "nonblocking", *options)
            self.assertIn("ranks 1-3 (3): blocked in MPI_Wait for MPI_Ibarrier on MPI_COMM_WORLD", err)

    def test_nonblocking_collective_that_only_one_has_started(self):
        for options in (("--workers", 1), ("--workers", 2), ("--nodes", 2)):
            err = self.report(3, "started", *options)
            self.assertIn("  rank 0: blocked in MPI_Finalize for the end of nonblocking operations that it has started (the last one is "
                          "MPI_Ibarrier)\n", err)
            self.assertIn("  ranks 1-2 (2): blocked in MPI_Finalize on MPI_COMM_WORLD\n", err)

    def test_windows(self):
        err = self.report(3, "window-lock")
        self.assertRegex(err, r"  rank(s 0,2 \(2\)| 0): blocked in MPI_Win_lock for a lock that another rank holds on window .*, by rank 1\n")
        self.assertIn("a cycle of 2: rank 0 waits for rank 1, which waits for rank 0\n", err)
        err = self.report(3, "window-start")
        self.assertRegex(err, r"  rank 0: blocked in MPI_Win_start for MPI_Win_post on window .*, by ranks 0, 1, 2\n")
        self.assertRegex(err, r"  ranks 1-2 \(2\): blocked in MPI_Win_fence on window ")

    @claims_time
    def test_thousand_ranks(self):
        err = self.report(1000, "ring")
        self.assertIn("a cycle of 1000: ", err)
        self.assertLess(len(err.splitlines()), 10)

    def test_no_false_alarm(self):
        for options in (("--workers", 1), ("--workers", 2), ("--vratio", 1)):
            self.assertEqual(self.run_job("-n", 4, *options, "-q", program("deadlock.c"), "slow").code, 0)

    def test_input_is_waited_for(self):
        job = self.start("-n", 3, "-q", program("deadlock.c"), "input", stdin=subprocess.PIPE)
        time.sleep(1)
        self.assertEqual(job.finish(input=b"a line\n").out, b"got a line\n")
        self.assertEqual(job.code, 0)

    def test_internal_messages_are_not_shown(self):
        """Members of a collective have had messages of the library's own, of another step than the one that they wait for."""
        for nodes in (1, 2, 3):
            for case in ("barriers", "collective", "allreduce"):
                with self.subTest(nodes=nodes, case=case):
                    err = self.report(6, case, "--nodes", nodes)
                    self.assertIn("blocked in MPI_", err)
                    self.assertNotIn("has come and is not received", err)

    def test_waiting_through_a_pipe_is_no_silent_hang(self):
        job = self.start("-n", 3, "--workers", 1, "--sleep", "hold", program("pipes.c"), "for-ever")
        job.read_until(b"here\n")
        job.ask_until(b"  rank 0: running, in read(")
        self.assertRegex(job.seen_err.decode(), r"  rank 0: running, in read\(\d+\) of a pipe\n")
        self.assertIn(b"  ranks 1-2 (2): ready to run", job.seen_err)
        end = time.monotonic() + HANG
        while b"has been in" not in job.seen_err:
            job.read("stderr", b"has been in", end)
        self.assertRegex(job.seen_err.decode(), r"warning: rank 0 on host \S+ has been in read\(\d+\) of a pipe for 5 seconds and holds its core, "
                                                r"where ranks 1-2 could run\. If it waits for one of them, the job hangs: --sleep auto lets them run")
        job.process.terminate()
        self.assertEqual(job.finish().code, 143)
        self.assertEqual(job.err.count(b"has been in"), 1)

    def test_who_holds_nobody_up_is_not_told(self):
        job = self.start("-n", 3, "--vratio", 1, "--no-deadlock-check", program("pipes.c"), "give-up")
        self.assertEqual(job.finish().code, 0)
        self.assertNotIn(b"has been in", job.err)

    def test_polling_in_vain(self):
        ways = [("test", "  ranks 0-3 (4): polling in vain with MPI_Test\n"),
                ("probe-and-wait", "  rank 0: blocked in MPI_Recv from rank 1 with tag 5 on MPI_COMM_WORLD\n"
                                   "  ranks 1-3 (3): polling in vain with MPI_Iprobe\n")]
        jobs = [(report, self.start("-n", 4, *options, *SHORT, program("polls.c"), case)) for case, report in ways
                for options in (("--workers", 1), ("--nodes", 2))]
        for report, job in jobs:
            end = time.monotonic() + HANG
            while b"--no-deadlock-check" not in job.seen_err:
                job.read("stderr", b"--no-deadlock-check", end)
            self.assertIsNone(job.process.poll())
            job.process.terminate()
            err = job.finish().err.decode()
            self.assertEqual(job.code, 143, err)
            self.assertIn("tmpirun: warning: this looks like a deadlock: for 1 second every rank that has not finished has tested or probed in "
                          "vain", err)
            self.assertIn(report, err)
            self.assertEqual(err.count("looks like"), 1)
            self.check_nothing_left(job)

    def test_polling_is_not_spoken_of_if_there_may_be_an_end(self):
        file = os.path.join(self.directory(), "go-on")
        flag = os.path.join(self.directory(), "flag")
        with open(flag, "wb") as memory:
            memory.write(bytes(8))
        jobs = [self.start("-n", 2, *options, *SHORT, "--sleep", "yield", program("polls.c"), *case)
                for case in (["wtime", 3], ["clock", 3], ["work", 3], ["work-between", 0, file], ["alarm", 3], ["file", 0, file],
                             ["memory", 0, flag], ["asleep", 3])
                for options in (("--workers", 1), ("--nodes", 2))]
        time.sleep(3)
        with open(file, "w"), open(flag, "r+b") as memory:
            memory.write(b"1234567")
        for job in jobs:
            job.finish()
            self.assertEqual((job.code, job.out, job.err), (0, b"fine\n", b""))

    def test_polling_goes_on(self):
        """A loop that reads the cycle counter cannot be told from one that has no end; and nobody is told who does not want it."""
        options = ((), ("-q",), ("--no-deadlock-check",))
        # One worker each: who is preempted between two tests seems to compute there.
        jobs = [self.start("-n", 2, "--workers", 1, *option, *SHORT, program("polls.c"), "cycles", 4) for option in options]
        for option, job in zip(options, jobs):
            job.finish()
            self.assertEqual((job.code, job.out), (0, b"fine\n"), job.err)
            self.assertEqual(job.err.count(b"looks like a deadlock"), 0 if option else 1, job.err)

    def test_can_be_turned_off_and_looked_at(self):
        job = self.start("-n", 4, "-q", "--no-deadlock-check", program("deadlock.c"), "ring")
        job.ask_until(b"ranks 0-2 (3): blocked in MPI_Recv from its rank + 1 with tag 7 on MPI_COMM_WORLD")
        time.sleep(1)
        self.assertIsNone(job.process.poll())
        job.process.terminate()
        self.assertEqual(job.finish().code, 143)


if __name__ == "__main__":
    main()
