#!/usr/bin/env python3
"""The shim in real jobs: programs compiled with tmpicc, run by tmpirun as many ranks. TMPI_BIN names the folder of both."""
import os
import re
import resource
import signal
import subprocess
import tempfile
import unittest

BIN = os.environ["TMPI_BIN"]
HERE = os.path.dirname(os.path.abspath(__file__))


class Job:
    def __init__(self, ranks, program, *arguments, options=(), stdin=None, cwd=None, before=None):
        words = [os.path.join(BIN, "tmpirun"), "-n", str(ranks), "--timeout", "240", *options, program, *arguments]
        done = subprocess.run(words, input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=300, cwd=cwd, preexec_fn=before)
        self.out, self.err, self.code = done.stdout, done.stderr, done.returncode


class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.programs = {}
        for file in sorted(os.listdir(os.path.join(HERE, "programs"))):
            name, suffix = os.path.splitext(file)
            wrapper = "tmpicc" if suffix == ".c" else "tmpicxx"
            output = os.path.join(cls.folder.name, name)
            subprocess.run([os.path.join(BIN, wrapper), "-O1", "-g", os.path.join(HERE, "programs", file), "-o", output], check=True,
                           timeout=300)
            cls.programs[name] = output

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def job(self, ranks, program, *arguments, **options):
        return Job(ranks, self.programs[program], *arguments, **options)

    def test_state_is_private(self):
        for ranks, options in ((1, ()), (7, ("--workers", "1")), (40, ("--workers", "2", "--sched", "random:3"))):
            job = self.job(ranks, "state", options=options)
            self.assertEqual((job.code, job.err), (0, ""))
            self.assertEqual(sorted(job.out.splitlines()), sorted(f"rank {i}: good" for i in range(ranks)))

    def test_places_are_private(self):
        for ranks, options in ((1, ()), (3, ("--workers", "1")), (6, ("--workers", "2")), (12, ("--workers", "2", "--sched", "random:3"))):
            job = self.job(ranks, "places", options=options, before=lambda: os.umask(0o027))
            self.assertEqual((job.code, job.err), (0, ""))
            self.assertEqual(sorted(job.out.splitlines()), sorted(f"rank {i}: good" for i in range(ranks)))

    def test_signal_masks_are_private(self):
        for ranks, options in ((1, ()), (3, ("--workers", "1")), (6, ("--workers", "2")), (12, ("--workers", "2", "--sched", "random:3"))):
            job = self.job(ranks, "blocked", options=options)
            self.assertEqual((job.code, job.err), (0, ""))
            self.assertEqual(sorted(job.out.splitlines()), sorted(f"rank {i}: good" for i in range(ranks)))

    def test_fork_handlers_are_private(self):
        for options in (("--workers", "1"), ("--workers", "2")):
            job = self.job(6, "fork_handlers", options=options)
            self.assertEqual((job.code, job.err), (0, ""))
            self.assertEqual(sorted(job.out.splitlines()), [f"rank {i}: good" for i in range(6)])

    def test_check_names_shared_state(self):
        job = self.job(2, "shared_state", options=("--check",))
        self.assertEqual(job.code, 0, job.err)
        self.assertIn("  malloc_trim, mallopt: settings and counters of the allocator: ", job.err)
        self.assertEqual(self.job(2, "shared_state").err, "")
        self.assertEqual(self.job(2, "state", options=("--check",)).err, "")

    def test_check_names_shared_state_of_libraries(self):
        """Of those that the user has made, not of the distribution's."""
        source, library, program = (os.path.join(self.folder.name, name) for name in ("trims.c", "libtrims.so", "calls_trims"))
        with open(source, "w") as text:
            text.write("#include <malloc.h>\nint trims(void) { return malloc_trim(0); }\n")
        subprocess.run([os.path.join(BIN, "tmpicc"), "-shared", "-fPIC", source, "-o", library], check=True, timeout=60)
        with open(source, "w") as text:
            text.write("#include <mpi.h>\nint trims(void);\nint main() { MPI_Init(0, 0); trims(); return MPI_Finalize(); }\n")
        subprocess.run([os.path.join(BIN, "tmpicc"), source, library, "-o", program], check=True, timeout=60)
        job = Job(2, program, options=("--check",))
        self.assertEqual(job.code, 0, job.err)
        self.assertIn("  malloc_trim: settings and counters of the allocator: ", job.err)

    def test_dl_errors(self):
        for options in (("--workers", "1"), ("--workers", "2")):
            job = self.job(8, "dl_errors", options=options)
            self.assertEqual((job.code, job.err), (0, ""))

    def test_streams(self):
        file = os.path.join(self.folder.name, "reopened")
        job = self.job(6, "streams", file, options=("--workers", "2"))
        self.assertEqual(job.code, 0, job.err)
        lines = job.out.splitlines()
        for rank in range(6):
            number = "**ff" if rank % 2 else " 255"
            self.assertIn(f"number {rank} {number} c cxx", lines)
            self.assertIn(f"wide {rank}", lines)
            self.assertIn(f"error {rank}", job.err.splitlines())
            for line in (f"closed by nobody {rank}", f"goodbye {rank}"):
                self.assertEqual(line in lines, rank > 1, line)
        with open(file) as text:
            self.assertEqual(text.read(), "into the file\nand on\nclosed by nobody 1\ngoodbye 1\n")

    def test_exit(self):
        job = self.job(3, "ending", "exit")
        self.assertEqual(job.code, 3, job.err)
        for rank in range(3):
            self.assertIn(f"first of {rank}\n", job.out)
            self.assertIn(f"last of {rank} destructor of {rank}", job.out)

    def test_underscore_exit(self):
        job = self.job(3, "ending", "_exit", "1")
        self.assertEqual(job.code, 4, job.err)
        self.assertNotIn("first of 1", job.out)
        self.assertIn("last of 2 destructor of 2", job.out)

    def test_abort_and_assertion(self):
        for how, text in (("abort", "SIGABRT"), ("assert", "Assertion `rank != chosen' failed.")):
            job = self.job(3, "ending", how, "2")
            self.assertEqual(job.code, 134, job.err)
            self.assertIn(text, job.err)
            self.assertRegex(job.err, r"rank 2\b")
            self.assertRegex(job.err, r"\bmain\b")  # the backtrace

    def test_exec_is_refused(self):
        job = self.job(3, "ending", "exec", "1")
        self.assertNotEqual(job.code, 0)
        self.assertRegex(job.err, r'rank 1 .*execvpe\("true"\).*posix_spawn')

    def test_fault_handler_of_one_rank(self):
        job = self.job(4, "ending", "fault", "3")
        self.assertEqual(job.code, 0, job.err)
        self.assertIn("rank 3 caught 11\n", job.out)

    def test_uncaught_exception(self):
        job = self.job(3, "terminate")
        self.assertEqual(job.code, 134, job.err)
        self.assertIn("terminate called after throwing an instance of 'std::runtime_error'\n  what():  nobody wants me\n",
                      re.sub(r"^\[[^]]*\] ?", "", job.err, flags=re.M))
        self.assertEqual(job.err.count("terminate called"), 1)
        job = self.job(3, "terminate", "handled")
        self.assertEqual((job.code, job.out), (0, "handler of rank 1\n"), job.err)

    def test_input(self):
        job = self.job(4, "input", stdin="17 rest\n")
        self.assertEqual(job.code, 0, job.err)
        self.assertIn("rank 0 got 1 17", job.out)
        for rank in range(1, 4):
            self.assertIn(f"rank {rank} got -1 -1", job.out)

    def test_children(self):
        job = self.job(6, "children", options=("--workers", "2"))
        self.assertEqual((job.code, job.err), (0, ""))
        for rank in range(6):
            self.assertIn(f"exit handler of {rank} in the rank\n", job.out)

    def test_signals_and_timers(self):
        parts = ("spin", "sleep", "pause", "jump", "receive", "intervals", "processor_time", "timers", "outside", "dispositions", "read")
        for part in parts:
            for options in (("--workers", "1"), ("--workers", "1", "--sleep", "yield"), ("--workers", "2", "--sleep", "yield"),
                            ("--workers", "4", "-q")):
                with self.subTest(part=part, options=options):
                    job = self.job(4, "alarms", part, options=options + ("--timeout", "60", "-q"))
                    self.assertEqual((job.code, job.err), (0, ""), job.out)
                    self.assertEqual(sorted(job.out.splitlines()), [f"rank {i}: good" for i in range(4)])

    def test_signals_that_are_easily_lost_or_mistaken(self):
        for part, workers in (("stale", 1), ("stale", 2), ("pending", 4), ("ignored", 4)):
            job = self.job(4, "alarms", part, options=("--workers", str(workers), "--timeout", "60", "-q"),
                           before=lambda: signal.signal(signal.SIGVTALRM, signal.SIG_IGN))
            self.assertEqual((job.code, job.err), (0, ""), (part, job.out))
            self.assertEqual(sorted(job.out.splitlines()), [f"rank {i}: good" for i in range(4)])

    def test_alarm_without_a_handler(self):
        job = self.job(3, "alarms", "nobody", options=("--workers", "1"))
        self.assertEqual(job.code, 128 + 14, job.err)
        self.assertIn("killed by signal 14", job.err)

    def test_process_ids(self):
        for ranks, options in ((1, ()), (6, ("--workers", "1")), (6, ("--workers", "2")), (6, ("--vratio", "3")),
                               (4, ("--workers", "4", "-q")), (6, ("--nodes", "2"))):
            with self.subTest(ranks=ranks, options=options):
                job = self.job(ranks, "process_ids", options=options + ("--timeout", "60"))
                self.assertEqual((job.code, job.err), (0, ""), job.out)
                self.assertEqual(sorted(job.out.splitlines()), [f"rank {i}: good" for i in range(ranks)])
        job = self.job(3, "process_ids", "node", options=("--pid", "node"))
        self.assertEqual((job.code, job.err), (0, ""), job.out)

    def test_what_later_versions_of_glibc_have(self):
        for ranks, options in ((1, ()), (6, ("--workers", "2")), (6, ("--nodes", "2")), (4, ("--balance", "rotate"))):
            with self.subTest(ranks=ranks, options=options):
                job = self.job(ranks, "later", options=options + ("--timeout", "60", "-q"))
                self.assertEqual((job.code, job.err), (0, ""), job.out)
                self.assertEqual(sorted(job.out.splitlines()), [f"rank {i}: good" for i in range(ranks)])

    def test_children_are_a_ranks_own(self):
        for ranks, options in ((1, ()), (6, ("--workers", "1")), (6, ("--workers", "2", "--sleep", "yield")), (6, ("--vratio", "3")),
                               (4, ("--workers", "4", "-q")), (6, ("--nodes", "2"))):
            with self.subTest(ranks=ranks, options=options):
                job = self.job(ranks, "own_children", options=options + ("--timeout", "60", "-q"))
                self.assertEqual((job.code, job.err), (0, ""), job.out)
                self.assertEqual(sorted(job.out.splitlines()), [f"rank {i}: good" for i in range(ranks)])

    def test_descriptors_have_owners(self):
        def lower():
            resource.setrlimit(resource.RLIMIT_NOFILE, (200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        for ranks, options in ((1, ()), (6, ("--workers", "1")), (6, ("--workers", "2", "--sleep", "hold")), (6, ("--vratio", "3")),
                               (4, ("--workers", "4", "-q")), (6, ("--nodes", "2"))):
            with self.subTest(ranks=ranks, options=options):
                job = self.job(ranks, "own_descriptors", "200", options=options + ("--timeout", "60", "-q"), before=lower)
                self.assertEqual((job.code, job.err), (0, ""), job.out)
                self.assertEqual(sorted(job.out.splitlines()), [f"rank {i}: good" for i in range(ranks)])

    def test_limits_are_a_ranks_own(self):
        for ranks, options in ((1, ()), (3, ("--workers", "1")), (6, ("--workers", "2")), (7, ("--workers", "2", "--sched", "random:3"))):
            job = self.job(ranks, "own_limits", options=options + ("--timeout", "60", "-q"))
            self.assertEqual((job.code, job.err), (0, ""), job.out)
            self.assertEqual(sorted(job.out.splitlines()), [f"rank {i}: good" for i in range(ranks)])
        job = self.job(2, "own_limits", "bound", options=("--nodes", "2", "--timeout", "60", "-q"))
        self.assertEqual((job.code, job.err), (0, ""), job.out)

    def test_signals_of_descriptors(self):
        for ranks, options in ((1, ()), (3, ("--workers", "1")), (6, ("--workers", "2")), (6, ("--workers", "2", "--sleep", "yield"))):
            job = self.job(ranks, "descriptor_signals", options=options + ("--timeout", "60", "-q"))
            self.assertEqual((job.code, job.err), (0, ""), job.out)
            self.assertEqual(sorted(job.out.splitlines()), [f"rank {i}: good" for i in range(ranks)])

    def test_notices_of_asynchronous_requests(self):
        for ranks, options in ((1, ()), (3, ("--workers", "1")), (6, ("--workers", "2")), (6, ("--workers", "2", "--sleep", "yield"))):
            job = self.job(ranks, "asynchronous", options=options + ("--timeout", "60", "-q"))
            self.assertEqual((job.code, job.err), (0, ""), job.out)
            self.assertEqual(sorted(job.out.splitlines()), [f"rank {i}: good" for i in range(ranks)])

    def test_directories(self):
        for number, options in enumerate((("--workers", "1"), ("--workers", "2"), ("--workers", "5", "-q"))):
            folder = os.path.join(os.path.realpath(self.folder.name), f"places{number}")
            os.mkdir(folder)
            job = Job(5, self.programs["directories"], folder, options=options, cwd=folder)
            self.assertEqual((job.code, job.out, job.err), (0, "", ""))
            for rank in (0, 2, 3, 4):
                for name in ("left", "thread"):
                    with open(os.path.join(folder, f"rank{rank}", name)) as text:
                        self.assertEqual(text.read(), f"{rank}\n")
            self.assertTrue(os.path.exists(os.path.join(folder, "thread")))  # of the one that has stayed

    def test_memory(self):
        job = self.job(200, "memory")
        self.assertEqual(job.code, 0, job.err)
        # A page of the program's data and one of the shim's: what every rank writes must fit into the shim's first.
        self.assertLess(int(re.search(r"dirty (\d+)", job.out)[1]), 2.5 * 4096)

    def test_a_program_by_itself_needs_no_shim(self):
        done = subprocess.run([self.programs["state"]], capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout), (0, "rank 0: good\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
