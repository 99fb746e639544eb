"""tmpi-gdb: where ranks are, stacks of suspended ranks, one rank's variables and breakpoints; in a job and in a core file."""

import glob
import os
import re
import shutil
import subprocess
import sys

from observed import BIN, HANG, LaunchTest, line_of, main, program

TOKEN = "token.c"
PROMPT = ("set pagination off", "set breakpoint pending on", "set width 0")


def script(test, *commands):
    path = os.path.join(test.directory(), "commands")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join((*PROMPT, *commands)) + "\n")
    return path


class DebuggerTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.program = program(TOKEN, flags=("-g", "-O0"))
        self.waits = f"token.c:{line_of(TOKEN, 'waits')}"

    def debug(self, *commands, ranks=4, workers=1):
        """What gdb says when rank 0 has come to all_are_there(), where the others wait for the token."""
        path = script(self, "break token.c:all_are_there", "run", *commands, "kill")
        job = self.run_job("-n", ranks, "--workers", workers, "--wrapper", f"{BIN}/tmpi-gdb -nx -batch -x {path} --args", self.program)
        return self.said(job.out + job.err)

    def said(self, output):
        text = output.decode()
        if "ptrace" in text and "not permitted" in text:
            self.skipTest("debuggers are not permitted here")
        return text

    def assert_lines(self, text, *patterns):
        """In this order."""
        position = 0
        for pattern in patterns:
            found = re.compile(pattern, re.MULTILINE).search(text, position)
            self.assertTrue(found, f"{pattern!r} is missing (or comes too early) in\n{text}")
            position = found.end()

    def test_says_where_ranks_are(self):
        text = self.debug("ranks", "rank 2", "ranks")
        lines = (r"^rank 0: running, at all_are_there \(token\.c:\d+\)",
                 rf"^rank 1: blocked in MPI_Recv from rank 0 with tag 5 on MPI_COMM_WORLD, at pass_on \({self.waits}\)",
                 rf"^rank 3: blocked in MPI_Recv from rank 2 with tag 5 on MPI_COMM_WORLD, at pass_on \({self.waits}\)")
        self.assert_lines(text, *lines, *lines)

    def test_shows_a_suspended_rank(self):
        text = self.debug("rank 2", "bt", "info locals", "print my_global", "print $_rank()", "up", "info locals", "rank")
        self.assert_lines(text, r"^\[rank 2, thread \d+, blocked in MPI_Recv from rank 1 ",
                          rf"in pass_on \(rank=2, size=4\) at .*{self.waits}",  # selected
                          r"^#\d+ .*PMPI_Recv", rf"^#\d+ .*pass_on \(rank=2, size=4\) at .*{self.waits}", r"^#\d+ .*main \(argc=1,",
                          "^token = 2", "^added = 42", r"^\$1 = 1002", r"^\$2 = 2", "main", "^rank = 2", "^rank 2, .*token")
        self.assertNotIn("switch_to", text)

    def test_steps_in_one_rank(self):
        """`next` over MPI_Recv: the core runs others meanwhile, in the same function."""
        text = self.debug("rank 2", "next", "print $_rank()", "print token", "next", "print token", "next", "next", "print $_rank()", "print token")
        self.assert_lines(text, r"^\$1 = 2", r"^\$2 = 41", r"^\$3 = 83", r"^\$4 = 2", r"^\$5 = 83")

    def test_finishes_a_function_of_a_suspended_rank(self):
        text = self.debug("rank 3", "finish", "print $_rank()")
        self.assert_lines(text, r"Value returned is \$1 = 126", r"^\$2 = 3")

    def test_stops_in_one_rank(self):
        goes_on = line_of(TOKEN, "goes_on")
        text = self.debug(f"break token.c:{goes_on} if $_rank() == 2", "continue", "print rank", "delete", "rank 3", f"break token.c:{goes_on}",
                          "continue", "print rank", "watch my_global", "continue")
        self.assert_lines(text, r"^\$1 = 2", r"^\$2 = 3", "Old value = 1003", r"New value = 1129")

    def test_stops_one_rank(self):
        goes_on = line_of(TOKEN, "goes_on")
        text = self.debug(f"rank break 2 token.c:{goes_on}", f"rank tbreak 3 token.c:{goes_on} if my_global > 9999", "python\ntry: gdb.execute('rank break 9 main')\nexcept gdb.error as error: print(error)\nend",
                          "info breakpoints", "continue", "print rank", "continue")
        self.assert_lines(text, "rank 9 is not in this node process", rf"stop only if \$_rank\(\) == 2$",
                          rf"stop only if \$_rank\(\) == 3 && \(my_global > 9999\)", r"^\$1 = 2", "exited normally|exited with code")

    def test_many_ranks(self):
        """gdb unwinds the stacks of a few; places of the others are known by those, and their messages are their own."""
        counted = """python
from tmpi_debugger import commands
unwound = []
follow = commands.unwinder.follow
commands.unwinder.follow = lambda *rank: (unwound.append(rank), follow(*rank))
end"""
        text = self.debug(counted, "ranks", "python print('unwound', len(unwound))", ranks=100)
        self.assert_lines(text, "^rank 0: running", *(rf"^rank {rank}: blocked in MPI_Recv from rank {rank - 1} with tag 5 on MPI_COMM_WORLD, at pass_on \({self.waits}\)"
                                                      for rank in range(1, 100)))
        self.assertLess(int(re.search(r"^unwound (\d+)", text, re.MULTILINE)[1]), 10)

    def test_applies_to_each(self):
        text = self.debug("rank apply all bt", "rank apply 0,2-3 print my_global", "rank 1", "rank apply 3 print my_global", "print my_global")
        self.assert_lines(text, "^rank 0:", "all_are_there", "^rank 1:", r"pass_on \(rank=1", "^rank 3:", r"pass_on \(rank=3", r"^\$1 = 1000", r"^\$2 = 1002",
                          r"^\$3 = 1003", r"^\$4 = 1003", r"^\$5 = 1001")

    def test_reads_core_files(self):
        core = os.path.join(self.directory(), "core")
        self.debug(f"gcore {core}")
        path = script(self, "ranks", "rank 3", "bt", "print my_global", "rank apply all print my_global")
        run = subprocess.run([f"{BIN}/tmpi-gdb", "-nx", "-batch", "-x", path, f"{BIN}/tmpi-node", core], capture_output=True, timeout=HANG)
        self.assert_lines(self.said(run.stdout + run.stderr), r"^rank 0: running", rf"^rank 3: blocked in MPI_Recv from rank 2 .* at pass_on \({self.waits}\)",
                          r"^#\d+ .*PMPI_Recv", rf"^#\d+ .*pass_on \(rank=3, size=4\) at .*{self.waits}", r"^\$1 = 1003", r"^\$2 = 1000", r"^\$5 = 1003")

    def test_python(self):
        """Debian's script for Python shows the Python of a rank that is suspended."""
        scripts = glob.glob("/usr/share/gdb/auto-load/usr/lib/*/libpython3*[0-9].so*-gdb.py")
        if not scripts or not os.path.exists("/usr/bin/python3"):
            self.skipTest("needs Debian's python3.11-dbg (or that of its Python)")
        path = os.path.join(self.directory(), "waits.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write("import sys\ndef inner():\n    print('waiting', flush=True)\n    sys.stdin.readline()\ndef outer():\n    inner()\nouter()\n")
        job = self.start("-n", 2, "--workers", 1, "--stdin", "all", "/usr/bin/python3", path, stdin=subprocess.PIPE)
        job.read_until(b"waiting", 2)
        commands = script(self, "rank 1", "py-bt", "rank 0", "py-bt")
        run = subprocess.run([f"{BIN}/tmpi-gdb", "-nx", "-batch", "-iex", f"source {scripts[0]}", "-x", commands, "-p", str(job.node_pid())], capture_output=True, timeout=HANG)
        stack = (r'^  File ".*waits\.py", line 4, in inner', r'^  File ".*waits\.py", line 6, in outer')
        self.assert_lines(self.said(run.stdout + run.stderr), r"^\[rank 1", *stack, r"^\[rank 0", *stack)
        job.finish(input=b"\n")

    def test_attaches(self):
        job = self.start("-n", 6, "--workers", 2, self.program, "wait")
        job.read_until(b"waiting")
        # A debugger that ends while it shows one rank leaves all of them to the next.
        first = subprocess.run([f"{BIN}/tmpi-gdb", "-nx", "-batch", "-x", script(self, "rank 3", "print my_global"), "-p", str(job.node_pid())],
                               capture_output=True, timeout=HANG)
        self.assert_lines(self.said(first.stdout + first.stderr), r"^\$1 = 1003")
        path = script(self, "ranks", "rank apply all bt", "rank 0", "print argc = 1", "detach")
        run = subprocess.run([f"{BIN}/tmpi-gdb", "-nx", "-batch", "-x", path, "-p", str(job.node_pid())], capture_output=True, timeout=HANG)
        text = self.said(run.stdout + run.stderr)
        if "= 1" not in text:
            job.destroy()
        self.assert_lines(text, *(rf"^rank {rank}: blocked in MPI_Recv from rank {rank - 1}" for rank in range(1, 6)),
                          *(rf"pass_on \(rank={rank}, size=6\)" for rank in range(1, 6)))
        job.finish()
        self.assertEqual(job.out.split(b"\n")[-2], b"token 215")


if __name__ == "__main__":
    if shutil.which("gdb") is None:
        sys.exit(77)
    main()
