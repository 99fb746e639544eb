"""memcheck finds nothing of tmpi's own in a program that runs by itself; under tmpirun there is a sentence."""

import os
import shutil
import subprocess
import sys

from observed import HANG, LaunchTest, main, program

MEMCHECK = ("valgrind", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect,possible")


class ValgrindTest(LaunchTest):
    def run_alone(self, name, *arguments):
        return subprocess.run([*MEMCHECK, program(name), *arguments], capture_output=True, text=True, timeout=HANG)

    def test_says_nothing_of_tmpi(self):
        done = self.run_alone("alone.c", os.path.join(self.directory(), "written"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ERROR SUMMARY: 0 errors", done.stderr)

    def test_finds_what_is_wrong_in_the_program(self):
        done = self.run_alone("uninitialized.c")
        self.assertEqual(done.returncode, 9, done.stderr)
        self.assertIn("uninitialised", done.stderr)

    def test_is_refused_under_tmpirun(self):
        for arguments in (("--wrapper", "valgrind", program("uninitialized.c")), ("valgrind", program("uninitialized.c"))):
            job = self.run_job("-n", 2, *arguments)
            self.assertEqual(job.code, 2)
            self.assertIn(b"run the program by itself under it, as a job of one rank: valgrind PROGRAM", job.err)


if __name__ == "__main__":
    if shutil.which("valgrind") is None:
        sys.exit(77)
    main()
