"""A Slurm cluster of two nodes on this machine, with its daemons, configuration and state in a temporary directory.

Both slurmd run here under names of their own (-N). There is no munge: nobody but this machine talks to them, and they listen on
loopback. Needs root, as slurmd does.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time

from harness import HANG
from ports import free_ports

CONFIGURATION = """\
ClusterName=tmpi
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
CommunicationParameters=NoInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MessageTimeout=60
TCPTimeout=30
BatchStartTimeout=100
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool-%n
TmpFS={home}/tmp-%n
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd-%n.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/slurmd-%n.log
NodeName=tmpi1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs={cpus}
NodeName=tmpi2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs={cpus}
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=FORCE:8
"""


def why_not():
    """Why there can be no cluster here; None if there can."""
    if os.geteuid() != 0:
        return "slurmd needs root"
    missing = [name for name in ("slurmctld", "slurmd", "srun", "salloc", "sbatch", "scancel", "scontrol", "sinfo") if not find(name)]
    return f"missing: {', '.join(missing)}" if missing else None


def find(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


class Cluster:
    def __init__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="tmpi-slurm-")
        self.home = self.directory.name
        for name in ("state", "tmp-tmpi1", "tmp-tmpi2"):
            os.mkdir(os.path.join(self.home, name))
        self.configuration = os.path.join(self.home, "slurm.conf")
        with open(self.configuration, "w") as file:
            file.write(CONFIGURATION.format(host=socket.gethostname(), ports=free_ports(3), home=self.home, cpus=os.cpu_count()))
        self.environment = {"SLURM_CONF": self.configuration}
        self.daemons = [self.start("slurmctld")] + [self.start("slurmd", "-N", name) for name in ("tmpi1", "tmpi2")]

    def start(self, name, *arguments):
        return subprocess.Popen([find(name), "-D", *arguments], env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def wait(self):
        """Until both nodes are there. Otherwise the reason, from the logs."""
        end = time.monotonic() + HANG
        while time.monotonic() < end and all(daemon.poll() is None for daemon in self.daemons):
            answer = subprocess.run([find("sinfo"), "-h", "-N", "-o", "%T"], env={**os.environ, **self.environment},
                                    capture_output=True, text=True, timeout=HANG)
            if answer.stdout.split() == ["idle", "idle"]:
                return None
            time.sleep(0.1)
        logs = []
        for name in sorted(os.listdir(self.home)):
            if name.endswith(".log"):
                with open(os.path.join(self.home, name)) as file:
                    logs.append(f"{name}: {file.read()[-1500:]}")
        return "\n".join(logs)

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(30)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.directory.cleanup()
