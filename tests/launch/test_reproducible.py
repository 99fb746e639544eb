"""--coll reproducible: reductions give the same bits however many workers and nodes there are, and how ranks are placed."""

from harness import LaunchTest, main, program


class ReproducibleTest(LaunchTest):
    def sums(self, *options):
        job = self.run_job("-n", 11, "-q", *options, program("sums.c"))
        self.assertEqual(job.code, 0, job.err.decode())
        lines = job.out.decode().split()
        self.assertEqual(len(lines), 11)
        return lines

    def test_same_bits(self):
        right = self.sums("--workers", 1)
        for options in (("--workers", 2), ("--workers", 3, "--sched", "random:5"), ("--nodes", 2), ("--nodes", 3), ("--nodes", 3, "--map-by", "cyclic"),
                        ("--nodes", 11)):
            with self.subTest(options=options):
                self.assertEqual(self.sums("--coll", "reproducible", *options), right)

    def test_without_it_they_differ(self):
        """Else the test above shows nothing."""
        self.assertNotEqual(self.sums("--nodes", 3), self.sums("--workers", 1))

    def test_members_with_different_sizes_all_return(self):
        job = self.run_job("-n", 4, "--nodes", 4, "--coll", "reproducible", "-q", "--timeout", 60, program("sums.c"), "uneven")
        self.assertEqual((job.code, job.out), (0, b"at most 5 errors\n"), job.err)

    def test_with_other_choices(self):
        self.assertEqual(self.sums("--coll", "reproducible,BCAST=binomial", "--nodes", 2), self.sums("--workers", 1))


if __name__ == "__main__":
    main()
