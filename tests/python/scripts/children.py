"""Processes that ranks start: subprocess, fork, system, popen."""

import os
import subprocess
import sys
import tempfile

from ranks import rank, step

python = [sys.executable, "-S", "-c"]
out = subprocess.run([*python, f"import os, sys; print(os.environ['MINE'], {rank}); sys.exit({rank % 5})"], env={**os.environ, "MINE": "yes"},
                     capture_output=True, text=True, check=False)
assert (out.stdout, out.stderr, out.returncode) == (f"yes {rank}\n", "", rank % 5), out
step()
with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as cat:
    assert cat.communicate(b"%d" % rank * 1000)[0] == b"%d" % rank * 1000
with subprocess.Popen(["sh", "-c", "kill -9 $$"]) as killed:
    assert killed.wait(60) == -9
try:
    subprocess.run(["sleep", "3600"], timeout=0.05, check=True)
    raise AssertionError("no timeout")
except subprocess.TimeoutExpired:
    pass
try:
    subprocess.run(["/no/such/program"], check=True)
    raise AssertionError("it ran")
except FileNotFoundError:
    pass
with tempfile.TemporaryDirectory() as home:
    assert os.path.realpath(subprocess.check_output(["pwd"], cwd=home, text=True).strip()) == os.path.realpath(home)
step()
assert os.system(f"exit {rank % 3}") == (rank % 3) << 8
with os.popen(f"echo {rank}") as pipe:
    assert pipe.read() == f"{rank}\n"

ours, theirs = os.pipe()
child = os.fork()
if child == 0:
    os.write(theirs, b"%d of %d" % (rank, os.getppid()))
    os._exit(40 + rank % 10)
assert os.waitpid(child, 0) == (child, (40 + rank % 10) << 8)
assert os.read(ours, 100) == b"%d of %d" % (rank, os.getpid()), "the parent has another number in its child"
step()
assert os.path.samefile(os.readlink("/proc/self/exe"), sys.executable)
assert subprocess.check_output([*python, "import sys; print(sys.executable)"], text=True).strip() == sys.executable
if rank == 0:
    print("right")
