"""MPI test programs (tests/mpi) and two of the benchmarks, between node processes with a device each, or both."""

from support import DEVICES, NET, VerbsTest, built, limits_follow, statistics


class ProgramsTest(VerbsTest):
    def mpi(self, name, ranks, *options):
        self.assertIn("passed with", self.passes(ranks, built("tests", "mpi", name), options=("--map-by", "cyclic", *options)))

    def test_collectives(self):
        self.mpi("coll_data", 3)

    def test_orders_and_wildcards(self):
        self.mpi("p2p_order", 3)

    def test_cancelled_messages(self):
        self.mpi("p2p_cancel", 2)

    def test_large_messages(self):
        for protocol in ("early-cts", "read"):
            with self.subTest(protocol):
                self.mpi("p2p_bulk", 2, "--rndv", protocol)

    def test_random_traffic_of_which_most_asks_first(self):
        self.mpi("p2p_random", 5, "--eager-limit", "100")

    def test_random_traffic(self):
        self.mpi("p2p_random", 5)

    def test_one_sided(self):
        self.mpi("rma_random", 3)
        self.mpi("rma_errors", 3)

    def test_files(self):
        self.mpi("file_random", 3)
        self.mpi("file_forms", 2)

    def test_spawned_ranks_and_ports(self):
        self.mpi("spawn", 3)
        self.mpi("ports", 3)

    def test_threads(self):
        self.mpi("thread_p2p", 2)

    def test_receivers_are_always_ready(self):
        """Credits see to it that no message finds a device without a buffer, however many are under way."""
        before = [statistics(device) for device in DEVICES]
        self.passes(2, built("bench", "stream"), "--sizes", "8,8K", "--reps", "10", "--batches", "1")
        for device, counts in zip(DEVICES, before):
            now = statistics(device)
            self.assertGreater(now["rdma_sends"], counts["rdma_sends"] + 2000, "the job has used other devices")
            for name in ("rcvd_rnr_err", "send_rnr_err"):
                self.assertEqual(now[name], counts[name], name)


class BenchmarksTest(VerbsTest):
    def rows(self, name, out):
        return [[float(word) for word in line.split()[1:]] for line in out.splitlines() if line.startswith(name + " ")]

    def test_overlap(self):
        out = self.passes(4, built("bench", "overlap"), "--sizes", "4K,256K", "--compute", "0.02", "--iterations", "3", "--rounds", "1")
        rows = self.rows("overlap", out)
        self.assertEqual([row[1] for row in rows], [4096, 262144], out)
        for _, _, computing, communicating, both in rows:
            self.assertGreater(both, 0)
            print(f"overlap: computing {computing * 1e3:.1f} ms, communicating {communicating * 1e3:.1f} ms, both {both * 1e3:.1f} ms")

    def test_limits_follow_the_program(self):
        limits_follow(self, 2)

    def test_several_adapters_for_a_node(self):
        """Messages go by the first, what is read by both: this machine does not say where they are, so cores take them in turn."""
        before = [statistics(device) for device in DEVICES]
        for program, ranks in (("p2p_bulk", 4), ("rma_random", 3)):
            self.passes(ranks, built("tests", "mpi", program), options=("--map-by", "cyclic", "--net", f"{NET}:rxe1+rxe0"))
        for device, counts in zip(DEVICES, before):
            self.assertGreater(statistics(device)["sent_pkts"], counts["sent_pkts"] + 100, device)

    def test_stencil(self):
        out = self.passes(8, built("bench", "stencil3d"), "--sizes", "2K,64K", "--steps", "3", "--rounds", "1")
        self.assertEqual([row[1] for row in self.rows("stencil3d", out)], [2048, 65536], out)
