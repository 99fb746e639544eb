"""Ranks that move between NUMA nodes: the machine must have two (run -N 2)."""

import glob
import os
import subprocess
import tempfile

from harness import HANG, LaunchTest
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

    def run_places(self, *command):
        done = subprocess.run([*command], capture_output=True, text=True, timeout=HANG)
        self.assertEqual((done.returncode, done.stdout), (0, "right\n"), done.stderr)

    def test_memory_is_where_it_is_preferred_and_moves(self):
        self.run_places(built("tests", "verbs-vm", "places"))

    def test_memory_of_a_cpuset(self):
        """As a container's: node 1 has memory, but not for this process."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["mount", "-t", "cgroup2", "none", folder], check=True, timeout=HANG)
            try:
                group = os.path.join(folder, "one-node")
                with open(os.path.join(folder, "cgroup.subtree_control"), "w") as file:
                    file.write("+cpuset")
                os.mkdir(group)
                with open(os.path.join(group, "cpuset.mems"), "w") as file:
                    file.write("0")
                self.run_places("sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh", built("tests", "verbs-vm", "places"), "one")
                os.rmdir(group)
            finally:
                subprocess.run(["umount", folder], check=True, timeout=HANG)
