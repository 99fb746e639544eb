"""tmpi-top: what it says of a running job; and that the terminal is as it was, however it ends."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from observed import BIN, HANG, LaunchTest, claims_only_time, main, program

TOP = os.path.join(BIN, "tmpi-top")
ENTERED, LEFT = b"\033[?1049h", b"\033[?25h\033[?1049l"


class Terminal:
    """tmpi-top in a terminal of its own."""

    def __init__(self, *arguments, rows=24, columns=80):
        self.outer, self.inner = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.inner)
        self.seen = b""
        self.process = subprocess.Popen([TOP, *map(str, arguments)], stdin=self.inner, stdout=self.inner, stderr=self.inner,
                                        preexec_fn=self.own_session)

    def own_session(self):
        os.setsid()
        fcntl.ioctl(self.inner, termios.TIOCSCTTY, 0)

    def resize(self, rows, columns):
        fcntl.ioctl(self.outer, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        if not select.select([self.outer], [], [], seconds)[0]:
            return False
        self.seen += os.read(self.outer, 1 << 16)
        return True

    def read_until(self, wanted):
        end = time.monotonic() + HANG
        while not re.search(wanted, self.seen):
            assert time.monotonic() < end, (wanted, self.seen)
            self.read(1)
        return self.seen

    def type(self, keys):
        os.write(self.outer, keys)

    def end(self):
        """Its exit status, when all that it has written has been read."""
        end = time.monotonic() + HANG
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        while self.read(0.05):
            pass
        return self.process.wait(1)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.outer)
        os.close(self.inner)


class TopTest(LaunchTest):
    def start_busy(self, ranks=8, *options):
        self.stop = os.path.join(self.directory(), "stop")
        job = self.start("-n", ranks, "--workers", 2, *options, program("busy_root.c"), self.stop)
        job.read_until(b"computing")
        return job

    def end_job(self, job):
        with open(self.stop, "w", encoding="utf-8"):
            pass
        self.assertEqual(job.finish().code, 0)

    def terminal(self, *arguments, **options):
        terminal = Terminal(*arguments, **options)
        self.addCleanup(terminal.close)
        return terminal

    def top(self, *arguments):
        return subprocess.run([TOP, *map(str, arguments)], capture_output=True, text=True, timeout=HANG, stdin=subprocess.DEVNULL)

    def test_prints_one_view(self):
        job = self.start_busy(16, "--nodes", 2)
        done = self.top("--once", "-d", "0.3", job.process.pid)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"job {job.process.pid}: {os.path.basename(program('busy_root.c'))}, 16 ranks on 2 nodes\n", done.stdout)
        self.assertEqual(16, sum(int(count) for count in re.findall(r"(\d+) (?:running|ready|polling|blocked)",
                                                                    re.search(r"^ranks: (.*)$", done.stdout, re.M)[1])))
        nodes = re.findall(r"^node \S+ \(process (\d+)\): 2 workers, (\d+) % busy, \S+ switches/s, \d+ ranks? ready, \S+B resident$",
                           done.stdout, re.M)
        self.assertEqual(sorted(int(pid) for pid, _ in nodes), sorted(job.node_pids(2)))
        self.assertGreater(max(int(busy) for _, busy in nodes), 0)
        self.assertEqual(2, len(re.findall(r"^  busy, % \(  0-1  \):( +\d+){2}$", done.stdout, re.M)))
        self.assertRegex(done.stdout, r"blocked in MPI_Bcast on MPI_COMM_WORLD|running|ready")
        self.end_job(job)

    def test_says_what_is_wrong(self):
        for arguments, code, sentence in ((["--once", 1], 1, "1 is not the process id of a tmpirun of yours"), (["--often"], 2, "no option"),
                                          (["-d", "0"], 2, "needs seconds, from 0.1 to 3600")):
            done = self.top(*arguments)
            self.assertEqual(done.returncode, code)
            self.assertIn(sentence, done.stderr)
        job = self.start_busy()
        done = self.top(job.process.pid)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no terminal. With --once", done.stderr)
        self.end_job(job)

    def assert_as_before(self, terminal, said=b""):
        self.assertEqual(terminal.before, termios.tcgetattr(terminal.inner))
        self.assertTrue(terminal.seen.endswith(LEFT + said), terminal.seen[-200:])
        self.assertEqual(terminal.seen.count(ENTERED), terminal.seen.count(LEFT))

    def test_leaves_the_terminal_as_it_was(self):
        job = self.start_busy()
        for ending, status in ((lambda terminal: terminal.type(b"q"), 0), (lambda terminal: terminal.type(b"\x03"), -signal.SIGINT),
                               (lambda terminal: terminal.process.send_signal(signal.SIGTERM), -signal.SIGTERM),
                               (lambda terminal: terminal.process.send_signal(signal.SIGHUP), -signal.SIGHUP)):
            terminal = self.terminal("-d", "0.2", job.process.pid)
            terminal.read_until(rb"switches/s")  # drawn twice
            self.assertNotEqual(terminal.before, termios.tcgetattr(terminal.inner))
            ending(terminal)
            self.assertEqual(terminal.end(), status)
            self.assert_as_before(terminal)
        self.end_job(job)

    def test_ends_with_the_job(self):
        job = self.start_busy()
        terminal = self.terminal("-d", "0.2", job.process.pid)
        terminal.read_until(rb"switches/s")
        self.end_job(job)
        self.assertEqual(terminal.end(), 0)
        self.assert_as_before(terminal, b"tmpi-top: the job of tmpirun's process %d has ended\r\n" % job.process.pid)

    def test_fits_and_can_be_stopped(self):
        job = self.start_busy()
        terminal = self.terminal("-d", "3600", job.process.pid, rows=3, columns=20)
        terminal.read_until(rb"and \d+ more lines")
        for line in terminal.seen.split(b"\033[H")[-1].replace(b"\033[K", b"").replace(b"\033[J", b"").replace(b"\r", b"").split(b"\n"):
            self.assertLessEqual(len(line), 20)
        terminal.seen = b""
        terminal.resize(30, 100)
        terminal.process.send_signal(signal.SIGWINCH)  # the terminal's foreground group gets it, too
        terminal.read_until(rb"resident")
        terminal.process.send_signal(signal.SIGTSTP)
        terminal.read_until(re.escape(LEFT))
        self.assertTrue(os.WIFSTOPPED(os.waitpid(terminal.process.pid, os.WUNTRACED)[1]))
        self.assertEqual(terminal.before, termios.tcgetattr(terminal.inner))
        terminal.seen = b""
        terminal.process.send_signal(signal.SIGCONT)
        terminal.read_until(rb"resident")
        terminal.type(b"q")
        self.assertEqual(terminal.end(), 0)
        self.assert_as_before(terminal)
        self.end_job(job)

    @claims_only_time
    def test_costs_next_to_nothing(self):
        """At most 1 % of a core here, for 1,000 ranks."""
        job = self.start_busy(1000)
        terminal = self.terminal("-d", "1", job.process.pid)
        terminal.read_until(rb"switches/s")
        end = time.monotonic() + 8
        while time.monotonic() < end:
            terminal.read(0.5)
        with open(f"/proc/{terminal.process.pid}/schedstat", encoding="ascii") as file:
            self.assertLess(int(file.read().split()[0]), 8e9 / 100)
        terminal.type(b"q")
        self.assertEqual(terminal.end(), 0)
        self.end_job(job)


if __name__ == "__main__":
    main()
