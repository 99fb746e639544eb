#!/usr/bin/env python3
"""A job under a limit on memory (ulimit -v) ends right, or with a true sentence. limits.py TMPIRUN PROGRAM"""
import re
import resource
import subprocess
import sys

tmpirun, program = sys.argv[1:]
TRUE = re.compile(r"memory|MPI_ERR_|address space|cannot (reserve|map|start)|stacks", re.IGNORECASE)
UNTRUE = re.compile(r"ended with exit code 0|terminate called|SIG[A-Z]+|(?<!\(or )a rank called _exit|Segmentation")


def run(kilobytes):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (kilobytes << 10, kilobytes << 10))
    return subprocess.run([tmpirun, "-n", "4", program], capture_output=True, text=True, timeout=60, preexec_fn=limit,
                          check=False)


right = 0
for size in list(range(20000, 400000, 20000)) + [800000, 4000000]:
    result = run(size)
    what = f"ulimit -v {size}: exit code {result.returncode}: {result.stdout}{result.stderr}"
    if result.returncode == 0:
        right += 1
        assert result.stdout == "4 ranks have the right answers\n" and result.stderr == "", what
        continue
    # Below some size not even the dynamic linker finds room for the libraries.
    if "error while loading shared libraries" in result.stderr:
        continue
    assert TRUE.search(result.stderr) and not UNTRUE.search(result.stderr), what
assert right > 0, "no size was enough"
print(f"{right} sizes were enough; the others end with a true sentence")
