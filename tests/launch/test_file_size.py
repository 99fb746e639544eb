"""A limit on the size of files (ulimit -f) is for what ranks write, and for nothing of tmpi's own."""

import os
import resource

from harness import LaunchTest, main, program

KIB = 1024
LIMIT = 64 * KIB  # less than the program's data


class FileSizeTest(LaunchTest):
    def run_limited(self, *arguments, hard=False, **options):
        most = LIMIT if hard else resource.RLIM_INFINITY
        return self.run_job(*arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, most)), **options)

    def setUp(self):
        self.writes = program("writes_file.c")

    def test_programs_that_keep_to_it(self):
        for hard in False, True:
            for options in ("-n", 4, "--workers", 1), ("-n", 4, "--workers", 2), ("-n", 6, "--vratio", 3), ("-n", 4, "--nodes", 2):
                job = self.run_limited("-q", *options, self.writes, self.directory(), 60, hard=hard)
                self.assertEqual((job.out, job.err, job.code), (b"%d of %d\n" % (options[1], options[1]), b"", 0), (hard, options))

    def test_a_file_that_is_too_large(self):
        for options in ("-n", 3, "--workers", 1), ("-n", 3, "--nodes", 3):
            for how in "ignore", "handle":
                job = self.run_limited("-q", *options, self.writes, self.directory(), 60, 1, how)
                self.assertEqual((job.out, job.err, job.code), (b"3 of 3\n", b"", 0), how)
            job = self.run_limited("-q", *options, self.writes, self.directory(), 60, 1, "default")
            self.check_failure(job, 153, "rank 1 on host", "SIGXFSZ", "ulimit -f")

    def test_traces_and_profiles(self):
        directory = self.directory()
        trace, profile = os.path.join(directory, "trace"), os.path.join(directory, "profile")
        job = self.run_limited("-q", "-n", 4, "--trace", trace, f"--profile={profile}", self.writes, directory, 1)
        self.assertEqual(job.code, 0, job.err)
        self.assertGreater(os.path.getsize(trace), LIMIT)
        self.assertGreater(os.path.getsize(profile), 0)


if __name__ == "__main__":
    main()
