"""Stacks: how large they are, and that a frame that does not fit is told and not left to another rank's memory."""

import resource

from harness import LaunchTest, main, program

MB = 10 ** 6
BY_PLAIN_COMPILER = "-fno-stack-clash-protection"  # what gcc does by default


class StackTest(LaunchTest):
    def check_overflow(self, job, ranks, stack, wanted):
        self.check_failure(job, 139, f"rank {ranks - 1} on host", f"overflowed its stack of {stack} KiB", f"--stack-size {wanted}, or")

    def test_automatic_arrays_of_some_megabytes(self):
        for ranks in 1, 4:
            for bytes in 1.1, 1.5, 4, 8:
                job = self.run_job("-q", "-n", ranks, program("frame.c", BY_PLAIN_COMPILER), int(bytes * MB))
                self.assertEqual((job.out, job.err, job.code), (b"it fits\n", b"", 0), (ranks, bytes))

    def test_frames_that_do_not_fit(self):
        for ranks in 1, 2, 4:
            for bytes, wanted in (9, "16M"), (20, "32M"), (200, "256M"):
                job = self.run_job("-q", "-n", ranks, program("frame.c"), bytes * MB)
                self.check_overflow(job, ranks, 8192, wanted)
        self.check_failure(self.run_job("-q", "-n", 1, program("frame.c"), 6000 * MB), 139, "overflowed its stack", "on the heap")
        self.assertEqual(self.run_job("-q", "-n", 4, "--stack-size", "256M", program("frame.c"), 200 * MB).out, b"it fits\n")

    def test_frames_of_code_that_steps_far(self):
        """Up to the width of a guard every stack notices; the lowest notices any step."""
        for ranks in 1, 2, 4:
            for bytes in 1.1, 1.5, 4, 5:
                job = self.run_job("-q", "-n", ranks, "--stack-size", "1M", program("frame.c", BY_PLAIN_COMPILER), int(bytes * MB))
                self.check_overflow(job, ranks, 1024, "2M" if bytes < 2 else "4M" if bytes < 4.1 else "8M")
        job = self.run_job("-q", "-n", 1, "--stack-size", "1M", program("frame.c", BY_PLAIN_COMPILER), 100 * MB)
        self.check_overflow(job, 1, 1024, "128M")

    def test_limit_of_the_shell(self):
        for soft, size in (resource.RLIM_INFINITY, 64), (24 << 20, 24), (1 << 20, 8):
            limit = lambda: resource.setrlimit(resource.RLIMIT_STACK, (soft, resource.RLIM_INFINITY))
            for options in ("-n", 2), ("-n", 4, "--nodes", 2):
                job = self.run_job("-v", *options, program("frame.c"), (size - 1) << 20, preexec_fn=limit)
                self.assertEqual((job.out, job.code), (b"it fits\n", 0), job.err)
                self.assertIn(b"stacks of %d MiB" % size, job.err)
                self.assertIn(b"stacks of 2 MiB", self.run_job("-v", "--stack-size", "2M", *options, program("trivial.c"), preexec_fn=limit).err)

    def test_access_above_the_stack(self):
        job = self.run_job("-q", "-n", 2, program("above_stack.c"))
        self.check_failure(job, 139, "rank 0 on host", "segmentation fault", "above the rank's stack", "an index that is too large")
        self.assertNotIn(b"--stack-size", job.err)

    def test_many_ranks(self):
        job = self.run_job("-q", "-v", "-n", 3000, "--workers", 2, program("trivial.c"))
        self.assertEqual((job.out, job.code), (b"3000 of 3000\n", 0), job.err)
        self.assertIn(b"stacks of 8 MiB", job.err)

    def test_limited_address_space(self):
        for limit, size in (4 << 30, 1), (16 << 30, 2), (1 << 37, 8):
            job = self.run_job("-v", "-n", 100, "--workers", 2, program("trivial.c"),
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            self.assertEqual((job.out, job.code), (b"100 of 100\n", 0), job.err)
            self.assertIn(b"stacks of %d MiB" % size, job.err)


if __name__ == "__main__":
    main()
