"""MPIX_Checkpoint and --restart: ranks go on where they were, on other numbers of nodes and workers, with all that is theirs; what cannot be saved is
said, and the job goes on; what is damaged is not believed."""

import os
import shutil
import struct
import time

from harness import HANG, LaunchTest, main, program, wait_for


class CheckpointTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.folder = os.path.join(self.directory(), "checkpoint")
        self.steps = program("checkpoint.c", "-lm", "-pthread")

    def save(self, *options, steps=12, at=(5,), ranks=6):
        command = (*options, self.steps, steps, self.folder, *at)
        return self.lines(self.run_job("-q", "-n", ranks, "--migratable", "--coll", "reproducible", *command, input=b"one line\nand another\n"))

    def restart(self, *options):
        return self.run_job("-q", "--coll", "reproducible", *options, "--restart", self.folder)

    def test_goes_on_anywhere(self):
        for first in ((), ("--nodes", 2), ("--nodes", 3, "--map-by", "cyclic")):
            saved = self.save(*first)
            self.assertIn("saved after step 5", saved)
            self.assertIn("from the input: and another", saved)  # read ahead when the ranks are saved
            self.assertEqual(saved.count("at the end"), 6)
            wanted = [line.replace("saved", "restarted") for line in saved]
            for again in ((), ("--workers", 1), ("--nodes", 2), ("--nodes", 4, "--net", "tcp"), ("--vratio", 3, "--sched", "random:5"),
                          ("--balance", "auto")):
                with self.subTest(first=first, again=again):
                    self.assertEqual(self.lines(self.restart(*again)), sorted(wanted))

    def test_again_and_again(self):
        """A rank that was restarted is saved."""
        saved = self.save(at=(2, 4, 9))
        wanted = [line for line in saved if not line.startswith("saved")]
        shutil.rmtree(self.folder)
        self.lines(self.run_job("-q", "-n", 6, "--migratable", "--coll", "reproducible", self.steps, 3, self.folder, 2))
        # Of a run of three steps; the number of steps is the program's.
        self.assertIn("3 steps", "".join(self.lines(self.restart("--nodes", 2))))
        self.save(at=(2, 4, 9))
        for nodes in (2, 1, 3):
            self.assertEqual([line for line in self.lines(self.restart("--nodes", nodes)) if not line.startswith("restarted")], wanted)

    def test_cxx(self):
        path = program("checkpoint.cpp", "-std=c++17")
        saved = self.lines(self.run_job("-q", "-n", 5, "--migratable", "--nodes", 2, path, self.folder))
        self.assertIn("saved", saved)
        for again in ((), ("--nodes", 3)):
            self.assertEqual(self.lines(self.restart(*again)), sorted(line.replace("saved", "restarted") for line in saved))

    def test_in_the_way(self):
        for what, sentence in (("thread", "has threads that have not ended"), ("child", "has child processes"),
                               ("library", "has opened libraries with dlopen"),
                               ("session", "has sessions"), ("shared", "shares with others"), ("alarm", "has timers"), ("memstream", "has streams open"),
                               ("segment", "has memory outside of its addresses"), ("hidden", "has made unreadable"),
                               ("tools", "tools interface"),
                               ("counter", "has counters open"), ("nowhere", "without a directory")):
            with self.subTest(what=what):
                job = self.run_job("-q", "-n", 3, "--migratable", "--nodes", 2, "--map-by", "cyclic", self.steps, "why", what, self.folder)
                lines = self.lines(job)
                self.assertEqual(len(lines), 3, lines)
                for rank, line in enumerate(lines):
                    self.assertTrue(line.startswith(f"rank {rank}: 16 MPI_ERR_OTHER"), line)
                    self.assertIn(sentence, line)
                    self.assertRegex(line, "rank [01] on host")
                self.assertFalse(os.path.exists(os.path.join(self.folder, "last")))
        job = self.run_job("-q", "-n", 3, self.steps, "why", "nothing", self.folder)
        for line in self.lines(job):
            self.assertIn("start it with tmpirun --migratable", line)
        job = self.run_job("-q", "-n", 3, "--migratable", self.steps, "why", "nothing", self.steps)  # which is no directory
        for line in self.lines(job):
            self.assertIn("Not a directory", line)

    def test_without_being_asked(self):
        """A program that knows nothing of it is killed, and goes on from a moment at which all its ranks came together."""
        stop, other = self.folder + ".stop", program("checkpoint.c", "-lm", "-pthread", "-O2")
        wanted = [f"rank {rank}: right" for rank in range(5)]
        rounds = ("rounds", stop)
        for command in (("-n", 5, "--workers", 2, self.steps, *rounds), ("-n", 5, "--nodes", 2, self.steps, *rounds, "request"),
                        ("--nodes", 2, "-n", 2, other, *rounds, ":", "-n", 3, self.steps, *rounds)):
            with self.subTest(command=command):
                shutil.rmtree(self.folder, ignore_errors=True)
                job = self.start("-q", "--checkpoint", "every=1s,to=" + self.folder, *command)
                wait_for(lambda: os.path.exists(os.path.join(self.folder, "last", "job")), "a checkpoint")
                job.process.kill()
                job.finish()
                self.check_nothing_left(job)
                self.assertEqual(job.out, b"")
                # It is saved again.
                again = self.folder + ".again"
                shutil.rmtree(again, ignore_errors=True)
                job = self.start("-q", "--nodes", 3, "--checkpoint", "every=1s,to=" + again, "--restart", self.folder)
                wait_for(lambda: os.path.exists(os.path.join(again, "last", "job")), "a second checkpoint")
                with open(stop, "w"):
                    pass
                self.assertEqual(self.lines(job.finish()), wanted)
                for folder in (self.folder, again):
                    for options in ((), ("--workers", 1), ("--nodes", 2)):
                        self.assertEqual(self.lines(self.run_job("-q", *options, "--restart", folder)), wanted)
                os.remove(stop)

    def test_a_moment_that_does_not_suit(self):
        stop = self.folder + ".stop"
        job = self.start("-n", 3, "--checkpoint", "every=1,to=" + self.folder, self.steps, "rounds", stop, "pipe")
        warning = "warning: --checkpoint: the ranks have not been saved: rank 0 on host"
        while warning.encode() not in job.seen_err:
            job.read("stderr", warning, time.monotonic() + HANG)
        with open(stop, "w"):
            pass
        self.assertEqual(self.lines(job.finish()), [f"rank {rank}: right" for rank in range(3)])
        self.assertEqual(job.err.decode().count(warning), 1, job.err)
        self.assertIn("which is no regular file", job.err.decode())
        self.assertFalse(os.path.exists(os.path.join(self.folder, "last")))
        for value in ("every=0,to=x", "every=1d,to=x", "often", "every=1,to=x,more"):
            self.check_failure(self.run_job("-n", 1, "--checkpoint", value, self.steps, "rounds", stop), 2, "expected every=TIME, to=DIRECTORY")

    def test_the_last_stays_until_the_next_is_complete(self):
        self.save()
        os.mkdir(os.path.join(self.folder, "next"))
        with open(os.path.join(self.folder, "next", "rank-0"), "w") as file:
            file.write("not to its end")
        self.assertIn("restarted after step 5", self.lines(self.restart()))
        # Between its two last steps.
        os.rename(os.path.join(self.folder, "last"), os.path.join(self.folder, "before"))
        self.assertIn("restarted after step 5", self.lines(self.restart()))
        self.save(at=(7,))
        self.assertEqual(os.listdir(self.folder), ["last"])
        self.assertIn("restarted after step 7", self.lines(self.restart()))

    def refused(self, *texts, options=(), code=1):
        self.check_failure(self.run_job(*options, "--restart", self.folder), code, *texts)

    def test_what_is_damaged_is_refused(self):
        self.save()
        last = os.path.join(self.folder, "last")
        path = os.path.join(last, "rank-3")
        with open(path, "rb") as file:
            good = file.read()
        # One bit in each part of the header, of the tables, and of the pages.
        sizes = struct.unpack_from("5Q", good, 48)
        tables = [152 + sum(sizes[:i]) + sizes[i] // 2 for i in range(5)]
        for place in (3, 9, 13, *range(17, 152, 8), *tables, len(good) // 2, len(good) - 1):
            with self.subTest(place=place), open(path, "wb") as file:
                file.write(good[:place] + bytes([good[place] ^ 16]) + good[place + 1:])
                file.flush()
                self.refused("rank 3", "rank-3")
        for length in (0, 50, 1000, len(good) - 1):
            with self.subTest(length=length), open(path, "wb") as file:
                file.write(good[:length])
                file.flush()
                self.refused("rank 3", "is damaged, or was not written to its end")
        other = self.folder + ".other"
        self.lines(self.run_job("-q", "-n", 6, "--migratable", self.steps, 6, other, 5))
        shutil.copy(os.path.join(other, "last", "rank-3"), path)
        self.refused("rank 3", "belongs to another checkpoint")
        os.remove(path)
        self.refused("rank 3", "rank-3: No such file or directory")
        with open(path, "wb") as file:
            file.write(good)
        os.chmod(path, 0o622)
        self.refused("rank 3", "can be written to by others")
        os.chmod(path, 0o600)
        if os.geteuid() == 0:
            os.chown(path, 12345, -1)
            self.refused("rank 3", "belongs to another user (id 12345)")
            os.chown(path, 0, -1)
        self.assertIn("restarted after step 5", self.lines(self.restart()))
        shutil.copy(self.steps, self.steps + ".good")
        try:
            with open(self.steps, "ab") as file:
                file.write(b"\0")
            self.refused(os.path.basename(self.steps), "is another one here")
        finally:
            os.replace(self.steps + ".good", self.steps)
        with open(os.path.join(last, "job"), "r+b") as file:
            file.write(b"tmpi 99")
        self.refused("was not written by this version of tmpi", code=2)

    def test_options(self):
        self.refused("there is no complete checkpoint in it", code=2)
        self.save(ranks=2, steps=6)
        self.refused("the checkpoint is of 2 ranks", options=("-n", 3), code=2)
        self.check_failure(self.run_job("--restart", self.folder, self.steps), 2, "leave " + self.steps + " out")
        for option in (("--profile",), ("--check",), ("--trace", self.folder + ".json")):
            self.check_failure(self.run_job(*option, "-n", 1, "--migratable", self.steps, "rounds", "x"), 2, "Give only one")
        self.check_failure(self.run_job("--stack-size", "1M", "--restart", self.folder), 2, "Leave them out")
        for size in ("3G", "1M", "1T"):
            job = self.run_job("-n", 200, "--migratable", "--slot-size", size, self.steps)
            self.assertNotEqual(job.code, 0)
            self.assertIn("power of two" if size == "3G" else "--slot-size", job.err.decode())
        self.assertEqual(len(self.lines(self.run_job("-q", "-n", 2, "--migratable", "--slot-size", "64M", "--stack-size", "1M", self.steps, 6,
                                                     self.folder, 3))), 6)


if __name__ == "__main__":
    main()
