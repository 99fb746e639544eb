"""--sleep: what other ranks do while one sleeps."""

import json
import os

from harness import LaunchTest, main, program

FUNCTIONS = ("sleep", "usleep", "nanosleep", "clock_nanosleep", "absolute", "thrd_sleep", "poll", "poll_nobody", "ppoll", "select",
             "select_none", "pselect")

CALLS = ("read", "readv", "recv", "recvfrom", "recvmsg", "accept", "waitpid", "wait", "waitid", "system", "pclose", "flock", "fcntl", "write",
         "poll", "select", "epoll_wait", "restart", "connect", "broken_pipe", "jumps")


# What ranks may wait for each other by, without MPI (outside_mpi.c).
WAYS = ("sched_yield", "nanosleep0", "usleep0", "thrd_yield", "usleep", "file", "fifo", "fopen_fifo", "fgets", "getline", "fread", "getc_unlocked",
        "read", "named", "sem_wait", "sem_timedwait", "mutex", "timedlock", "rwlock", "spin", "cond_wait", "cond_timedwait", "c11", "barrier",
        "futex", "semop", "msgrcv", "msgsnd", "mq_receive", "mq_send", "flock", "ofd", "getaddrinfo",
        "aio_suspend", "lio_listio", "fscanf", "fprintf", "fwrite", "fputs", "putc_unlocked", "setvbuf", "fclose", "fflush", "sigsuspend",
        "ppoll", "pselect", "epoll_pwait", "recvmmsg")
SCHEDULING_POINTS = ("sched_yield", "nanosleep0", "usleep0", "thrd_yield")


class Sleep(LaunchTest):
    def intervals(self, job, ranks):
        self.assertEqual(job.code, 0, job.out + job.err)
        lines = sorted(line.split() for line in job.out.decode().splitlines())
        self.assertEqual([line[0] for line in lines], [str(rank) for rank in range(ranks)])
        return [(float(began), float(ended)) for _, began, ended in lines]

    def test_yield(self):
        """All have begun before the first has slept enough."""
        for function in FUNCTIONS:
            with self.subTest(function):
                job = self.run_job("-n", 10, "--workers", 1, "--sleep", "yield", program("sleeper.c"), function, 1000)
                times = self.intervals(job, 10)
                self.assertLess(max(began for began, _ in times), min(ended for _, ended in times))
                self.assertEqual(job.err, b"")

    def test_one_sleep_holds_by_default(self):
        """One after the other."""
        for options in ((), ("--sleep", "auto"), ("--sleep", "hold")):
            job = self.run_job("-n", 3, "--workers", 1, *options, program("sleeper.c"), "usleep", 150)
            times = sorted(self.intervals(job, 3))
            for earlier, later in zip(times, times[1:]):
                self.assertLessEqual(earlier[1], later[0])
            self.assertEqual(job.err, b"")  # not yet worth a word

    def test_sleeps_hold_for_a_tenth_of_a_second(self):
        """Then the other rank begins while the first one still sleeps, and not before."""
        for how, together in (("auto", True), ("hold", False)):
            job = self.run_job("-n", 2, "--workers", 1, "--sleep", how, program("naps.c"), 50, 10000)  # half a second, in naps of 10 ms
            (began, ended), (other_began, _) = sorted(self.intervals(job, 2))
            self.assertGreaterEqual(other_began - began, 0.09)
            self.assertEqual(other_began < ended, together)

    def test_ranks_that_wait_outside_of_mpi(self):
        """What ends the waiting is done by another rank: of the same core, of another one, or either."""
        for options in ((2, "--workers", 1), (4, "--workers", 2), (6, "--workers", 2), (4, "--nodes", 2, "--workers", 1)):
            for way in WAYS:
                with self.subTest(way, options=options):
                    job = self.run_job("-q", "-n", *options, "--timeout", 60, program("outside_mpi.c"), way, self.directory())
                    self.assertEqual((job.code, job.out, job.err), (0, f"{way}: good\n".encode(), b""))

    def test_scheduling_points_are_those_of_every_mode(self):
        for how in ("hold", "yield"):
            for way in SCHEDULING_POINTS:
                with self.subTest(way, how=how):
                    job = self.run_job("-q", "-n", 2, "--workers", 1, "--sleep", how, "--timeout", 60, program("outside_mpi.c"), way, self.directory())
                    self.assertEqual((job.code, job.out, job.err), (0, f"{way}: good\n".encode(), b""))

    def test_every_function_holds(self):
        for function in FUNCTIONS:
            with self.subTest(function):
                milliseconds = 1000 if function == "sleep" else 60
                job = self.run_job("-n", 2, "--workers", 1, "-q", program("sleeper.c"), function, milliseconds)
                first, second = sorted(self.intervals(job, 2))
                self.assertLessEqual(first[1], second[0])
                self.assertEqual(job.err, b"")

    def test_what_holding_costs_is_said_once(self):
        for nodes in (1, 2):
            job = self.run_job("-n", 3 * nodes, "--nodes", nodes, "--workers", 1, program("sleeper.c"), "nanosleep", 700)
            self.assertEqual(job.code, 0, job.err)
            said = [line for line in job.err.decode().splitlines() if "--sleep yield" in line]
            self.assertEqual(len(said), 1, job.err)
            self.assertRegex(said[0], r"^tmpirun: warning: ranks that could have run have waited 1\.[1-9] seconds so far for others of "
                             r"their core that sleep, the last one rank \d on host \S+, in nanosleep; with --sleep yield they run meanwhile$")

    def test_who_is_alone_on_a_core_holds_nobody(self):
        job = self.run_job("-n", 2, "--workers", 2, program("sleeper.c"), "nanosleep", 1200)
        self.assertEqual(job.code, 0, job.err)
        self.assertNotIn(b"--sleep", job.err)

    def test_who_is_alone_on_a_core_sleeps_by_the_system(self):
        """With yield, too: there is nobody to whom it could leave the core."""
        for function in ("nanosleep", "poll"):
            self.timed_out("  rank 0: running, in ", "-n", 1, "--sleep", "yield", program("sleeper.c"), function, 200000)

    def test_profile(self):
        for how, least, most in (("hold", 0.45, 0.61), ("yield", 0, 0)):
            file = os.path.join(self.directory(), "profile.json")
            job = self.run_job("-n", 3, "--workers", 1, "--sleep", how, f"--profile={file}", program("sleeper.c"), "usleep", 250)
            self.assertEqual(job.code, 0, job.err)
            with open(file, encoding="utf-8") as text:
                (worker,) = json.load(text)["workers"]
            self.assertGreaterEqual(worker["held"], least)
            self.assertLessEqual(worker["held"], max(most, worker["busy"] * most))
            self.assertEqual("asleep while ranks of the core were ready" in job.err.decode(), how == "hold", job.err)

    def test_state_dump(self):
        job = self.timed_out("blocked in poll", "-n", 2, "--workers", 1, "--sleep", "yield", program("sleeper.c"), "poll", 200000)
        self.assertIn(b"every rank at this moment", job.err)

    def test_who_blocks_lets_others_run(self):
        """What ends the waiting is done by a rank of the same core."""
        for how in CALLS:
            with self.subTest(how):
                for mode in ("auto", "yield"):
                    job = self.run_job("-q", "-n", 3, "--workers", 1, "--sleep", mode, "--timeout", 60, program("blocker.c"), how, self.directory())
                    self.assertEqual((job.code, job.out, job.err), (0, f"{how}: good\n".encode(), b""))

    def test_state_dump_of_a_system_call(self):
        job = self.timed_out("rank 0: blocked in read", "-n", 2, "--workers", 1, "--sleep", "yield", program("blocker.c"), "never",
                             self.directory())
        self.assertEqual(job.out, b"")

    def test_unknown(self):
        job = self.run_job("-n", 1, "--sleep", "never", program("sleeper.c"), "poll", 1)
        self.check_failure(job, 2, "--sleep never: accepted are 'auto', 'hold' and 'yield'")


if __name__ == "__main__":
    main()
