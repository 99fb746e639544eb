"""What tmpi over verbs gives, as ratios to perftest on the same two devices in the same run, since an emulated machine's times mean nothing
by themselves. Each figure is the better of some attempts in turn with what it is compared with."""

import statistics

from support import VerbsTest, built, perftest

ATTEMPTS = 3
LARGE = 256 << 10  # bytes of a message where bandwidth counts


class FiguresTest(VerbsTest):
    # Of ib_send_lat, 8 bytes. 1.3 is what is wanted where a processor is not emulated: there MPI's instructions weigh ten times as much.
    MOST_LATENCY = 2.5
    LEAST_BANDWIDTH = 0.9  # of ib_write_bw

    def pingpong(self, bytes_each, rounds):
        """Microseconds of a message one way, while both ends poll, as perftest does."""
        out = self.passes(2, built("tests", "verbs-vm", "steady"), rounds, bytes_each, "test")
        return float(out.split()[1])

    def test_latency(self):
        ours, theirs = [], []
        for _ in range(ATTEMPTS):
            theirs.append(perftest("ib_send_lat", "-s", "8", "-n", "1000")[5])
            ours.append(self.pingpong(8, 1000))
        ratio = statistics.median(ours) / statistics.median(theirs)
        print(f"8 bytes: tmpi {ours} us, ib_send_lat {theirs} us on average, ratio of the medians {ratio:.2f}")
        self.assertLessEqual(ratio, self.MOST_LATENCY)

    def test_bandwidth(self):
        ours, theirs = [], []
        for _ in range(ATTEMPTS):
            theirs.append(perftest("ib_write_bw", "-s", str(LARGE), "-n", "64")[3])
            out = self.passes(2, built("bench", "stream"), "--sizes", LARGE, "--reps", 1, "--batches", 1)
            row = next(line for line in out.splitlines() if line.startswith("stream 1 "))
            ours.append(float(row.split()[3]) * 1e6 / (1 << 20))
        ratio = statistics.median(ours) / statistics.median(theirs)
        print(f"{LARGE} bytes: tmpi {ours} MB/s, ib_write_bw {theirs} MB/s, ratio of the medians {ratio:.2f}")
        self.assertGreaterEqual(ratio, self.LEAST_BANDWIDTH)
