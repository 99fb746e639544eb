"""An emulated machine with two RDMA devices (software RoCE), in which the host's files lie under their own names, and one command runs."""

import ctypes
import os
import platform
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import kernel

HERE = os.path.dirname(os.path.abspath(__file__))
QEMU = "qemu-system-x86_64"
TOOLS = {QEMU: "qemu-system-x86", "busybox": "busybox-static", "modprobe": "kmod", "cpio": "cpio", "ip": "iproute2", "rdma": "iproute2"}
PASSED_ON = ("TMPI_", "OMPI_", "UCX_", "MPIR_", "BENCH_")  # variables of the environment that the command sees, by the beginning of their names
TIMED_OUT = 124
MEGABYTES = 2048
PR_SET_PDEATHSIG = 1


class Result:
    """What a command left: its exit status (TIMED_OUT, or what it was), everything it printed, and the seconds from start to end."""

    def __init__(self, status, output, seconds, console):
        self.status, self.output, self.seconds, self.console = status, output, seconds, console


def missing():
    """Why there cannot be a machine, in words, or None."""
    if platform.machine() != "x86_64":
        return f"the emulated machine is an x86-64, this one is {platform.machine()}"
    for tool, package in TOOLS.items():
        if not shutil.which(tool):
            return f"{tool} is not installed (Debian package {package})"
    return None


def accelerator():
    """KVM where the processor has what it needs: a /dev/kvm without that exists in some virtual machines, and is slower than emulation."""
    with open("/proc/cpuinfo") as file:
        flags = next((set(line.split()) for line in file if line.startswith("flags")), set())
    if flags & {"vmx", "svm"} and os.access("/dev/kvm", os.R_OK | os.W_OK):
        return ["-accel", "kvm", "-cpu", "host"]
    # Emulated, `rep movsb` moves a byte at a time: a processor that says nothing of it is copied on by words, which takes a third off.
    return ["-accel", "tcg,thread=multi", "-cpu", "max,erms=off,fsrm=off"]


def _command_line(variables):
    # tsc=reliable: without it the emulated machine asks a device for the time, by a system call of microseconds.
    words = "console=ttyS0 quiet panic=-1 mitigations=off nokaslr tsc=reliable random.trust_cpu=on".split()
    return " ".join(words + [f"{name}={value}" for name, value in variables.items()])


def _memory(nodes, cpus):
    """2 GiB, of which each NUMA node has a part, and of the processors too."""
    words = ["-m", str(MEGABYTES)]
    for node in range(nodes if nodes > 1 else 0):
        own = [f"cpus={cpu}" for cpu in range(cpus) if cpu * nodes // cpus == node]
        words += ["-object", f"memory-backend-ram,id=memory{node},size={MEGABYTES // nodes}M",
                  "-numa", ",".join(["node", f"nodeid={node}", f"memdev=memory{node}", *own])]
    return words


def _end_with_parent():
    """In the child: whoever ends us does not know of the machine, which would run on for ever."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _write_command(path, command, directory):
    with open(path, "w") as file:
        for name, value in sorted(os.environ.items()):
            if name.startswith(PASSED_ON):
                file.write(f"export {name}={shlex.quote(value)}\n")
        file.write(f"cd {shlex.quote(directory)} && {shlex.join(command)}\n")


def _follow(process, deadline, show):
    """All that PROCESS prints, shown as it comes; None instead of the exit status when the deadline was first."""
    output = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return bytes(output), False
            if not selector.select(left):
                continue
            piece = process.stdout.read1(65536)
            if not piece:
                return bytes(output), True
            output += piece
            if show:
                sys.stdout.buffer.write(piece)
                sys.stdout.buffer.flush()


def run(command, state, seconds=300, cpus=2, show=True, directory=None, nodes=1):
    """Boots, runs COMMAND (a list) as root in DIRECTORY, by default where we are, and ends the machine, which has so many NUMA NODES.

    STATE is the directory in which the kernel lies (kernel.py). Raises kernel.Missing if there cannot be a machine.
    """
    reason = missing()
    if reason:
        raise kernel.Missing(reason)
    vmlinux, initramfs = kernel.prepare(state)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tmpi-vm-") as work:
        inside = {name: os.path.join(work, name) for name in ("command", "console", "status", "errors")}
        _write_command(inside["command"], command, directory or os.getcwd())
        variables = {"INNER": os.path.join(HERE, "inner"), "COMMAND": inside["command"]}
        arguments = [
            QEMU, "-machine", "q35", *accelerator(), "-smp", str(cpus), *_memory(nodes, cpus), "-display", "none", "-vga", "none", "-nic", "none", "-no-reboot",
            "-kernel", vmlinux, "-initrd", initramfs, "-append", _command_line(variables),
            "-serial", f"file:{inside['console']}", "-device", "virtio-serial-pci",
            "-chardev", "file,id=output,path=/dev/stdout", "-device", "virtserialport,chardev=output,nr=1",
            "-chardev", f"file,id=status,path={inside['status']}", "-device", "virtserialport,chardev=status,nr=2",
            "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"]
        with open(inside["errors"], "wb") as errors:
            process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, preexec_fn=_end_with_parent)
        try:
            output, ended = _follow(process, begun + seconds, show)
        finally:
            process.kill()
            process.wait()
        status = _read(inside["status"]).strip()
        console = _read(inside["console"]) + _read(inside["errors"])
    if not ended:
        return Result(TIMED_OUT, output, time.monotonic() - begun, console)
    return Result(int(status) if status else None, output, time.monotonic() - begun, console)


def _read(path):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""
