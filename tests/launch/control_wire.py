"""Of the control channel's wire format what tests that speak it by themselves must know."""

import pathlib
import re

_HEADER = (pathlib.Path(__file__).resolve().parents[2] / "src/launch/wire/wire.hpp").read_text()

MAGIC = int(re.search(r"kWireMagic = (0x[0-9A-Fa-f]+)", _HEADER)[1], 16)
VERSION = int(re.search(r"kWireVersion = (\d+)", _HEADER)[1])
