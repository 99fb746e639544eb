"""--record and --replay: a run on several workers and nodes is repeated on one worker to the last byte of its output, and a replay that departs says
where."""

import os
import resource
import tempfile

from harness import LaunchTest, main, program


class ReplayTest(LaunchTest):
    def setUp(self):
        super().setUp()
        scratch = tempfile.TemporaryDirectory(prefix="tmpi-replay-")
        self.addCleanup(scratch.cleanup)
        self.file = os.path.join(scratch.name, "record")
        self.choices = program("choices.c")

    def run_choices(self, *options, arguments=(), ranks=5, code=0):
        job = self.run_job("-n", ranks, "--timeout", 120, *options, self.choices, *arguments)
        job.text = job.err.decode()
        self.assertEqual(job.code, code, job.text)
        return job

    def record(self, *options, **more):
        return self.run_choices("--record", self.file, "-q", *options, **more)

    def replay(self, *options, **more):
        return self.run_choices("--replay", self.file, *options, **more)

    @staticmethod
    def lines(job):
        return sorted(job.out.decode().splitlines())

    def test_the_same_again(self):
        for options in (("--nodes", 2), ("--nodes", 3, "--map-by", "cyclic"), ("--workers", 4), ("--workers", 2, "--sched", "random:7")):
            recorded = self.lines(self.record(*options))
            self.assertEqual(len(recorded), 6)
            for again in (("--workers", 1), ("--workers", 1, "--sched", "random:3"), ("--workers", 2), ("--nodes", 2)):
                with self.subTest(recorded=options, again=again):
                    self.assertEqual(self.lines(self.replay("-q", *again)), recorded)

    def test_orders_differ(self):
        """Else the test above shows nothing."""
        orders = {self.lines(self.run_choices("-q", "--nodes", 2))[-1] for _ in range(10)}
        self.assertGreater(len(orders), 1)

    def test_a_run_that_was_ended_is_repeated(self):
        job = self.run_job("-n", 5, "--nodes", 2, "-q", "--record", self.file, self.choices, "abort")
        self.assertGreater(job.code, 0)
        for _ in range(5):
            self.assertEqual(self.lines(self.replay("--workers", 1, "-q", arguments=["abort"], code=job.code)), self.lines(job))

    def test_a_killed_run_is_repeated_as_far_as_it_went(self):
        self.record("--nodes", 2, arguments=["first", "2"], ranks=3, code=125)
        for _ in range(5):
            job = self.replay("--workers", 1, arguments=["first", "2"], ranks=3, code=125)
            self.assertIn("rank 0: blocked in MPI_Recv from rank 1 with tag 0", job.text)

    def test_a_replay_is_recorded_itself(self):
        recorded = self.lines(self.record("--nodes", 2))
        second = self.file + ".again"
        self.replay("--workers", 1, "-q", "--record", second)
        self.file = second
        self.assertEqual(self.lines(self.replay("--workers", 1, "-q")), recorded)

    def test_with_check_and_profile(self):
        recorded = self.lines(self.record("--workers", 2, "--check"))
        job = self.replay("--workers", 1, "-q", "--check", "--profile=" + self.file + ".json")
        self.assertEqual(self.lines(job), recorded)

    def test_calls_that_are_refused(self):
        recorded = self.lines(self.record("--nodes", 2, arguments=["errors"]))
        self.assertEqual(recorded.count("22 errors"), 5)
        self.assertEqual(self.lines(self.replay("--workers", 1, "-q", arguments=["errors"])), recorded)

    # Departures.
    def test_more_than_was_recorded(self):
        self.record()
        job = self.replay(arguments=["more"], code=16)
        self.assertRegex(job.text, r"rank 0 on \S+: MPI_Recv: the replay departs from \S+record at choice \d+ of this rank. Recorded is the end of the "
                         r"rank; the program asks for which message a receive takes\.")
        self.assertIn("this is not what was recorded, which is tmpirun -n 5 choices", job.text)

    def test_less_than_was_recorded(self):
        self.record(arguments=["more"])
        self.assertRegex(self.replay().text, r"warning: rank 0 has come to its end after \d+ choices, but more is recorded: next is a receive that took "
                         "the message of rank 1 with tag 2")

    def test_other_choice(self):
        self.record()
        job = self.replay(arguments=["first", "1"], code=16)
        self.assertRegex(job.text, r"MPI_Recv: the replay departs from \S+ at choice 1 of this rank\. Recorded is ")

    def test_what_never_comes(self):
        self.record("--workers", 2, arguments=["first", "1"], ranks=3)
        job = self.replay(arguments=["silent", "2"], ranks=3, code=125)
        self.assertRegex(job.text, r"replay: rank 0 is at its choice 1, in MPI_Recv\. Recorded is a receive that took the message of rank 2 with tag 0")

    # What is not recorded is told of.
    def test_atomics(self):
        job = self.run_choices("--record", self.file, arguments=["atomics"])
        self.assertIn("warning: a replay may not repeat rank 3: it uses one-sided operations that fetch and replace a value", job.text)

    def test_quiet(self):
        self.assertEqual(self.record(arguments=["atomics"]).text, "")

    def test_which_node_process(self):
        job = self.run_choices("--record", self.file, "--nodes", 2, arguments=["atomics"])
        self.assertRegex(job.text, r"tmpirun: warning: node 1 on host \S+: a replay may not repeat rank 4: ")

    def test_callbacks(self):
        """What they come to inside a call that is recorded is not recorded, and disturbs nothing."""
        job = self.run_choices("--record", self.file, arguments=["callbacks"])
        self.assertRegex(job.text, r"warning: a replay may not repeat rank 0: callbacks of its \(")
        self.assertEqual(self.lines(self.replay("-q", "--workers", 1, arguments=["callbacks"])), self.lines(job))

    def test_threads(self):
        job = self.run_choices("--record", self.file, arguments=["threads"])
        self.assertIn("warning: a replay may not repeat rank 1: threads that it has created call MPI", job.text)

    # Files.
    def refused(self, sentence, *options):
        job = self.run_job("-n", 2, *options, self.choices)
        self.assertEqual((job.code, job.out), (1, b""))
        self.assertIn(sentence, job.err.decode())

    def test_bad_files(self):
        self.refused("cannot write the file: No such file", "--record", "/nowhere/record")
        self.refused("cannot open the file: No such file", "--replay", self.file)
        self.refused("this is not a file that --record has written", "--replay", self.choices)
        self.record()
        self.refused("5 ranks were recorded (tmpirun -n 5 choices", "--replay", self.file)
        self.refused("--replay reads this file", "--replay", self.file, "--record", self.file)
        with open(self.file, "r+b") as file:
            file.truncate(2000)
        self.refused("5 ranks were recorded", "--replay", self.file)

    def test_the_same_file_by_another_name(self):
        recorded = self.lines(self.record())
        for name in ("record", "./record"):
            job = self.run_job("-n", 5, "--replay", "./record", "--record", name, self.choices, cwd=os.path.dirname(self.file))
            self.assertEqual((job.code, job.out), (1, b""))
        os.symlink(self.file, self.file + ".link")
        self.refused("--replay reads this file", "--replay", self.file, "--record", self.file + ".link")
        self.assertEqual(self.lines(self.replay("-q")), recorded)

    def test_a_limit_on_the_size_of_files(self):
        limit = 12 << 10
        job = self.run_job("-n", 5, "--record", self.file, self.choices,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)))
        self.assertEqual(job.code, 0, job.err)
        self.assertIn("the record is not complete: File too large", job.err.decode())
        self.assertLessEqual(os.path.getsize(self.file), limit)

    def test_damaged_file(self):
        """Whatever its bytes are, a job ends with a sentence, or runs."""
        self.record("--workers", 2)
        with open(self.file, "rb") as file:
            whole = file.read()
        for place in range(4096 + 8, len(whole), len(whole) // 12):
            with open(self.file, "wb") as file:
                file.write(whole[:place] + bytes([whole[place] ^ 0x55]) * 3 + whole[place + 3:])
            job = self.run_job("-n", 5, "--workers", 1, "-q", "--timeout", 60, "--replay", self.file, self.choices)
            self.assertIn(job.code, (0, 1, 16, 125), job.err.decode())


if __name__ == "__main__":
    main()
