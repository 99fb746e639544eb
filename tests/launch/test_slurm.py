"""Node processes started by Slurm: tmpirun in an allocation, and srun as a PMIx server. The cluster is Debian's Slurm with two nodes on
this machine."""

import os
import shutil
import signal
import subprocess
import time
import unittest

from attached import TMPI_NODE, AttachedJobs, AttachedTest
from harness import HANG, TMPIRUN, claims_time, main, program
from slurm_cluster import Cluster, find, why_not
from test_namespaces import Namespaces

cluster = None
problem = why_not()


def setUpModule():
    global cluster, problem
    if problem:
        return
    for _ in range(3):  # somebody may take a port before it does
        cluster = Cluster()
        reason = cluster.wait()
        if reason is None:
            return
        cluster.stop()
    cluster = None
    problem = "the cluster does not start here: " + reason


def tearDownModule():
    if cluster:
        cluster.stop()


class SlurmTest(AttachedTest):
    def setUp(self):
        if problem:
            self.skipTest(problem)

    def start(self, *arguments, env=None, **options):
        return super().start(*arguments, env={**(env or {}), **cluster.environment}, **options)


class AllocationTest(AttachedJobs, SlurmTest):
    SECOND = b"SLURM_NODEID=1"

    def launch(self, arguments):
        return [find("salloc"), "--quiet", "--nodes=2", TMPIRUN, *arguments]

    def test_slots_are_the_tasks_that_were_asked_for(self):
        job = self.start("--quiet", "--nodes=2", "--ntasks=6", "--overcommit", TMPIRUN, program("ring.c"), tmpirun=find("salloc"))
        self.check_ring(self.finish(job), 6)

    def test_universe_is_the_tasks(self):
        for options, universe in (((), 6), (("--vratio", 2), 12)):
            job = self.start("--quiet", "--nodes=2", "--ntasks=6", "--overcommit", TMPIRUN, "-n", 2, "--map-by", "cyclic", *options,
                             program("universe.c"), tmpirun=find("salloc"))
            lines = self.finish(job).out.decode().splitlines()
            self.assertIn(f"universe {universe} of 2", lines)
            self.assertEqual(sum(line.startswith("child ") for line in lines), universe - 2)

    @claims_time
    def test_killed_node_process(self):
        job = super().test_killed_node_process()
        self.assertIn("on host tmpi2", job.err.decode())

    def test_batch_script(self):
        directory = self.directory()
        output = os.path.join(directory, "out")
        job = self.start("--wait", "--nodes=2", "--output=" + output, "--wrap",
                         f"{TMPIRUN} -n 4 {program('ring.c')} && {TMPIRUN} -n 2 {program('ring.c')} code 9", tmpirun=find("sbatch"))
        self.finish(job)
        with open(output) as file:
            text = file.read()
        self.assertEqual(job.code, 9, text)
        self.assertIn("token 3, sum 6", text)
        self.assertIn("rank 1 on host", text)

    def test_two_jobs_in_one_allocation(self):
        script = f"{TMPIRUN} -n 4 {program('ring.c')} & {TMPIRUN} -n 6 {program('ring.c')}; wait"
        job = self.start("--quiet", "--nodes=2", "sh", "-c", script, tmpirun=find("salloc"))
        self.finish(job)
        self.assertIn("token 3, sum 6", job.out.decode(), job.err)
        self.assertIn("token 5, sum 15", job.out.decode(), job.err)

    def test_nodes_1_stays_here(self):
        job = self.run_attached("--nodes", 1, "-n", 2, program("ring.c"))
        self.assertEqual(job.code, 0, job.err)
        self.assertIn("rank 1 of 2 with 2 from 0", job.out.decode())

    @claims_time
    def test_interrupt(self):
        job = self.wait_for_ring()
        for pid, command in job.survivors():
            if command.startswith("tmpirun "):
                os.kill(pid, signal.SIGINT)
        self.finish(job)
        self.check_one_message(job, 130, "the job was ended by SIGINT")

    @claims_time
    def test_cancelled_job(self):
        job = self.wait_for_ring()
        subprocess.run([find("scancel"), "--full", "--user=root"], env={**os.environ, **cluster.environment}, check=True, timeout=HANG)
        start = time.monotonic()
        self.finish(job)
        self.in_time(time.monotonic() - start, 8)
        self.assertNotEqual(job.code, 0)


class SrunPmixTest(AttachedJobs, SlurmTest):
    SECOND = b"PMIX_RANK=1"

    def launch(self, arguments):
        return [find("srun"), "--quiet", "--nodes=2", "--mpi=pmix", TMPI_NODE, *arguments]


class FakeSlurmTest(AttachedTest):
    """srun and scontrol of our own in PATH."""

    def allocation(self, scontrol, srun):
        """Variables of an allocation in which these shell scripts are scontrol and srun."""
        directory = self.directory()
        for name, text in (("scontrol", scontrol), ("srun", srun)):
            with open(os.path.join(directory, name), "w") as file:
                file.write("#!/bin/sh\n" + text)
            os.chmod(file.name, 0o755)
        return {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "far[1-2]", "SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_CPUS_PER_NODE": "2(x2)",
                "PATH": directory + ":" + os.environ["PATH"]}


class FailingSrunTest(FakeSlurmTest):
    """They fail as the real ones do."""

    def run_in_allocation(self, scontrol, srun, **env):
        return self.run_job("-n", 2, program("plain.c"), env={**self.allocation(scontrol, srun), **env})

    def test_srun_fails(self):
        job = self.run_in_allocation('echo far1; echo far2', 'echo "srun: error: Unable to create step" >&2; exit 3')
        self.check_failure(job, 1, "srun: error: Unable to create step", "srun ended with exit code 3", "on far1, far2 had connected")

    def test_hosts_are_not_known(self):
        job = self.run_in_allocation('echo "Invalid hostlist" >&2; exit 1', "exit 0")
        self.check_failure(job, 1, "Invalid hostlist", "scontrol show hostnames far[1-2]", "--nodes 1")

    def test_interrupt_while_srun_waits(self):
        job = self.start("-n", 2, program("plain.c"), env=self.allocation("echo far1; echo far2", "echo waiting; exec sleep 300"))
        job.read_until(b"waiting")
        job.process.send_signal(signal.SIGINT)
        job.finish()
        self.assertEqual(job.code, -signal.SIGINT)
        self.check_nothing_left(job)

    def test_what_srun_is_asked_for(self):
        job = self.run_in_allocation('[ "$1 $2 $3" = "show hostnames far[1-2]" ] && echo far1 && echo far2',
                                     'echo "$@" >&2; echo "mode:${SLURM_STDOUTMODE-none}" >&2; exit 1', SLURM_STDOUTMODE="/dev/null")
        for option in ("--jobid=7", "--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--cpu-bind=none", "--kill-on-bad-exit=1",
                       "--output=all", "mode:none"):
            self.assertIn(option, job.err.decode().split())


class WorkingSrunTest(FakeSlurmTest):
    """Both tasks of an srun of our own are on this machine."""

    SRUN = """
for word; do program=$previous; previous=$word; done
SLURM_NODEID=0 "$program" "$previous" &
SLURM_NODEID=1 "$program" "$previous" &
wait
echo "srun: its tasks have ended"
"""

    @claims_time
    def test_the_end_of_a_good_job(self):
        job = self.run_job("-n", 2, program("plain.c"), env=self.allocation("echo far1; echo far2", self.SRUN))
        self.assertEqual(job.code, 0, job.err)
        self.assertIn("srun: its tasks have ended", job.out.decode(), "all that srun has to say is heard")
        self.in_time(job.seconds, 1.5)  # 2 s is what tmpirun waits for an end that does not come
        self.check_nothing_left(job)


class OtherHostsTest(FakeSlurmTest):
    """Network namespaces as hosts: an srun of our own starts the second task in another one than tmpirun's."""

    def setUp(self):
        if os.geteuid() != 0 or shutil.which("ip") is None:
            self.skipTest("needs root and ip")
        try:
            self.spaces = Namespaces()
        except (subprocess.CalledProcessError, OSError) as reason:
            self.skipTest(f"no network namespaces here: {reason}")
        self.addCleanup(self.spaces.remove)

    def begin(self, *arguments):
        srun = f"""
for word; do program=$previous; previous=$word; done
SLURM_NODEID=0 "$program" "$previous" &
SLURM_NODEID=1 ip netns exec {self.spaces.prefix}beta "$program" "$previous" &
wait
"""
        return self.start("netns", "exec", self.spaces.prefix + "alpha", TMPIRUN, *arguments, tmpirun=shutil.which("ip"),
                          env=self.allocation("echo alpha; echo beta", srun))

    def test_ring(self):
        job = self.finish(self.begin("-v", "-n", 4, program("ring.c")))
        self.check_ring(job, 4)
        for node in (0, 1):
            self.assertIn(f"network: tcp on {self.spaces.cables[node]} (10.77.0.{node + 1}:", job.err.decode())

    @claims_time
    def test_pulled_cable(self):
        job = self.begin("-n", 4, "--no-deadlock-check", program("ring.c"), "wait")
        job.read_until(b"all wait")
        self.spaces.pull_cable()
        start = time.monotonic()
        job.finish()
        self.in_time(time.monotonic() - start, 7)  # 5 s, and what a busy machine needs
        self.check_failure(job, 1, "node process 1 on host beta", "ranks 2-3")
        self.check_nothing_left(job)


if __name__ == "__main__":
    main()
