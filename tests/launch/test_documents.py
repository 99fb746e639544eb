"""The options in docs/usage.md are the ones of the table."""

import os
import subprocess
import unittest

from harness import HERE, TMPIRUN


class DocumentTest(unittest.TestCase):
    def test_option_table(self):
        table = subprocess.run([TMPIRUN, "--print-markdown"], capture_output=True, text=True, check=True).stdout
        with open(os.path.join(HERE, "..", "..", "docs", "usage.md")) as file:
            self.assertIn(table, file.read(), "paste the output of `tmpirun --print-markdown` into docs/usage.md")


if __name__ == "__main__":
    unittest.main()
