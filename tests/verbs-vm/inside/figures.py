"""What tmpi over verbs gives, as ratios to perftest on the same two devices in the same run, since an emulated machine's times mean nothing
by themselves. Other work on this machine spoils an attempt at any moment: up to three, each with what it is compared with in turn, until one
is good enough."""

from support import VerbsTest, built, perftest

ATTEMPTS = 3
LARGE = 256 << 10  # bytes of a message where bandwidth counts


class FiguresTest(VerbsTest):
    # Of what ib_send_lat calls typical, 8 bytes. 1.3 is what is wanted, and what medians of many pairs have; single ones have up to 1.5.
    MOST_LATENCY = 1.6
    # Of ib_write_bw. 0.9 is what is wanted; all attempts of one run give 0.86 to 0.97, by how this machine runs the emulated one.
    LEAST_BANDWIDTH = 0.8

    def check_ratio(self, what, unit, attempt, good):
        """ATTEMPT() measures perftest and tmpi, in this order; GOOD(ratio) is what has to hold of tmpi / perftest."""
        ratios = []
        while len(ratios) < ATTEMPTS:
            theirs, ours = attempt()
            ratios.append(ours / theirs)
            print(f"{what}: tmpi {ours:.2f} {unit}, perftest {theirs:.2f} {unit}, ratio {ratios[-1]:.2f}")
            if good(ratios[-1]):
                return
        self.fail(f"{what}: ratios {ratios}")

    def latencies(self):
        """Microseconds of a message one way, while both ends poll: medians, since other work on the machine makes averages what it likes."""
        theirs = perftest("ib_send_lat", "-s", "8", "-n", "1000")[4]
        return theirs, float(self.passes(2, built("tests", "verbs-vm", "steady"), 1000, 8, "test").split()[3])

    def bandwidths(self):
        """MB/s of messages in windows of 64."""
        theirs = perftest("ib_write_bw", "-s", str(LARGE), "-n", "64")[3]
        out = self.passes(2, built("bench", "stream"), "--sizes", LARGE, "--reps", 1, "--batches", 1)
        row = next(line for line in out.splitlines() if line.startswith("stream 1 "))
        return theirs, float(row.split()[3]) * 1e6 / (1 << 20)

    def test_latency(self):
        self.check_ratio("8 bytes", "us", self.latencies, lambda ratio: ratio <= self.MOST_LATENCY)

    def test_bandwidth(self):
        self.check_ratio(f"{LARGE} bytes", "MB/s", self.bandwidths, lambda ratio: ratio >= self.LEAST_BANDWIDTH)
