"""tmpirun --profile: counts, bytes and lines are exact, times add up, the table says what is wrong."""

import os
import subprocess

from observed import BIN, HERE, ObservedTest, claims_only_time, claims_time, line_of, main, program

KNOWN = "known.c"
SHARED = "windows_and_files.c"
RANKS = 4


class KnownCalls(ObservedTest):
    """Calls of a program (`source`) whose number and bytes the test knows."""

    source = KNOWN

    def call(self, mark, function):
        line = line_of(self.source, mark)
        found = [call for call in self.profile["calls"] if call["line"] == line and call["function"] == function]
        self.assertEqual(len(found), 1, f"{mark}: {[(c['function'], c['line']) for c in self.profile['calls']]}")
        self.assertEqual(os.path.basename(found[0]["file"]), self.source)
        return found[0]

    def check(self, mark, function, bytes_by_rank):
        """`bytes_by_rank`: {rank: (calls, bytes)}."""
        call = self.call(mark, function)
        got = {rank["rank"]: (rank["calls"], rank["bytes"]) for rank in call["ranks"]}
        self.assertEqual(got, bytes_by_rank, mark)
        self.assertEqual(call["total"]["calls"], sum(calls for calls, _ in bytes_by_rank.values()))
        self.assertEqual(call["total"]["bytes"], sum(count for _, count in bytes_by_rank.values()))
        return call


class KnownProgram(KnownCalls):
    """Every figure of a program that the test knows."""

    @classmethod
    def setUpClass(cls):
        cls.profile = None

    def setUp(self):
        if self.profile is None:
            type(self).job, type(self).profile = self.observe("--profile=", "-n", RANKS, "--workers", 2, "-q", program(KNOWN))

    def test_point_to_point(self):
        self.assertEqual(self.check("send", "MPI_Send", {0: (10, 4000), 2: (10, 4000)})["caller"], "ring")
        self.check("send_odd", "MPI_Send", {1: (10, 3960), 3: (10, 3880)})
        # What has come, not what the buffer holds.
        self.check("recv", "MPI_Recv", {0: (10, 3880), 1: (10, 4000), 2: (10, 3960), 3: (10, 4000)})
        self.check("any", "MPI_Recv", {rank: (1, 10) for rank in range(RANKS)})

    def test_collectives(self):
        self.check("allreduce", "MPI_Allreduce", {rank: (3, 24) for rank in range(RANKS)})
        self.check("alltoall", "MPI_Alltoall", {rank: (1, 2 * 8 * RANKS) for rank in range(RANKS)})
        self.check("scatter", "MPI_Scatter", {rank: (1, 24 * (RANKS if rank == 1 else 1)) for rank in range(RANKS)})

    def test_persistent_large_and_null(self):
        self.check("start", "MPI_Start", {rank: (1, 10) for rank in range(RANKS)})
        self.check("nobody", "MPI_Send_init", {rank: (1, 0) for rank in range(RANKS)})
        self.check("null", "MPI_Send_c", {rank: (1, 0) for rank in range(RANKS)})

    def test_profiling_names(self):
        self.check("barrier", "MPI_Barrier", {rank: (1, 0) for rank in range(RANKS)})

    def test_ranks_add_up(self):
        for rank in self.profile["ranks"]:
            parts = rank["computing"] + rank["mpi"] + rank["waiting"] + rank["elsewhere"]
            self.assertAlmostEqual(rank["wall"], parts, delta=1e-6)
            calls = [r for call in self.profile["calls"] for r in call["ranks"] if r["rank"] == rank["rank"]]
            self.assertAlmostEqual(rank["mpi"] + rank["waiting"], sum(call["wall"] for call in calls), delta=1e-6)
            self.assertAlmostEqual(rank["waiting"], sum(call["waiting"] for call in calls), delta=1e-6)
            for call in calls:
                self.assertAlmostEqual(call["wall"], call["running"] + call["waiting"], delta=1e-9)
                self.assertLessEqual(call["idle"], call["waiting"] + 1e-9)

    @claims_time
    def test_workers_add_up(self):
        _, profile = self.observe("--profile=", "-n", RANKS, "--workers", 2, "-q", program(KNOWN))
        for worker in profile["workers"]:
            self.assertAlmostEqual(worker["busy"] + worker["idle"], profile["seconds"], delta=1e-6)
            # A rank's time begins with the first switch to it and ends with the last one from it; what lies between two ranks is nobody's.
            self.assertGreaterEqual(worker["busy"], worker["computing"] + worker["mpi"] - 1e-6)
            self.in_time(worker["busy"] - worker["computing"] - worker["mpi"], 1e-3)
        self.assertEqual(sorted(rank for worker in profile["workers"] for rank in worker["ranks"]), list(range(RANKS)))

    def test_table(self):
        self.assertIn("profile of known", self.job.text)
        self.assertRegex(self.job.text, r"balance of computing, max/mean: ranks \d")
        self.assertRegex(self.job.text, rf"MPI_Recv +known\.c:{line_of(KNOWN, 'recv')} in ring +40 ")


class WindowsAndFiles(KnownCalls):
    """One-sided operations and files, in one node process and in two."""

    source = SHARED
    MANNERS = (("--workers", 2), ("--workers", 1), ("--nodes", 2, "--map-by", "cyclic"), ("--workers", 2, "--file-io", "threads:1"))

    def setUp(self):
        self.path = os.path.join(self.directory(), "file")

    def run_known(self, *manner, seconds=0.02):
        """{(what, rank): (begin, end)} as the program says."""
        job, self.profile = self.observe("--profile=", "-n", RANKS, *manner, "-q", program(SHARED), self.path, seconds)
        lines = [line.split() for line in job.out.decode().splitlines()]
        return {(what, int(rank)): (float(begin), float(end)) for what, rank, begin, end in lines}

    def check_windows(self):
        each = lambda calls, count: {rank: (calls, count) for rank in range(RANKS)}
        self.check("put", "MPI_Put", {rank: (5, 5 * 4 * (100 + rank)) for rank in range(RANKS)})
        self.check("vector", "MPI_Put_c", each(1, 28))
        self.check("nobody", "MPI_Put", each(1, 0))
        self.check("accumulate", "MPI_Accumulate", each(1, 80))
        self.check("get", "MPI_Get", each(1, 200))
        self.check("getacc", "MPI_Get_accumulate", each(1, 24))
        self.check("fetch", "MPI_Fetch_and_op", each(1, 8))
        self.check("swap", "MPI_Compare_and_swap", each(1, 2))
        self.check("rput", "MPI_Rput", each(1, 120))
        self.check("rget", "MPI_Rget", each(1, 80))
        for mark, function in (("allocate", "MPI_Win_allocate"), ("fence", "MPI_Win_fence"), ("refence", "MPI_Win_fence"),
                               ("lock_all", "MPI_Win_lock_all"), ("flush", "MPI_Win_flush"), ("unlock_all", "MPI_Win_unlock_all"),
                               ("free", "MPI_Win_free")):
            self.check(mark, function, each(1, 0))
        self.check("hold", "MPI_Win_lock", {RANKS - 2: (1, 0)})
        self.check("release", "MPI_Win_unlock", {RANKS - 2: (1, 0)})
        self.check("ask", "MPI_Win_lock", {RANKS - 1: (1, 0)})

    def check_files(self):
        each = lambda calls, count: {rank: (calls, count) for rank in range(RANKS)}
        self.check("write", "MPI_File_write_at", {rank: (5, 5 * (4096 - rank)) for rank in range(RANKS)})
        self.check("write_all", "MPI_File_write_at_all", each(1, 4096))
        self.check("iwrite", "MPI_File_iwrite_at", each(1, 400))
        self.check("read", "MPI_File_read", each(1, 22))
        self.check("begin", "MPI_File_read_all_begin", each(1, 24))
        self.check("end", "MPI_File_read_all_end", each(1, 0))
        self.check("ordered", "MPI_File_write_ordered", each(1, 13))
        self.check("shared", "MPI_File_write_shared_c", each(1, 14))
        self.check("large", "MPI_File_write_at", each(1, 8 << 20))
        self.check("short", "MPI_File_read_at", each(1, 4096))  # what has come, not the buffer: the file ends there
        for mark, function in (("open", "MPI_File_open"), ("view", "MPI_File_set_view"), ("sync", "MPI_File_sync"), ("close", "MPI_File_close")):
            self.check(mark, function, each(1, 0))

    def check_times(self, said):
        """Calls take some time, and all of them no more than the program has seen pass around them."""
        opening, closing = line_of(SHARED, "open"), line_of(SHARED, "close")
        for rank in range(RANKS):
            sums = {"window": 0, "file": 0}
            for call in self.profile["calls"]:
                if call["function"] in ("MPI_Init", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Finalize"):
                    continue
                what = "file" if opening <= call["line"] <= closing else "window"
                for mine in (each for each in call["ranks"] if each["rank"] == rank):
                    self.assertGreater(mine["wall"], 0)
                    sums[what] += mine["wall"]
            for what, seconds in sums.items():
                begin, end = said[what, rank]
                self.assertLessEqual(seconds, end - begin + 1e-6, (what, rank))

    def test_calls_bytes_and_times(self):
        for manner in self.MANNERS:
            with self.subTest(manner):
                said = self.run_known(*manner)
                self.check_windows()
                self.check_files()
                self.check_times(said)

    def test_waiting_for_a_lock(self):
        """It is time of the call in which the rank is suspended, on one core and on several."""
        for manner in self.MANNERS[:3]:
            for seconds in (0.02, 0.5, 5):  # until the one has asked by the time at which the other lets go
                said = self.run_known(*manner, seconds=seconds)
                waited = said["kept", RANKS - 2][1] - said["asked", RANKS - 1][1]
                ask, give = (self.call(mark, function)["total"] for mark, function in (("ask", "MPI_Win_lock"), ("give", "MPI_Win_unlock")))
                if ask["waiting"] + give["waiting"] > 0.8 * waited > 0:
                    break
            self.assertGreater(ask["waiting"] + give["waiting"], 0.8 * waited, manner)
            hold = self.call("hold", "MPI_Win_lock")["total"]
            self.assertLess(hold["waiting"], waited)

    def test_waiting_for_a_file(self):
        """A system call that is made beside the core is a wait of the rank, and counted."""
        for way in "threads", "uring":
            self.run_known("--workers", 1, "--file-io", f"{way}:1")
            self.assertGreater(self.call("large", "MPI_File_write_at")["total"]["waiting"], 0)  # small ones may be over before the wait
            made = {each: self.profile["processes"][0]["variables"][f"tmpi_files_{each}"] for each in ("threads", "uring")}
            self.assertGreaterEqual(sum(made.values()), RANKS * 5)
            if way == "threads":
                self.assertEqual(made["uring"], 0)


class OneSetOfCounters(ObservedTest):
    """What the program reads by MPI_T just before MPI_Finalize is in the profile: exactly what no longer changes then, at least the rest."""

    FINAL = ["tmpi_messages_sent", "tmpi_bytes_sent", "tmpi_messages_received", "tmpi_bytes_received", "tmpi_sent_direct",
             "tmpi_sent_direct_bytes", "tmpi_sent_eager", "tmpi_sent_eager_bytes", "tmpi_sent_rendezvous", "tmpi_sent_rendezvous_bytes"]
    GROWING = ["tmpi_messages_unexpected", "tmpi_unexpected_most", "tmpi_time_running", "tmpi_time_waiting", "tmpi_time_idle", "tmpi_waits",
               "tmpi_stack_used", "tmpi_moves"]
    CORES = ["tmpi_core_busy", "tmpi_core_idle", "tmpi_core_held", "tmpi_core_switches", "tmpi_core_assists", "tmpi_core_moves"]
    NETWORK = ["tmpi_network_eager", "tmpi_network_eager_bytes", "tmpi_network_rendezvous", "tmpi_network_rendezvous_bytes"]

    def test_every_variable_is_there(self):
        """Of rank, worker or process; but for levels and states, and those of a communicator."""
        table = subprocess.run([os.path.join(BIN, "tmpi-info"), "--markdown", "--variables"], capture_output=True, text=True, check=True).stdout
        rows = [[word.strip() for word in row.split("|")[1:5]] for row in table.splitlines() if row.startswith("| tmpi_")]
        wanted = {name for name, kind, _, bound in rows if kind not in ("level", "state") and bound == "process"}
        for manner in ("--workers", 2), ("--nodes", 2):
            _, profile = self.observe("--profile=", "-n", RANKS, *manner, "-q", program("variables.c"))
            for parts in "ranks", "workers", "processes":
                for part in profile[parts]:
                    self.assertEqual(part["variables"].keys(), profile[parts][0]["variables"].keys())
            names = [name for parts in ("ranks", "workers", "processes") for name in profile[parts][0]["variables"]]
            self.assertEqual(sorted(names), sorted(wanted))

    def compare(self, *arguments, exactly):
        names = self.FINAL + self.GROWING + self.CORES + self.NETWORK
        job, profile = self.observe("--profile=", *arguments, "-q", program("variables.c"), *names)
        said = {(int(words[0]), words[1]): [float(word) for word in words[2:]] for words in map(str.split, job.out.decode().splitlines())}
        for rank in profile["ranks"]:
            number, variables = rank["rank"], rank["variables"]
            for name in self.FINAL:
                if exactly:
                    self.assertEqual(said[number, name], [variables[name]], (number, name))
                else:  # barriers between node processes are made of messages, that of MPI_Finalize as well
                    self.assertLessEqual(said[number, name][0], variables[name], (number, name))
            messages = variables["tmpi_messages_sent"]
            self.assertEqual(sum(variables[f"tmpi_sent_{way}"] for way in ("direct", "eager", "rendezvous")), messages)
            if exactly:
                self.assertEqual((messages, variables["tmpi_bytes_sent"]), (20, 10 * 20040))
            for name in self.GROWING:
                self.assertLessEqual(said[number, name][0], variables[name] + 1e-6, (number, name))
            self.assertGreater(variables["tmpi_time_running"], 0)
            # A profile's own division of a rank's time is that of the variables.
            self.assertAlmostEqual(rank["wall"], variables["tmpi_time_running"] + variables["tmpi_time_waiting"], delta=1e-5)
        return said, profile

    def test_in_one_node_process(self):
        said, profile = self.compare("-n", RANKS, "--workers", 2, exactly=True)
        for name in self.CORES:
            for index, worker in enumerate(profile["workers"]):
                self.assertLessEqual(said[0, name][index], worker["variables"][name] + 1e-6)
        for worker in profile["workers"]:
            self.assertEqual(worker["variables"]["tmpi_core_switches"], worker["switches"])
            self.assertAlmostEqual(worker["variables"]["tmpi_core_busy"], worker["busy"], delta=0.1)
        self.assertEqual(profile["processes"][0]["variables"]["tmpi_network_eager"], 0)

    def test_moves(self):
        said, profile = self.compare("-n", RANKS, "--workers", 2, "--balance", "rotate", exactly=True)
        by_rank = [rank["variables"]["tmpi_moves"] for rank in profile["ranks"]]
        self.assertGreater(min(by_rank), 0)
        self.assertEqual(sum(by_rank), sum(worker["variables"]["tmpi_core_moves"] for worker in profile["workers"]))
        self.assertGreater(said[0, "tmpi_moves"][0], 0)
        _, profile = self.compare("-n", RANKS, "--workers", 2, exactly=True)
        self.assertEqual(sum(rank["variables"]["tmpi_moves"] for rank in profile["ranks"]), 0)

    def test_in_several(self):
        said, profile = self.compare("-n", RANKS, "--nodes", 2, "--map-by", "cyclic", "--eager-limit", "1k", exactly=False)
        for name, key in (("eager", "eager"), ("rendezvous", "rendezvous")):
            for unit, suffix in (("messages", ""), ("bytes", "_bytes")):
                total = sum(process["variables"][f"tmpi_network_{name}{suffix}"] for process in profile["processes"])
                self.assertEqual(total, profile["network"][key][unit])
        for rank in range(RANKS):
            for name in self.NETWORK:
                self.assertLessEqual(said[rank, name][0], profile["processes"][rank % 2]["variables"][name])
        # Small messages all the way round the ring, and what asks first: each goes to the other node.
        self.assertGreaterEqual(min(said[rank, "tmpi_network_eager"][0] for rank in range(RANKS)), 10)
        self.assertGreaterEqual(profile["network"]["eager"]["messages"], 40)
        self.assertEqual(profile["network"]["rendezvous"], {"messages": 40, "bytes": 40 * 20000})


class WhereTimeGoes(ObservedTest):
    def test_computing_is_what_the_program_says(self):
        job, profile = self.observe("--profile=", "-n", 2, "--workers", 2, "-q", program("uneven.c"), 2)
        said = {int(line.split()[0]): float(line.split()[1]) for line in job.out.decode().splitlines()}
        self.assertEqual(set(said), {0, 1})
        for rank in profile["ranks"]:
            self.assertGreaterEqual(rank["computing"], said[rank["rank"]])

    @claims_only_time
    def test_imbalance(self):
        job, profile = self.observe("--profile=", "-n", 2, "--workers", 2, "-q", program("uneven.c"), 5)
        self.assertRegex(job.text, r"balance of computing, max/mean: ranks 1\.\d+ \(rank 0\), cores 1\.\d+ \(worker 0\); worker 0 computes longest")
        said = {int(line.split()[0]): float(line.split()[1]) for line in job.out.decode().splitlines()}
        for rank in profile["ranks"]:
            # Constructors and printing are computing too; the loop is the bulk.
            self.assertGreaterEqual(rank["computing"], said[rank["rank"]])
            self.assertLess(rank["computing"], said[rank["rank"]] + 0.05)
        meet = next(c for c in profile["calls"] if c["line"] == line_of("uneven.c", "meet"))
        waited = next(r for r in meet["ranks"] if r["rank"] == 1)
        missing = said[0] - said[1]
        self.assertAlmostEqual(waited["waiting"], missing, delta=0.05)
        self.assertAlmostEqual(waited["idle"], waited["waiting"], delta=0.005)  # nobody else was there to run

    @claims_time
    def test_virtualization_hides_waiting(self):
        """Two ranks on one core: what one waits for is the other's computing, and the core is never idle."""
        _, profile = self.observe("--profile=", "-n", 2, "--workers", 1, program("uneven.c"), 2)
        self.assertGreater(sum(rank["waiting"] for rank in profile["ranks"]), 0.035)
        meet = next(c for c in profile["calls"] if c["line"] == line_of("uneven.c", "meet"))
        self.in_time(meet["total"]["idle"], 0.005)

    @claims_time
    def test_pcontrol(self):
        _, profile = self.observe("--profile=", "-n", 3, "--workers", 1, program("paused.c"))
        lines = {call["line"]: call["total"]["calls"] for call in profile["calls"] if call["function"] == "MPI_Barrier"}
        self.assertEqual(lines, {line_of("paused.c", "seen"): 21})
        for rank in profile["ranks"]:
            self.in_time(rank["computing"], 0.15)  # without the pause
            self.assertAlmostEqual(rank["wall"], rank["computing"] + rank["mpi"] + rank["waiting"] + rank["elsewhere"], delta=1e-6)


class Surroundings(ObservedTest):
    def test_table_alone(self):
        job = self.run_job("--profile", "-n", 2, "-q", program(KNOWN))
        self.assertEqual(job.code, 0)
        self.assertIn(b"time of a rank", job.err)
        self.assertEqual(self.run_job("-n", 2, "-q", program(KNOWN)).err, b"")

    def test_profiling_tool_of_the_program(self):
        """Its MPI_Send wins, and the PMPI_Send it calls is recorded once, in the tool."""
        mpi = os.path.join(HERE, "..", "mpi")
        built = program(os.path.join(mpi, "pmpi_program.c"), os.path.join(mpi, "pmpi_count.c"), flags=("-g", "-O1"))
        _, profile = self.observe("--profile=", "-n", 3, "--workers", 1, built)
        sends = [call for call in profile["calls"] if call["function"] == "MPI_Send"]
        self.assertEqual([os.path.basename(call["file"]) for call in sends], ["pmpi_count.c"])
        self.assertEqual({r["rank"]: r["calls"] for r in sends[0]["ranks"]}, {0: 3, 1: 4, 2: 5})

    def test_without_debug_information(self):
        _, profile = self.observe("--profile=", "-n", 2, "--workers", 1, program(KNOWN, flags=("-O0", "-g0")))
        call = next(c for c in profile["calls"] if c["function"] == "MPI_Recv" and c["total"]["calls"] == 20)
        self.assertEqual((call["file"], call["caller"]), ("", "ring"))

    def test_threads_of_a_rank(self):
        job, profile = self.observe("--profile=", "-n", 3, "--workers", 2, "-q", program("threads.c", flags=("-g", "-O1", "-pthread")))
        self.assertEqual(profile["foreign_calls"], 3 * 5)
        self.assertIn("15 calls by threads that are no ranks", job.text)
        self.assertEqual([c for c in profile["calls"] if c["function"] == "MPI_Send"], [])
        receives = next(c for c in profile["calls"] if c["line"] == line_of("threads.c", "recv"))
        self.assertEqual((receives["total"]["calls"], receives["total"]["bytes"]), (15, 60))

    def test_file_that_cannot_be_written(self):
        job = self.run_job("--profile=/nowhere/at/all", "-n", 2, program(KNOWN))
        self.assertNotEqual(job.code, 0)
        self.assertIn(b"--profile=/nowhere/at/all: cannot write the file: No such file", job.err)

    def test_abort(self):
        for seconds in (0.05, 1, 10, 60):  # until rank 1 is in its call by then
            job, profile = self.observe("--profile=", "-n", 2, "--workers", 2, "-q", program("uneven.c"), 1, "abort", seconds, code=3)
            self.assertTrue(profile["ended_early"])
            self.assertIn("ended early", job.text)
            unfinished = {call["line"] for call in profile["calls"] if call["total"].get("unfinished")}
            if line_of("uneven.c", "meet") in unfinished:
                break
        self.assertEqual(unfinished, {line_of("uneven.c", "abort"), line_of("uneven.c", "meet")})

    def test_deadlock(self):
        job, profile = self.observe("--profile=", "-n", 2, "--workers", 1, program("uneven.c"), 1, "hang", code=125)
        self.assertIn("deadlock", job.text)
        unfinished = {call["line"] for call in profile["calls"] if call["total"].get("unfinished")}
        self.assertEqual(unfinished, {line_of("uneven.c", "hang"), line_of("uneven.c", "meet")})

    def test_timeout(self):
        for limit in (1, 5, 25, 100):  # until rank 0 has waited for a while
            _, profile = self.observe("--profile=", "-n", 3, "--workers", 1, "--timeout", limit, "--no-deadlock-check", program("uneven.c"), 1,
                                      "hang", code=124)
            self.assertTrue(profile["ended_early"])
            hang = [call["total"] for call in profile["calls"] if call["line"] == line_of("uneven.c", "hang")]
            if hang and hang[0]["waiting"] > 0.3:
                break
        self.assertTrue(hang[0]["unfinished"])
        self.assertGreater(hang[0]["waiting"], 0.3)


if __name__ == "__main__":
    main()
