"""Races between calls of one-sided communication in all kinds of epochs, and what orders them (programs/windows.c)."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "launch"))
from harness import BIN, LaunchTest  # noqa: E402

SOURCE = os.path.join(HERE, "programs", "windows.c")
with open(SOURCE, encoding="utf-8") as text:
    LINES = {mark: number for number, line in enumerate(text, 1) for mark in re.findall(r"// @(\w+)", line)}
HEAD = "tmpirun: warning: races for memory of windows, what comes of them is not defined:"
ORDERED = ("by_barriers", "by_messages", "by_locks", "by_exposures", "by_atomics", "by_memory", "by_requests", "many")
ONE_NODE = (("--workers", 1), ("--workers", 2), ("--workers", 1, "--sched", "random:5"))


class WindowOrderTest(LaunchTest):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="tmpi-check-")
        cls.program = os.path.join(cls.scratch.name, "windows")
        subprocess.run([os.path.join(BIN, "tmpicc"), "-g", "-O0", "-o", cls.program, SOURCE], check=True, timeout=300)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def said(self, *cases, options=()):
        job = self.run_job("-n", 3, "--check", "--timeout", 120, *options, self.program, *cases)
        self.assertEqual(job.code, 0, job.err.decode())
        return [line for line in job.err.decode().splitlines() if "node processes share" not in line]  # cores

    def race(self, case, one, other, what="memory of member 0 of the window"):
        """Of two calls, (rank, call, mark): which comes second is open."""
        for options in ONE_NODE:
            with self.subTest(case=case, options=options):
                lines = self.said(case, options=options)
                self.assertEqual((lines[:1], len(lines)), ([HEAD], 2), lines)
                sentences = []
                for (rank, call, mark), (first_rank, first_call, first_mark) in ((one, other), (other, one)):
                    who = "the rank itself" if rank == first_rank else f"rank {first_rank}"
                    sentences.append(f"  rank {rank}: MPI_{call} at windows.c:{LINES[mark]}: {what} that {who} accesses by MPI_{first_call} at "
                                     f"windows.c:{LINES[first_mark]} with nothing that orders the two calls")
                self.assertIn(lines[1], sentences)

    def test_epochs_of_locks(self):
        self.race("no_order", (1, "Put", "put"), (2, "Put", "put"))
        self.race("shared_locks", (1, "Put", "put"), (2, "Get", "get"))
        self.race("not_flushed", (1, "Put", "put"), (2, "Get", "get"))
        self.race("flushed_here_only", (1, "Put", "put"), (1, "Get", "get"))
        self.race("put_by_request", (1, "Rput", "rput"), (1, "Get", "get"))

    def test_epochs_of_start(self):
        self.race("one_exposure", (1, "Put", "put"), (2, "Put", "put"))

    def test_what_orders_others(self):
        self.race("message_too_early", (1, "Put", "put"), (2, "Get", "get"))
        self.race("barrier_of_others", (1, "Put", "put"), (2, "Get", "get"))

    def test_buffers(self):
        self.race("buffer_in_use", (1, "Get", "first_get"), (1, "Get", "second_get"), "a buffer")

    def test_in_order(self):
        for case in ORDERED:
            for options in (*ONE_NODE, ("--nodes", 2), ("--nodes", 2, "--map-by", "cyclic"), ("--nodes", 3)):
                with self.subTest(case=case, options=options):
                    self.assertEqual(self.said(case, options=options), [])

    def test_one_after_the_other(self):
        self.assertEqual(self.said(*ORDERED, *ORDERED, options=("--workers", 2)), [])


if __name__ == "__main__":
    unittest.main()
