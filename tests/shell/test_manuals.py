"""Every program has a manual page, which has all its options and about which no formatter complains."""

import shutil
import subprocess
import unittest

from build_tree import BIN, PROGRAMS, SHARE

PAGES = sorted((SHARE / "man").glob("man*/*.[17]"))


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


class Manuals(unittest.TestCase):
    def test_all_programs_have_one(self):
        self.assertEqual(sorted(PROGRAMS), sorted(page.stem for page in PAGES if not page.is_symlink() and page.stem != "tmpi"))
        built = {path.name for path in BIN.glob("tmpi*") if not path.name.startswith("tmpi_")}
        self.assertEqual(built - set(PROGRAMS), set())

    def test_formatters_have_nothing_to_say(self):
        for page in PAGES:
            with self.subTest(page=page.name):
                if shutil.which("mandoc"):
                    done = run("mandoc", "-Tlint", "-Wstyle", str(page))
                    self.assertEqual([line for line in done.stdout.splitlines() if "STYLE" not in line or "input text line longer" not in line], [])
                if shutil.which("groff"):
                    done = run("groff", "-ww", "-z", "-man", "-Tutf8", str(page))
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
                if shutil.which("man"):
                    done = run("man", "--warnings", "-l", str(page))
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_options(self):
        for name, program in PROGRAMS.items():
            text = (SHARE / "man" / "man1" / f"{name}.1").read_text(encoding="utf-8").replace("\\-", "-")
            for option in program.options:
                for spelling in option.names:
                    self.assertIn(f"\\fB{spelling}\\fR", text)
                self.assertIn(option.variable, text)
        overview = (SHARE / "man" / "man7" / "tmpi.7").read_text(encoding="utf-8").replace("\\-", "-")
        for name in PROGRAMS:
            self.assertIn(f".BR {name} (1)", overview)
        self.assertGreater(len(PROGRAMS["tmpirun"].options), 40)
        self.assertNotIn("@", overview)


if __name__ == "__main__":
    unittest.main()
