"""The suite that every transport passes (net/conformance.hpp), over the two devices."""

import re
import subprocess
import unittest

from harness import HANG
from support import built

SUITE = ("tests", "verbs-vm", "verbs_conformance")


class ConformanceTest(unittest.TestCase):
    def suite(self, *words):
        done = subprocess.run([built(*SUITE), "--duration=true", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=2 * HANG)
        self.assertEqual(done.returncode, 0, done.stdout[-6000:])
        cases = re.search(r"test cases: +(\d+) \| +(\d+) passed", done.stdout)
        self.assertIsNotNone(cases, done.stdout)
        self.assertEqual(cases.group(1), cases.group(2))
        self.assertGreater(int(cases.group(1)), 0)

    def test_conformance(self):
        self.suite("--test-suite-exclude=timing")
