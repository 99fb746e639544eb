"""What test_pmix and test_slurm share: jobs whose node processes somebody else than tmpirun has started."""

import os
import re
import signal
import time

from harness import BIN, PROMPTLY, LaunchTest, claims_time, executable, program, stat_field, wait_for

TMPI_NODE = os.path.join(BIN, "tmpi-node")


class AttachedTest(LaunchTest):
    """Subclasses say how a job of two node processes is started: launch(arguments) gives a program and its arguments."""

    SECOND = b""  # what only the second node process has in its environment

    def launch(self, arguments):
        raise NotImplementedError

    def begin(self, *arguments, **options):
        command = self.launch([str(a) for a in arguments])
        return self.start(*command[1:], tmpirun=command[0], **options)

    def finish(self, job, **options):
        job.finish(**options)
        self.check_nothing_left(job)
        return job

    def run_attached(self, *arguments, input=None, **options):
        return self.finish(self.begin(*arguments, **options), input=input)

    def check_ring(self, job, ranks):
        """All ranks have taken part, on two node processes with as many each."""
        out = job.out.decode()
        self.assertEqual(job.code, 0, out + job.err.decode())
        found = re.findall(r"rank (\d+) of (\d+) with (\d+) from (\d+), pid (\d+)", out)
        self.assertEqual(sorted(int(f[0]) for f in found), list(range(ranks)), out)
        self.assertEqual({int(f[1]) for f in found}, {ranks})
        self.assertEqual({int(f[2]) for f in found}, {ranks // 2}, out)
        self.assertEqual(len({f[4] for f in found}), 2, "two processes")
        self.assertIn(f"token {ranks - 1}, sum {ranks * (ranks - 1) // 2}", out)
        return found

    def check_one_message(self, job, code, *texts):
        err = job.err.decode(errors="replace")
        self.in_time(job.seconds, PROMPTLY)
        messages = [line for line in err.splitlines() if re.match(r"(tmpirun|tmpi-node): (?!warning: )", line)]
        self.assertEqual(len(messages), 1, err)
        for text in texts:
            self.assertIn(text, err)
        self.assertEqual(job.code, code, err)


class AttachedJobs:
    """The tests themselves."""

    def test_ring(self):
        found = self.check_ring(self.run_attached("-n", 8, program("ring.c")), 8)
        self.assertEqual({int(f[3]) for f in found if int(f[0]) < 4}, {0}, "neighbours are together")

    def test_options_are_those_of_tmpirun(self):
        job = self.run_attached("-n", 6, "--map-by", "cyclic", "--vratio", 3, "--stack-size", "256k", "-v", program("ring.c"))
        found = self.check_ring(job, 6)
        self.assertEqual({int(f[3]) for f in found if int(f[0]) % 2 == 1}, {1})
        self.assertIn("stacks of 256 KiB", job.err.decode())

    def test_options_from_the_environment(self):
        self.check_ring(self.run_attached(program("ring.c"), env={"TMPI_N": "4"}), 4)

    def test_one_rank_per_core_without_n(self):
        job = self.run_attached(program("ring.c"))
        self.assertEqual(job.code, 0, job.err)
        self.assertRegex(job.out.decode(), r"token \d+, sum \d+")

    def test_a_node_process_without_ranks_ends_by_itself(self):
        job = self.run_attached("-n", 1, program("plain.c"))
        self.assertEqual(job.code, 0, job.err)

    def test_input_goes_to_rank_0(self):
        job = self.begin("-n", 4, program("ring.c"), "echo", stdin=-1)
        self.finish(job, input=b"one\ntwo\n")
        self.assertEqual(job.code, 0, job.err)
        self.assertIn("got one", job.out.decode())
        self.assertIn("got two", job.out.decode())

    def test_exit_code_after_finalize(self):
        job = self.run_attached("-n", 4, program("ring.c"), "code", 17)
        self.check_one_message(job, 17, "rank 3 on host", "ended with exit code 17")

    def test_mpi_abort_on_either_node_process(self):
        for rank in (0, 3):
            job = self.run_attached("-n", 4, program("misbehave.c"), "abort-mpi", rank, 42)
            self.check_one_message(job, 42, f"rank {rank} on ", "called MPI_Abort with code 42")

    @claims_time
    def test_crash(self):
        job = self.run_attached("-n", 4, program("misbehave.c"), "segv", 3)
        self.check_one_message(job, 139, "rank 3 on host", "segmentation fault", "#0 write_through_null")

    def test_broken_rule(self):
        job = self.run_attached("-n", 4, program("misbehave.c"), "exit", 3, 5)
        self.check_one_message(job, 5, "rank 3 on host", "without having called MPI_Finalize")

    def test_missing_program(self):
        job = self.run_attached("-n", 4, "./no-such-program")
        self.check_one_message(job, 127, "cannot find the program './no-such-program'")

    def test_unknown_option(self):
        job = self.run_attached("--vration", 4, program("plain.c"))
        self.check_one_message(job, 2, "did you mean '--vratio'")

    def test_timeout_shows_the_ranks_of_all_node_processes(self):
        self.timed_out("ranks 0-3 (4): blocked in MPI_Recv", "-n", 4, "--no-deadlock-check", program("ring.c"), "wait", run=self.run_attached)

    def test_deadlock(self):
        job = self.promptly(PROMPTLY, self.run_attached("-n", 4, program("ring.c"), "wait"))
        self.assertNotEqual(job.code, 0)
        self.assertIn("ranks 0-3 (4): blocked in MPI_Recv", job.err.decode())

    def wait_for_ring(self, *options):
        job = self.begin("-n", 4, "--no-deadlock-check", *options, program("ring.c"), "wait")
        job.read_until(b"all wait")
        return job

    @claims_time
    def test_killed_node_process(self):
        job = self.wait_for_ring()
        pid = wait_for(lambda: self.attached_pid(job), "node process 1")
        os.kill(pid, signal.SIGKILL)
        start = time.monotonic()
        self.finish(job)
        self.in_time(time.monotonic() - start, PROMPTLY)
        err = job.err.decode()
        self.assertNotEqual(job.code, 0)
        self.assertEqual(len([line for line in err.splitlines() if line.startswith("tmpirun: ")]), 1, err)
        self.assertIn("node process 1 on host", err)
        self.assertIn("ranks 2-3", err)
        return job

    def attached_pid(self, job):
        """Of node process 1, not of the supervisor that is its parent."""
        for pid, _ in job.survivors():
            try:
                with open(f"/proc/{stat_field(pid, 4)}/cmdline") as file:
                    supervised = "--attached" in file.read()
                with open(f"/proc/{pid}/environ", "rb") as file:
                    is_second = self.SECOND in file.read().split(b"\0")
            except OSError:
                continue  # it is gone
            if executable(pid) == "tmpi-node" and supervised and is_second:
                return pid
        return None
