"""bench/error-collections: the table over programs of our own, described as the published collections describe theirs."""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "launch"))
from harness import BIN, HANG, LaunchTest, main  # noqa: E402

COMMAND = os.path.join(HERE, "..", "..", "bench", "error-collections")


class ErrorCollectionsTest(LaunchTest):
    def table(self, source, *options, code=0, results=None):
        results = results or os.path.join(self.directory(), "results.jsonl")
        command = [sys.executable, "-B", COMMAND, "--build", os.path.dirname(BIN), "--source", os.path.join(HERE, "collections", source), "--results", results]
        done = subprocess.run([*command, "--explore", "3", *options], capture_output=True, text=True, timeout=HANG)
        self.assertEqual(done.returncode, code, done.stderr)
        self.said = done.stderr
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines() if line.startswith("|")]
        self.text = done.stdout
        return {row[0]: row[1:] for row in rows}

    def found(self, row):
        """Of how many programs: by --check, by --explore, by either, crash or hang alone, by nothing."""
        return [int(re.match(r"\d+", cell)[0]) for cell in row]

    def test_by_folders_and_names(self):
        rows = self.table("corr", "--list")
        self.assertEqual(self.found(rows["pt2pt: ArgError"]), [2, 1, 1, 1, 1, 0])
        self.assertEqual(self.found(rows["pt2pt: MisplacedCall"]), [1, 0, 0, 0, 0, 1])
        self.assertEqual(self.found(rows["coll: ArgMismatch"]), [1, 1, 1, 1, 0, 0])
        self.assertEqual(self.found(rows["coll: MissingCall"]), [1, 1, 1, 1, 0, 0])
        self.assertEqual(self.found(rows["rma: MissingCall"]), [1, 1, 1, 1, 0, 0])
        self.assertEqual(self.found(rows["openmp threading: wrong use by threads"])[0], 1)
        self.assertEqual(rows["pt2pt"], ["1", "0", "0", "0", "0", "0"])
        self.assertRegex(self.text, r"MisplacedCall-store\.c \(MisplacedCall\): silent, silent")
        self.assertNotIn("exchange.c", self.text)

    def test_by_comments(self):
        rows = self.table("bug")
        self.assertEqual(self.found(rows["P2P: MessageRace"]), [1, 0, 1, 1, 0, 0])  # by --explore alone
        self.assertEqual(self.found(rows["CallOrdering"]), [1, 1, 1, 1, 0, 0])
        self.assertEqual(rows["COLL"], ["1", "0", "0", "0", "0", "0"])

    def test_races(self):
        rows = self.table("race")
        self.assertEqual(self.found(rows["sync: race, remote"])[0], 1)
        self.assertEqual(rows["sync"], ["1", "0", "0", "0", "0", "0"])  # with as many ranks as it wants, or it would have aborted

    def test_goes_on_where_it_was(self):
        results = os.path.join(self.directory(), "kept.jsonl")
        self.table("bug", "--only", "right", results=results)
        with open(results, "a", encoding="utf-8") as file:
            file.write('\n{"key": "cut off')
        rows = self.table("bug", results=results)
        self.assertNotIn("right.c", self.said)
        self.assertIn("order.c", self.said)
        self.assertEqual((rows["all"][0], rows["all correct"][0]), ("2", "1"))
        self.table("bug", results=results)
        self.assertNotIn(".c", self.said)  # all was there

    def test_refuses_another_folder(self):
        self.table("bug/nothing", code=1)
        self.assertIn("give the folder of its snapshot with --source", self.said)


if __name__ == "__main__":
    main()
