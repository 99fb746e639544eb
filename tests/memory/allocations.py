#!/usr/bin/env python3
"""Fails the n-th allocation of tmpirun or of a node process, for every n, of a whole MPI program.

Whatever fails, a run ends: with the program's right answer, or with a sentence of tmpi or the program's own word that
it gives up, and then with an exit code that is not zero. It never crashes, hangs, or prints something wrong.

    allocations.py --tmpirun T --preload fail_allocation.so --process tmpi-node [--forever] [--every N] -- ARGUMENTS
"""
import argparse
import concurrent.futures
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile

# What a run must never say.
CRASHES = re.compile(r"terminate called|Segmentation|core dumped|SIG(SEGV|ABRT|BUS|ILL|FPE)|pure virtual|Assertion|"
                     r"corrupted|double free|Sanitizer|Traceback|defect of tmpi", re.IGNORECASE)
# How a program says that it has got a wrong answer.
WRONG = re.compile(r"WRONG ANSWER")
EXIT_OF_WRONG = 99
# What a run without memory says: tmpi's sentence, or an error code that the program reports.
SENTENCE = re.compile(r"memory|allocat|MPI_ERR|cannot", re.IGNORECASE)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tmpirun", required=True)
    parser.add_argument("--preload", required=True)
    parser.add_argument("--process", required=True, help="name of the executable whose allocations fail")
    parser.add_argument("--spared", default="", help="the program, whose own allocations do not count")
    parser.add_argument("--forever", action="store_true", help="all allocations from the n-th on fail")
    parser.add_argument("--every", type=int, default=1, help="only every so many-th")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--last", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=60, help="after which a run hangs")
    parser.add_argument("--show", action="store_true", help="print what each run says")
    parser.add_argument("arguments", nargs="+", help="of tmpirun; @FILE@: a name for a file of each run's own")
    return parser.parse_args()


class Outcome:
    def __init__(self, code, out, err, seen, failed):
        self.code, self.out, self.err, self.seen, self.failed = code, out, err, seen, failed


def run(options, number, trace=False):
    with tempfile.NamedTemporaryFile() as counter:
        counter.write(bytes(16))
        counter.flush()
        environment = dict(os.environ, LD_PRELOAD=options.preload, TMPI_FAIL_PROCESS=options.process,
                           TMPI_FAIL_AT=str(number), TMPI_FAIL_COUNTER=counter.name, TMPI_FAIL_SPARED=options.spared)
        if options.forever:
            environment["TMPI_FAIL_FOREVER"] = "1"
        if trace:
            environment["TMPI_FAIL_TRACE"] = "1"
        arguments = [argument.replace("@FILE@", counter.name + ".data") for argument in options.arguments]
        process = subprocess.Popen([options.tmpirun, *arguments], env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = process.communicate(timeout=options.seconds)
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            out, err = process.communicate()
            code = None
        for left in glob.glob(counter.name + ".data*"):
            os.unlink(left)
        counter.seek(0)
        seen, failed = struct.unpack("qq", counter.read(16))
        return Outcome(code, out.decode(errors="replace"), err.decode(errors="replace"), seen, failed)


def complaint(outcome, expected):
    """What is wrong with how a run ended; None: nothing."""
    if outcome.code is None:
        return "hangs"
    if outcome.code == EXIT_OF_WRONG or WRONG.search(outcome.err) or WRONG.search(outcome.out):
        return "has a wrong answer"
    if CRASHES.search(outcome.err) or CRASHES.search(outcome.out):
        return "crashes"
    if outcome.code == 0:
        return None if outcome.out == expected else "says it is right, but is not"
    if not SENTENCE.search(outcome.err):
        return "says nothing of memory"
    return None


def main():
    options = parse()
    whole = run(options, 0)
    if whole.code != 0:
        sys.exit(f"without a failure it does not work either: {whole.code}\n{whole.out}{whole.err}")
    if whole.seen < 100:
        sys.exit(f"only {whole.seen} allocations of {options.process} were counted: is {options.preload} loaded?")
    last = options.last or whole.seen
    numbers = range(options.first, last + 1, options.every)
    wrong, ended = 0, {"right": 0, "with a sentence": 0, "not reached": 0}
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for number, outcome in zip(numbers, pool.map(lambda n: run(options, n), numbers)):
            problem = complaint(outcome, whole.out)
            if problem is not None:
                wrong += 1
                again = run(options, number, trace=True)
                print(f"allocation {number} of {options.process}: {problem} (exit code {outcome.code})\n"
                      f"{outcome.out}{outcome.err}\nwith its stack:\n{again.err}\n", flush=True)
            elif options.show:
                print(f"{number}: {outcome.code} {outcome.err.strip()}", flush=True)
            kind = "not reached" if outcome.failed == 0 else "right" if outcome.code == 0 else "with a sentence"
            ended[kind] += problem is None
    print(f"{len(numbers)} of {whole.seen} allocations of {options.process}: " +
          ", ".join(f"{count} {kind}" for kind, count in ended.items()) + f", {wrong} wrong")
    if 2 * ended["not reached"] > len(numbers):
        sys.exit("most runs have come to their end before the allocation that was to fail: nothing is shown")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
