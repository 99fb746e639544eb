"""Ranks that move between NUMA nodes: the machine must have two (run -N 2)."""

import glob

from harness import LaunchTest
from support import built


def free_memory():
    """A node that has none left gives a rank's pages another place: that would be no fault of tmpi's."""
    lines = []
    for name in sorted(glob.glob("/sys/devices/system/node/node[0-9]*/meminfo")):
        with open(name) as file:
            lines += [line for line in file if "MemFree" in line]
    return "".join(lines)


class NumaTest(LaunchTest):
    def setUp(self):
        self.assertEqual(len(glob.glob("/sys/devices/system/node/node[0-9]*")), 2)

    def test_workers_are_on_both_nodes(self):
        free = free_memory()
        job = self.run_job("-n", 2, "--workers", 2, "--report-bindings", "--balance", "manual", built("tests", "verbs-vm", "follow"))
        self.assertEqual(job.code, 0, f"{job.err.decode(errors='replace')}\nbefore:\n{free}after:\n{free_memory()}")
        self.assertIn(b"NUMA node 0", job.err)
        self.assertIn(b"NUMA node 1", job.err)
        self.assertRegex(job.out, rb"followed: \d+ pages")
