"""What the tests of tmpirun share: building programs, running jobs with a time limit, and proof that nothing stays behind.

Every job gets a mark in its environment, which all its descendants inherit; after the job /proc is searched for the mark.
"""

import functools
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest
import uuid

BIN = os.environ["TMPI_BIN"]  # directory of tmpirun and tmpicc, set by ctest
HERE = os.path.dirname(os.path.abspath(__file__))
TMPIRUN = os.path.join(BIN, "tmpirun")


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

    def finish(self, timeout=60, input=None):
        try:
            out, err = self.process.communicate(input=input, timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGUSR1)
            time.sleep(0.5)
            self.destroy()
            out, err = self.process.communicate(timeout=10)
            raise AssertionError(f"the job hangs; stdout {out[-2000:]!r} stderr {err[-4000:]!r}")
        self.seconds = time.monotonic() - self.started
        self.out, self.err, self.code = out, err, self.process.returncode
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

    def node_pid(self, timeout=10):
        """Process id of the job's tmpi-node, once it runs."""
        return self.node_pids(1, timeout)[0]

    def node_pids(self, count, timeout=10):
        """Process ids of the job's tmpi-nodes in the order of their starts, once there are `count`."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            found = sorted(pid for pid, command in self.survivors() if re.match(r"\S*tmpi-node ", command))
            if len(found) >= count:
                return found
            time.sleep(0.01)
        raise AssertionError(f"{count} tmpi-nodes were not started")

    def read_until(self, wanted, timeout=20):
        """Reads stdout until it contains `wanted`."""
        os.set_blocking(self.process.stdout.fileno(), False)
        seen = b""
        end = time.monotonic() + timeout
        while wanted not in seen:
            if time.monotonic() > end:
                self.destroy()
                raise AssertionError(f"waited in vain for {wanted!r}; got {seen!r}")
            seen += self.process.stdout.read() or b""
            time.sleep(0.005)
        os.set_blocking(self.process.stdout.fileno(), True)
        return seen

    def destroy(self):
        for pid, _ in self.survivors():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass


def measured(test, attempts=4):
    """Decorates a test of times, which a busy machine disturbs: it fails if it fails several times in a row."""

    @functools.wraps(test)
    def repeated(self):
        for _ in range(attempts - 1):
            try:
                return test(self)
            except (AssertionError, subprocess.TimeoutExpired):
                continue
        return test(self)

    return repeated


class LaunchTest(unittest.TestCase):
    maxDiff = 4000

    def start(self, *arguments, **options):
        job = Job(arguments, **options)
        self.addCleanup(job.destroy)
        return job

    def run_job(self, *arguments, timeout=60, input=None, **options):
        if input is not None:
            options["stdin"] = subprocess.PIPE
        job = self.start(*arguments, **options).finish(timeout, input)
        self.check_nothing_left(job)
        return job

    def promptly(self, limit, run, attempts=4):
        """The job that run() starts and finishes: within `limit` seconds, if not at once (the machine may be busy) then when it is run again."""
        for _ in range(attempts):
            job = run()
            if job.seconds < limit:
                break
        self.assertLess(job.seconds, limit)
        return job

    def check_nothing_left(self, job, patience=10.0):
        """What is left behind stays for minutes; what is only about to end gets `patience` seconds."""
        end = time.monotonic() + patience
        left = job.survivors()
        while left and time.monotonic() < end:
            time.sleep(0.02)
            left = job.survivors()
        self.assertEqual(left, [], "processes stay behind")

    def check_failure(self, job, code, *texts, lines=None):
        """The job failed with `code` and exactly one message, which holds all `texts`."""
        err = job.err.decode(errors="replace")
        self.assertEqual(job.code, code, err)
        messages = [line for line in err.splitlines() if line.startswith("tmpirun: ")]
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
        subprocess.run([compiler, "-g", "-O1", "-o", path, os.path.join(HERE, "programs", name), *flags], check=True, timeout=120)
        _built[key] = path
    return _built[key]
