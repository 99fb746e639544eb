#!/usr/bin/env python3
"""--cpus-per-rank: workers with several cores, and the threads of their ranks on all of them."""
import os
import re
import unittest

from harness import LaunchTest, main, program

CORES = len(os.sched_getaffinity(0))


@unittest.skipIf(CORES < 2, "needs two CPUs")
class CoresTest(LaunchTest):
    def team(self, *arguments, **options):
        """What the ranks say, and the job."""
        job = self.run_job(*arguments, program("team.c", "-fopenmp"), **options)
        self.assertEqual(job.code, 0, job.err)
        return dict(line.split(": ", 1) for line in job.out.decode().splitlines()), job

    def test_threads_have_all_cores_of_the_worker(self):
        for ranks in 1, 2, 4:
            lines, job = self.team("-n", ranks, "--workers", 1, "--cpus-per-rank", 2)
            self.assertEqual(lines, {str(rank): "told of 2, allowed 2, threads 2 on 2" for rank in range(ranks)})
            self.assertEqual(job.err, b"")

    def test_spellings(self):
        for words in ("--map-by", "slot:PE=2"), ("--cpus-per-task", 2), ("--cpus-per-proc", 2):
            self.assertEqual(self.team("-n", 1, *words)[0], {"0": "told of 2, allowed 2, threads 2 on 2"}, words)
        slurm = {"SLURM_CPUS_PER_TASK": "2", "SLURM_JOB_ID": "7"}
        self.assertEqual(self.team("-n", 1, env=slurm)[0], {"0": "told of 2, allowed 2, threads 2 on 2"})
        self.assertEqual(self.team("-n", 1, "--cpus-per-rank", 1, env=slurm)[0], {"0": "told of 1, allowed 1, threads 1 on 1"})

    def test_as_many_as_threads(self):
        self.assertEqual(self.team("-n", 1, "--cpus-per-rank", "auto", "-x", "OMP_NUM_THREADS=2")[0],
                         {"0": "told of 2, allowed 2, threads 2 on 2"})
        self.assertEqual(self.team("-n", 1, "--cpus-per-rank", "auto")[0]["0"].split(", ")[1], "allowed 1")

    def test_workers_divide_the_cores(self):
        err = self.run_job("-n", 4, "--report-bindings", "--cpus-per-rank", 2, program("trivial.c")).err.decode()
        cores = [set(pair) for pair in re.findall(r"worker \d+: cores (\d+), (\d+) ", err)]
        self.assertTrue(cores, err)
        self.assertEqual(len(set.union(*cores)), 2 * len(cores), err)

    def test_more_than_there_are(self):
        lines, job = self.team("-n", 1, "--cpus-per-rank", 4096)
        self.assertIn(b"warning: --cpus-per-rank 4096: host ", job.err)
        self.assertNotEqual(lines["0"].split(", ")[1], "allowed 1")
        self.assertEqual(self.run_job("--cpus-per-rank", "x", program("trivial.c")).code, 2)

    def test_what_threads_are_told(self):
        def shown(*arguments):
            names = ["OMP_NUM_THREADS", "OMP_WAIT_POLICY"]
            job = self.run_job("-n", 2, "--cpus-per-rank", 2, *arguments, program("show.c"), *names)
            return re.findall(rb"OMP_\w+=\S+", job.out.splitlines()[0])

        self.assertEqual(shown("--workers", 1), [b"OMP_NUM_THREADS=2", b"OMP_WAIT_POLICY=passive"])
        self.assertEqual(shown("--workers", 1, "-x", "OMP_WAIT_POLICY=active"), [b"OMP_NUM_THREADS=2", b"OMP_WAIT_POLICY=active"])
        self.assertEqual(shown("--workers", 1, "-x", "KMP_BLOCKTIME=0")[1], b"OMP_WAIT_POLICY=(unset)")
        self.assertEqual(shown("--workers", 1, "-x", "OMP_NUM_THREADS=1"), [b"OMP_NUM_THREADS=1", b"OMP_WAIT_POLICY=(unset)"])


if __name__ == "__main__":
    main()
