"""What the tests of this folder share: where the programs and their pages are, and the table of options."""

import os
import pathlib
import sys

BUILD = pathlib.Path(os.environ["TMPI_BUILD"])  # set by ctest
BIN = BUILD / "bin"
SHARE = BUILD / "share"

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from program_options import read_programs  # noqa: E402

PROGRAMS = {program.name: program for program in read_programs(BIN, [])}
