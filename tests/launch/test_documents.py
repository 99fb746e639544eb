"""The tables in docs/ are those that the programs print."""

import os
import subprocess
import sys
import unittest

from harness import HERE, TMPIRUN


class DocumentTest(unittest.TestCase):
    def test_tables(self):
        tool = os.path.join(HERE, "..", "..", "tools", "generate_tables.py")
        done = subprocess.run([sys.executable, "-B", tool, "--check", os.path.dirname(TMPIRUN)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_option_is_a_control_variable(self):
        info = os.path.join(os.path.dirname(TMPIRUN), "tmpi-info")
        command = [TMPIRUN, "-n", "3", "--vratio", "2", "--eager-limit", "12k", "-x", "A=1", "-x", "B=2", "--file-io", "threads:4k", "-q",
                   info, "--controls", "--markdown"]
        rows = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        values = {row.split("|")[1].strip(): row.split("|")[2].strip() for row in rows if row.startswith("| tmpi_")}
        options = subprocess.run([TMPIRUN, "--print-markdown"], capture_output=True, text=True, check=True).stdout
        names = [row.split("`")[1].split()[0].split("[")[0] for row in options.splitlines() if row.startswith("| `")]
        for name in names:
            if name not in ("--help", "--version", "--show-libraries", "--stacks", "--job", "--checkpoint-now", "--add-host", "--remove-host"):
                self.assertIn("tmpi_" + name.lstrip("-").replace("-", "_"), values)
        self.assertEqual({name: values[name] for name in ("tmpi_n", "tmpi_vratio", "tmpi_eager_limit", "tmpi_x", "tmpi_q", "tmpi_v")},
                         {"tmpi_n": "3", "tmpi_vratio": "2", "tmpi_eager_limit": "12k", "tmpi_x": "A=1 B=2", "tmpi_q": "1",
                          "tmpi_v": ""})
        self.assertEqual((values["tmpi_job_ranks"], values["tmpi_node_workers"], values["tmpi_limit_file_small"]), ("3", "2", "4095"))


if __name__ == "__main__":
    unittest.main()
