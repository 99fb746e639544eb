"""Tests that run inside the emulated machine: python3 tests/verbs-vm/inside NAME ..., a NAME being a module here.

The last line counts what was run. A module's tests run in the order of their names; one that fails does not stop the others.
"""

import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "launch")]


class TimedResult(unittest.TextTestResult):
    """Says how long each test has taken, and at once what has failed: the machine may be ended before the summary."""

    def startTest(self, test):
        self.begun = time.monotonic()
        super().startTest(test)

    def addSuccess(self, test):
        self.stream.write(f"{time.monotonic() - self.begun:.1f} s ")
        super().addSuccess(test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.stream.writeln(self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.stream.writeln(self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.stream.writeln((self.failures + self.errors)[-1][1])


def main():
    if not os.environ.get("TMPI_VM"):
        sys.exit(f"these run in an emulated machine only: tests/verbs-vm/run python3 {HERE} NAME ...")
    suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=TimedResult).run(suite)
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
