"""File systems that refuse: full, and read-only. They are mounted in a namespace of the job's own."""

import subprocess
import unittest

from harness import HANG, TMPIRUN, LaunchTest, main, program

MOUNTED = ["--map-root-user", "--mount", "sh", "-c"]


class FileTest(LaunchTest):
    @classmethod
    def setUpClass(cls):
        try:
            subprocess.run(["unshare", *MOUNTED, "mount -t tmpfs none /tmp"], check=True, capture_output=True, timeout=HANG)
        except (subprocess.CalledProcessError, OSError) as problem:
            raise unittest.SkipTest(f"no file systems can be mounted here: {problem}")

    def run_on(self, mount, mode, *options):
        """The program on a file system that `mount` has mounted on $DIR."""
        directory = self.directory()
        words = [str(word) for word in ("-n", 4, "--workers", 2, *options, program("file_faults.c"), mode, directory)]
        return self.run_job(*MOUNTED, f'{mount} && exec "$0" "$@"', TMPIRUN, *words, tmpirun="unshare", env={"DIR": directory})

    def test_full(self):
        for options in ((), ("--nodes", 2), ("--file-io", "uring:1"), ("--file-io", "threads:1")):
            job = self.run_on("mount -t tmpfs -o size=1m none $DIR", "full", *options)
            self.assertEqual(job.code, 0, job.err)
            self.assertEqual((job.out.count(b"rounds\n"), job.out.count(b"reserved\n")), (9, 1))

    def test_read_only(self):
        for options in ((), ("--nodes", 2), ("--file-io", "uring:1"), ("--file-io", "threads:1")):
            job = self.run_on("mount -t tmpfs none $DIR && printf here >$DIR/data && mount -o remount,ro $DIR", "read-only", *options)
            self.assertEqual(job.code, 0, job.err)


if __name__ == "__main__":
    main()
