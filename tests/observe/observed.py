"""What the tests of --profile and --trace share: programs, lines marked in them, and runs that leave a file."""

import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "launch"))
from harness import BIN, HANG, LaunchTest, claims_only_time, claims_time, main  # noqa: E402, F401

_directory = tempfile.TemporaryDirectory(prefix="tmpi-observe-")
_built = {}


def source(name):
    return name if os.path.isabs(name) else os.path.join(HERE, "programs", name)


def program(*names, flags=("-g", "-O1")):
    """The program of these sources, built once with tmpicc."""
    key = names + tuple(flags)
    if key not in _built:
        path = os.path.join(_directory.name, f"{os.path.basename(names[0]).removesuffix('.c')}{len(_built)}")
        subprocess.run([os.path.join(BIN, "tmpicc"), *flags, "-o", path, *map(source, names)], check=True, timeout=2 * HANG)
        _built[key] = path
    return _built[key]


def line_of(name, mark):
    """Number of the line of a program that is marked "@mark"."""
    with open(source(name), encoding="utf-8") as text:
        lines = [number for number, line in enumerate(text, 1) if re.search(rf"@{mark}\b", line)]
    assert len(lines) == 1, (name, mark, lines)
    return lines[0]


class ObservedTest(LaunchTest):
    def observe(self, option, *arguments, code=0, **options):
        """Runs a job with `option`FILE and returns it with what the file holds."""
        path = os.path.join(self.directory(), "out.json")
        first = [option + path] if option.endswith("=") else [option, path]
        job = self.run_job(*first, *arguments, **options)
        job.text = job.err.decode()
        self.assertEqual(job.code, code, job.text)
        with open(path, encoding="utf-8") as file:
            return job, json.load(file)
