"""gdb that knows ranks, for a tmpi node process: the commands `ranks` and `rank` (help rank), and $_rank()."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from tmpi_debugger import commands  # noqa: E402

commands.install()
