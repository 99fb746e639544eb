"""Node processes started by a PMIx server: mpirun of Open MPI."""

import os
import shutil
import signal
import subprocess
import time
import unittest

from attached import TMPI_NODE, AttachedJobs, AttachedTest
from harness import HANG, claims_time, main, program

MPIRUN = shutil.which("mpirun.openmpi")


@unittest.skipIf(MPIRUN is None, "mpirun.openmpi is missing (Debian: openmpi-bin)")
class OpenMpiTest(AttachedJobs, AttachedTest):
    SECOND = b"PMIX_RANK=1"

    def start(self, *arguments, env=None, **options):
        """mpirun keeps files where others of its kind do: a directory for each run."""
        return super().start(*arguments, env={**(env or {}), "TMPDIR": self.directory()}, **options)

    def launch(self, arguments):
        return [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", "2", TMPI_NODE, *arguments]

    def test_one_node_process(self):
        for binding in ("none", "core"):
            job = self.start("--allow-run-as-root", "-n", 1, "--bind-to", binding, TMPI_NODE, "-n", 4, program("ring.c"), tmpirun=MPIRUN)
            self.finish(job)
            self.assertEqual(job.code, 0, job.err)
            self.assertIn("token 3, sum 6", job.out.decode())
            narrow = binding == "core" and os.cpu_count() > 1
            self.assertEqual(f"use 1 of {os.cpu_count()} processors" in job.err.decode(), narrow, job.err)

    @claims_time
    def test_signals_to_mpirun(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            job = self.wait_for_ring()
            job.process.send_signal(number)
            start = time.monotonic()
            self.finish(job)
            self.in_time(time.monotonic() - start, 8)
            self.assertNotEqual(job.code, 0)

    def test_state_dump(self):
        job = self.wait_for_ring()
        job.ask_until(b"ranks 0-3 (4): blocked in MPI_Recv")  # mpirun sends the signal on to its processes
        job.process.terminate()
        self.finish(job)
        self.assertNotEqual(job.code, 0)

    def test_killed_process_0(self):
        job = self.wait_for_ring()
        for pid, command in job.survivors():
            if command.startswith("tmpirun "):
                os.kill(pid, signal.SIGKILL)
        self.finish(job)
        self.assertEqual(job.code, 137, job.err)

    def test_killed_launcher(self):
        job = self.wait_for_ring()
        job.process.kill()
        job.process.wait()
        self.check_nothing_left(job)

    def test_places_are_the_launchers(self):
        job = self.run_attached("--nodes", 2, "-n", 4, program("ring.c"))
        self.check_one_message(job, 2, "the launcher has started the node processes already")


class NoServerTest(AttachedTest):
    def run_node(self, *arguments, **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PMIX_")}
        return subprocess.run([TMPI_NODE, *arguments], env={**environment, **variables}, capture_output=True, text=True, timeout=HANG)

    def test_without_a_server(self):
        run = self.run_node("./app")
        self.assertEqual(run.returncode, 2)
        self.assertIn("this program is started by tmpirun, or by a launcher with a PMIx server", run.stderr)
        self.assertIn("tmpirun -n N PROGRAM", run.stderr)

    def test_a_server_that_is_gone(self):
        run = self.run_node("./app", PMIX_NAMESPACE="gone", PMIX_RANK="0", PMIX_SERVER_URI41="gone.0;tcp4://127.0.0.1:1")
        self.assertEqual(run.returncode, 1)
        self.assertIn("tmpi-node: cannot connect to the PMIx server that the environment names (PMIX_NAMESPACE=gone)", run.stderr)


if __name__ == "__main__":
    main()
