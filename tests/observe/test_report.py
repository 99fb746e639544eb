"""tmpirun --report and tmpi-report: the page in a browser says what the profile's JSON does, draws quickly, and needs no network."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from observed import BIN, HANG, ObservedTest, claims_time, main, program

HERE = os.path.dirname(os.path.abspath(__file__))
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
REPORT = os.path.join(BIN, "tmpi-report")
FIGURE = re.compile(r'data-figure="([^"]*)" data-value="([^"]*)"')


def can_draw():
    """tmpi was built with d3."""
    probe = subprocess.run([os.path.join(BIN, "tmpirun"), "--report", "/dev/null", "true"], capture_output=True, text=True, timeout=HANG)
    return "built without d3" not in probe.stderr


def synthetic(ranks, sites=20, degree=26):
    """A profile of many ranks: two per core, a halo exchange."""
    times = {"calls": 100, "bytes": 6400, "wall": 0.5, "running": 0.1, "waiting": 0.4, "idle": 0.05, "longest": 0.01, "shortest": 1e-6,
             "least": 1e-6}
    cores = (ranks + 1) // 2
    computing = lambda rank: 4.0 + rank % 7 / 10 if rank < ranks else 0.0
    one = lambda rank: {"rank": rank, "worker": rank // 2, "wall": 10.0, "computing": computing(rank), "mpi": 0.5, "waiting": 5.5 - rank % 7 / 10,
                        "elsewhere": 0.0, "between": 0.0, "variables": {"tmpi_bytes_sent": rank * 1000, "tmpi_messages_sent": 100, "tmpi_stack_used": 9000},
                        "sent_to": {"peers": sorted({(rank + i) % ranks for i in range(1, degree + 1)}),
                                    "messages": [3] * min(degree, ranks), "bytes": [300 + rank] * min(degree, ranks)}}
    worker = lambda i: {"name": f"worker {i}: core {i}", "busy": 9.5, "idle": 0.5, "computing": computing(2 * i) + computing(2 * i + 1), "mpi": 0.9, "held": 0.0, "switches": 1000,
                        "ranks": [2 * i, 2 * i + 1], "variables": {}, "over_time": {"width": 0.1, "computing": [0.085] * 100, "mpi": [0.009] * 100}}
    call = lambda site: {"function": "MPI_Wait", "object": "a", "offset": site, "caller": "main", "file": "a.c", "line": site, "total": times,
                         "ranks": [dict(times, rank=rank, wall=times["wall"] / (1 + rank)) for rank in range(ranks)]}
    return {"format": 1, "node": 0, "program": "synthetic", "host": "a", "hosts": ["a"], "seconds": 10.0, "ended_early": False, "oversubscribed": False,
            "line_numbers": True, "foreign_calls": 0, "ranks": [one(rank) for rank in range(ranks)], "workers": [worker(i) for i in range(cores)],
            "processes": [{"node": 0, "variables": {}, "sizes": {"eager": {"messages": [0, 5, 9], "bytes": [0, 5, 20]}}}],
            "calls": [call(site) for site in range(sites)]}


class ReportTest(ObservedTest):
    def setUp(self):
        if not can_draw():
            self.skipTest("tmpi was built without d3 (Debian: node-d3): there are no pages to test")

    def write(self, name, profile):
        path = os.path.join(self.directory(), name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(profile, file)
        return path

    def report(self, *profiles):
        page = os.path.join(self.directory(), "page.html")
        made = subprocess.run([REPORT, "-o", page, *profiles], capture_output=True, text=True, timeout=HANG)
        self.assertEqual(made.returncode, 0, made.stderr)
        return page

    def show(self, page, *flags):
        """The page's document after it has drawn; fails on whatever the browser's console says."""
        if BROWSER is None:
            self.skipTest(f"no browser is installed (Debian: {BROWSERS[0]}): the page was not looked at")
        shown = subprocess.run([BROWSER, "--no-sandbox", "--headless", "--disable-gpu", "--enable-logging=stderr", "--host-resolver-rules=MAP * ~NOTFOUND",
                                f"--user-data-dir={self.directory()}", *flags, "--dump-dom", f"file://{page}"], capture_output=True, text=True,
                               timeout=HANG)
        console = [line for line in shown.stderr.splitlines() if ":CONSOLE" in line]
        self.assertEqual(console, [])
        self.assertNotIn('<p class="problem"', shown.stdout)
        self.assertRegex(shown.stdout, r'<html[^>]* data-drawn="\d+"')
        return shown.stdout

    def figures(self, document):
        return {html.unescape(name): float(value) for name, value in FIGURE.findall(document)}

    def check_figures(self, figures, profile, letter="A"):
        for at, call in enumerate(profile["calls"][:25]):
            for name in ("calls", "bytes", "wall", "running", "waiting", "idle", "longest"):
                self.assertAlmostEqual(figures[f"{letter}.calls.{at}.{name}"], call["total"][name], delta=1e-12 + 1e-9 * abs(call["total"][name]))
        for view, parts in (("ranks", profile["ranks"]), ("cores", profile["workers"])):
            computing = [part["computing"] for part in parts]
            mean, most, seconds = sum(computing) / len(computing), max(computing), profile["seconds"]
            for name, value in (("parallel", mean / seconds), ("balance", mean / most), ("communication", most / seconds)):
                self.assertAlmostEqual(figures[f"{letter}.{view}.{name}"], value, delta=1e-4 * value)
        # What sharing makes of load balance and of communication are all ranks per core.
        per_core = len(profile["ranks"]) / len(profile["workers"])
        self.assertAlmostEqual(figures[f"{letter}.sharing.balance"] * figures[f"{letter}.sharing.communication"], per_core, delta=1e-3 * per_core)


class Generated(unittest.TestCase):
    def test_a_licence_that_names_files_by_patterns(self):
        """As Debian 13's does: the comment that it stands in must not end with it."""
        with tempfile.TemporaryDirectory() as place:
            os.mkdir(os.path.join(place, "dist"))
            with open(os.path.join(place, "LICENSE"), "w", encoding="utf-8") as file:
                file.write("Files: types-*/*\nLicense: ISC\n")
            d3, page = os.path.join(place, "dist", "d3.min.js"), os.path.join(place, "page.html")
            with open(d3, "w", encoding="utf-8") as file:
                file.write("the_library();\n")
            subprocess.run([sys.executable, os.path.join(HERE, "..", "..", "tools", "generate_page.py"), page, d3], check=True, timeout=HANG)
            with open(page, encoding="utf-8") as file:
                self.assertRegex(file.read(), r"/\*\nFiles: types-\* /\*\nLicense: ISC\n\*/\nthe_library\(\);")


class OfARun(ReportTest):
    def test_page_of_a_job(self):
        for manner in (("--workers", 2), ("--nodes", 2)):
            page = os.path.join(self.directory(), "run.html")
            job, profile = self.observe("--profile=", "--report", page, "-n", 4, *manner, program("known.c"))
            self.assertIn(f"--report {page}: written; open it with a browser", job.text)
            with open(page, encoding="utf-8") as file:
                text = file.read()
            # It fetches nothing: links that a reader may follow are no part of it.
            self.assertNotRegex(text, r'<(script|link|img|iframe)[^>]* (src|href)=|@import|url\(["\']?https?:')
            self.assertIn("Mike Bostock", text)
            document = self.show(page)
            self.check_figures(self.figures(document), profile)
            for title in ("What to do first", "Efficiency", "Cores", "Ranks", "Call sites", "Messages", "Collectives"):
                self.assertIn(f">{title}</h2>", document)

    def test_window_of_a_trace(self):
        for manner in (("--workers", 2), ("--nodes", 2)):
            page, trace = os.path.join(self.directory(), "run.html"), os.path.join(self.directory(), "run.trace")
            self.run_job("--report", page, "--trace", trace, "-n", 4, *manner, program("known.c"))
            shown = self.show(page).split("<script")[0]  # what stands before the scripts has been drawn
            self.assertIn("in the middle of the job", shown)
            self.assertIn('aria-label="Timeline', shown)
        without = self.show(self.report(self.write("no.json", synthetic(4, degree=3)))).split("<script")[0]
        self.assertNotIn("in the middle of the job", without)

    def test_report_alone_prints_no_table(self):
        page = os.path.join(self.directory(), "run.html")
        job = self.run_job("--report", page, "-n", 2, program("known.c"))
        self.assertEqual(job.code, 0, job.err)
        self.assertNotIn(b"profile of", job.err)
        self.assertGreater(os.path.getsize(page), 100_000)

    def test_who_has_sent_to_whom_adds_up(self):
        for manner in (("--workers", 2), ("--nodes", 2)):
            _, profile = self.observe("--profile=", "-n", 4, *manner, "-q", program("known.c"))
            sizes = [way for process in profile["processes"] for way in process["sizes"].values()]
            for kind in ("messages", "bytes"):
                for rank in profile["ranks"]:
                    self.assertEqual(sum(rank["sent_to"][kind]), rank["variables"][f"tmpi_{kind}_sent"], rank)
                self.assertEqual(sum(sum(way[kind]) for way in sizes), sum(rank["variables"][f"tmpi_{kind}_sent"] for rank in profile["ranks"]))

    def test_collectives_by_algorithm(self):
        """All blocking calls of a function are found by algorithm; what the user has chosen is there by its name, and on the page."""
        page = os.path.join(self.directory(), "run.html")
        for manner, chosen in ((("--workers", 2), "dissemination"), (("--nodes", 2), None)):
            options = ("--coll", f"BARRIER={chosen}") if chosen else ()
            _, profile = self.observe("--profile=", "--report", page, "-n", 4, *manner, *options, "-q", program("known.c"))
            found = {}
            for process in profile["processes"]:
                for one in process["algorithms"]:
                    calls, wall = found.get(one["collective"], (0, 0))
                    found[one["collective"]] = (calls + one["calls"], wall + one["wall"])
                    if chosen and one["collective"] == "BARRIER":
                        self.assertEqual(one["algorithm"], chosen)
            for function in ("MPI_Allreduce", "MPI_Alltoall", "MPI_Barrier"):
                total = [call["total"] for call in profile["calls"] if call["function"] == function]
                calls, wall = found[function[4:].upper()]
                self.assertEqual(calls, sum(each["calls"] for each in total), function)
                self.assertAlmostEqual(wall, sum(each["wall"] for each in total), delta=1e-9 + 1e-6 * wall)
            shown = self.show(page).split("<script")[0]
            self.assertIn("Blocking calls by algorithm", shown)
            self.assertRegex(shown, r">BARRIER</th><td class=\"word\">" + (chosen or r"\w+"))

    def test_cores_over_time_add_up(self):
        _, profile = self.observe("--profile=", "-n", 4, "--workers", 2, "-q", program("known.c"))
        for worker in profile["workers"]:
            over = worker["over_time"]
            self.assertLessEqual(max(c + m for c, m in zip(over["computing"], over["mpi"])), over["width"] * 1.001)
            self.assertAlmostEqual(sum(over["computing"]) + sum(over["mpi"]), worker["busy"], delta=0.02 * worker["busy"] + 1e-4)

    def test_bad_path(self):
        job = self.run_job("--report", "/nowhere/run.html", "-n", 1, program("known.c"))
        self.check_failure(job, 1, "--report /nowhere/run.html: cannot write the file")


class OfProfiles(ReportTest):
    def test_two_beside_each_other(self):
        first, second = synthetic(8), synthetic(24)
        document = self.show(self.report(self.write("v1.json", first), self.write("v3.json", second)))
        self.assertIn(">Beside each other</h2>", document)
        for profile, letter in ((first, "A"), (second, "B")):
            self.check_figures(self.figures(document), profile, letter)

    def test_many_ranks(self):
        for ranks in (2, 1000, 10_000):
            profile = synthetic(ranks, degree=min(26, ranks - 1))
            page = self.report(self.write("many.json", profile))
            self.assertLess(os.path.getsize(page), 3e6 if ranks <= 1000 else 12e6)
            self.check_figures(self.figures(self.show(page)), profile)

    @claims_time
    def test_a_thousand_ranks_are_drawn_within_a_second(self):
        document = self.show(self.report(self.write("many.json", synthetic(1000))))
        self.in_time(float(re.search(r'data-drawn="(\d+)"', document)[1]), 1000)

    def test_an_older_profile_lacks_some_figures(self):
        profile = synthetic(4, degree=3)
        for part in profile["ranks"]:
            del part["sent_to"]
        for part in profile["workers"]:
            del part["over_time"]
        document = self.show(self.report(self.write("old.json", profile)))
        self.assertIn("it was written by an older tmpi", document)
        self.check_figures(self.figures(document), profile)

    def test_keyboard(self):
        keys = ["ArrowRight", "ArrowRight", "ArrowDown", "+", "-"]
        handled = f"""
for (const canvas of document.querySelectorAll("canvas[tabindex]"))
  for (const key of {json.dumps(keys)}) canvas.dispatchEvent(new KeyboardEvent("keydown", {{key, bubbles: true}}));
for (const button of document.querySelectorAll("th button")) if (button.textContent === "calls") button.click();
for (const select of document.querySelectorAll("select")) {{
  select.selectedIndex = select.options.length - 1;
  select.dispatchEvent(new Event("change"));
}}
"""
        page = self.report(self.write("keys.json", synthetic(16, degree=3)))
        with open(page, encoding="utf-8") as file:
            text = file.read()
        end = text.rindex("})();")
        with open(page, "w", encoding="utf-8") as file:
            file.write(text[:end] + handled + text[end:])
        shown = self.show(page).split("<script")[0]
        self.assertRegex(shown, r">Rank \d+ on worker \d+: .* computing")
        self.assertIn(">From rank 1 to rank 1: nothing.<", shown)
        self.assertRegex(shown, r'aria-sort="descending"[^>]*><button>calls<')

    def test_dark_scheme(self):
        self.show(self.report(self.write("dark.json", synthetic(16, degree=3))), "--blink-settings=preferredColorScheme=0")

    def test_complaints(self):
        for words, sentence in ((["/nowhere.json"], "cannot read /nowhere.json"), (["a", "b", "c"], "two profiles at most, not 3"),
                                (["-x"], "unknown option '-x'"), (["-o"], "-o needs a file"), (["--trace"], "--trace needs a file"), ([], "usage:")):
            made = subprocess.run([REPORT, *words], capture_output=True, text=True, timeout=HANG)
            self.assertEqual(made.returncode, 2)
            self.assertIn(sentence, made.stderr)
        damaged = self.write("damaged.json", dict(synthetic(2, degree=1), hosts=[]))
        made = subprocess.run([REPORT, damaged], capture_output=True, text=True, timeout=HANG)
        self.assertIn("it names no host", made.stderr)


if __name__ == "__main__":
    main()
