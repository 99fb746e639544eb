"""--explore finds every outcome that the order of messages decides, each once, with a file that --replay repeats; and says so when there is one."""

import os
import re
import resource
import tempfile
import time

from harness import LaunchTest, main, program, wait_for


class ExploreTest(LaunchTest):
    def setUp(self):
        super().setUp()
        scratch = tempfile.TemporaryDirectory(prefix="tmpi-explore-test-")
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name
        self.explored = program("explored.c")

    def explore(self, case, ranks=3, code=0, option="--explore", options=(), **more):
        job = self.run_job("-n", ranks, *options, option, self.explored, case, cwd=self.scratch, **more)
        job.text = job.out.decode()
        self.assertEqual(job.code, code, job.text + job.err.decode())
        return job

    def left(self):
        return [name for name in os.listdir(self.scratch) if name.startswith("tmpi-explore-")]

    def same(self, case, orders, ranks=3):
        job = self.explore(case, ranks)
        said = f"all {orders} orders" if orders > 1 else "1 order"
        self.assertEqual(job.text, f"tmpirun: --explore: {said}: same result, exit code 0\n")

    def differ(self, case, orders, outcomes, ranks=3):
        """`outcomes`: of each how many orders, and a pattern."""
        text = self.explore(case, ranks, code=1).text
        self.assertRegex(text, rf"^tmpirun: --explore: {len(outcomes)} different outcomes of {orders} orders in \d+ runs\n")
        self.assertEqual(text.count(" order: ") + text.count(" orders: "), len(outcomes), text)
        for count, pattern in outcomes:
            self.assertRegex(text, rf"\d\. {count} orders?: {pattern}")
        return text

    def test_same_results(self):
        self.same("sum", 24, ranks=5)
        self.same("clocks", 2)
        self.same("determined", 1)

    def test_what_comes_later_is_no_alternative(self):
        """One run for each order: none that could not be."""
        self.same("phases", 4)
        self.same("workers", 16)

    def test_each_way_to_receive(self):
        for case in ("first", "posted", "persistent", "probe"):
            with self.subTest(case=case):
                self.firsts(case)

    def firsts(self, case):
        text = self.explore(case, ranks=4, code=1).text
        self.assertIn("3 different outcomes of", text)
        self.assertEqual(sorted(re.findall(r"\[0\] first (\d)", text)), ["1", "2", "3"])

    def test_tests(self):
        self.firsts("tests")

    def test_completions(self):
        text = self.explore("any", code=1).text
        self.assertEqual(sorted(re.findall(r"\d\. 1 order: exit code 0\n    \[0\] first (\d)", text)), ["1", "2"])
        self.assertIn("2 different outcomes of 1 order and 1 other answer of tests and completions in", text)
        text = self.explore("some", code=1).text
        self.assertLessEqual({"1", "2"}, set(re.findall(r"\[0\] first (\d+)", text)))
        self.repeated(text, "some", 3)

    def test_answers(self):
        """What an Iprobe or Test says is tried both ways, once for each loop around it; that of no request has one answer."""
        text = self.explore("answers", ranks=3, code=1).text
        self.assertEqual(sorted(re.findall(r"\[0\] there (\d)", text)), ["0", "1", "2"])
        self.repeated(text, "answers", 3)
        self.assertEqual(self.explore("loops").text, "tmpirun: --explore: all 1 order and 1 other answer of tests and completions: same result, exit code 0\n")

    def test_sends_that_wait(self):
        text = self.explore("unsafe", code=1).text
        self.assertRegex(text, r"^tmpirun: --explore: 2 different outcomes of 1 order in \d+ runs\n  1\. 1 order: exit code 0\n")
        self.assertRegex(text, r"  2\. 1 order, if sends wait for their receives: exit code 125: deadlock: every rank")
        file = re.findall(r"again: tmpirun --replay (\S+) \.\.\.", text)[1]
        job = self.run_job("-n", 3, "--workers", 2, "--replay", file, self.explored, "unsafe")
        self.assertEqual(job.code, 125)
        self.assertIn("rank 1: blocked in MPI_Ssend to rank 0", job.err.decode())
        self.same("nonblocking", 1)

    def test_orders_of_ranks(self):
        text = self.explore("counter", code=1).text
        self.assertRegex(text, r"2\. with --sched random:\d: exit code 0\n    \[1\] before \d\n    \[2\] before \d\n    again: tmpirun --replay \S+ --sched random:\d \.\.\.")

    def repeated(self, text, case, ranks):
        for line, file in re.findall(r"\[0\] (.*)\n    again: tmpirun --replay (\S+) \.\.\.", text):
            job = self.run_job("-n", ranks, "--workers", 2, "-q", "--replay", file, self.explored, case)
            self.assertEqual((job.code, job.out.decode()), (0, line + "\n"), job.err)

    def test_bad_ends(self):
        self.differ("deadlock", 2, [(1, "exit code 0"), (1, "exit code 125: deadlock: every rank")])
        self.differ("abort", 2, [(1, "exit code 0"), (1, r"exit code 9: .*MPI_Abort")])
        self.differ("truncate", 2, [(1, "exit code 0"), (1, r"exit code 15: rank 0 on .* longer than the receive buffer")])

    def test_an_outcome_is_repeated(self):
        text = self.explore("first", ranks=4, code=1).text
        self.assertEqual(len(re.findall("    again: ", text)), 3)
        self.repeated(text, "first", 4)

    def test_input(self):
        """A file is read by each run, from where tmpirun has it; anything else by none."""
        path = os.path.join(self.scratch, "input")
        with open(path, "w", encoding="utf-8") as file:
            file.write("passed over\nthis\n")
        with open(path, "rb", buffering=0) as file:
            file.read(len("passed over\n"))
            self.assertIn("all 2 orders: same result", self.explore("input", stdin=file).text)
        self.assertIn("all 2 orders: same result", self.explore("input", input=b"this\n").text)

    def test_a_run_without_an_end(self):
        job = self.explore("forever", code=1, options=("--timeout", 3))
        self.assertRegex(job.text, r"1 order: exit code 124: a run was ended after 3 seconds \(--timeout\)")

    def test_the_shortest_record_is_kept(self):
        text = self.explore("deadlock", code=1).text
        for file in re.findall(r"again: tmpirun --replay (\S+) \.\.\.", text):
            self.assertGreater(os.path.getsize(file), 4096)
        self.assertEqual(text.count("again: "), 2)

    def test_an_argument_of_the_programs_own(self):
        job = self.run_job("-n", 3, self.explored, "argument", "--explore", env={"TMPI_EXPLORE": "60"}, cwd=self.scratch)
        self.assertEqual(job.out, b"tmpirun: --explore: all 2 orders: same result, exit code 0\n", job.err)

    def test_a_run_that_cannot_be_written_down(self):
        limit = 12 << 10
        job = self.run_job("-n", 5, "--explore", self.explored, "sum", cwd=self.scratch,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)))
        self.assertEqual((job.code, job.out), (1, b""))
        self.assertIn("--explore: what this run does cannot be written down: File too large", job.err.decode())

    def test_time(self):
        text = self.explore("sum", ranks=9, option="--explore=1").text
        self.assertRegex(text, r"^tmpirun: --explore: \d+ orders?: same result, exit code 0\n  the time is over; \d+ orders are known that have not "
                         r"been tried\n$")

    def test_on_several_nodes(self):
        job = self.explore("sum", ranks=4, options=("--nodes", 2))
        self.assertIn("all 6 orders: same result", job.text)

    def test_refused(self):
        job = self.run_job("-n", 2, "--explore", "--record", os.path.join(self.scratch, "x"), self.explored, "sum")
        self.assertEqual(job.code, 2)
        self.assertIn("--explore records and replays by itself", job.err.decode())
        for options in (("--tag-output",), ("--output-filename", self.scratch)):
            job = self.run_job("-n", 2, "--explore", *options, self.explored, "sum")
            self.assertEqual(job.code, 2)
            self.assertIn("leave --output-filename and --tag-output out", job.err.decode())
        job = self.run_job("-n", 2, "--explore", os.path.join(self.scratch, "nowhere"), env={"TMPDIR": self.scratch})
        self.assertEqual(job.code, 1)
        self.assertIn("nowhere", job.err.decode())
        self.assertEqual(self.left(), [])

    def test_interrupted(self):
        """It says what it has found so far, and leaves nothing."""
        job = self.start("-n", 9, "--explore", self.explored, "sum", env={"TMPDIR": self.scratch})
        wait_for(self.left, "the first run")
        time.sleep(1)
        job.process.terminate()
        job.finish()
        self.assertEqual(job.code, 143, job.err)
        self.assertEqual(self.left(), [])
        self.check_nothing_left(job)


if __name__ == "__main__":
    main()
