"""Prints the table of figures, and writes it as JSON or CSV."""
import csv
import dataclasses
import json
import os
import platform
import sys

TITLES = ["what", "tmpi", "Open MPI", "MPICH", "ratio", "target", "verdict"]


def print_table(rows):
    cells = [TITLES] + [[str(v) for v in dataclasses.astuple(row)] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(TITLES))]
    for number, line in enumerate(cells):
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))


def machine():
    model = platform.processor()
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as cpuinfo:
            model = next((line.split(":", 1)[1].strip() for line in cpuinfo if line.startswith("model name")), model)
    except OSError:
        pass
    return {"cpu": model, "cpus": os.cpu_count(), "kernel": platform.release(), "load": os.getloadavg()}


def write(path, rows, results):
    """By the file's name: .csv the table, anything else JSON with every sample."""
    if path.endswith(".csv"):
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(TITLES)
            writer.writerows(dataclasses.astuple(row) for row in rows)
        return
    document = {
        "machine": machine(),
        "figures": [dataclasses.asdict(row) for row in rows],
        "samples": {f"{m}/{l}": values for (m, l), values in results.samples.items()},
        "failures": {f"{m}/{l}": error for (m, l), error in results.errors.items()},
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


def note(text):
    """Progress, on stderr so that the table can be redirected."""
    print(text, file=sys.stderr, flush=True)
