"""One job of several node processes on this machine: placement, cores, output, input, signals, ends, speed of the start."""

import json
import os
import re
import signal
import subprocess
import tempfile
import time

from harness import PROMPTLY, TMPIRUN, LaunchTest, claims_only_time, claims_time, main, program


class NodesTest(LaunchTest):
    def shown(self, *arguments, **options):
        job = self.run_job(*arguments, "-q", program("plain.c") if options.pop("plain", False) else program("show.c"),
                           "TMPI_LOCAL_RANK", "TMPI_LOCAL_SIZE", "TMPI_COMM_WORLD_SIZE", "OMP_NUM_THREADS", **options)
        self.assertEqual(job.code, 0, job.err)
        return sorted(job.out.decode().splitlines(), key=lambda line: int(line.split("/")[0]))

    def test_blocks(self):
        lines = self.shown("-n", 5, "--nodes", 2)
        self.assertEqual(len(lines), 5)
        for rank, (local, size) in enumerate([(0, 3), (1, 3), (2, 3), (0, 2), (1, 2)]):
            self.assertIn(f"{rank}/5 ", lines[rank])
            self.assertIn(f"TMPI_LOCAL_RANK={local} TMPI_LOCAL_SIZE={size} TMPI_COMM_WORLD_SIZE=5", lines[rank])

    def test_round_robin(self):
        for name in ("cyclic", "node"):
            lines = self.shown("-n", 5, "--nodes", 2, "--map-by", name)
            for rank, (local, size) in enumerate([(0, 3), (0, 2), (1, 3), (1, 2), (2, 3)]):
                self.assertIn(f"TMPI_LOCAL_RANK={local} TMPI_LOCAL_SIZE={size}", lines[rank])

    def test_several_programs(self):
        job = self.run_job("-n", 1, program("show.c"), ":", "-n", 3, "-x", "A=b", program("show.c"), "A", "TMPI_LOCAL_SIZE",
                           env={"TMPI_NODES": "2", "TMPI_QUIET": "1"})
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(job.out.count(b"A=b TMPI_LOCAL_SIZE=2"), 3)

    def test_cores_are_divided(self):
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < 2:
            self.skipTest("one core")
        job = self.run_job("-n", 4, "--nodes", 2, "-q", "--report-bindings", program("trivial.c"))
        self.assertEqual(job.out, b"4 of 4\n")
        lines = job.err.decode().splitlines()
        own = [[line for line in lines if f"node {node} on host" in line] for node in (0, 1)]
        found = [re.findall(r"core (\d+)", " ".join(part)) for part in own]
        self.assertTrue(found[0] and found[1], lines)
        self.assertFalse(set(found[0]) & set(found[1]), lines)

    def test_a_low_soft_limit_on_descriptors_is_raised(self):
        shell = ["-c", 'ulimit -Sn 48; exec "$0" "$@"', TMPIRUN]
        for nodes in (1, 2):  # 16 ranks with 32 files each in a process that began with room for 48
            job = self.start(*shell, "-q", "-n", 16 * nodes, "--nodes", nodes, program("descriptors.c"), 32, tmpirun="/bin/sh").finish()
            self.check_nothing_left(job)
            self.assertEqual((job.code, job.out), (0, b"0 missing\n"), job.err)

    def test_more_node_processes_than_cores_warn_once(self):
        nodes = len(os.sched_getaffinity(0)) + 1
        job = self.run_job("-n", nodes, "--nodes", nodes, program("trivial.c"))
        self.assertEqual(job.out, f"{nodes} of {nodes}\n".encode())
        self.assertRegex(job.err.decode(), rf"^tmpirun: warning: {nodes} node processes share .*\n$")

    def test_verbose_names_nodes(self):
        job = self.run_job("-n", 4, "--nodes", 2, "-v", program("trivial.c"))
        for node in (0, 1):
            self.assertRegex(job.err.decode(), rf"tmpirun: node {node} on host \S+: 2 ranks on")

    def test_more_node_processes_than_ranks(self):
        job = self.run_job("-n", 1, "--nodes", 2, program("trivial.c"))
        self.assertEqual((job.out, job.code), (b"1 of 1\n", 0))
        self.assertEqual(job.err, b"tmpirun: warning: --nodes 2 with 1 rank: every node process needs at least one, so there is 1\n")

    def test_places_of_ranks_in_a_file(self):
        path = os.path.join(self.directory(), "ranks")
        def places(*lines):
            with open(path, "w") as file:
                file.write("".join(f"rank {number} = {line}\n" for number, line in enumerate(lines)))
        core = min(os.sched_getaffinity(0))  # hwloc numbers the cores of test machines as Linux does
        places("+n1", "+n0", "+n1")
        job = self.run_job("--nodes", 2, "-q", "--rankfile", path, program("show.c"), "TMPI_LOCAL_RANK", "TMPI_LOCAL_SIZE")
        lines = sorted(job.out.decode().splitlines())
        for rank, (local, size) in enumerate(((0, 2), (0, 1), (1, 2))):
            self.assertTrue(lines[rank].startswith(f"{rank}/3 "), lines)
            self.assertIn(f"TMPI_LOCAL_RANK={local} TMPI_LOCAL_SIZE={size}", lines[rank])
        places(f"localhost slot={core}", f"localhost slot={core}", f"localhost slot={core}")
        job = self.run_job("-rf", path, "--report-bindings", program("trivial.c"))
        self.assertEqual((job.out, job.code), (b"3 of 3\n", 0), job.err)
        self.assertIn(f"worker 0: core {core} ", job.err.decode())
        self.assertNotIn(b"worker 1:", job.err)
        places("localhost slot=4711")
        self.check_failure(self.run_job("-rf", path, program("trivial.c")), 126, "has no core 4711 that this job may use; it may use")
        places("localhost slot=0-3")
        self.check_failure(self.run_job("-rf", path, program("trivial.c")), 2, "line 1: slot=0-3: a rank runs on one core here")

    def test_cores_of_sockets_in_a_file(self):
        """On a described machine of two sockets with a core each, as far as the cores are there."""
        if not {0, 1} <= os.sched_getaffinity(0):
            self.skipTest("needs the first two cores")
        path = os.path.join(self.directory(), "ranks")
        machine = dict(os.environ, HWLOC_SYNTHETIC="pack:2 core:1 pu:1", HWLOC_THISSYSTEM="1")
        for lines, expected in ((("slot=1:0", "slot=0:0"), {0: 1, 1: 0}), (("slot=0:0", "slot=1:0"), {0: 0, 1: 1})):
            with open(path, "w", encoding="utf-8") as file:
                file.write("".join(f"rank {rank}=localhost {line}\n" for rank, line in enumerate(lines)))
            job = self.run_job("-rf", path, "--report-bindings", program("trivial.c"), env=machine)
            self.assertEqual((job.out, job.code), (b"2 of 2\n", 0), job.err)
            for rank, core in expected.items():
                self.assertRegex(job.err.decode(), rf"worker \d: core {core} .*; rank {rank}\n")
        with open(path, "w", encoding="utf-8") as file:
            file.write("rank 0=localhost slot=1:1\n")
        self.check_failure(self.run_job("-rf", path, program("trivial.c"), env=machine), 126, "has no core 1:1 that this job may use; it may use 0, 1")

    def test_senseless_numbers(self):
        self.check_failure(self.run_job("-n", 2, "--nodes", 0, "true"), 2, "--nodes 0: expected a whole number")
        job = self.run_job("-n", 2, "--nodes", 2, "--net", "pigeon", program("trivial.c"))
        self.check_failure(job, 2, "--net pigeon: there is no transport")
        self.assertIn("tcp", self.run_job("--net", "help").out.decode())

    def test_wire_up_of_64(self):
        job = self.run_job("-n", 64, "--nodes", 64, "-q", program("trivial.c"))
        self.assertEqual((job.out, job.code), (b"64 of 64\n", 0), job.err)
        return job

    @claims_only_time
    def test_time_of_the_wire_up_of_64(self):
        seconds = self.test_wire_up_of_64().seconds
        print(f"\n64 node processes: {seconds:.3f} s (goal 1 s)")
        self.in_time(seconds, 3)  # a busy test machine


class TrafficTest(LaunchTest):
    """What goes between ranks and the user."""

    def test_stdin_goes_to_rank_0(self):
        data = os.urandom(300_000)
        job = self.run_job("-n", 3, "--nodes", 3, "-q", program("copy_input.c"), input=data)
        self.assertEqual(job.out, data)

    def test_lines_are_whole_and_tagged(self):
        job = self.run_job("-n", 8, "--nodes", 2, "-q", "--tag-output", program("lines.c"), 20, 300)
        self.assertEqual(job.code, 0, job.err)
        for line in job.out.splitlines():
            self.assertRegex(line, rb"^\[1,[0-7]\]<stdout>:")

    def test_files(self):
        directory = self.directory()
        job = self.run_job("-n", 4, "--nodes", 2, "-q", "--output-filename", directory, program("show.c"))
        self.assertEqual((job.out, job.code), (b"", 0))
        for rank in range(4):
            with open(os.path.join(directory, f"rank.{rank}", "stdout")) as file:
                self.assertTrue(file.read().startswith(f"{rank}/4 "))

    def test_state_dump_is_one(self):
        job = self.start("-n", 6, "--nodes", 3, "--no-deadlock-check", "-q", program("misbehave.c"), "hang")
        asked = job.ask_until(b"  ranks 0-5 (6): blocked in MPI_Recv from any source with tag 0 on MPI_COMM_WORLD\n")
        job.process.terminate()
        err = job.finish().err.decode()
        self.assertEqual(job.code, 143)
        self.assertEqual(err.count("every rank at this moment"), asked)
        self.check_nothing_left(job)

    def test_state_dump_names_processes(self):
        """The kernel's ids of the node processes, and those that ranks see: both lead a debugger there."""
        for option, ids in ((), r", whose getpid\(\) is (\d+)-(\d+)"), (("--pid", "node"), ""):
            job = self.start("-n", 4, "--nodes", 2, *option, "--no-deadlock-check", "-q", program("misbehave.c"), "hang")
            job.ask_until(b"blocked in MPI_Recv")
            nodes = job.node_pids(2)
            job.process.terminate()
            err = job.finish().err.decode()
            for process, ranks in zip(nodes, ("0-1", "2-3")):
                found = re.search(rf"^  process {process} on host \S+: ranks {ranks}{ids}$", err, re.M)
                self.assertTrue(found, err)
                if ids:
                    self.assertEqual(int(found[2]) - int(found[1]), 1)
                    self.assertGreaterEqual(int(found[1]), 1 << 22)

    @claims_time
    def test_timeout(self):
        self.promptly(PROMPTLY, self.timed_out("  ranks 0-3 (4): blocked in MPI_Recv", "-n", 4, "--nodes", 2, "-q", "--no-deadlock-check",
                                               program("misbehave.c"), "hang"))

    def test_profile_and_trace_of_all(self):
        directory = self.directory()
        job = self.run_job("-n", 4, "--nodes", 2, "-q", "--profile=" + directory + "/p.json", "--trace", directory + "/t.json",
                           program("trivial.c"))
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(sorted(os.listdir(directory)), ["p.json", "t.json"])
        err = job.err.decode()
        self.assertEqual(len(re.findall(r"profile of \S+: 4 ranks on \d+ workers of 2 node processes, host ", err)), 1, err)
        self.assertEqual(len(re.findall(r"tmpirun: trace in \S+/t\.json: \d+ slices, \d+ messages", err)), 1, err)
        with open(directory + "/p.json", encoding="utf-8") as file:
            profile = json.load(file)
        self.assertEqual([rank["rank"] for rank in profile["ranks"]], [0, 1, 2, 3])
        self.assertEqual(sorted(rank for worker in profile["workers"] for rank in worker["ranks"]), [0, 1, 2, 3])
        self.assertEqual(len(profile["hosts"]), 2)
        ends = [call for call in profile["calls"] if call["function"] == "MPI_Finalize"]
        self.assertEqual([[rank["rank"] for rank in call["ranks"]] for call in ends], [[0, 1, 2, 3]])

    def killed_in_the_middle(self, nodes, *options):
        """What is said of a job with a node process that has been killed."""
        job = self.start("-n", 4, "--nodes", nodes, *options, "--no-deadlock-check", program("misbehave.c"), "hang")
        job.read_until(b"is here\n", 4)
        os.kill(job.node_pids(nodes)[0], signal.SIGKILL)
        return job.finish(60).err.decode()

    def test_profile_says_whose_part_is_missing(self):
        err = self.killed_in_the_middle(2, "--profile")
        self.assertRegex(err, r"profile of misbehave\S*: 2 ranks on \d+ workers?, host \S+, .*, ended early")
        self.assertRegex(err, "warning: the profile lacks node process [01] on host ")
        self.assertNotIn("warning", self.killed_in_the_middle(2, "--profile", "-q"))

    def test_nothing_is_left_of_the_only_node_process(self):
        with tempfile.TemporaryDirectory() as directory:
            trace = os.path.join(directory, "t.json")
            err = self.killed_in_the_middle(1, "--trace", trace, "--profile")
            lacks = "lacks the node process on host [^,]+, which ended before saying all of it"
            self.assertRegex(err, f"warning: the trace {lacks}: there is none in {re.escape(trace)}\n")
            self.assertRegex(err, f"warning: the profile {lacks}\n")
            self.assertNotIn("warning", self.killed_in_the_middle(1, "--trace", trace, "-q"))


class EndTest(LaunchTest):
    """Whatever goes wrong on one node process ends the whole job with one message."""

    def misbehave(self, mode, *more, ranks=6, nodes=3, options=(), **run):
        return self.promptly(PROMPTLY, self.run_job("-n", ranks, "--nodes", nodes, "-q", *options, program("misbehave.c"), mode, *more, **run))

    @claims_time
    def test_abort(self):
        for rank in (0, 5):
            self.check_failure(self.misbehave("abort-mpi", rank, 42), 42, f"rank {rank} on", "called MPI_Abort with code 42")

    @claims_time
    def test_crash(self):
        job = self.misbehave("segv", 4)
        self.check_failure(job, 139, "rank 4 on host", "segmentation fault (SIGSEGV at address 0x8)")
        self.assertRegex(job.err.decode(), r"#0 write_through_null\+0x")

    def test_exit_in_the_middle(self):
        self.check_failure(self.misbehave("exit", 3, 3), 3, "rank 3 on host", "without having called MPI_Finalize")

    @claims_time
    def test_end_before_init_while_others_elsewhere_use_mpi(self):
        for code in (0, 7):
            job = self.misbehave("before-init", 1, code, ranks=2, nodes=2)
            self.check_failure(job, code or 1, "rank 1 on host", "without having called MPI_Init")

    def test_exit_codes(self):
        job = self.misbehave("after", 3, 20)
        self.check_failure(job, job.code, "ended with exit code", "the first of 3 ranks")
        self.assertIn(job.code, (20, 21, 22))

    @claims_time
    def test_killed_node_process(self):
        for mode in ("hang", "spin", "child"):
            for victim in (0, 2):
                job = self.start("-n", 6, "--nodes", 3, "-q", "--no-deadlock-check", program("misbehave.c"), mode)
                if mode == "child":
                    job.read_until(b"started\n")
                else:  # of those that spin, one shows itself per worker
                    job.read_until(b"is here\n", 6 if mode == "hang" else 3)
                os.kill(job.node_pids(3)[victim], signal.SIGKILL)
                start = time.monotonic()
                job.finish()
                self.in_time(time.monotonic() - start, PROMPTLY)
                self.check_failure(job, 137, f"node process {victim} on host", f"ranks {2 * victim}-{2 * victim + 1}",
                                   "killed by signal 9 (Killed)")
                self.check_nothing_left(job)

    @claims_time
    def test_killed_node_process_in_an_epoch(self):
        for mode in ("fence", "start", "wait", "lock", "unlock", "flush", "request"):
            with self.subTest(mode):
                self.kill_what_is_waited_for(1, program("one_sided.c"), mode)

    @claims_time
    def test_killed_node_process_in_a_file_operation(self):
        for mode in ("together", "request", "ordered", "shared", "close"):
            with self.subTest(mode):
                victim = 0 if mode == "shared" else 1  # where the shared pointer is
                self.kill_what_is_waited_for(victim, program("file_waits.c"), mode, os.path.join(self.directory(), "file"))

    def kill_what_is_waited_for(self, victim, *words):
        job = self.start("-n", 4, "--nodes", 2, "--workers", 1, "-q", "--no-deadlock-check", *words)
        job.read_until(b"is here\n", 3)  # of the two that compute on one worker, one
        time.sleep(0.1)  # until the others wait
        os.kill(job.node_pids(2)[victim], signal.SIGKILL)
        start = time.monotonic()
        job.finish()
        self.in_time(time.monotonic() - start, PROMPTLY)
        self.check_failure(job, 137, f"node process {victim} on host", f"ranks {2 * victim}-{2 * victim + 1}", "killed by signal 9 (Killed)")
        self.check_nothing_left(job)

    def test_killed_tmpirun(self):
        job = self.start("-n", 6, "--nodes", 3, "-q", "--no-deadlock-check", program("misbehave.c"), "hang")
        job.read_until(b"is here\n")
        job.process.kill()
        job.process.wait()
        self.check_nothing_left(job)

    @claims_time
    def test_interrupt(self):
        job = self.start("-n", 6, "--nodes", 3, "-q", "--no-deadlock-check", program("misbehave.c"), "hang")
        job.read_until(b"is here\n")
        job.process.send_signal(signal.SIGINT)
        start = time.monotonic()
        job.finish()
        self.in_time(time.monotonic() - start, PROMPTLY)
        self.check_failure(job, 130, "the job was ended by SIGINT")
        self.check_nothing_left(job)

    def test_program_that_is_none(self):
        path = os.path.join(self.directory(), "script")
        with open(path, "w") as file:
            file.write("#!/bin/sh\n")
        os.chmod(path, 0o755)
        self.check_failure(self.run_job("-n", 4, "--nodes", 2, path), 126, "script")

    @claims_time
    def test_deadlock(self):
        for arguments in (("--nodes", 2), ("--nodes", 4), ("--nodes", 2, "--map-by", "node", "--net", "sim:latency=2ms,bandwidth=1GB/s")):
            job = self.promptly(PROMPTLY, self.run_job("-n", 8, *arguments, "-q", program("deadlock.c"), "ring"))
            err = job.err.decode()
            self.check_failure(job, 125, "deadlock: every rank that has not finished is blocked in MPI")
            self.assertIn("  rank 7: blocked in MPI_Recv from rank 0 with tag 7 on MPI_COMM_WORLD\n", err)
            self.assertIn("  ranks 0-6 (7): blocked in MPI_Recv from its rank + 1 with tag 7 on MPI_COMM_WORLD\n", err)
            self.assertIn("a cycle of 8: rank ", err)

    def test_deadlock_with_ranks_that_have_ended_elsewhere(self):
        err = self.run_job("-n", 2, "--nodes", 2, "-q", program("deadlock.c"), "tag")
        self.check_failure(err, 125, "rank 1 waits for a message from rank 0 with tag 5, but one from rank 0 with tag 6 has come")

    def test_deadlock_when_something_has_come_while_all_slept(self):
        for progress in ("poll", "thread", "core"):
            for net in ("tcp", "sim"):
                job = self.run_job("-n", 2, "--nodes", 2, "--net", net, "--progress", progress, "--bind-to", "none", "-q", program("deadlock.c"), "late")
                self.check_failure(job, 125, "deadlock: every rank that has not finished is blocked in MPI")

    def test_deadlock_in_a_collective(self):
        job = self.run_job("-n", 5, "--nodes", 2, "-q", program("deadlock.c"), "collective")
        self.check_failure(job, 125, "  ranks 1-4 (4): blocked in MPI_Barrier on solver\n",
                           "  rank 0: blocked in MPI_Recv from rank 1 (rank 1 there) with tag 3 on solver\n",
                           "a cycle of 2: rank 0 waits for rank 1, which waits for rank 0\n")

    def test_no_false_alarm(self):
        for options in (("--nodes", 2), ("--nodes", 4), ("--nodes", 2, "--net", "sim:latency=300ms,bandwidth=1GB/s")):
            job = self.run_job("-n", 4, *options, "-q", program("deadlock.c"), "slow")
            self.assertEqual(job.code, 0, job.err)

    def test_no_false_alarm_while_a_message_is_on_its_way(self):
        for protocol in ("rts-cts", "read", "early-cts"):
            job = self.run_job("-n", 2, "--nodes", 2, "--rndv", protocol, "--net", "sim:latency=1ms,bandwidth=1MB/s", "-q", program("deadlock.c"),
                               "transfer")
            self.assertEqual(job.code, 0, job.err)
            self.assertGreater(job.seconds, 0.8)

    def test_input_is_waited_for(self):
        job = self.start("-n", 3, "--nodes", 3, "-q", program("deadlock.c"), "input", stdin=subprocess.PIPE)
        time.sleep(1.5)
        self.assertEqual(job.finish(input=b"a line\n").out, b"got a line\n")
        self.assertEqual(job.code, 0)

    def test_deadlock_check_can_be_turned_off(self):
        job = self.start("-n", 4, "--nodes", 2, "-q", "--no-deadlock-check", program("deadlock.c"), "ring")
        time.sleep(1.5)
        self.assertIsNone(job.process.poll())
        job.process.terminate()
        self.assertEqual(job.finish().code, 143)


if __name__ == "__main__":
    main()
