"""Ranks that run on and on, and do not let others of their core run: what is said of them, and --preempt."""

import time

from harness import HANG, LaunchTest, main, program

NOTE = (r"tmpirun: note: rank 0 on host \S+ has run for \d\.\d seconds without coming to MPI or giving way, in {place}, "
        r"where rank 1 could run\. If it computes, nothing is wrong\. If it waits for one of them, it waits for ever: let them run by "
        r"sched_yield\(\) or MPI in that loop, or now and then by --preempt 10\n")


class Slots(LaunchTest):
    def note_of(self, *arguments):
        """What is said of a job that never ends."""
        job = self.start("-n", 2, "--workers", 1, program("spinner.c", "-lm"), *arguments)
        end = time.monotonic() + HANG
        while b"--preempt" not in job.seen_err:
            job.read("stderr", b"--preempt", end)
        job.process.terminate()
        self.assertEqual(job.finish().code, 143)
        self.assertEqual(job.err.count(b"note:"), 1)
        return job.err.decode()

    def test_who_spins_is_named(self):
        self.assertRegex(self.note_of("flag"), NOTE.format(place=r"(wait_for_flag \(spinner\.c:\d+\)|\w+\+0x[0-9a-f]+ \(\S+\))"))

    def test_who_computes_for_ever_before_an_abort_is_named(self):
        self.assertRegex(self.note_of("abort"), NOTE.format(place=r"(main \(spinner\.c:\d+\)|\w+\+0x[0-9a-f]+ \(\S+\))"))

    def test_nothing_is_said_of_who_computes_for_two_seconds(self):
        for options in ((), ("--preempt", 5)):
            job = self.run_job("-n", 3, "--workers", 1, *options, program("spinner.c", "-lm"), "compute", 2000)
            self.assertEqual((job.code, job.out, job.err), (0, b"compute: good\n", b""))

    def test_nothing_is_said_of_who_has_its_core_alone(self):
        job = self.run_job("-n", 2, "--workers", 2, program("spinner.c", "-lm"), "compute", 6000)
        self.assertEqual((job.code, job.out), (0, b"compute: good\n"))
        self.assertNotIn(b"note:", job.err)

    def test_quiet(self):
        job = self.start("-n", 2, "--workers", 1, "-q", "--timeout", 3, program("spinner.c", "-lm"), "flag")
        self.assertNotIn(b"note:", job.finish().err)

    def test_preempt(self):
        for ranks, workers in ((2, 1), (6, 2)):
            for way in ("flag", "clock", "state"):
                with self.subTest(way, ranks=ranks):
                    job = self.run_job("-n", ranks, "--workers", workers, "--preempt", 5, "--timeout", 60, program("spinner.c", "-lm"), way)
                    self.assertEqual((job.code, job.out, job.err), (0, f"{way}: good\n".encode(), b""))

    def test_preempt_lets_an_abort_through(self):
        job = self.run_job("-n", 2, "--workers", 1, "--preempt", 5, "--timeout", 60, program("spinner.c", "-lm"), "abort")
        self.assertEqual(job.code, 7, job.err)

    def test_preempt_is_a_number(self):
        job = self.run_job("-n", 1, "--preempt", "often", program("spinner.c", "-lm"), "flag")
        self.assertEqual(job.code, 2)
        self.assertIn(b"--preempt often", job.err)


if __name__ == "__main__":
    main()
