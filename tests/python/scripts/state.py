"""What an interpreter keeps for its process is a rank's own."""

import contextvars
import decimal
import gc
import locale
import logging
import os
import random
import sys
import tempfile
import warnings

from ranks import rank, size, step, total

sys.mine = rank
sys.setrecursionlimit(2000 + rank)
sys.setswitchinterval(0.001 * (rank + 1))
sys.path.insert(0, f"/nowhere/{rank}")
os.environ["PY_RANK"] = str(rank)
decimal.getcontext().prec = 10 + rank
random.seed(rank)
logging.getLogger().setLevel(10 + rank)
warnings.filterwarnings("error" if rank % 2 else "ignore", category=UserWarning)
variable = contextvars.ContextVar("variable", default=None)
variable.set(rank)
gc.set_threshold(700 + rank)
home = tempfile.mkdtemp()
os.chdir(home)
mask = os.umask(0o022 if rank % 2 else 0o077)
locale.setlocale(locale.LC_ALL, "C" if rank % 2 else "C.UTF-8")
drawn = random.random()
step()

assert sys.mine == rank
assert sys.getrecursionlimit() == 2000 + rank
assert abs(sys.getswitchinterval() - 0.001 * (rank + 1)) < 1e-6
assert sys.path[0] == f"/nowhere/{rank}"
assert os.environ["PY_RANK"] == str(rank) and os.getenv("PY_RANK") == str(rank)
assert len(str(decimal.Decimal(1) / 3)) == 12 + rank
assert logging.getLogger().level == 10 + rank
assert variable.get() == rank
assert gc.get_threshold()[0] == 700 + rank
assert os.path.realpath(os.getcwd()) == os.path.realpath(home)
assert locale.setlocale(locale.LC_ALL) == ("C" if rank % 2 else "C.UTF-8")
try:
    warnings.warn("of one rank")
    assert rank % 2 == 0
except UserWarning:
    assert rank % 2 == 1
generator = random.Random(rank)
assert generator.random() == drawn


def deeper(n):
    return deeper(n + 1)


try:
    deeper(0)
    raise AssertionError("endless recursion")
except RecursionError:
    pass
step()
open("mine", "w").close()
assert os.stat("mine").st_mode & 0o777 == (0o644 if rank % 2 else 0o600)
os.remove("mine")
os.chdir("/")
os.rmdir(home)

# Objects go away when they should, with as many references as they have.
kept = [{"rank": rank, "list": [rank] * 50} for _ in range(1000)]
step()
assert all(each["rank"] == rank and sum(each["list"]) == 50 * rank for each in kept)
del kept
gc.collect()


def containers():
    nested = ()
    for number in range(5000):
        nested = [nested, (number,), {number: [number]}]
    return nested


# Destroying them looks at how much of the stack is left; what is put off then must not be lost.
containers()
gc.collect()
before = sys.getallocatedblocks()
for _ in range(20):
    containers()
    step()
gc.collect()
assert sys.getallocatedblocks() - before < 5000, (before, sys.getallocatedblocks())
assert total(sys.mine) == size * (size - 1) // 2
if rank == 0:
    print("right")
