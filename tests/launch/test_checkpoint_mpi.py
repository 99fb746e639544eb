"""What a rank has of MPI's when it is saved (--migratable): messages and requests under way, attributes and other things of the program's own, windows,
MPI files go on as they were, on other numbers of nodes and workers."""

import os
import shutil

from harness import LaunchTest, main, program


class CheckpointMpiTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.files = os.path.join(self.directory(), "files")
        self.folder = os.path.join(self.directory(), "checkpoint")
        os.mkdir(self.files)

    def check(self, ranks, wanted, *command, nodes=((), ("--nodes", 2), ("--nodes", 3, "--net", "tcp"))):
        for first in nodes:
            shutil.rmtree(self.folder, ignore_errors=True)
            saved = self.lines(self.run_job("-q", "-n", ranks, "--migratable", *first, *command))
            self.assertEqual(saved, sorted(wanted + ["saved"]))
            for again in ((), ("--workers", 1), ("--nodes", 2), ("--nodes", 4), ("--vratio", 2, "--balance", "auto")):
                with self.subTest(first=first, again=again):
                    self.assertEqual(self.lines(self.run_job("-q", *again, "--restart", self.folder)), sorted(wanted + ["restarted"]))

    def check_in_the_way(self, path, cases, *rest):
        for what, sentence in cases:
            with self.subTest(what=what):
                lines = self.lines(self.run_job("-q", "-n", 2, "--migratable", "--nodes", 2, path, "why", what, *rest, self.folder))
                self.assertEqual(len(lines), 2, lines)
                for line in lines:
                    self.assertIn("have not been saved: rank ", line)
                    self.assertIn(sentence, line)
                self.assertFalse(os.path.exists(os.path.join(self.folder, "last")))

    def test_messages(self):
        wanted = [f"rank {rank}: at the end" for rank in range(5)]
        self.check(5, wanted, program("checkpoint_messages.c"), self.folder)
        for way in (("--rndv", "early-cts"), ("--net", "sim", "--rndv", "read")):
            self.check(5, wanted, program("checkpoint_messages.c"), self.folder, nodes=(("--nodes", 2, *way),))

    def test_messages_in_the_way(self):
        self.check_in_the_way(program("checkpoint_messages.c"), (
            ("collective", "has 1 request of nonblocking or persistent collectives"), ("persistent", "has 1 request of nonblocking or persistent"),
            ("synchronous", "by MPI_Issend or the like that has not been received"), ("matched", "from MPI_Mprobe that it has not received")))

    def test_objects(self):
        self.check(4, [f"rank {rank}: the end of {rank}, deleted 25, copied 10" for rank in range(4)], program("checkpoint_objects.c"), self.folder)

    def test_windows_and_files(self):
        self.check(4, [f"rank {rank}: at the end" for rank in range(4)], program("checkpoint_windows.c"), self.files, self.folder)
        os.remove(os.path.join(self.files, "half.1"))
        self.check_failure(self.run_job("--restart", self.folder), 1, "cannot be made again", "half.1", "No such file")

    def test_windows_and_files_in_the_way(self):
        path = program("checkpoint_windows.c")
        self.check_in_the_way(path, (("epoch", "rank 1 on host"), ("epoch", "has an epoch open at a window"),
                                     ("deleted", "has an MPI file open that has been deleted")), self.files)
        lines = self.lines(self.run_job("-q", "-n", 2, "--migratable", path, "why", "shared", self.files, self.folder))
        self.assertIn("has a window of shared memory", lines[0])


if __name__ == "__main__":
    main()
