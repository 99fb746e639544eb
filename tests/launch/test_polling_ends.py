"""Jobs whose ranks only test and probe in vain end as deadlocks, some time after they did anything else."""

from harness import LaunchTest, main, program

DEADLOCK = 125


class PollingEndsTest(LaunchTest):
    def test_polling_ends(self):
        jobs = [self.start("-n", 4, *options, "--polling-limit", 2, program("polls.c"), "probe-and-wait")
                for options in (("--workers", 1), ("--nodes", 2), ("-q", "--nodes", 2))]
        for job in jobs:
            err = job.finish().err.decode()
            self.assertEqual(job.code, DEADLOCK, err)
            self.assertIn("tmpirun: deadlock: for 12 seconds every rank that has not finished has tested or probed in vain", err)
            self.assertIn("  ranks 1-3 (3): polling in vain with MPI_Iprobe\n", err)
        self.assertEqual([job.err.count(b"warning: this looks like a deadlock") for job in jobs], [1, 1, 0])
        for job in jobs:
            self.check_nothing_left(job)


if __name__ == "__main__":
    main()
