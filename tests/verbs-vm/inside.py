"""What the tests inside the emulated machine share. Each file inside_*.py holds one unittest.TestCase or more."""

import os
import subprocess
import sys
import time
import unittest

HANG = 120.0  # seconds: what is not there by now never comes, on an emulated processor that others keep busy too
DEVICES = ("rxe0", "rxe1")
ADDRESSES = ("10.99.0.1", "10.99.1.1")  # of the interfaces roce0 and roce1, below the devices


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


def main():
    if not os.environ.get("TMPI_VM"):
        sys.exit("this runs in an emulated machine only: tests/verbs-vm/run python3 " + sys.argv[0])
    unittest.main(verbosity=2)
