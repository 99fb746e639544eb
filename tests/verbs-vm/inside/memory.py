"""Registered memory: what is kept registered is right when pages are replaced, costs no call to the system when it is used again, and little
of it is enough."""

from support import NET, VerbsTest, built, limited

BUFFERS = ("tests", "verbs-vm", "buffers")


class MemoryTest(VerbsTest):
    def test_pages_that_are_replaced(self):
        self.assertIn("passed with 2 ranks", self.passes(2, built(*BUFFERS)))

    def test_little_memory_may_be_locked_but_enough(self):
        """By an ordinary user: what is kept makes room for what is needed."""
        megabytes = 24
        job = self.run_job(*limited(megabytes << 20), "-n", 2, "--nodes", 2, "--net", NET, built(*BUFFERS), tmpirun="setpriv")
        self.assertEqual(job.code, 0, job.err)
        self.assertIn(b"passed with 2 ranks", job.out)
