"""Files that ranks have open when they are saved (--migratable): descriptors, streams of C and C++, units of Fortran go on where they were."""

import os
import shutil
import subprocess

from harness import BIN, HANG, HERE, LaunchTest, main, program


class CheckpointFilesTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.files = os.path.join(self.directory(), "files")
        self.folder = os.path.join(self.directory(), "checkpoint")
        os.mkdir(self.files)

    def save(self, *command):
        shutil.rmtree(self.folder, ignore_errors=True)
        return self.lines(self.run_job("-q", "--migratable", *command, self.files, self.folder))

    def restart(self, *options):
        return self.run_job("-q", *options, "--restart", self.folder)

    def test_goes_on_where_it_was(self):
        """What was written at a position is written there again; what was appended since comes twice."""
        path = program("checkpoint_files.c")
        for nodes in (1, 2):
            shutil.rmtree(self.files)
            os.mkdir(self.files)
            saved = self.save("-n", 4, "--nodes", nodes, path)
            self.assertEqual(len(saved), 1 + 4 * 6, saved)
            appended = [line for line in saved if ": appended " in line or ": longer " in line]
            self.assertEqual(len(appended), 8)
            for again in ((), ("--nodes", 3), ("--workers", 1)):
                with self.subTest(nodes=nodes, again=again):
                    restarted = self.lines(self.restart(*again))
                    self.assertEqual(sorted(line.replace("restarted", "saved") for line in restarted if line not in appended
                                            and ": appended " not in line and ": longer " not in line),
                                     [line for line in saved if line not in appended])
            for what in ("appended", "longer"):
                with open(os.path.join(self.files, what + ".2")) as file:
                    self.assertEqual(file.read(), "before\n" + 4 * "after\n")  # once in each run

    def test_cxx(self):
        saved = self.save("-n", 3, "--nodes", 2, program("checkpoint_streams.cpp", "-std=c++17"))
        self.assertEqual(saved, [f"rank {rank}: one two three four " for rank in range(3)] + ["saved"])
        self.assertEqual(self.lines(self.restart()), sorted(saved[:-1] + ["restarted"]))

    def test_fortran(self):
        if not os.path.exists(os.path.join(BIN, "tmpifort")) or shutil.which("gfortran") is None:
            self.skipTest("no Fortran")
        path = os.path.join(self.directory(), "units")
        subprocess.run([os.path.join(BIN, "tmpifort"), "-g", "-o", path, os.path.join(HERE, "programs", "checkpoint_units.f90")], check=True,
                       timeout=2 * HANG)
        saved = self.save("-n", 3, path)
        self.assertEqual(saved, [f"rank {rank}: sum 2001000" for rank in range(3)] + ["saved"])
        for again in (("--nodes", 2), ()):
            self.assertEqual(self.lines(self.restart(*again)), sorted(saved[:-1] + ["restarted"]))

    def test_in_the_way(self):
        path = program("checkpoint_files.c")
        for rank in range(2):
            with open(os.path.join(self.files, f"input.{rank}"), "w"):
                pass
        for what, sentence in (("pipe", "which is no regular file"), ("socket", "which is no regular file"), ("folder", "which is no regular file"),
                               ("deleted", "which has been deleted"), ("renamed", "which has another name now"), ("chosen", "chosen by dup2"),
                               ("temporary", "which has been deleted"), ("pushed", "pushed characters back"), ("wide", "wide characters"),
                               ("command", "has child processes")):
            with self.subTest(what=what):
                for line in self.lines(self.run_job("-q", "-n", 2, "--migratable", path, "why", what, self.files, self.folder)):
                    self.assertIn("have not been saved: rank 1 on host", line)
                    self.assertIn(sentence, line)
                self.assertFalse(os.path.exists(os.path.join(self.folder, "last")))

    def test_files_that_are_gone(self):
        self.save("-n", 2, program("checkpoint_files.c"))
        lost = os.path.join(self.files, "input.1")
        os.rename(lost, lost + ".away")
        self.check_failure(self.restart(), 1, "rank 1", "input.1, which it has open: No such file or directory")
        with open(lost, "w") as file:
            file.write("short")
        self.check_failure(self.restart(), 1, "rank 1", "input.1, which it has open, is shorter than it was")
        os.remove(lost)
        os.mkdir(lost)
        self.check_failure(self.restart(), 1, "rank 1", "input.1, which it has open, is another file now")
        os.rmdir(lost)
        os.rename(lost + ".away", lost)
        self.assertIn("restarted", self.lines(self.restart()))


if __name__ == "__main__":
    main()
