"""The cost of a fiber switch, from the microbenchmark of bench/sched: lines like "switch, 1000 fibers    9.5    9.4" (median, least)."""
import re
import subprocess

from . import report


def measure(launcher, cpu, results):
    program = launcher.build / "bin" / "bench_sched"
    if not program.is_file():
        report.note("  fiber-switch: bench_sched is not built")
        return
    done = subprocess.run(["taskset", "-c", str(cpu), str(program)], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        results.fail("fiber-switch", launcher.key, done.stderr.strip()[-160:])
    for fibers, median in re.findall(r"^switch, (\d+) fibers\s+([\d.]+)", done.stdout, re.MULTILINE):
        results.add("fiber-switch", launcher.key, {f"ns/{fibers}": float(median)})
