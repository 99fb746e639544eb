"""The cost of a fiber switch, from the microbenchmarks of bench/sched (google benchmark)."""
import json
import os
import re
import subprocess

from . import report


def binary(build):
    """The microbenchmark's program in the build tree, or None."""
    for directory in (build / "bench", build / "bench" / "sched", build / "bin"):
        for name in ("fiber_switch", "fiber_switch_bench", "sched_bench", "bench_sched"):
            if (directory / name).is_file() and os.access(directory / name, os.X_OK):
                return directory / name
    return None


def measure(build, cpu, results):
    program = binary(build)
    if program is None:
        report.note("  fiber-switch: bench/sched is not built")
        return
    command = ["taskset", "-c", str(cpu), str(program), "--benchmark_format=json", "--benchmark_min_time=0.2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        results.fail("fiber-switch", "tmpi", done.stderr.strip()[-160:])
        return
    for entry in json.loads(done.stdout)["benchmarks"]:
        hit = re.search(r"[Ss]witch\w*/(\d+)", entry["name"])
        if hit:
            per_switch = entry.get("ns_per_switch", entry["cpu_time"])
            results.add("fiber-switch", "tmpi", {f"ns/{hit.group(1)}": per_switch})
