"""A job that runs is asked where its ranks are: --stacks, and the trees in state dumps and deadlock reports."""

import os
import re
import subprocess
import sys

from harness import HANG, HERE, TMPIRUN, LaunchTest, claims_time, main, program, wait_for


DEBUGGER = """
import ctypes, os, sys
for thread in os.listdir(f"/proc/{sys.argv[1]}/task"):
    assert ctypes.CDLL(None).ptrace(0x4206, int(thread), None, None) == 0  # PTRACE_SEIZE
print("attached", flush=True)
sys.stdin.read()
"""


def line_of(mark):
    with open(os.path.join(HERE, "programs", "tree.c")) as file:
        return next(number for number, line in enumerate(file, 1) if f"/* {mark} here */" in line)


def at(function, mark):
    return f"{function} (tree.c:{line_of(mark)})"


BARRIER = "blocked in MPI_Barrier on MPI_COMM_WORLD"
RECEIVE = "rank {}: blocked in MPI_Recv from rank {} with tag 5 on MPI_COMM_WORLD"

# Of 8 ranks, the last of which computes. What is called from qsort, and whether that has frames with names, is libc's.
TREE = f"""\
  ranks 1-7 (7): {at("main", "calls step")}
    ranks 1,3,5 (3): {at("step", "calls exchange")}
      {at("exchange", "receives")}
        {RECEIVE.format(1, 2)}
        {RECEIVE.format(3, 4)}
        {RECEIVE.format(5, 6)}
    ranks 2,4,6 (3): {at("step", "calls barrier")}
      {BARRIER}
    rank 7: {at("step", "calls compute")}
      {at("compute", "computes")}
        running
"""
RANK_0 = r" +(?:.*\n)* *".join(map(re.escape, ["  rank 0: " + at("main", "calls qsort") + "\n", at("compare", "calls step from compare") + "\n",
                                               at("step", "calls barrier") + "\n", BARRIER + "\n"]))


class AskedTest(LaunchTest):
    def asked(self, *arguments, **environment):
        return subprocess.run([TMPIRUN, *map(str, arguments)], capture_output=True, text=True, timeout=HANG, env={**os.environ, **environment})

    def stacks(self, *arguments, **environment):
        done = self.asked(*arguments, "--stacks", **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def check_tree(self, text):
        self.assertRegex(text, RANK_0)
        self.assertIn(TREE, text)

    def until_it_stands(self, job, ranks_in_exchange=3):
        """The tree of a job whose ranks are where they will stay."""
        def stands():
            done = self.asked("--job", job.process.pid, "--stacks")
            return done.stdout if done.stdout.count("running\n") == 1 and f"({ranks_in_exchange}): step" in done.stdout else None

        return wait_for(stands, "the ranks")

    def test_tree(self):
        for options in (["--workers", 1], ["--vratio", 4], ["--nodes", 2, "--vratio", 2], ["--workers", 2, "--balance", "auto"], ["--check"]):
            with self.subTest(options=options):
                job = self.start("-q", "-n", 8, *options, program("tree.c", "-g"))
                self.check_tree(self.until_it_stands(job))
                self.check_tree(self.stacks("--job", job.process.pid))  # again: asking changes nothing
                job.process.terminate()
                job.finish()

    def test_without_debugging_information(self):
        job = self.start("-q", "-n", 8, program("tree.c", "-O2", "-g0"))
        wait_for(lambda: re.search(r"main \(tree\w*\)\n", self.asked("--job", job.process.pid, "--stacks").stdout), "names of functions alone")
        job.process.terminate()
        job.finish()

    def test_the_only_job_needs_no_number(self):
        home = self.directory()
        job = self.start("-q", "-n", 8, program("tree.c", "-g"), env={"XDG_RUNTIME_DIR": home})
        wait_for(lambda: os.listdir(os.path.join(home, "tmpi")) if os.path.isdir(os.path.join(home, "tmpi")) else None, "the job")
        wait_for(lambda: "compute" in self.asked("--stacks", XDG_RUNTIME_DIR=home).stdout, "the tree")
        other = self.start("-q", "-n", 1, program("tree.c", "-g"), env={"XDG_RUNTIME_DIR": home})
        wait_for(lambda: len(os.listdir(os.path.join(home, "tmpi"))) == 2, "the other job")
        done = self.asked("--stacks", XDG_RUNTIME_DIR=home)
        self.assertEqual(done.returncode, 1)
        self.assertIn("2 jobs of yours run here; name one by its number:", done.stderr)
        for one in (job, other):
            self.assertIn(f"\n  {one.process.pid}: ", done.stderr)
            one.process.terminate()
            one.finish()
        self.assertEqual(os.listdir(os.path.join(home, "tmpi")), [])
        done = self.asked("--stacks", XDG_RUNTIME_DIR=home)
        self.assertIn("no job of yours runs on this machine", done.stderr)

    def test_what_cannot_be_asked(self):
        for arguments, sentence in ((["--stacks", "--job", 1], "1 is not the process id of a tmpirun of yours"),
                                    (["--job", 1, "a.out"], "--job names a job that runs already"),
                                    (["--stacks", "a.out"], "leave a.out out"),
                                    (["--stacks", "--job", "x"], "the process id of the job's tmpirun")):
            done = self.asked(*arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(sentence, done.stderr)

    def test_a_killed_job_leaves_nothing_that_disturbs(self):
        home = self.directory()
        job = self.start("-q", "-n", 2, program("tree.c", "-g"), env={"XDG_RUNTIME_DIR": home})
        wait_for(lambda: "compute" in self.asked("--stacks", XDG_RUNTIME_DIR=home).stdout, "the tree")
        job.process.kill()
        job.finish()
        self.assertIn("no job of yours runs", self.asked("--stacks", XDG_RUNTIME_DIR=home).stderr)
        self.assertEqual(os.listdir(os.path.join(home, "tmpi")), [])

    def test_a_debugger_has_the_node_process(self):
        """Nobody else can stop it then. Suspended ranks are followed all the same."""
        job = self.start("-q", "-n", 8, program("tree.c", "-g"))
        self.until_it_stands(job)
        with subprocess.Popen([sys.executable, "-c", DEBUGGER, str(job.node_pid())], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as debugger:
            self.assertEqual(debugger.stdout.readline(), b"attached\n")
            text = self.stacks("--job", job.process.pid)
            debugger.stdin.close()
        self.assertIn(at("exchange", "receives"), text)
        self.assertIn("rank 7: running\n", text)
        job.process.terminate()
        job.finish()

    def test_timeout_shows_the_tree(self):
        for nodes in (1, 2):
            job = self.timed_out(TREE, "-q", "-n", 8, "--nodes", nodes, program("tree.c", "-g"))
            self.check_tree(job.err.decode())

    def test_signal_shows_the_tree(self):
        job = self.start("-q", "-n", 8, program("tree.c", "-g"))
        job.ask_until(TREE.encode())
        job.process.terminate()
        job.finish()

    def test_deadlock_shows_the_tree(self):
        for nodes in (1, 2):
            job = self.run_job("-q", "-n", 8, "--nodes", nodes, program("tree.c", "-g"), "deadlock")
            self.assertEqual(job.code, 125)
            err = job.err.decode()
            self.assertRegex(err, RANK_0)
            self.assertIn(f"    ranks 1,3,5,7 (4): {at('step', 'calls exchange')}\n      {at('exchange', 'receives')}\n        {RECEIVE.format(7, 0)}\n", err)

    @claims_time
    def test_ten_thousand_ranks(self):
        job = self.start("-q", "-n", 10000, "--workers", 2, "--stack-size", "64k", program("tree.c", "-g"))
        self.until_it_stands(job, 4999)
        seconds = []
        for _ in range(3):
            begin = os.times().elapsed
            text = self.stacks("--job", job.process.pid)
            seconds.append(os.times().elapsed - begin)
        self.assertIn("(4999): " + at("step", "calls exchange"), text)
        self.assertLess(len(text.splitlines()), 20)
        self.in_time(min(seconds), 2)
        job.process.terminate()
        job.finish()


if __name__ == "__main__":
    main()
