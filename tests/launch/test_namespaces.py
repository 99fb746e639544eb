"""Network namespaces as hosts, with a cable between them that can be pulled."""

import os
import shutil
import subprocess
import time
import unittest

from harness import HANG, LaunchTest, claims_time, main, program


def run(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=HANG)


class Namespaces:
    """Two of them; `agent` starts a command in one."""

    def __init__(self):
        self.prefix = f"tmpi{os.getpid()}-"
        self.agent = f"ip netns exec {self.prefix}{{}}"
        self.names = ("alpha", "beta")
        self.cables = [f"tmpi{os.getpid() % 100000}c{i}" for i in (0, 1)]
        self.remove()  # a killed run of this number may have left them
        try:
            self.make()
        except (subprocess.SubprocessError, OSError):
            self.remove()  # what came before the step that failed
            raise

    def make(self):
        for name in self.names:
            run("ip", "netns", "add", self.prefix + name)
        run("ip", "link", "add", self.cables[0], "type", "veth", "peer", "name", self.cables[1])
        for i, name in enumerate(self.names):
            space = self.prefix + name
            run("ip", "link", "set", self.cables[i], "netns", space)
            run("ip", "-n", space, "addr", "add", f"10.77.0.{i + 1}/24", "dev", self.cables[i])
            run("ip", "-n", space, "link", "set", "lo", "up")
            run("ip", "-n", space, "link", "set", self.cables[i], "up")

    def plug_cable(self, state="up"):
        run("ip", "-n", self.prefix + "beta", "link", "set", self.cables[1], state)

    def pull_cable(self):
        self.plug_cable("down")

    def remove(self):
        """Whatever of them is there; a cable goes with the namespaces of its ends."""
        left = [("netns", self.prefix + name) for name in self.names if os.path.exists(f"/run/netns/{self.prefix}{name}")]
        left += [("link", cable) for cable in self.cables[:1] if os.path.exists(f"/sys/class/net/{cable}")]
        for kind, name in left:
            subprocess.run(["ip", kind, "delete", name], timeout=HANG)


class NamespaceTest(LaunchTest):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or shutil.which("ip") is None:
            raise unittest.SkipTest("needs root and ip")
        try:
            cls.spaces = Namespaces()
        except (subprocess.SubprocessError, OSError) as problem:
            raise unittest.SkipTest(f"no network namespaces here: {problem}")
        cls.addClassCleanup(cls.spaces.remove)

    def test_job(self):
        job = self.run_job("-v", "-n", 4, "--host", "alpha,beta", "--launch-agent", self.spaces.agent, program("chatter.c"), "0.2")
        self.assertEqual(job.code, 0, job.err)
        for node, name in enumerate(("alpha", "beta")):
            self.assertIn(f"node {node} on host {name}: network: tcp on {self.spaces.cables[node]} (10.77.0.{node + 1}:", job.err.decode())

    @claims_time
    def test_pulled_cable(self):
        self.spaces.plug_cable()
        job = self.start("-q", "-n", 4, "--host", "alpha,beta", "--launch-agent", self.spaces.agent, program("chatter.c"))
        job.read_until(b"talks\n")
        self.spaces.pull_cable()
        start = time.monotonic()
        job.finish()
        self.in_time(time.monotonic() - start, 6)  # 5 s, and what a busy machine needs
        self.check_failure(job, 1, "has lost the connection to node process", "on host alpha", "on host beta", "has not answered")
        self.check_nothing_left(job)


if __name__ == "__main__":
    main()
