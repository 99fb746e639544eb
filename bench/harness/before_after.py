"""Two builds of tmpi beside each other: every value that the measurements give, before and after a change."""
import pathlib
import statistics

from . import launchers as launchers_
from .report import machine, note

BEFORE, AFTER = "before", "tmpi"
NOISE = 1.03  # what medians of a quiet machine differ by without a change


class Before(launchers_.Tmpi):
    name = BEFORE


def launchers(build, before):
    """The two, each with programs that its own tmpicc compiles."""
    paths = {key: pathlib.Path(path).resolve() for key, path in ((BEFORE, before), (AFTER, build))}
    return [Before(paths[BEFORE] / "bench", paths[BEFORE]), launchers_.Tmpi(paths[AFTER] / "bench", paths[AFTER])]


def larger_is_better(name):
    return name.startswith("Mmsg/s")


def slowdown(name, before, after):
    """How many times worse it has become; below 1: better."""
    return before / after if larger_is_better(name) else after / before


def rows_of(results):
    """(measurement, value, median before, median after, slowdown of the medians, of the best of all rounds)."""
    for (measurement, launcher), values in sorted(results.samples.items()):
        if launcher != AFTER:
            continue
        for name, after in values.items():
            before = results.samples.get((measurement, BEFORE), {}).get(name)
            if not before or name.startswith(("memcpy", "MB/s")) or min(*before, *after, 0) < 0 or not all(before + after):
                continue
            best = max if larger_is_better(name) else min
            yield (measurement, name, statistics.median(before), statistics.median(after),
                   slowdown(name, statistics.median(before), statistics.median(after)), slowdown(name, best(before), best(after)))


def report(results, outputs):
    """Prints the table; 1 if something has become slower in its median and in its best run."""
    lines = ["measurement,value,before,after,slowdown of medians,slowdown of best runs"]
    slower = 0
    for measurement, name, before, after, medians, best in rows_of(results):
        worse = medians > NOISE and best > NOISE
        slower += worse
        print(f"{measurement:<18}{name:<32}{before:>12.2f}{after:>12.2f}{medians:>8.3f}{best:>8.3f}{'  SLOWER' if worse else ''}")
        lines.append(f"{measurement},{name},{before},{after},{medians:.4f},{best:.4f}")
    for path in outputs:
        pathlib.Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    note(f"{slower} values slower by more than {100 * (NOISE - 1):.0f} % both in the median and in the best run, on {machine()['cpu']}")
    return 1 if slower else 0
