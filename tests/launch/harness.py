"""What the tests of tmpirun share: building programs, running jobs, and proof that nothing stays behind.

Nothing here may depend on how fast the machine is: whatever is waited for has as long as only a hang would take (HANG). What is a claim about
time is checked by the same tests when they are run with --timing, alone on the machine; see claims_time().

Every job gets a mark in its environment, which all its descendants inherit; after the job /proc is searched for the mark.
"""

import functools
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

BIN = os.environ["TMPI_BIN"]  # directory of tmpirun and tmpicc, set by ctest
HERE = os.path.dirname(os.path.abspath(__file__))
TMPIRUN = os.path.join(BIN, "tmpirun")
HANG = 150.0  # seconds: whatever is not there by now never comes, on any machine
PROMPTLY = 5.0  # seconds that a broken job may take to end everywhere, where times are claimed; milliseconds on a quiet machine
TIMING = "--timing" in sys.argv  # the tests' claims about time, and only those
if TIMING:
    sys.argv.remove("--timing")


class Job:
    """One run of tmpirun, started in a session of its own."""

    def __init__(self, arguments, tmpirun=TMPIRUN, env=None, **popen):
        self.mark = "TMPI_TEST_MARK=" + uuid.uuid4().hex
        name, value = self.mark.split("=")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TMPI_") or k == "TMPI_BIN"}
        environment.update(env or {})
        environment[name] = value
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        popen.setdefault("stdin", subprocess.DEVNULL)
        self.started = time.monotonic()
        self.process = subprocess.Popen([tmpirun] + [str(a) for a in arguments], env=environment, start_new_session=True, **popen)
        self.seen_err = b""

    def finish(self, timeout=HANG, input=None):
        try:
            out, err = self.process.communicate(input=input, timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGUSR1)
            time.sleep(2)
            self.destroy()
            out, err = self.process.communicate(timeout=HANG)
            raise AssertionError(f"the job hangs; stdout {(out or b'')[-2000:]!r} stderr {self.seen_err + (err or b'')[-4000:]!r}")
        self.seconds = time.monotonic() - self.started
        self.out, self.err, self.code = out, None if err is None else self.seen_err + err, self.process.returncode
        return self

    def survivors(self):
        """Processes of this job that are still there."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if self.mark.encode() not in file.read().split(b"\0"):
                        continue
                with open(f"/proc/{pid}/stat") as file:
                    if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                        continue
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    found.append((int(pid), file.read().replace(b"\0", b" ").decode()))
            except OSError:
                pass
        return found

    def node_pid(self):
        """Process id of the job's tmpi-node, once it runs."""
        return self.node_pids(1)[0]

    def node_pids(self, count):
        """Process ids of the job's tmpi-nodes in the order of their starts, once there are `count`."""
        def found():
            pids = [pid for pid, _ in self.survivors() if executable(pid) == "tmpi-node"]
            return pids if len(pids) >= count else None

        return sorted(wait_for(found, f"{count} tmpi-nodes"), key=lambda pid: (int(stat_field(pid, 22)), pid))

    def read(self, stream, what, end):
        """What comes next on stdout or stderr; `what` is waited for, until the time `end`."""
        fd = getattr(self.process, stream).fileno()
        ready, _, _ = select.select([fd], [], [], max(0.0, end - time.monotonic()))
        piece = os.read(fd, 1 << 16) if ready else b""
        if not piece:
            self.destroy()
            reason = f"{stream} has ended" if ready else "nothing comes"
            other = b"" if stream == "stderr" or self.process.stderr is None else self.process.stderr.read()
            raise AssertionError(f"waited in vain for {what!r}: {reason}; stderr ends with {(self.seen_err + other)[-4000:]!r}")
        if stream == "stderr":
            self.seen_err += piece
        return piece

    def read_until(self, wanted, count=1):
        """Reads stdout until it contains `wanted`, `count` times."""
        seen, end = b"", time.monotonic() + HANG
        while seen.count(wanted) < count:
            seen += self.read("stdout", wanted, end)
        return seen

    def ask_until(self, wanted):
        """Asks where the ranks are (SIGUSR1), again and again, until the answer contains `wanted`; returns how often."""
        wait_for(lambda: survives(self.process.pid, signal.SIGUSR1), "the launcher to take signals")
        end = time.monotonic() + HANG
        for asked in range(1, 1 << 30):
            self.process.send_signal(signal.SIGUSR1)
            while self.seen_err.count(b"every rank at this moment:\n") < asked:
                self.read("stderr", wanted, end)
            while select.select([self.process.stderr.fileno()], [], [], 0.1)[0]:  # the rest of it
                self.read("stderr", wanted, end)
            if wanted in self.seen_err:
                return asked

    def destroy(self):
        for pid, _ in self.survivors():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass


def executable(pid):
    """What a process runs, whatever it calls itself."""
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def stat_field(pid, number):
    """Of /proc/PID/stat, counted from 1 as in proc(5), from the third one on."""
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[number - 3]


def survives(pid, signal_number):
    """Whether the process has a handler for the signal, or blocks it (tmpirun reads it from a signalfd)."""
    with open(f"/proc/{pid}/status") as file:
        masks = [int(line.split()[1], 16) for line in file if line.startswith(("SigBlk:", "SigCgt:"))]
    return any(mask >> (signal_number - 1) & 1 for mask in masks)


def wait_for(condition, what):
    """What condition() says, once that is true."""
    end = time.monotonic() + HANG
    while not (result := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.01)
    return result


def claims_time(test, attempts=5):
    """Decorates a test that claims how long something takes. With --timing only these run, and check it (in_time, promptly), a few times if others
    use the machine as well; without, they run with all others, once, and check everything else."""

    @functools.wraps(test)
    def repeated(self):
        for _ in range(attempts - 1 if TIMING else 0):
            try:
                return test(self)
            except AssertionError:
                self.doCleanups()
                self.setUp()
        return test(self)

    repeated.claims_time = "too"
    return repeated


def claims_only_time(test):
    """The same for a test that has nothing else to say: it runs with --timing only."""
    repeated = claims_time(test)
    repeated.claims_time = "only"
    return repeated


class Loader(unittest.TestLoader):
    def getTestCaseNames(self, case):
        claim = lambda name: getattr(getattr(case, name), "claims_time", "no")
        return [name for name in super().getTestCaseNames(case) if claim(name) != ("no" if TIMING else "only")]


def main():
    unittest.main(testLoader=Loader())


class LaunchTest(unittest.TestCase):
    maxDiff = 4000

    def start(self, *arguments, **options):
        job = Job(arguments, **options)
        self.addCleanup(job.destroy)
        return job

    def run_job(self, *arguments, timeout=HANG, input=None, **options):
        if input is not None:
            options["stdin"] = subprocess.PIPE
        job = self.start(*arguments, **options).finish(timeout, input)
        self.check_nothing_left(job)
        return job

    def in_time(self, seconds, limit):
        """A claim about time."""
        if TIMING:
            self.assertLess(seconds, limit)

    def promptly(self, limit, job):
        """The finished job, which has taken less than `limit` seconds."""
        self.in_time(job.seconds, limit)
        return job

    def timed_out(self, wanted, *arguments, limits=(1, 5, 25, 100), run=None):
        """The job that its --timeout has ended while its ranks were where they should be, which takes them some time to get to: `wanted` is
        part of the state dump."""
        for limit in limits:
            job = (run or self.run_job)("--timeout", limit, *arguments)
            self.assertEqual(job.code, 124, job.err)
            if wanted in job.err.decode():
                break
        self.assertIn(wanted, job.err.decode())
        self.assertIn(f"tmpirun: the job was ended after its --timeout of {limit} seconds\n", job.err.decode())
        return job

    def check_nothing_left(self, job):
        """What is left behind stays for minutes; what is only about to end needs a moment."""
        end = time.monotonic() + HANG / 2
        left = job.survivors()
        while left and time.monotonic() < end:
            time.sleep(0.02)
            left = job.survivors()
        self.assertEqual(left, [], "processes stay behind")

    def lines(self, job, code=0):
        """What the finished job has printed, in any order of its ranks."""
        self.assertEqual(job.code, code, job.err.decode())
        return sorted(job.out.decode().splitlines())

    def check_failure(self, job, code, *texts):
        """The job failed with `code` and exactly one message, which holds all `texts`."""
        err = job.err.decode(errors="replace")
        self.assertEqual(job.code, code, err)
        messages = [line for line in err.splitlines() if re.match(r"tmpirun: (?!warning: )", line)]
        self.assertEqual(len(messages), 1, err)
        for text in texts:
            self.assertIn(text, err)

    def directory(self):
        holder = tempfile.TemporaryDirectory(prefix="tmpi-launch-")
        self.addCleanup(holder.cleanup)
        return holder.name


_built = {}
_build_directory = None


def program(name, *flags):
    """Path of tests/launch/programs/NAME, built once with tmpicc or tmpicxx."""
    global _build_directory
    key = (name,) + flags
    if key not in _built:
        if _build_directory is None:
            _build_directory = tempfile.TemporaryDirectory(prefix="tmpi-launch-programs-")
        path = os.path.join(_build_directory.name, os.path.splitext(name)[0] + str(len(_built)))
        compiler = os.path.join(BIN, "tmpicxx" if name.endswith(".cpp") else "tmpicc")
        subprocess.run([compiler, "-g", "-O1", "-o", path, os.path.join(HERE, "programs", name), *flags], check=True, timeout=2 * HANG)
        _built[key] = path
    return _built[key]
