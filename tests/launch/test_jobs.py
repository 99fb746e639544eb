"""What runs where, with which surroundings: placement, environment, directories, several programs, signals, exit codes, speed."""

import os
import re
import signal
import subprocess
import time

from harness import BIN, HANG, PROMPTLY, LaunchTest, claims_only_time, claims_time, main, program, stat_field, wait_for


class PlacementTest(LaunchTest):
    def cores(self):
        return len(os.sched_getaffinity(0))

    def test_bindings(self):
        job = self.run_job("-n", 6, "--vratio", 4, "-q", "--report-bindings", program("trivial.c"))
        lines = job.err.decode().splitlines()
        self.assertEqual(len(lines), 2, lines)
        self.assertRegex(lines[0], r"^tmpirun: host \S+: worker 0: core .*; ranks 0-3$")
        self.assertRegex(lines[1], r"worker 1: .*; ranks 4-5$")

        job = self.run_job("-n", 2, "--workers", 2, "-q", "--report-bindings", "--balance", "auto:period=20", program("trivial.c"))
        lines = job.err.decode().splitlines()
        self.assertEqual(len(lines), 3, lines)
        self.assertTrue(lines[0].endswith(": ranks move between workers (--balance auto:period=20); below is where they begin"), lines[0])

    def test_verbose(self):
        job = self.run_job("-n", 10, "--workers", 1, "-v", "--stack-size", "128k", program("trivial.c"))
        err = job.err.decode()
        self.assertIn("10 ranks on 1 workers, V = 10, stacks of 128 KiB, policy fifo", err)
        self.assertRegex(err, r"\d+ switches; the deepest stack was rank \d+'s with \d+ KiB of 128 KiB")

    def test_more_workers_than_cores_warn_once(self):
        many = self.cores() * 2
        job = self.run_job("-n", many, "--vratio", 1, program("trivial.c"))
        self.assertEqual(job.code, 0)
        self.assertRegex(job.err.decode(), rf"^tmpirun: warning: {many} workers share {self.cores()} core.*\n$")
        self.assertEqual(self.run_job("-n", many, "--vratio", 1, "-q", program("trivial.c")).err, b"")

    def test_quiet_by_default(self):
        job = self.run_job("-n", 50, program("trivial.c"))
        self.assertEqual((job.out, job.err, job.code), (b"50 of 50\n", b"", 0))

    def test_policies(self):
        for policy in ("fifo", "lifo", "random:7"):
            self.assertEqual(self.run_job("-n", 50, "--sched", policy, "--bind-to", "none", program("trivial.c")).out, b"50 of 50\n")

    def test_algorithms_of_collectives(self):
        self.assertEqual(self.run_job("-n", 5, "--coll", "barrier=dissemination,SCAN=linear", program("trivial.c")).out, b"5 of 5\n")
        text = self.run_job("--coll", "help").out.decode()
        self.assertRegex(text, r"\nALLREDUCE\n(  .*\n)*  ring +operators that commute")
        job = self.run_job("-n", 2, "--coll", "ALLREDUCE=fast", program("trivial.c"))
        self.assertEqual((job.out, job.code), (b"", 2))
        self.assertIn("--coll ALLREDUCE=fast: ALLREDUCE has no algorithm 'fast'; it has cells, segments,", job.err.decode())

    def test_environment_variables_as_options(self):
        job = self.run_job(program("trivial.c"), env={"TMPI_N": "9", "TMPI_WORKERS": "1", "TMPI_VERBOSE": "1"})
        self.assertEqual(job.out, b"9 of 9\n")
        self.assertIn(b"9 ranks on 1 workers", job.err)


class NamesTest(LaunchTest):
    def shown(self, pid):
        with open(f"/proc/{pid}/cmdline", "rb") as words, open(f"/proc/{pid}/comm") as name:
            return words.read().rstrip(b"\0").split(b"\0"), name.read().strip()

    def test_processes_bear_the_name_of_the_program(self):
        path = program("chatter.c")
        for options in (), ("--nodes", 2):
            job = self.start("-q", "-n", 4, "--workers", 2, *options, path, "1e9", "a b")
            job.read_until(b" talks\n", 4)
            for pid in job.node_pids(2 if options else 1):
                self.assertEqual(self.shown(pid), ([path.encode(), b"1e9", b"a b"], os.path.basename(path)))
                threads = sorted(self.shown(f"{pid}/task/{thread}")[1] for thread in os.listdir(f"/proc/{pid}/task"))
                self.assertIn(os.path.basename(path) + "/1", threads)
            job.process.terminate()
            job.finish()
            self.check_nothing_left(job)

    def test_each_node_process_shows_what_it_runs(self):
        first, second = program("chatter.c"), program("chatter.c", "-O2")
        job = self.start("-q", "--nodes", 2, "-n", 2, first, "1e9", ":", "-n", 2, second, "1e9")
        job.read_until(b" talks\n", 4)
        self.assertEqual(sorted(self.shown(pid)[0][0].decode() for pid in job.node_pids(2)), sorted([first, second]))
        job.process.terminate()
        job.finish()

    def test_the_program_finds_its_own_file(self):
        for path in program("own_file.c"), program("own_file.c", "-O2", "-D_FORTIFY_SOURCE=2"), program("own_file_cxx.cpp", "-std=c++20"):
            job = self.run_job("-n", 3, path, path)
            self.assertEqual((job.out, job.err, job.code), (b"3 of 3\n", b"", 0), path)


class OtherLaunchersTest(LaunchTest):
    """Command lines that were written for Open MPI's mpirun and for MPICH's mpiexec."""

    def test_open_mpi(self):
        job = self.run_job("-np", 4, "--map-by", "socket:PE=2", "--bind-to", "socket", "--mca", "btl", "self,vader", "--mca", "pml", "ob1",
                           "--allow-run-as-root", "--oversubscribe", "--use-hwthread-cpus", program("trivial.c"))
        self.assertEqual((job.out, job.code), (b"4 of 4\n", 0))
        self.assertEqual(job.err, b"tmpirun: warning: --mca btl, --mca pml, --use-hwthread-cpus mean nothing here and are "
                                  b"passed over\n")
        self.assertEqual(self.run_job("-q", "--mca", "btl", "self", program("trivial.c")).err, b"")

    def test_mpich(self):
        job = self.run_job("-genv", "A", "all", "-genv", "B", "all", "-l", "-n", 1, "-env", "B", "own", program("show.c"), "A", "B")
        self.assertEqual(job.err, b"")
        self.assertRegex(job.out, rb"^\[0\] 0/1 .* A=all B=own")

    def test_variable_that_is_not_set(self):
        job = self.run_job("-n", 1, "-x", "TMPI_SURELY_UNSET", program("show.c"), "TMPI_SURELY_UNSET")
        self.assertEqual(job.code, 0)
        self.assertIn(b"TMPI_SURELY_UNSET=(unset)", job.out)
        self.assertRegex(job.err, rb"^tmpirun: warning: -x TMPI_SURELY_UNSET: the variable is not set in tmpirun's [^\n]*\n$")

    def test_hydras_variables_in_one_word(self):
        job = self.run_job("-genv", "A=1", "-n", 1, "-env", "B=2", program("show.c"), "A", "B")
        self.assertEqual((job.err, job.code), (b"", 0))
        self.assertIn(b"A=1 B=2", job.out)

    def test_time_limit_of_the_environment(self):
        job = self.run_job("-n", 1, "--no-deadlock-check", program("misbehave.c"), "hang", env={"MPIEXEC_TIMEOUT": "1"})
        self.assertEqual(job.code, 124)
        self.assertIn(b"the job was ended after its --timeout of 1 seconds", job.err)

    def test_programs_in_a_file(self):
        path = os.path.join(self.directory(), "programs")
        with open(path, "w") as file:
            file.write(f"# two programs\n-n 1 -x A=one {program('show.c')} A B\n\n-np 2 {program('show.c')} \\\n  A B :\n")
        for option in ("--app", "-configfile"):
            job = self.run_job("-x", "B=all", option, path)
            self.assertEqual((job.err, job.code), (b"", 0))
            lines = sorted(job.out.decode().splitlines())
            for rank, values in enumerate(("A=one B=all", "A=(unset) B=all", "A=(unset) B=all")):
                self.assertTrue(lines[rank].startswith(f"{rank}/3 ") and values in lines[rank], lines)
        self.check_failure(self.run_job("--app", path, "./more"), 2, "'./more' stands behind it")

    def test_ranks_per_node_process(self):
        job = self.run_job("--nodes", 3, "-N", 2, "-l", program("show.c"), "TMPI_LOCAL_SIZE")
        self.assertEqual(job.out.count(b"TMPI_LOCAL_SIZE=2"), 6, job.out)

    def test_streams_are_merged(self):
        apart = self.run_job("-n", 2, program("lines.c"), 10, 5)
        self.assertEqual((apart.out.count(b"\n"), apart.err.count(b"\n")), (11, 10), (apart.out, apart.err))
        merged = self.run_job("-n", 2, "--merge-stderr-to-stdout", program("lines.c"), 10, 5)
        self.assertEqual((merged.out.count(b"\n"), merged.err), (21, b""), merged.out)
        directory = self.directory()
        self.run_job("-n", 1, "--merge-stderr-to-stdout", "--output-filename", directory, program("lines.c"), 10, 5)
        self.assertEqual(os.listdir(os.path.join(directory, "rank.0")), ["stdout"])
        self.assertIn(b"cannot find the program", self.run_job("--merge-stderr-to-stdout", "./nosuch").err)


class SurroundingsTest(LaunchTest):
    def shown(self, *arguments, **options):
        job = self.run_job(*arguments, **options)
        self.assertEqual(job.code, 0, job.err)
        return sorted(job.out.decode().splitlines(), key=lambda line: int(line.split("/")[0]))

    def test_variables(self):
        lines = self.shown("-n", 2, "-x", "A=one", "-x", "INHERITED", program("show.c"), "A", "INHERITED", "TMPI_COMM_WORLD_RANK",
                           "TMPI_COMM_WORLD_SIZE", "TMPI_LOCAL_RANK", env={"INHERITED": "yes"})
        for rank, line in enumerate(lines):
            self.assertIn(f"A=one INHERITED=yes TMPI_COMM_WORLD_RANK={rank} TMPI_COMM_WORLD_SIZE=2 TMPI_LOCAL_RANK={rank}", line)

    def test_openmp_threads(self):
        self.assertIn("OMP_NUM_THREADS=1", self.shown("-n", 8, "--vratio", 4, program("show.c"), "OMP_NUM_THREADS")[0])
        self.assertIn("OMP_NUM_THREADS=(unset)", self.shown("-n", 1, program("show.c"), "OMP_NUM_THREADS")[0])
        self.assertIn("OMP_NUM_THREADS=3", self.shown("-n", 8, "--vratio", 4, "-x", "OMP_NUM_THREADS=3", program("show.c"),
                                                      "OMP_NUM_THREADS")[0])

    def test_directory(self):
        directory = os.path.realpath(self.directory())
        self.assertIn(f"0/2 {directory} ", self.shown("-n", 2, "--wdir", directory, program("show.c"))[0])

    def test_directory_of_each_program(self):
        first, second, here = (os.path.realpath(self.directory()) for _ in range(3))
        os.mkdir(os.path.join(here, "below"))
        for nodes in ((), ("--nodes", 2), ("--nodes", 2, "--map-by", "cyclic"), ("--workers", 1)):
            lines = self.shown("-n", 2, *nodes, "--wdir", first, program("show.c"), ":", "-n", 2, "--wdir", second, program("show.c"), ":",
                               "-n", 2, program("show.c"), ":", "-n", 1, "--wdir", "below", program("show.c"), cwd=here)
            wanted = [first, first, second, second, here, here, os.path.join(here, "below")]
            self.assertEqual([line.split()[1] for line in lines], wanted, nodes)
        for order in ((first, "/no/such"), ("/no/such", first)):
            self.assertEqual(self.run_job("--wdir", order[0], program("show.c"), ":", "--wdir", order[1], program("show.c")).code, 127)
        os.mkdir(os.path.join(here, "closed"), 0)
        if os.getuid() != 0:
            self.check_failure(self.run_job("--wdir", first, program("show.c"), ":", "--wdir", "closed", program("show.c"), cwd=here), 1,
                               "--wdir closed: cannot change to the directory: Permission denied")

    def test_program_beside(self):
        directory = self.directory()
        os.symlink(program("show.c"), os.path.join(directory, "show-here"))
        for name in ("./show-here", "show-here"):
            self.assertTrue(self.shown("-n", 1, name, cwd=directory)[0].startswith("0/1 "))
            self.assertTrue(self.shown("-n", 1, "--wdir", directory, name)[0].startswith("0/1 "))

    def test_several_programs(self):
        lines = self.shown("-n", 2, "-x", "A=1", program("show.c"), "A", ":", "-n", 3, program("show.c", "-DOTHER"), "A")
        self.assertEqual([line.split(" ")[0] for line in lines], [f"{r}/5" for r in range(5)])
        self.assertEqual(["A=1" in line for line in lines], [True, True, False, False, False])
        names = [line.split(" ")[-1] for line in lines]
        self.assertEqual(names[0], names[1])
        self.assertNotEqual(names[1], names[2])

    def test_options_of_the_program_are_its_own(self):
        self.assertIn("--vratio=(unset) -n=(unset)", self.shown("-n", 1, program("show.c"), "--vratio", "-n")[0])


class EndTest(LaunchTest):
    def test_programs_without_mpi(self):
        job = self.run_job("-n", 3, program("plain.c"))
        self.assertEqual((sorted(job.out.split()), job.code), ([b"0", b"1", b"2", b"plain", b"plain", b"plain"], 0))

    def test_codes_of_programs_without_mpi(self):
        job = self.run_job("-n", 3, "--workers", 1, program("plain.c"), 4)
        self.check_failure(job, 4, "rank 0 on host", "exit code 4", "the first of 3 ranks")

    @claims_time
    def test_interrupts(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            for mode in ("hang", "spin"):
                job = self.start("-n", 4, "--no-deadlock-check", program("misbehave.c"), mode)
                job.read_until(b"is here\n")
                job.process.send_signal(number)
                start = time.monotonic()
                job.finish()
                self.in_time(time.monotonic() - start, PROMPTLY - 1)  # a second less than a program of its own mind would have
                self.check_failure(job, code, number.name)
                self.check_nothing_left(job)

    def test_ignored_hangup_stays_ignored(self):
        job = self.start("-n", 2, "--no-deadlock-check", program("misbehave.c"), "hang", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        job.read_until(b"is here\n")
        job.process.send_signal(signal.SIGHUP)
        with self.assertRaises(subprocess.TimeoutExpired):
            job.process.wait(0.5)
        job.process.send_signal(signal.SIGTERM)
        job.finish()
        self.assertEqual(job.code, 143)

    def test_program_that_handles_sigterm(self):
        for nodes in ((), ("--nodes", 2)):
            job = self.start("-n", 4, "-q", *nodes, program("handles_term.c"))
            job.read_until(b"ready\n")
            job.process.send_signal(signal.SIGUSR1)
            job.read_until(b"asked\n")
            job.process.send_signal(signal.SIGCONT)
            job.read_until(b"goes on\n")
            job.process.send_signal(signal.SIGTERM)
            job.finish()
            self.assertIn(b"state saved\n", job.out)
            self.assertEqual(job.code, 143)
            self.assertNotIn(b"every rank at this moment", job.err)  # it handles the signal itself

    def test_signal_that_one_node_process_handles(self):
        job = self.start("-n", 2, "-q", "--nodes", 2, program("handles_term.c"), "one")
        job.read_until(b"ready\n")
        job.process.send_signal(signal.SIGUSR1)
        job.read_until(b"asked\n")
        job.process.send_signal(signal.SIGTERM)
        job.finish()
        self.assertNotIn(b"every rank at this moment", job.err)

    def test_state_dump(self):
        job = self.start("-n", 5, "--no-deadlock-check", program("misbehave.c"), "hang")
        job.ask_until(b"  ranks 0-4 (5): blocked in MPI_Recv from any source with tag 0 on MPI_COMM_WORLD\n")
        job.process.send_signal(signal.SIGINT)
        job.finish()
        self.assertEqual(job.code, 130)

    def test_stop_and_continue(self):
        job = self.start("-n", 2, program("misbehave.c"), "spin")
        job.read_until(b"is here\n")
        node = job.node_pid()
        job.process.send_signal(signal.SIGTSTP)
        wait_for(lambda: stat_field(node, 3) == "T" and stat_field(job.process.pid, 3) == "T", "a stop")
        job.process.send_signal(signal.SIGCONT)
        wait_for(lambda: stat_field(node, 3) != "T" and stat_field(job.process.pid, 3) != "T", "a continuation")
        job.process.send_signal(signal.SIGTERM)
        job.finish()
        self.assertEqual(job.code, 143)


class StartTest(LaunchTest):
    def test_ten_thousand_ranks(self):
        job = self.run_job("-n", 10000, program("trivial.c"))
        self.assertEqual((job.out, job.code), (b"10000 of 10000\n", 0), job.err)

    @claims_only_time
    def test_time_of_a_thousand_ranks(self):
        self.measure(1000, 0.3)

    @claims_only_time
    def test_time_of_ten_thousand_ranks(self):
        self.measure(10000, 3.0)

    def measure(self, ranks, goal):
        seconds = self.run_job("-n", ranks, program("trivial.c")).seconds
        print(f"\n{ranks} ranks: {seconds:.3f} s (goal {goal} s)")
        self.in_time(seconds, goal * 5)  # a busy test machine; bench/ holds the real measurement


class AloneTest(LaunchTest):
    """The same programs started by themselves."""

    def test_job_of_one_rank(self):
        self.assertEqual(subprocess.run([program("trivial.c")], capture_output=True, timeout=HANG).stdout, b"1 of 1\n")

    def test_abort(self):
        done = subprocess.run([program("misbehave.c"), "abort-mpi", "0", "9"], capture_output=True, timeout=HANG,
                              env={"TMPI_COMM_WORLD_RANK": "0"})
        self.assertEqual(done.returncode, 9)
        self.assertIn(b"called MPI_Abort with code 9", done.stderr)

    def test_node_by_hand(self):
        done = subprocess.run([os.path.join(BIN, "tmpi-node")], capture_output=True, timeout=HANG)
        self.assertEqual(done.returncode, 2)
        self.assertTrue(re.search(b"started by tmpirun", done.stderr))


if __name__ == "__main__":
    main()
