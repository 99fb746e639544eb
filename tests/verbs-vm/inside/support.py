"""What the tests inside the emulated machine share: the two devices, programs that were built outside, and jobs of two node processes."""

import os
import re
import subprocess
import time

from harness import BIN, HANG, TMPIRUN, LaunchTest

DEVICES = ("rxe0", "rxe1")
INTERFACES = ("roce0", "roce1")
ADDRESSES = ("10.99.0.1", "10.99.1.1")  # of the interfaces
BUILD = os.path.dirname(BIN)
NET = os.environ.get("TMPI_VM_NET", "verbs")  # another transport, to see whether the harness or verbs is at fault


def built(*path):
    """A program of this build."""
    found = os.path.join(BUILD, *path)
    if not os.path.exists(found):
        raise AssertionError(f"{found} has not been built")
    return found


def perftest(tool, *options):
    """The last row of numbers that a program of perftest prints, between the two devices."""
    server = subprocess.Popen([tool, "-d", DEVICES[0], "-F", *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        while True:  # until the server listens
            time.sleep(0.2)
            client = subprocess.run([tool, "-d", DEVICES[1], "-F", *options, ADDRESSES[0]], capture_output=True, text=True, timeout=HANG)
            if client.returncode == 0 or "Couldn't connect" not in client.stdout + client.stderr:
                break
        server.wait(HANG)
    finally:
        server.kill()
        server.communicate()
    rows = [line.split() for line in client.stdout.splitlines() if line.strip() and all(c in "0123456789. \t" for c in line)]
    if not rows:
        raise AssertionError(f"{tool} {options}: {client.stdout[-1500:]} {client.stderr[-1500:]}")
    return [float(word) for word in rows[-1]]


def statistics(device):
    """What the device has counted, by name."""
    counters = f"/sys/class/infiniband/{device}/ports/1/hw_counters"
    counts = {}
    for name in os.listdir(counters):
        with open(os.path.join(counters, name)) as file:
            counts[name] = int(file.read())
    return counts


def limited(bytes_locked):
    """Words for setpriv: tmpirun as an ordinary user whose processes may lock so much memory. Root may lock what it likes."""
    return ("--reuid=65534", "--regid=65534", "--clear-groups", "prlimit", f"--memlock={bytes_locked}:{bytes_locked}", TMPIRUN)


class VerbsTest(LaunchTest):
    """Jobs of two node processes, each of which has a device of its own."""

    def nodes(self, ranks, *words, options=(), **run):
        """A finished job, whatever became of it."""
        return self.run_job("-n", ranks, "--nodes", 2, "--net", NET, *options, *words, **run)

    def passes(self, ranks, *words, options=(), **run):
        """A job that succeeds; returns what it printed."""
        job = self.nodes(ranks, *words, options=options, **run)
        self.assertEqual(job.code, 0, (job.out[-2000:] + job.err[-4000:]).decode(errors="replace"))
        return job.out.decode()


def limits_follow(test, nodes):
    """With --eager-limit dynamic other queue pairs, with buffers of the messages' size, take the place of those of pairs of nodes."""
    job = test.nodes(8, built("bench", "stencil3d"), "--sizes", "32K", "--steps", "12", "--rounds", "1",
                     options=("--nodes", nodes, "--eager-limit", "dynamic", "--profile"))
    test.assertEqual(job.code, 0, job.err.decode(errors="replace"))
    limits = re.search(rb"eager limits of pairs of nodes: (\d+) raised, to .* at most", job.err)
    test.assertIsNotNone(limits, job.err)
    test.assertGreater(int(limits.group(1)), 0, job.err)
    print(limits.group(0).decode())
