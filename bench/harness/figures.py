"""The figures that tmpi has to reach, each computed from the measurements. A figure is met, missed, or unknown."""
import statistics
from dataclasses import dataclass

from .measurements import CG_OTHERS, FILES, REHASH_LENGTHS, STREAM_SIZES, TABLE_COLLECTIVES, TABLE_RANKS, TABLE_SIZES

TMPI, OPENMPI, MPICH = "tmpi", "openmpi", "mpich"


@dataclass
class Figure:
    what: str
    tmpi: str
    openmpi: str
    mpich: str
    ratio: str
    target: str
    verdict: str


class Results:
    """Values of all runs: samples[(measurement, launcher)][name] is a list, one value per round; errors[(m, l)] the last failure."""

    def __init__(self):
        self.samples, self.errors = {}, {}

    def add(self, measurement, launcher, values):
        for name, value in values.items():
            self.samples.setdefault((measurement, launcher), {}).setdefault(name, []).append(value)

    def fail(self, measurement, launcher, error):
        self.errors[(measurement, launcher)] = error

    def median(self, measurement, launcher, name):
        values = self.samples.get((measurement, launcher), {}).get(name)
        return statistics.median(values) if values else None

    def cell(self, measurement, launcher, name, text):
        value = self.median(measurement, launcher, name)
        if value is not None:
            return text.format(value)
        return "does not start" if (measurement, launcher) in self.errors else "-"


def verdict(met):
    return "unknown" if met is None else "met" if met else "MISSED"


def compared(results, what, measurement, name, text, target, smaller, factor, limit=None):
    """A figure that asks for `factor` times better than the better peer, and, where `limit` is given, for an absolute value as well."""
    own = results.median(measurement, TMPI, name)
    peers = [v for v in (results.median(measurement, p, name) for p in (OPENMPI, MPICH)) if v is not None]
    ratio, met = None, None
    if own is not None and peers:
        ratio = min(peers) / own if smaller else own / max(peers)
        met = ratio >= factor
    if own is not None and limit is not None:
        met = (met is not False) and (own <= limit if smaller else own >= limit)
    if own is not None and not peers and met is None:
        met = True if any((measurement, p) in results.errors for p in (OPENMPI, MPICH)) else None
    cells = [results.cell(measurement, launcher, name, text) for launcher in (TMPI, OPENMPI, MPICH)]
    return Figure(what, *cells, "-" if ratio is None else f"{ratio:.2f}x", target, verdict(met))


def absolute(results, what, measurement, name, text, target, limit):
    own = results.median(measurement, TMPI, name)
    return Figure(what, results.cell(measurement, TMPI, name, text), "-", "-", "-", target, verdict(None if own is None else own <= limit))


def bandwidth(results, where, measurement):
    """Two rows per size: against one memcpy per message, and against the peers."""
    rows = []
    for label, size in (("64 KiB", 65536), ("256 KiB", 262144), ("1 MiB", 1 << 20), ("4 MiB", 4 << 20)):
        share = results.median(measurement, TMPI, f"memcpy/{size}")
        row = compared(results, f"bandwidth {label}, {where}", measurement, f"MB/s/{size}", "{:.0f} MB/s", "≥ 90 % of memcpy, above peers", False, 1.0)
        if share is not None:
            row.tmpi += f" ({100 * share:.0f} % of memcpy)"
            if share < 0.9:
                row.verdict = "MISSED"
        rows.append(row)
    return rows


def collectives(results):
    """Never slower than the better peer with few ranks, five times faster where ranks share a core many times over."""
    rows = []
    for ranks in TABLE_RANKS:
        factor = 5 if ranks >= 16 else 1
        for name in TABLE_COLLECTIVES:
            for size, label in {0: "", **TABLE_SIZES}.items():
                what = f"{name}{', ' if label else ''}{label}, {ranks:,} ranks on 2 cores"
                row = compared(results, what, f"table-{ranks}", f"us/{name}/{size}", "{:.2f} us", f"≥ {factor}x", True, factor)
                if row.tmpi != "-":
                    rows.append(row)
    return rows


def streams(results):
    rows = []
    for ways, how in ((1, "one way"), (2, "both ways")):
        for size in STREAM_SIZES:
            what = f"stream of {size:,}-byte messages, {how}, two workers"
            rows.append(compared(results, what, "stream", f"Mmsg/s/{ways}/{size}", "{:.2f} M/s", "≥ 1x", False, 1))
    return rows


def wavefront(results):
    """Four ranks per core pass four times as many messages for the same work: what the better peer takes with one, and a third."""
    own = results.median("wavefront-8", TMPI, "ms")
    peers = [v for v in (results.median("wavefront-2", p, "ms") for p in (OPENMPI, MPICH)) if v is not None]
    ratio = None if own is None or not peers else min(peers) / own
    cells = [results.cell("wavefront-8", TMPI, "ms", "{:.2f} ms"), "-", "-"]
    return [compared(results, "wavefront of 1,500 rows, 2 ranks on 2 cores", "wavefront-2", "ms", "{:.2f} ms", "≥ 1x", True, 1),
            Figure("the same, 8 ranks on 2 cores / the better peer with 2", *cells, "-" if ratio is None else f"{ratio:.2f}x", "≥ 0.75x",
                   verdict(None if ratio is None else ratio >= 0.75))]


def rehash(results):
    return [compared(results, f"allgather and rehash of {n:,} characters, two workers", f"rehash-{n}", f"ns/{n}", "{:.0f} ns", "≥ 1x", True, 1)
            for n in REHASH_LENGTHS]


def one_sided(results):
    """On one worker and on two, each against the better peer with its two ranks on two cores."""
    rows = []
    for name, what in (("put-8", "put of 8 bytes and flush"), ("fetch-and-op", "fetch-and-op and flush")):
        two = compared(results, f"{what}, two workers", "one-sided-two", f"ns/{name}", "{:.1f} ns", "≥ 2x", True, 2)
        own = results.median("one-sided-one", TMPI, f"ns/{name}")
        peers = [v for v in (results.median("one-sided-two", p, f"ns/{name}") for p in (OPENMPI, MPICH)) if v is not None]
        ratio = None if own is None or not peers else min(peers) / own
        one = Figure(f"{what}, one worker", results.cell("one-sided-one", TMPI, f"ns/{name}", "{:.1f} ns"), two.openmpi, two.mpich,
                     "-" if ratio is None else f"{ratio:.2f}x", "≥ 2x", verdict(None if ratio is None else ratio >= 2))
        rows += [one, two]
    for size, label in ((65536, "64 KiB"), (1 << 20, "1 MiB")):
        name = f"memcpy/put-{size}"
        cells = [results.cell("one-sided-two", launcher, name, "{:.2f}") for launcher in (TMPI, OPENMPI, MPICH)]
        own = results.median("one-sided-two", TMPI, name)
        rows.append(Figure(f"put of {label}, of memcpy's bandwidth", *cells, "-", "≥ 0.9", verdict(None if own is None else own >= 0.9)))
    for name, what in (("fence", "fence"), ("lock-neighbour", "lock of the neighbour and put"), ("lock-one", "lock of rank 0 by all and put")):
        rows.append(compared(results, f"{what}, 64 ranks on 2 cores", "one-sided-64", f"ns/{name}", "{:.0f} ns", "≥ 10x", True, 10))
    return rows


def files(results):
    return [compared(results, f"file, {pattern} {access} {operation}, {n} ranks on 2 cores", f"files-{n}", f"MB/s/{pattern} {access} {operation}",
                     "{:.0f} MB/s", "≥ 1x", False, 1)
            for n in FILES for pattern in ("contiguous", "strided") for access in ("independent", "collective") for operation in ("write", "read")]


def cg(results, what="conjugate gradient", key="cg"):
    def ratio(launcher):
        two, many = results.median(f"{key}-2", launcher, "s"), results.median(f"{key}-16", launcher, "s")
        return None if two is None or many is None else many / two

    cells = []
    for launcher in (TMPI, OPENMPI, MPICH):
        two, many = results.median(f"{key}-2", launcher, "s"), results.median(f"{key}-16", launcher, "s")
        cells.append("-" if two is None or many is None else f"{many:.3f} s / {two:.3f} s")
    own = ratio(TMPI)
    return Figure(f"{what}, 16 ranks / 2 ranks on 2 cores", *cells, "-" if own is None else f"{own:.3f}x", "≤ 1.05x",
                  verdict(None if own is None else own <= 1.05))


def figures(results):
    rows = [
        absolute(results, "fiber switch, 2 fibers", "fiber-switch", "ns/2", "{:.1f} ns", "≤ 10 ns", 10),
        absolute(results, "fiber switch, 1,000 fibers", "fiber-switch", "ns/1000", "{:.1f} ns", "≤ 40 ns", 40),
        compared(results, "8-byte ping-pong, one way, one worker", "pingpong-one", "ns/8", "{:.0f} ns", "≤ 120 ns, ≥ 10x", True, 10, 120),
        compared(results, "8-byte ping-pong, one way, two workers", "pingpong-two", "ns/8", "{:.0f} ns", "≥ 1x", True, 1),
        *bandwidth(results, "one worker", "pingpong-one"),
        *bandwidth(results, "two workers", "pingpong-two"),
        compared(results, "message rate, one worker", "rate-one", "Mmsg/s", "{:.2f} M/s", "≥ 1.5x", False, 1.5),
        compared(results, "message rate, two workers", "rate-two", "Mmsg/s", "{:.2f} M/s", "≥ 1.5x", False, 1.5),
        *streams(results),
        *wavefront(results),
        *rehash(results),
        *one_sided(results),
        *files(results),
    ]
    for ranks in (64, 1000):
        for name in ("barrier", "allreduce"):
            what = f"{'8-byte ' if name == 'allreduce' else ''}{name}, {ranks:,} ranks on 2 cores"
            rows.append(compared(results, what, f"collectives-{ranks}", f"us/{name}", "{:.1f} us", "≥ 10x", True, 10))
    rows += collectives(results)
    return rows + [
        absolute(results, "start, allreduce, exit of 1,000 ranks", "start-1000", "s", "{:.3f} s", "≤ 0.3 s", 0.3),
        absolute(results, "start, allreduce, exit of 10,000 ranks", "start-10000", "s", "{:.2f} s", "≤ 3 s", 3),
        absolute(results, "memory per rank at 10,000 ranks", "memory-10000", "kB/rank", "{:.1f} KB", "≤ 64 KB", 64),
        cg(results),
        *(cg(results, f"the same, {key[3:]}", key) for key in CG_OTHERS),
    ]
