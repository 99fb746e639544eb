"""Tests that run inside the emulated machine: python3 tests/verbs-vm/inside NAME ..., a NAME being a module here.

The last line counts what was run. A module's tests run in the order of their names; one that fails does not stop the others.
"""

import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "launch")]
from kernel_log import KernelLog  # noqa: E402


class TimedResult(unittest.TextTestResult):
    """Says how long each test has taken, and at once what has failed: the machine may be ended before the summary. What the kernel has
    complained of during a test is said by that test's name: all that fails afterwards may be for that reason."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.kernel = KernelLog()
        self.complained = {}  # by the test's name: how often

    def stopTest(self, test):
        complaints = self.kernel.complaints()
        for complaint in complaints:
            self.stream.writeln(f"the kernel of this machine, during {test.id()}: {complaint}")
        if complaints:
            self.complained[test.id()] = len(complaints)
        super().stopTest(test)

    def say_suspicion(self):
        if self.complained:
            self.stream.writeln(f"(the kernel complained before, during {', '.join(self.complained)}: this failure may be the kernel's)")

    def startTest(self, test):
        self.begun = time.monotonic()
        super().startTest(test)

    def addSuccess(self, test):
        self.stream.write(f"{time.monotonic() - self.begun:.1f} s ")
        super().addSuccess(test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.stream.writeln(self.failures[-1][1])
        self.say_suspicion()

    def addError(self, test, err):
        super().addError(test, err)
        self.stream.writeln(self.errors[-1][1])
        self.say_suspicion()

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.stream.writeln((self.failures + self.errors)[-1][1])
            self.say_suspicion()


def main():
    if not os.environ.get("TMPI_VM"):
        sys.exit(f"these run in an emulated machine only: tests/verbs-vm/run python3 {HERE} NAME ...")
    suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=TimedResult).run(suite)
    for name, times in result.complained.items():
        print(f"the kernel of this machine complained {times} times during {name}")
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
