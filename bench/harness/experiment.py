"""What the experiments share: their options, how they print and write a table, and how they plot it."""
import argparse
import csv
import os
import pathlib
import shutil
import subprocess
import sys

from . import launchers, report

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def options(name, doc, add=None):
    """Parses the command line. --output is where NAME.csv and NAME.svg go."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build"), help="build directory of tmpi (default: build)")
    parser.add_argument("--output", metavar="DIR", help=f"where {name}.csv and {name}.svg are written (default: BUILD/bench/results)")
    parser.add_argument("--quick", action="store_true", help="a short run, to see that it works; its figures mean little")
    parser.add_argument("--check", action="store_true", help="exit code 1 if the result does not have the expected shape")
    if add:
        add(parser)
    chosen = parser.parse_args()
    chosen.name = name
    chosen.build = pathlib.Path(chosen.build).resolve()
    chosen.output = pathlib.Path(chosen.output) if chosen.output else chosen.build / "bench" / "results"
    if not (chosen.build / "bin" / "tmpirun").is_file():
        sys.exit(f"bench/{name}: no tmpirun in {chosen.build}/bin; build tmpi there, or name the build directory with --build")
    return chosen


def tmpi(chosen):
    return launchers.Tmpi(chosen.build / "bench", chosen.build)


def open_mpi(chosen):
    """Open MPI's launcher, or None where it is not installed."""
    found = launchers.OpenMpi(chosen.build / "bench")
    if found.available():
        return found
    report.note("Open MPI is not installed: its rows are left out")
    return None


def cpus():
    return sorted(os.sched_getaffinity(0))


def compiled(launcher, source):
    """The program's path; what is written in C++ is compiled by tmpi's wrapper for it."""
    path = ROOT / source
    if path.suffix != ".cpp":
        return launcher.compile(path)
    binary = launcher.directory / path.stem
    if not binary.exists() or binary.stat().st_mtime < path.stat().st_mtime:
        launcher.directory.mkdir(parents=True, exist_ok=True)
        compiler = launcher.compiler.replace("mpicc", "mpicxx")
        subprocess.run([compiler, "-std=c++20", "-O2", "-w", str(path), "-o", str(binary)], check=True)
    return binary


def run(launcher, source, words, ranks, on, limit=300):
    """The output of a program that has ended well; ends the experiment otherwise."""
    outcome = launcher.start(compiled(launcher, source), words, ranks, on, limit)
    if outcome.error:
        sys.exit(f"{source} under {launcher.name}: {outcome.error}")
    return outcome.text


def table(titles, rows):
    """Prints cells: text as it is, numbers with three digits that matter."""
    cells = [titles] + [[cell if isinstance(cell, str) else f"{cell:.3g}" if abs(cell) < 1000 else f"{cell:.0f}" for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(titles))]
    for number, line in enumerate(cells):
        print("  ".join(text.ljust(width) if i == 0 else text.rjust(width) for i, (text, width) in enumerate(zip(line, widths))).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))


def write_csv(chosen, titles, rows):
    chosen.output.mkdir(parents=True, exist_ok=True)
    path = chosen.output / f"{chosen.name}.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(titles)
        writer.writerows(rows)
    print(f"\nwritten: {path}")


def plot(chosen, commands, size="720,440"):
    """Draws NAME.svg by gnuplot's commands (data as here-documents in them)."""
    if shutil.which("gnuplot") is None:
        report.note("gnuplot is not installed: no plot")
        return
    chosen.output.mkdir(parents=True, exist_ok=True)
    path = chosen.output / f"{chosen.name}.svg"
    head = f"set terminal svg size {size} font 'sans,12' noenhanced background 'white'\nset output '{path}'\nset grid ytics lc rgb '#dddddd'\n"
    done = subprocess.run(["gnuplot"], input=head + commands, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        sys.exit(f"gnuplot failed: {done.stderr.strip()}")
    print(f"written: {path}")


def data(name, rows):
    """A here-document for plot()."""
    lines = "\n".join("\t".join(f'"{cell}"' if isinstance(cell, str) else f"{cell:.9g}" for cell in row) for row in rows)
    return f"${name} << EOD\n{lines}\nEOD\n"


def conclude(chosen, problems):
    """Ends the experiment; `problems` are sentences on what has not the expected shape. A short run that is checked gets three more attempts:
    the machine may be busy with other things."""
    for problem in problems:
        print(f"not as expected: {problem}", flush=True)
    attempt = int(os.environ.get("TMPI_BENCH_ATTEMPT", "1"))
    if chosen.check and chosen.quick and problems and attempt < 4:
        os.environ["TMPI_BENCH_ATTEMPT"] = str(attempt + 1)
        os.execv(sys.executable, [sys.executable, *sys.argv])
    sys.exit(1 if chosen.check and problems else 0)
