"""tmpirun with several node processes on this machine, one worker each: what the experiments about the network start."""
import os
import sys

from . import experiment, launchers


class Nodes(launchers.Tmpi):
    """Two node processes (or `nodes`) with `vratio` ranks each on one worker, over `net`."""

    def __init__(self, directory, build, vratio, net, rndv="rts-cts", more=(), nodes=2):
        super().__init__(directory, build)
        self.options = ["--nodes", str(nodes), "--vratio", str(vratio), "--net", net, "--rndv", rndv, *more]

    def words(self, ranks, cpus):
        return [self.tmpirun, "-n", str(ranks), *self.options]


def of(chosen, vratio, net, rndv="rts-cts", more=(), count=2):
    return Nodes(chosen.build / "bench", chosen.build, vratio, net, rndv, more, count)


def cpus(mode="poll", cores=1, nodes=2):
    """The CPUs of `nodes` node processes with `cores` workers each, and with one more each for --progress core where there are as many."""
    allowed = experiment.cpus()
    if len(allowed) < nodes * cores and cores > 1:
        sys.exit(f"{nodes} node processes of {cores} cores need {nodes * cores} CPUs, and there are {len(allowed)}")
    return allowed[: nodes * (cores + (has_spare(cores, nodes) if mode.startswith("core") else 0))]


def has_spare(cores=1, nodes=2):
    """Whether each node process can have a core beside those of its workers."""
    return len(experiment.cpus()) >= nodes * (cores + 1)


def progress(mode, nodes=2):
    """Options for a mode of --progress. A node process whose share of the cores is one has none for `core` to spin on, and would get a thread instead:
    then each may use all of them, and ranks that hold theirs asleep leave it one."""
    few = mode.startswith("core") and not has_spare(1, nodes)
    return ["--progress", mode] + ["--bind-to", "none"] * few


def crowded():
    """A word of warning if this machine does other work."""
    load, cores = os.getloadavg()[0], len(experiment.cpus())
    if load > 0.7 * cores:
        return f"the machine is busy (load {load:.1f} on {cores} cores): times are those of a machine that is shared; --hold is not disturbed much"
    return ""
