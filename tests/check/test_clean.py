"""Programs that are right run under --check as they do without: no misuse is reported."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "launch"))
from harness import LaunchTest  # noqa: E402

TESTS = os.path.join(os.environ["TMPI_TESTS"], "mpi")
EXAMPLES = os.environ["TMPI_EXAMPLES"]
# A part of tests/mpi, of each family what comes nearest to misuse.
PROGRAMS = """env_errors p2p_wait p2p_persistent p2p_probe p2p_cancel p2p_partitioned p2p_requests p2p_large p2p_sendrecv p2p_random
ports coll_data coll_errors coll_inter coll_nonblocking coll_outstanding comm_basic comm_more comm_inter comm_sessions comm_cart attr_comm
datatype_messages err_handlers file_basic file_forms file_representations file_random info_objects topo_graph removed_functions
rma_windows rma_random rma_ops rma_errors rma_forms thread_p2p thread_rma""".split()


# What of it has orders of calls in several node processes.
ON_NODES = [name for name in PROGRAMS if name.startswith(("coll_", "file_", "rma_"))]


class CleanTest(LaunchTest):
    def test_programs(self):
        for name in PROGRAMS:
            path = os.path.join(TESTS, name)
            self.assertTrue(os.path.exists(path), path)
            for options in (("--workers", 1, "--sched", "random:4"), ("--workers", 2)):
                with self.subTest(program=name, options=options):
                    job = self.run_job("-n", 4, *options, "--check", "--timeout", 120, path)
                    self.assertEqual(job.code, 0, job.err.decode())

    def test_programs_on_nodes(self):
        for name in ON_NODES:
            with self.subTest(program=name):
                job = self.run_job("-n", 4, "--nodes", 2, "--map-by", "cyclic", "--check", "--timeout", 120, os.path.join(TESTS, name))
                self.assertEqual(job.code, 0, job.err.decode())

    def test_examples(self):
        for words in (["heat2d", "--nx", "64", "--ny", "64", "--steps", "20"], ["cg27", "--nx", "8", "--iterations", "5"], ["particles"], ["master_worker"]):
            job = self.run_job("-n", 4, "--check", os.path.join(EXAMPLES, words[0]), *words[1:])
            self.assertEqual(job.code, 0, job.err.decode())
            self.assertNotIn("not freed", job.err.decode())


if __name__ == "__main__":
    unittest.main()
