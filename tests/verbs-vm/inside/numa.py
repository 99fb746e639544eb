"""Ranks that move between NUMA nodes: the machine must have two (run -N 2)."""

import glob

from harness import LaunchTest
from support import built


class NumaTest(LaunchTest):
    def setUp(self):
        self.assertEqual(len(glob.glob("/sys/devices/system/node/node[0-9]*")), 2)

    def test_workers_are_on_both_nodes(self):
        job = self.run_job("-n", 2, "--workers", 2, "--report-bindings", "--balance", "manual", built("tests", "verbs-vm", "follow"))
        self.assertEqual(job.code, 0, job.err)
        self.assertIn(b"NUMA node 0", job.err)
        self.assertIn(b"NUMA node 1", job.err)
        self.assertRegex(job.out, rb"followed: \d+ pages")
