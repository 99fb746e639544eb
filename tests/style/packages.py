#!/usr/bin/env python3
"""What the build needs (tier "build" of scripts/packages.txt) is named by the packages too: Debian's and Spack's."""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])

# Debian's name -> Spack's; None: the recipe has it by other means, or does without.
SPACK = {
    "g++": None, "gfortran": None, "ccache": None, "ninja-build": None, "node-d3": None, "doctest-dev": None, "libbenchmark-dev": None,
    "cmake": "cmake", "pkg-config": "pkgconfig", "python3": "python", "libboost-container-dev": "boost", "libboost-context-dev": "boost", "libhwloc-dev": "hwloc",
    "libnuma-dev": "numactl", "libsodium-dev": "libsodium", "libpmix-dev": "pmix", "libibverbs-dev": "rdma-core",
    "libfabric-dev": "libfabric", "libfmt-dev": "fmt", "nlohmann-json3-dev": "nlohmann-json", "liburing-dev": "liburing",
    "libdw-dev": "elfutils", "libopen-trace-format2-dev": "otf2",
}
NOT_IN_CONTROL = {"g++", "ccache"}  # build-essential; what no package build should have

lines = [line.split("\t") for line in (root / "scripts/packages.txt").read_text().splitlines()]
needed = [fields[1] for fields in lines if fields[0] == "build"]
control = re.search(r"^Build-Depends:(.*?)^\S", (root / "packaging/debian/control").read_text(), re.M | re.S)[1]
debian = set(re.findall(r"^ *([a-z0-9.+-]+)", control.replace(",", "\n"), re.M))
spack = set(re.findall(r'depends_on\("([a-z0-9-]+)', (root / "packaging/spack/package.py").read_text()))

wrong = [f"{name} is not in packaging/debian/control" for name in needed if name not in debian | NOT_IN_CONTROL]
wrong += [f"tests/style/packages.py does not know Spack's name of {name}" for name in needed if name not in SPACK]
wrong += [f"{SPACK[name]} ({name}) is not in packaging/spack/package.py" for name in needed if SPACK.get(name, None) not in spack | {None}]
if not needed or wrong:
    sys.exit("scripts/packages.txt, tier build: " + "; ".join(wrong or ["nothing is needed?"]))
