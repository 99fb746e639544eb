"""tmpirun --help: topics; on a terminal a pager and colours, elsewhere neither."""

import os
import pty
import select
import stat
import subprocess
import tempfile
import time
import unittest

from build_tree import BIN, PROGRAMS

TMPIRUN = str(BIN / "tmpirun")
PAGER = "#!/bin/sh\necho 'the pager begins'\ncat\necho \"the pager ends with LESS=$LESS\"\n"


def environment(**changes):
    """The tests' own, with a terminal's name and without what a user may have set."""
    plain = {name: value for name, value in os.environ.items() if name not in ("PAGER", "NO_COLOR", "LESS")}
    return {**plain, "TERM": "xterm", **changes}


def on_terminal(*arguments, **changes):
    """What appears on a terminal of 200 lines."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(TMPIRUN, [TMPIRUN, *arguments], environment(LINES="200", COLUMNS="120", **changes))
    shown = b""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), shown.decode().replace("\r\n", "\n")


def in_pipe(*arguments, **changes):
    return subprocess.run([TMPIRUN, *arguments], env=environment(**changes), capture_output=True, text=True, timeout=60, check=False)


class Terminal(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.pager = os.path.join(self.folder.name, "pager")
        with open(self.pager, "w", encoding="utf-8") as script:
            script.write(PAGER)
        os.chmod(self.pager, stat.S_IRWXU)

    def tearDown(self):
        self.folder.cleanup()

    def test_elsewhere_neither_pager_nor_colours(self):
        done = in_pipe("--help", PAGER=self.pager)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith("Usage: tmpirun"))
        self.assertNotIn("\033", done.stdout)
        self.assertNotIn("pager", done.stdout)

    def test_pager(self):
        code, shown = on_terminal("--help", PAGER=self.pager)
        self.assertEqual(code, 0)
        self.assertTrue(shown.startswith("the pager begins\nUsage: tmpirun"), shown[:200])
        self.assertTrue(shown.endswith("the pager ends with LESS=FRX\n"), shown[-200:])
        self.assertIn("\033[36m--balance HOW\033[0m", shown)
        self.assertIn("ends with LESS=i", on_terminal("--help", PAGER=self.pager, LESS="i")[1])

    def test_no_pager(self):
        for pager in ("", "/nonexistent/pager", self.folder.name):
            code, shown = on_terminal("--help", PAGER=pager)
            self.assertEqual(code, 0)
            self.assertIn("Usage: tmpirun", shown)
        code, shown = on_terminal("--help=start", PATH=self.folder.name)  # no less there
        self.assertEqual((code, shown.split("\n")[0]), (0, "\033[1mWhat runs where:\033[0m"))
        # A reader who leaves at once.
        self.assertEqual(on_terminal("--help", PAGER="true"), (0, ""))

    def test_less(self):
        code, shown = on_terminal("--help=control")
        self.assertEqual(code, 0)
        self.assertIn("--timeout SECONDS", shown)

    def test_no_colours(self):
        for changes in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            code, shown = on_terminal("--help", PAGER="cat", **changes)
            self.assertEqual(code, 0)
            self.assertNotIn("\033", shown)
            self.assertIn("Usage: tmpirun", shown)
        self.assertIn("\033", on_terminal("--help", PAGER="cat", NO_COLOR="")[1])

    def test_topics(self):
        whole = in_pipe("--help").stdout
        groups = {}
        for option in PROGRAMS["tmpirun"].options:
            groups.setdefault(option.group, []).append(option)
        topics = [option for option in PROGRAMS["tmpirun"].options if option.names[0] == "--help"][0].values
        self.assertEqual(len(topics), len(groups))
        for topic, (heading, options) in zip(topics, groups.items()):
            text = in_pipe(f"--help={topic}").stdout
            self.assertTrue(text.startswith(f"{heading}:\n"), text)
            self.assertIn(text, whole)
            self.assertEqual(sum(line.startswith("  -") for line in text.split("\n")), len(options))
        for topic in ("balance", "--balance", "-np"):
            self.assertIn(in_pipe(f"--help={topic}").stdout, whole)
        unknown = in_pipe("--help=nonesuch")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("there is no such topic; topics are " + ", ".join(topics), unknown.stderr)


if __name__ == "__main__":
    unittest.main()
