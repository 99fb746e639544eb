"""Every way in which a job goes wrong: it ends promptly, with one clear message and a non-zero code, and leaves no process behind."""

import os
import signal
import subprocess
import time

from harness import HANG, PROMPTLY, LaunchTest, claims_time, main, program, wait_for


class FailureTest(LaunchTest):
    def misbehave(self, mode, *more, ranks=8, options=(), name="misbehave.c", **run):
        return self.promptly(PROMPTLY, self.run_job("-n", ranks, "--vratio", 4, *options, program(name), mode, *more, **run))

    @claims_time
    def test_mpi_abort(self):
        job = self.misbehave("abort-mpi", 3, 42)
        self.check_failure(job, 42, "rank 3 on", "called MPI_Abort with code 42")

    def test_a_node_process_that_somebody_stops(self):
        """It is named, and nothing is lost when it goes on."""
        job = self.start("-n", 2, "--nodes", 2, program("chatter.c"))
        pids = job.node_pids(2)
        job.read_until(b"talks", 2)
        os.kill(pids[1], signal.SIGSTOP)
        while b"has been stopped for 5 seconds" not in job.seen_err:
            job.read("stderr", "the node process's name", time.monotonic() + HANG)
        self.assertIn(f"node process 1 on host {os.uname().nodename} (pid {pids[1]}), with rank 1, has been stopped", job.seen_err.decode())
        os.kill(pids[1], signal.SIGCONT)
        job.ask_until(b"ranks 0-1 (2): main")
        job.process.send_signal(signal.SIGTERM)
        self.assertEqual(job.finish().code, 143, job.err)

    def test_mpi_abort_with_code_zero_is_still_a_failure(self):
        self.check_failure(self.misbehave("abort-mpi", 3, 0), 1, "called MPI_Abort with code 0")

    def test_output_before_the_abort_is_there(self):
        job = self.misbehave("partial", 2)
        self.assertIn(b"rank 2 is here\n", job.out)
        self.assertIn(b"half a line", job.out)

    @claims_time
    def test_fatal_mpi_error(self):
        job = self.misbehave("bad-rank", 1)
        self.assertNotEqual(job.code, 0)
        self.check_failure(job, job.code, "rank 1 on", "MPI_Send failed", "MPI_ERR_RANK")

    @claims_time
    def test_segmentation_fault(self):
        job = self.misbehave("segv", 2)
        self.check_failure(job, 139, "rank 2 on host", "segmentation fault (SIGSEGV at address 0x8)")
        self.assertRegex(job.err.decode(), r"#0 write_through_null\+0x")
        self.assertRegex(job.err.decode(), r"#\d main\+0x")

    def test_division_by_zero(self):
        job = self.misbehave("fpe")
        self.check_failure(job, 136, "rank 1 on host", "arithmetic error (SIGFPE")
        self.assertRegex(job.err.decode(), r"#0 fail\+0x")

    def test_illegal_instruction(self):
        self.check_failure(self.misbehave("ill"), 132, "rank 1 on host", "SIGILL")

    def test_call_through_null(self):
        job = self.misbehave("wild")
        self.check_failure(job, 139, "rank 1 on host", "SIGSEGV at address 0x0")
        self.assertRegex(job.err.decode(), r"#1 (call_wild_pointer|fail)\+0x")

    def test_smashed_frame_still_gives_a_report(self):
        self.check_failure(self.misbehave("smash"), 139, "rank 1 on host", "SIGSEGV")

    def test_smashed_heap_still_gives_rank_signal_and_address(self):
        for mode in ("block", "to-the-end", "all"):
            for byte in ("0", "0x41", "0xff"):
                for nodes in (1, 2):
                    with self.subTest(mode, byte=byte, nodes=nodes):  # one worker: nobody else trips over it
                        job = self.run_job("-n", 4, "--workers", 1, "--nodes", nodes, program("smash_heap.c"), mode, byte)
                        self.assertEqual(job.code, 139, job.err)
                        self.assertRegex(job.err.decode(), r"\Atmpirun: rank 1 on host \S+: segmentation fault \(SIGSEGV at address 0x[0-9a-f]+\)\n")

    @claims_time
    def test_stack_overflow(self):
        job = self.misbehave("overflow", 5, options=["--stack-size", "256k"])
        self.check_failure(job, 139, "rank 5 on host", "overflowed its stack of 256 KiB", "--stack-size 512k")
        self.assertRegex(job.err.decode(), r"#0 recurse_without_end\+0x")
        self.assertRegex(job.err.decode(), r"called by itself, \d+ times\n  #1 fail\+0x")

    def test_stack_overflow_of_the_default_stack(self):
        self.check_failure(self.misbehave("overflow"), 139, "stack of 8192 KiB", "--stack-size 16M")

    def test_abort(self):
        self.check_failure(self.misbehave("abort", 4), 134, "rank 4 on host")

    def test_assertion(self):
        job = self.misbehave("assert")
        self.assertEqual(job.code, 134)
        self.assertIn(b"zero == 1", job.err)

    def test_uncaught_exception(self):
        job = self.run_job("-n", 4, program("throws.cpp"))
        self.assertEqual(job.code, 134)
        self.assertIn(b"the grid is broken", job.err)
        self.assertIn(b"rank 1 on host", job.err)

    def test_names_in_a_backtrace_are_readable(self):
        job = self.run_job("-n", 4, program("throws.cpp"), "null")
        self.check_failure(job, 139, "model::Grid::step(int)+0x")

    def test_signal_raised_by_the_rank(self):
        self.check_failure(self.misbehave("raise"), 139, "rank 1 on host", "SIGSEGV")

    @claims_time
    def test_exit_in_the_middle(self):
        self.check_failure(self.misbehave("exit", 1, 3), 3, "rank 1 on host", "ended with exit code 3 without having called MPI_Finalize")

    def test_exit_with_zero_in_the_middle(self):
        self.check_failure(self.misbehave("exit", 6, 0), 1, "rank 6 on host", "ended with exit code 0 without having called MPI_Finalize")

    def test_raw_exit_in_the_middle(self):
        job = self.misbehave("_exit", 1, 3)
        self.assertEqual(job.code, 3)
        self.assertEqual(job.err.count(b"tmpirun: "), 1)

    def test_return_from_main_without_finalize(self):
        self.check_failure(self.misbehave("return", 1, 0), 1, "rank 1 on host", "without having called MPI_Finalize")

    @claims_time
    def test_end_before_init_while_others_use_mpi(self):
        for code in (0, 7):
            job = self.misbehave("before-init", 3, code)
            self.check_failure(job, code or 1, "rank 3 on host", "without having called MPI_Init")

    def test_codes_after_finalize_let_the_others_go_on(self):
        job = self.misbehave("after", 5, 20)
        self.assertEqual(job.out.count(b"is here\n"), 8)
        self.check_failure(job, job.code, "ended with exit code", "the first of 3 ranks")
        self.assertIn(job.code, (20, 21, 22))

    @claims_time
    def test_many_ranks_that_fail_at_once_give_one_message(self):
        job = self.promptly(PROMPTLY, self.run_job("-n", 500, program("misbehave.c"), "after", 0, 1))
        self.assertNotEqual(job.code, 0)
        self.assertEqual(job.err.count(b"tmpirun: "), 1)

    @claims_time
    def test_timeout_shows_where_everybody_is(self):
        self.promptly(PROMPTLY, self.timed_out("  ranks 0-7 (8): blocked in MPI_Recv from any source with tag 0 on MPI_COMM_WORLD\n",
                                               "-n", 8, "--no-deadlock-check", program("misbehave.c"), "hang"))

    def test_timeout_of_a_spinning_job(self):
        self.timed_out("running", "-n", 4, program("misbehave.c"), "spin")

    def test_children_of_ranks_end_with_the_job(self):
        job = self.start("-n", 4, "--no-deadlock-check", program("misbehave.c"), "child")
        job.read_until(b"started\n")
        job.process.send_signal(signal.SIGTERM)
        job.finish()
        self.assertEqual(job.code, 143)
        self.check_nothing_left(job)

    @claims_time
    def test_killed_node_process(self):
        job = self.start("-n", 4, "--no-deadlock-check", program("misbehave.c"), "hang")
        job.read_until(b"is here\n")
        os.kill(job.node_pid(), signal.SIGKILL)
        start = time.monotonic()
        job.finish()
        self.in_time(time.monotonic() - start, PROMPTLY)
        self.check_failure(job, 137, "the node process on host", "ranks 0-3", "killed by signal 9 (Killed)")
        self.check_nothing_left(job)

    def test_forked_child_does_not_hide_the_death_of_the_node_process(self):
        job = self.start("-n", 4, "--no-deadlock-check", program("misbehave.c"), "fork")
        job.read_until(b"is here\n")
        node = job.node_pids(2)[0]  # and the child, which looks like one
        os.kill(node, signal.SIGKILL)
        job.finish()
        self.check_failure(job, 137, "killed by signal 9 (Killed)")
        self.check_nothing_left(job)

    def forks(self, mode, *options):
        job = self.run_job("-n", 4, "--vratio", 2, *options, program("forks.c"), mode)
        self.assertEqual(job.code, 0, job.err)
        return job

    def test_forked_child_dies_of_its_signal_and_the_job_goes_on(self):
        for mode, number in (("abort", signal.SIGABRT), ("segv", signal.SIGSEGV), ("raise", signal.SIGFPE), ("kill", signal.SIGBUS),
                             ("term", signal.SIGTERM), ("overflow", signal.SIGSEGV), ("trap", signal.SIGTRAP), ("thread", signal.SIGSEGV),
                             ("exec", signal.SIGSEGV), ("vfork", signal.SIGSEGV)):
            with self.subTest(mode):
                job = self.forks(mode)
                self.assertEqual(job.out, b"the child was killed by signal %d\n" % number)
                self.assertEqual(job.err, b"")

    def test_forked_child_has_what_handlers_the_rank_has_set(self):
        job = self.forks("handler")
        self.assertEqual(job.out, b"the child ended with code %d\n" % signal.SIGSEGV)
        self.assertIn(b"the child's own handler\n", job.err)

    def test_child_of_a_forked_child(self):
        self.assertEqual(self.forks("grandchild").out, b"the child ended with code %d\n" % signal.SIGABRT)

    def test_mpi_in_a_forked_child_is_refused(self):
        for mode, code, name in (("mpi-abort", 7, "MPI_Abort with code 7"), ("mpi-send", 1, "MPI_Send"), ("mpi-barrier", 1, "MPI_Barrier"),
                                 ("mpi-finalize", 1, "MPI_Finalize"), ("mpi-init", 1, "MPI_Init"), ("mpi-session", 1, "MPI_Session_init"),
                                 ("mpi-bad", 1, "MPI_Comm_free")):
            for options in ((), ("--check",), ("--nodes", 2)):
                with self.subTest(mode, options=options):
                    job = self.forks(mode, *options)
                    self.assertEqual(job.out, b"the child ended with code %d\n" % code)
                    self.assertRegex(job.err.decode(), rf"tmpi: {name} called by process \d+, a child that rank 1 on \S+ has forked: ")
                    self.assertEqual(job.err.count(b"\n"), 1)

    def test_forked_child_may_ask_whether_there_is_mpi(self):
        job = self.forks("mpi-asks")  # a destructor that calls MPI_Finalize if it must
        self.assertEqual((job.out, job.err), (b"the child ended with code 3\n", b""))

    def test_forked_child_of_a_program_without_tmpirun(self):
        done = subprocess.run([program("forks.c"), "mpi-send", "0"], capture_output=True, timeout=HANG)
        self.assertEqual((done.returncode, done.stdout), (0, b"the child ended with code 1\n"), done.stderr)
        self.assertIn(b"tmpi: MPI_Send called by process ", done.stderr)

    def test_killed_tmpirun(self):
        for mode in ("hang", "spin", "child"):
            job = self.start("-n", 4, "--no-deadlock-check", program("misbehave.c"), mode)
            job.read_until(b"started\n" if mode == "child" else b"is here\n")
            # A child that has left the process group by setsid is out of reach once tmpirun is dead.
            escaped = lambda: [pid for pid, command in job.survivors() if command.startswith("sleep 301")]
            free = wait_for(escaped, "the child with a session of its own") if mode == "child" else []
            job.process.kill()
            job.process.wait()
            for pid in free:
                os.kill(pid, signal.SIGKILL)
            self.check_nothing_left(job)


class ProgramTest(LaunchTest):
    """Programs that cannot be started."""

    def test_missing(self):
        job = self.run_job("-n", 2, "./no-such-program")
        self.check_failure(job, 127, "cannot find the program './no-such-program'")
        job = self.run_job("-n", 2, "no-such-program")
        self.check_failure(job, 127, "neither in PATH nor in")

    def test_directory(self):
        self.check_failure(self.run_job(self.directory()), 126, "it is a directory")

    def test_fifo(self):
        fifo = os.path.join(self.directory(), "fifo")
        os.mkfifo(fifo)
        os.chmod(fifo, 0o755)
        self.check_failure(self.run_job("-n", 2, fifo), 126, "is not a regular file")
        library = os.path.join(self.directory(), "libm.so.6")  # passed over by the loader, as by ld.so
        os.mkfifo(library)
        self.assertEqual(self.run_job("-n", 2, "-x", "LD_LIBRARY_PATH=" + os.path.dirname(library), program("trivial.c")).code, 0)

    def test_not_executable(self):
        path = os.path.join(self.directory(), "data")
        with open(path, "w") as file:
            file.write("x")
        self.check_failure(self.run_job(path), 126, "is not executable", "chmod +rx")

    def test_not_for_tmpi(self):
        script = os.path.join(self.directory(), "script")
        with open(script, "w") as file:
            file.write("#!/bin/sh\n")
        os.chmod(script, 0o755)
        self.check_failure(self.run_job("-n", 2, script), 126, "is a script; ranks are mapped from a compiled program, so give tmpirun the program")
        static = os.path.join(self.directory(), "static")
        subprocess.run(["gcc", "-x", "c", "-static", "-o", static, "-"], input=b"int main(void) { return 0; }", check=True)
        job = self.run_job("-n", 2, static)
        self.check_failure(job, 126, "tmpicc")

    def test_wrong_directory(self):
        self.check_failure(self.run_job("--wdir", "/no/such", "true"), 127, "--wdir /no/such")

    def test_wrong_options(self):
        for arguments in (["-n", "0", "true"], ["--vration", "2", "true"], [], ["-n"], ["--stack-size", "1", "true"]):
            job = self.run_job(*arguments)
            self.assertEqual(job.code, 2)
            self.assertEqual(job.err.count(b"\n"), 1)
            self.assertTrue(job.err.startswith(b"tmpirun: "))


if __name__ == "__main__":
    main()
