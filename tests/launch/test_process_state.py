"""What a process has and a rank must have, too: record locks, the floating-point environment of a new process, processor time, cores."""

import fcntl
import os
import subprocess
import time

from harness import LaunchTest, main, program

# One worker, several, three ranks on each, several node processes.
JOBS = ("-n", 4, "--workers", 1), ("-n", 4, "--workers", 2), ("-n", 9, "--vratio", 3), ("-n", 4, "--nodes", 2)


class ProcessStateTest(LaunchTest):
    def check_output(self, expected, *arguments):
        job = self.run_job("-q", *arguments)
        self.assertEqual((sorted(job.out.decode().splitlines()), job.err, job.code), (sorted(expected), b"", 0), arguments)

    def test_record_locks_exclude_ranks(self):
        locks = program("record_locks.c")
        for options in JOBS + (("-n", 6, "--workers", 1, "--sleep", "yield"), ("-n", 6, "--workers", 1, "--sleep", "hold")):
            file = os.path.join(self.directory(), "file")
            self.check_output([str(50 * options[1])], *options, locks, "count", file, 50)
            self.check_output(["done"], *options, locks, "exclude", file + "2")

    def test_ranks_that_wait_for_each_others_locks(self):
        """The kernel tells a process; a rank hears of it if the other one is in the same node process."""
        for options in JOBS[:3]:
            self.check_output(["1 told"], *options, program("record_locks.c"), "deadlock", os.path.join(self.directory(), "file"))

    def test_record_locks_and_other_processes(self):
        path = os.path.join(self.directory(), "file")
        with open(path, "w+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            job = self.start("-q", "-n", 2, "--workers", 1, program("record_locks.c"), "count", path, 1)
            time.sleep(0.2)  # if they do not wait they have ended wrongly by now
            self.assertIsNone(job.process.poll())
            fcntl.lockf(file, fcntl.LOCK_UN)
            job.finish()
            self.assertEqual((job.out, job.err, job.code), (b"2\n", b"", 0))

            job = self.start("-q", "-n", 2, "--workers", 1, program("record_locks.c"), "hold", path, stdin=subprocess.PIPE)
            job.read_until(b"held\n")
            with self.assertRaises(OSError):
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            job.finish(input=b"")
            self.assertEqual(job.code, 0, job.err)
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def test_floating_point_environment(self):
        for options in JOBS:
            self.check_output([f"rank {i}: new, inherited, own flags" for i in range(options[1])], *options, program("floating_point.c", "-lm"))

    def test_flush_to_zero_of_one_program(self):
        fast, strict = program("denormals.c", "-ffast-math"), program("denormals.c")
        for options in (), ("--workers", 1):
            self.check_output(["0 flushed", "1 flushed", "2 kept", "3 kept"], *options, "-n", 2, fast, ":", "-n", 2, strict)

    def test_processor_time(self):
        for options in JOBS:
            self.check_output(["done"], *options, program("processor_time.c", "-pthread"), *(() if "--nodes" in options else ("one",)))

    def test_own_cores(self):
        affinity = program("affinity.c", "-pthread")
        for options in JOBS:
            self.check_output(["done"], *options, affinity)
            self.check_output(["done"], *options, "--bind-to", "none", affinity, "all")
        job = self.run_job("-v", "-n", 4, affinity)
        self.assertEqual(job.err.count(b"has chosen cores for itself"), 1, job.err)

    def test_own_stack(self):
        for options in JOBS:
            self.check_output(["8"], *options, program("own_stack.c", "-pthread"))


if __name__ == "__main__":
    main()
