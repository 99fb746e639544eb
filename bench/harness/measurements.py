"""What is run: which program, with what arguments, how many ranks on how many CPUs, and how its output is read."""
from dataclasses import dataclass, field


@dataclass
class Measurement:
    """`read` turns the program's output and its wall time into {name: value}."""

    key: str
    source: str  # relative to the repository
    arguments: list
    ranks: int
    cpus: int
    read: object
    limit: float = 60
    quick: list = field(default_factory=list)  # arguments added with --quick (the last one given counts)
    only_tmpi: bool = False
    slow_peer: list = field(default_factory=list)  # arguments of MPICH, which spins without yielding where ranks share a core
    peer: list = field(default_factory=list)  # arguments of both peers
    partial: bool = False  # what has been printed when the time limit is over counts
    many: bool = False  # peers crawl with so many ranks on few CPUs: only with --all-peers
    environment: dict = field(default_factory=dict)  # what makes a peer its fastest


def lines(text, columns):
    """Words of the output lines that have at least `columns` words and are no comment."""
    return [w for w in (line.split() for line in text.splitlines()) if len(w) >= columns and not w[0].startswith("#")]


def read_pingpong(text, seconds):
    values = {}
    for w in lines(text, 7):
        if w[0] == "pingpong":
            values[f"ns/{w[1]}"], values[f"min_ns/{w[1]}"] = float(w[2]), float(w[3])
            values[f"MB/s/{w[1]}"], values[f"memcpy/{w[1]}"] = float(w[4]), float(w[6])
    return values


def read_rate(text, seconds):
    return {"Mmsg/s": float(w[3]) for w in lines(text, 5) if w[0] == "message_rate"}


def read_stream(text, seconds):
    return {f"Mmsg/s/{w[1]}/{w[2]}": float(w[3]) / int(w[2]) for w in lines(text, 6) if w[0] == "stream"}


def read_wavefront(text, seconds):
    return {"ms": float(w[4]) for w in lines(text, 7) if w[0] == "wavefront"}


def read_rehash(text, seconds):
    return {f"ns/{w[2]}": float(w[3]) for w in lines(text, 6) if w[0] == "rehash"}


def read_collectives(text, seconds):
    return {f"us/{w[0]}": float(w[3]) for w in lines(text, 5)}


def read_table(text, seconds):
    """Also of a run that was ended by its time limit, whose launcher may have said something."""
    return {f"us/{w[0]}/{w[2]}": float(w[3]) for w in lines(text, 5) if w[0] in TABLE_COLLECTIVES and w[1].isdigit()}


def read_one_sided(text, seconds):
    """Nanoseconds of small operations, and of large puts the share of memcpy's bandwidth."""
    values = {f"ns/{w[0]}": float(w[1]) for w in lines(text, 2) if len(w) == 2}
    return values | {f"memcpy/{w[0]}": float(w[-1]) for w in lines(text, 8) if w[-2] == "ratio"}


def read_files(text, seconds):
    return {f"MB/s/{w[0]} {w[1]} {w[2]}": float(w[5]) for w in lines(text, 6) if w[0] in ("contiguous", "strided")}


def read_wall(text, seconds):
    return {"s": seconds}


def read_memory(text, seconds):
    return {"kB/rank": float(w[3]) for w in lines(text, 5) if w[0] == "memory"}


def read_cg(text, seconds):
    return {"s": float(w[2]) for w in lines(text, 3) if w[0] == "time" and w[1] == "total"}


SIZES = "8,64K,256K,1M,4M"
FEW = ["--batches", "3", "--warmup", "1"]
SPINNING = ["--no-memcpy", "--reps", "10", *FEW]  # 4 ms a message
STREAM_SIZES = [1, 8, 16, 32, 64, 128, 256, 1024, 4096]
REHASH_LENGTHS = [2, 64, 1024]
FILES = {8: "4M", 64: "512K"}  # bytes of each rank by number of ranks
CG = ["--nx", "96", "--ny", "96", "--nz", "96", "--iterations", "40"]
# Slabs, as HPCCG divides its grid, and the size at which miniFE was seen to suffer from many ranks.
CG_OTHERS = {"cg-slabs": ["--split", "z", *CG], "cg-small": ["--nx", "50", "--ny", "50", "--nz", "50", "--iterations", "200"]}
CG_QUICK = ["--iterations", "15"]


def collective(ranks, limit):
    reps = "200" if ranks <= 64 else "20"
    return Measurement(f"collectives-{ranks}", "bench/collectives.c", ["--op", "barrier,allreduce", "--sizes", "8", "--reps", reps, "--time", "1000"], ranks, 2,
                       read_collectives, limit, ["--batches", "3"], peer=["--reps", "3", "--batches", "3"])


# All collectives, by number of ranks. 64 KiB per pair of ranks is left out where that is more memory than the machine has.
TABLE_RANKS = [2, 4, 16, 64, 256, 1024]
TABLE_SIZES = {8: "8 B", 1024: "1 KiB", 65536: "64 KiB"}
TABLE_COLLECTIVES = ["barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv", "reduce",
                     "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan", "ibarrier", "ibcast", "iallreduce",
                     "neighbor_allgather", "neighbor_alltoall"]


def table(ranks):
    most = "64M" if ranks <= 16 else "4M" if ranks <= 64 else "512K"
    arguments = ["--most", most, "--sizes", ",".join(map(str, TABLE_SIZES)), "--time", "20", "--batches", "7"]
    return Measurement(f"table-{ranks}", "bench/collectives.c", arguments, ranks, 2, read_table, 300, ["--time", "5", "--batches", "3"],
                       slow_peer=["--time", "5", "--batches", "3"], partial=True, many=ranks > 64)


ALL = [
    Measurement("pingpong-one", "bench/pingpong.c", ["--sizes", SIZES], 2, 1, read_pingpong, 60, FEW, slow_peer=SPINNING, peer=["--no-memcpy"]),
    Measurement("pingpong-two", "bench/pingpong.c", ["--sizes", SIZES], 2, 2, read_pingpong, 60, FEW),
    Measurement("rate-one", "bench/message_rate.c", [], 2, 1, read_rate, 60, FEW, slow_peer=["--reps", "10", *FEW]),
    Measurement("rate-two", "bench/message_rate.c", [], 2, 2, read_rate, 60, FEW),
    Measurement("stream", "bench/stream.c", ["--sizes", ",".join(map(str, STREAM_SIZES))], 2, 2, read_stream, 60, FEW),
    Measurement("wavefront-2", "bench/wavefront.c", [], 2, 2, read_wavefront, 60, ["--sweeps", "20"]),
    Measurement("wavefront-8", "bench/wavefront.c", [], 8, 2, read_wavefront, 60, ["--sweeps", "20"], only_tmpi=True),
    *(Measurement(f"rehash-{n}", "bench/rehash.c", ["--length", str(n)], 2, 2, read_rehash, 60, ["--batches", "3"]) for n in REHASH_LENGTHS),
    # A peer's rank that waits spins: of its two ranks each has a core. Open MPI's component for shared memory.
    Measurement("one-sided-one", "bench/one_sided.c", ["--reps", "20000"], 2, 1, read_one_sided, 60, ["--reps", "2000"], only_tmpi=True),
    Measurement("one-sided-two", "bench/one_sided.c", ["--reps", "20000"], 2, 2, read_one_sided, 60, ["--reps", "2000"],
                environment={"OMPI_MCA_osc": "sm"}),
    Measurement("one-sided-64", "bench/one_sided.c", ["--all", "--reps", "20"], 64, 2, read_one_sided, 60, partial=True),
    *(Measurement(f"files-{n}", "bench/files.c", ["--bytes", size, "--batches", "3"], n, 2, read_files, 60, ["--batches", "1"]) for n, size in FILES.items()),
    collective(64, 60),
    collective(1000, 90),
    *map(table, TABLE_RANKS),
    Measurement("start-1000", "bench/startup.c", [], 1000, 2, read_wall, only_tmpi=True),
    Measurement("start-10000", "bench/startup.c", [], 10000, 2, read_wall, only_tmpi=True),
    Measurement("memory-10000", "bench/startup.c", ["--memory"], 10000, 2, read_memory, only_tmpi=True),
    Measurement("cg-2", "examples/cg27.c", CG, 2, 2, read_cg, 120, CG_QUICK),
    Measurement("cg-16", "examples/cg27.c", CG, 16, 2, read_cg, 120, CG_QUICK),
    *(Measurement(f"{key}-{n}", "examples/cg27.c", words, n, 2, read_cg, 120, CG_QUICK, only_tmpi=True) for key, words in CG_OTHERS.items() for n in (2, 16)),
]
