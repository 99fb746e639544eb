"""Ranks that ranks have started (MPI_Comm_spawn), and how jobs with them end."""

import collections
import json
import os
import socket
import subprocess
import time

from harness import HANG, LaunchTest, main, program

NODES = ((), ("--nodes", 2))


class SpawnTest(LaunchTest):
    def end(self, case, code, *options):
        job = self.run_job("-n", 2, *options, "-q", program("spawn.c"), case)
        self.assertEqual(job.code, code, job.err)
        return job.out.decode(), job.err.decode()

    def test_success(self):
        for nodes in NODES:
            out, err = self.end("", 0, *nodes)
            self.assertEqual(sorted(out.splitlines()), ["child 0", "child 1"])
            self.assertEqual(err, "")

    def test_numbers_go_on(self):
        out, _ = self.end("", 0, "-l")
        self.assertEqual(sorted(out.splitlines()), ["[2] child 0", "[3] child 1"])

    def test_what_cannot_be_started_takes_no_numbers(self):
        for nodes in NODES:
            out, _ = self.end("retry", 0, "-l", *nodes)
            self.assertEqual(sorted(out.splitlines()), ["[2] child 0", "[3] child 1"])

    def test_children_may_outlive_their_parents(self):
        for nodes in NODES:
            out, _ = self.end("outlive", 0, *nodes)
            self.assertEqual(sorted(out.splitlines()), ["child 0", "child 1", "late 0", "late 1"])

    def test_deadlock_of_parents_and_children(self):
        for nodes in NODES:
            _, err = self.end("deadlock", 125, *nodes)
            self.assertIn("tmpirun: deadlock: every rank that has not finished is blocked in MPI", err)
            self.assertIn("  ranks 2-3 (2): blocked in MPI_Recv from rank 0 (rank 0 there) with tag 3 on MPI_COMM_PARENT\n", err)
            self.assertIn("  ranks 0-1 (2): blocked in MPI_Recv from rank 3 (rank 1 there) with tag 7 on ", err)
            self.assertIn("a cycle of 2: rank 0 waits for rank 3, which waits for rank 0", err)

    def test_deadlock_of_who_waits_at_a_port(self):
        for nodes in NODES:
            _, err = self.end("accept", 125, *nodes)
            self.assertIn("tmpirun: deadlock: every rank that has not finished is blocked in MPI", err)
            self.assertIn("  rank 0: blocked in MPI_Comm_accept for the other end of port 1, which rank 0 has opened\n", err)
            self.assertIn("  rank 1: blocked in MPI_Comm_accept on MPI_COMM_WORLD\n", err)

    def test_a_program_by_itself_cannot_be_joined(self):
        """And that is no error: MPI_Comm_join gives MPI_COMM_NULL."""
        join = program("join.c")
        path = os.path.join(self.directory(), "socket")
        alone = subprocess.Popen([join, "accept", path, "alone"], stderr=subprocess.PIPE)
        job = self.start("-n", 1, "-q", join, "connect", path, "in-a-job")
        self.assertEqual(job.finish().code, 0, job.err)
        _, err = alone.communicate(timeout=HANG)
        self.assertEqual(alone.returncode, 0, err)

    def test_a_wait_at_a_socket_of_the_job(self):
        """The other end is the job's own, and whoever could write there waits for the rank that waits: a deadlock as any other."""
        for nodes, kind in (((), "unix"), ((), "tcp"), (("--nodes", 2), "unix")):
            job = self.run_job("-n", 2, *nodes, "-q", program("join.c"), "for-ever", kind)
            self.assertEqual(job.code, 125, job.err)
            self.assertIn(b"  rank 0: blocked in MPI_Comm_join for the other end of the socket ", job.err)

    def test_an_end_of_a_socket_that_leaves(self):
        """It was the job's own when the rank began to wait, and is another process's now: no deadlock."""
        file = os.path.join(self.directory(), "go")
        job = self.start("-n", 2, "-q", program("join.c"), "for-a-child", file)
        job.ask_until(b"  rank 0: blocked in MPI_Comm_join for the other end of the socket ")
        time.sleep(0.5)  # until it has looked who has the other end
        open(file, "w").close()
        self.assertEqual(job.finish().code, 0, job.err)

    def test_a_wait_at_a_socket_is_told(self):
        """The other end may be anybody's: it is no deadlock, but who asks or sets a --timeout sees it."""
        path = os.path.join(self.directory(), "socket")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path)
            listening.listen()
            for nodes in NODES:
                job = self.start("-n", 2, *nodes, "-q", program("join.c"), "connect", path, "in-a-job")
                connections = [listening.accept() for _ in range(2)]
                # One line for both ranks if each has, in its node process, the same descriptor.
                job.ask_until(b": blocked in MPI_Comm_join for the other end of the socket ")
                self.assertIsNone(job.process.poll())
                job.process.terminate()
                self.assertEqual(job.finish().code, 143)
                for connection, _ in connections:
                    connection.close()

    def test_abort(self):
        for nodes in NODES:
            _, err = self.end("abort", 42, *nodes)
            self.assertIn("rank 3 on ", err)
            self.assertIn("called MPI_Abort with code 42", err)

    def test_exit_code_of_a_child(self):
        for nodes in NODES:
            job = self.run_job("-n", 2, *nodes, "-q", program("spawn.c"), "code")
            first = 2 if b"rank 2 on host" in job.err else 3  # whichever ends first
            self.assertEqual(job.code, 3 + first, job.err)
            self.assertIn(b"the first of 2 ranks with a non-zero one", job.err)

    def test_leaves_without_finalize(self):
        _, err = self.end("leave", 9)
        self.assertIn("rank 3 on host", err)
        self.assertIn("ended with exit code 9 without having called MPI_Finalize", err)

    def test_crash(self):
        _, err = self.end("crash", 139)
        self.assertIn("rank 3 on host", err)
        self.assertIn("segmentation fault", err)
        self.assertIn("main", err)

    def test_a_program_without_mpi(self):
        job = self.run_job("-n", 2, "-q", program("spawn.c"), "no_mpi")
        self.assertNotEqual(job.code, 0)
        self.assertIn(b"without having called MPI_Init, but other ranks of the job use MPI", job.err)

    def test_reports(self):
        """Profile, trace and --check know ranks that were spawned."""
        job = self.run_job("-n", 2, "-q", "--profile", program("spawn.c"), "")
        self.assertEqual(job.code, 0, job.err)
        self.assertIn(b"4 ranks", job.err + job.out)
        for nodes in NODES:
            path = os.path.join(self.directory(), "profile")
            job = self.run_job("-n", 2, *nodes, "-q", f"--profile={path}", program("spawn.c"), "")
            self.assertEqual(job.code, 0, job.err)
            with open(path, encoding="utf-8") as text:
                profile = json.load(text)
            self.assertEqual(sorted(rank["rank"] for rank in profile["ranks"]), [0, 1, 2, 3])
            spawned, = [call for call in profile["calls"] if call["function"] == "MPI_Comm_spawn"]
            self.assertEqual(sorted(rank["rank"] for rank in spawned["ranks"]), [0, 1])
            for rank in profile["ranks"]:
                self.assertGreater(rank["variables"]["tmpi_time_running"], 0)
                parts = rank["computing"] + rank["mpi"] + rank["waiting"] + rank["elsewhere"]
                self.assertAlmostEqual(rank["wall"], parts, delta=1e-6)
            path = os.path.join(self.directory(), "trace")
            job = self.run_job("-n", 2, *nodes, "-q", "--trace", path, program("spawn.c"), "")
            self.assertEqual(job.code, 0, job.err)
            calls = collections.defaultdict(set)
            with open(path, encoding="utf-8") as text:
                events = json.load(text)["traceEvents"]
            names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
            for event in events:
                if event.get("cat") == "mpi":
                    calls[names[event["tid"]]].add(event["name"])
            self.assertEqual(sorted(calls), [f"rank {rank}" for rank in range(4)])
            for rank in range(4):
                self.assertIn("MPI_Comm_disconnect", calls[f"rank {rank}"])
                self.assertEqual("MPI_Comm_spawn" in calls[f"rank {rank}"], rank < 2)
        job = self.run_job("-n", 2, "-q", "--check", program("spawn.c"), "outlive")
        self.assertEqual(job.code, 0, job.err)

    def fill(self, *options):
        """What the program says of the universe; ranks in each node process once it is full, the most first."""
        job = self.run_job("-q", *options, program("universe.c"))
        self.assertEqual(job.code, 0, job.err)
        lines = [line.split() for line in job.out.decode().splitlines()]
        (universe, size), = [(int(words[1]), int(words[3])) for words in lines if words[0] == "universe"]
        places = collections.Counter(words[1] for words in lines if words[0] != "universe")
        self.workers = collections.Counter(tuple(words[1:]) for words in lines if words[0] != "universe")
        self.assertEqual(sum(places.values()), max(universe, size))
        self.assertEqual(sum(words[0] == "parent" for words in lines), size)
        return universe, sorted(places.values(), reverse=True)

    def test_universe_is_cores_times_v(self):
        cores = len(os.sched_getaffinity(0))
        self.assertEqual(self.fill("-n", 1), (cores, [cores]))
        self.assertEqual(self.fill("-n", 2, "--vratio", 3), (3 * cores, [3 * cores]))
        self.assertEqual(sorted(self.workers.values()), [3] * cores)  # V ranks on each worker, whoever has started them
        self.assertEqual(self.fill("-n", 2, "--workers", 3), (3, [3]))
        self.assertEqual(sorted(self.workers.values()), [1] * 3)
        self.assertEqual(self.fill("-n", 7, "--workers", 2), (7, [7]))  # no less than there are

    def test_universe_of_several_node_processes(self):
        cores = len(os.sched_getaffinity(0))
        self.assertEqual(self.fill("-n", 2, "--nodes", 2)[0], max(cores, 2))  # who share the cores
        self.assertEqual(self.fill("-n", 2, "--nodes", 2, "--workers", 3), (6, [3, 3]))
        self.assertEqual(self.fill("-n", 4, "--nodes", 2, "--workers", 2, "--vratio", 3), (12, [6, 6]))
        self.assertEqual(sorted(self.workers.values()), [3] * 4)
        self.assertEqual(self.fill("-n", 5, "--nodes", 2, "--workers", 1), (5, [3, 2]))

    def test_universe_is_the_slots_where_there_are_any(self):
        """As users of other MPIs count them; each host gets its part."""
        two = f"localhost:5,{socket.gethostname()}:2"
        self.assertEqual(self.fill("-n", 2, "--host", "localhost:6"), (6, [6]))
        self.assertEqual(self.fill("-n", 2, "--host", "localhost:3", "--vratio", 4), (12, [12]))
        self.assertEqual(self.fill("-n", 2, "--host", two, "--map-by", "cyclic"), (7, [5, 2]))
        self.assertEqual(self.fill("-n", 1, "--host", two), (5, [5]))  # what gets no rank at first is left alone
        self.assertEqual(self.fill("-n", 9, "--host", two)[0], 9)
        self.assertEqual(self.fill("-n", 2, "--nodes", 2, "--npernode", 4)[0], 4)
        path = os.path.join(self.directory(), "hosts")
        with open(path, "w") as file:
            file.write(f"localhost slots=2\n{socket.gethostname()} slots=3\n")
        self.assertEqual(self.fill("-n", 2, "--hostfile", path, "--map-by", "cyclic"), (5, [3, 2]))

    def test_with_balance(self):
        for balance in "greedy:period=0.1", "rotate", "steal":
            job = self.run_job("-n", 2, "-q", "--workers", 2, "--balance", balance, program("spawn.c"), "")
            self.assertEqual(job.code, 0, job.err)


if __name__ == "__main__":
    main()
