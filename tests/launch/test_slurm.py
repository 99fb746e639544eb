"""Node processes started by Slurm: tmpirun in an allocation, and srun as a PMIx server. The cluster is Debian's Slurm with two nodes on
this machine."""

import os
import signal
import subprocess
import unittest

from attached import TMPI_NODE, AttachedJobs, AttachedTest
from harness import TMPIRUN, program
from slurm_cluster import Cluster, find, why_not

cluster = None


def setUpModule():
    global cluster
    if why_not():
        return
    cluster = Cluster()
    problem = cluster.wait()
    if problem:
        cluster.stop()
        raise unittest.SkipTest("the cluster does not start here: " + problem)


def tearDownModule():
    if cluster:
        cluster.stop()


@unittest.skipIf(why_not(), why_not())
class SlurmTest(AttachedTest):
    def start(self, *arguments, env=None, **options):
        return super().start(*arguments, env={**(env or {}), **cluster.environment}, **options)


class AllocationTest(AttachedJobs, SlurmTest):
    SECOND = b"SLURM_NODEID=1"

    def launch(self, arguments):
        return [find("salloc"), "--quiet", "--nodes=2", TMPIRUN, *arguments]

    def test_slots_are_the_tasks_that_were_asked_for(self):
        job = self.start("--quiet", "--nodes=2", "--ntasks=6", "--overcommit", TMPIRUN, program("ring.c"), tmpirun=find("salloc"))
        self.check_ring(self.finish(job), 6)

    def test_hosts_are_the_nodes(self):
        job = self.run_attached("-n", 2, "-v", program("ring.c"))
        self.assertEqual(job.code, 0, job.err)
        job = self.run_attached("-n", 2, program("misbehave.c"), "exit", 1, 5)
        self.assertEqual(job.code, 5, job.err)

    def test_nodes_1_stays_here(self):
        job = self.run_attached("--nodes", 1, "-n", 2, program("ring.c"))
        self.assertEqual(job.code, 0, job.err)
        self.assertIn("rank 1 of 2 with 2 from 0", job.out.decode())

    def test_interrupt(self):
        job = self.wait_for_ring()
        for pid, command in job.survivors():
            if command.startswith("tmpirun "):
                os.kill(pid, signal.SIGINT)
        self.finish(job)
        self.check_one_message(job, 130, "the job was ended by SIGINT")

    def test_cancelled_job(self):
        job = self.wait_for_ring()
        subprocess.run([find("scancel"), "--full", "--user=root"], env={**os.environ, **cluster.environment}, check=True, timeout=20)
        self.finish(job)
        self.assertLess(job.seconds, 10)
        self.assertNotEqual(job.code, 0)


class SrunPmixTest(AttachedJobs, SlurmTest):
    SECOND = b"PMIX_RANK=1"

    def launch(self, arguments):
        return [find("srun"), "--quiet", "--nodes=2", "--mpi=pmix", TMPI_NODE, *arguments]


class FailingSrunTest(AttachedTest):
    """srun and scontrol of our own in PATH, that fail as the real ones do."""

    def run_in_allocation(self, scontrol, srun):
        directory = self.directory()
        for name, text in (("scontrol", scontrol), ("srun", srun)):
            with open(os.path.join(directory, name), "w") as file:
                file.write("#!/bin/sh\n" + text)
            os.chmod(file.name, 0o755)
        variables = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "far[1-2]", "SLURM_JOB_NUM_NODES": "2",
                     "SLURM_JOB_CPUS_PER_NODE": "4(x2)", "PATH": directory + ":" + os.environ["PATH"]}
        return self.run_job("-n", 2, program("plain.c"), env=variables)

    def test_srun_fails(self):
        job = self.run_in_allocation('echo far1; echo far2', 'echo "srun: error: Unable to create step" >&2; exit 3')
        self.check_failure(job, 1, "srun: error: Unable to create step", "srun ended with exit code 3", "on far1, far2 had connected")

    def test_hosts_are_not_known(self):
        job = self.run_in_allocation('echo "Invalid hostlist" >&2; exit 1', "exit 0")
        self.check_failure(job, 1, "Invalid hostlist", "scontrol show hostnames far[1-2]", "--nodes 1")

    def test_what_srun_is_asked_for(self):
        job = self.run_in_allocation('[ "$1 $2 $3" = "show hostnames far[1-2]" ] && echo far1 && echo far2',
                                     'echo "$@" >&2; exit 1')
        for option in ("--jobid=7", "--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--cpu-bind=none", "--kill-on-bad-exit=1"):
            self.assertIn(option, job.err.decode().split())


if __name__ == "__main__":
    unittest.main()
