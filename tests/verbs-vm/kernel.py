"""Debian's kernel for the machine: fetched once, unpacked, never installed, since that would change what this computer boots.

    kernel.py DIRECTORY     fetches and unpacks it; scripts/setup --tests does this

What is made of it: `vmlinux`, which QEMU starts at its 64-bit entry (the emulated machine need not decompress anything, unless the kernel is
packed by zstd, as Debian 13's is, which is quick), and `initramfs` with the modules, in the order to load them.
"""

import fnmatch
import glob
import lzma
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

os.environ["PATH"] = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"  # where Debian has modprobe, depmod and ip
HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = os.path.join(HERE, "..", "..", "scripts", "packages.txt")

# crc32_generic: rdma_rxe asks for it by name when a device is made. Not crc32-pclmul, whose one instruction QEMU emulates bit by bit.
MODULES = "crc32_generic virtio_pci virtio_console 9pnet_virtio 9p overlay veth ib_uverbs rdma_rxe sch_netem".split()
KEPT = ["./boot/vmlinuz-*", "./lib/modules/*/modules.*", "./lib/modules/*/kernel/drivers/net/veth.ko*"] + [
    f"./lib/modules/*/kernel/{room}/*"
    for room in ("crypto", "drivers/char", "drivers/infiniband", "drivers/virtio", "fs/9p", "fs/fscache",
                 "fs/netfs", "fs/overlayfs", "lib", "net")]
XZ = b"\xfd7zXZ\0"


class Missing(Exception):
    """Something that the machine needs is not there; the text says what."""


def _package():
    """Name of the package that holds the kernel: what the one of scripts/packages.txt stands for today."""
    with open(PACKAGES) as file:
        standing_for = next(line.split("\t")[1] for line in file if line.startswith("unpack\t"))
    depends = subprocess.run(["apt-cache", "depends", standing_for], capture_output=True, text=True).stdout
    for line in depends.splitlines():
        name = line.split()[-1]
        if name.startswith("linux-image-") and name != standing_for:
            return name
    raise Missing(f"apt-cache knows no kernel behind the package {standing_for} (apt-get update?)")


def _unpack(archive, directory):
    """Unpacks what is kept of a package's files: modules lie in /lib or, from Debian 13 on, in /usr/lib, plain or packed by xz."""
    with tarfile.open(fileobj=archive, mode="r|") as members:
        for member in members:
            name = member.name.replace("./usr/lib/", "./lib/")
            if not member.isfile() or not any(fnmatch.fnmatch(name, kept) for kept in KEPT):
                continue
            open_file = lzma.open if name.endswith(".ko.xz") else lambda file: file
            path = os.path.join(directory, name.removesuffix(".xz"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open_file(members.extractfile(member)) as packed, open(path, "wb") as file:
                shutil.copyfileobj(packed, file)


def fetch(directory):
    """Unpacks what the machine needs of the kernel's package into DIRECTORY, unless it is there."""
    if glob.glob(os.path.join(directory, "kernel", "boot", "vmlinuz-*")):
        return
    for tool in ("apt-get", "dpkg"):
        if not shutil.which(tool):
            raise Missing(f"no Debian kernel: {tool} is not there to fetch one")
    os.makedirs(directory, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory) as work:
        name = _package()
        got = subprocess.run(["apt-get", "download", "-q", name], cwd=work, capture_output=True, text=True)
        packages = glob.glob(os.path.join(work, "*.deb"))
        if got.returncode or not packages:
            raise Missing(f"apt-get could not download {name}: {(got.stderr.strip() or 'no reason given').splitlines()[-1]}")
        unpacked = os.path.join(work, "kernel")
        os.mkdir(unpacked)
        with subprocess.Popen(["dpkg", "--fsys-tarfile", packages[0]], stdout=subprocess.PIPE) as archive:
            _unpack(archive.stdout, unpacked)
        os.mkdir(os.path.join(unpacked, "usr"))
        os.symlink("../lib", os.path.join(unpacked, "usr", "lib"))  # where kmod looks from Debian 13 on
        subprocess.run(["depmod", "-b", unpacked, _release(unpacked)], check=True)
        os.rename(unpacked, os.path.join(directory, "kernel"))


def _release(kernel):
    return os.listdir(os.path.join(kernel, "lib", "modules"))[0]


def _newer(made, sources):
    return os.path.exists(made) and all(os.path.getmtime(made) >= os.path.getmtime(source) for source in sources)


def _startable(image):
    """What QEMU starts of a bzImage: the ELF file inside (Documentation/x86/boot.rst, payload_offset and payload_length) where that is packed by xz."""
    with open(image, "rb") as file:
        data = file.read()
    begin, length = struct.unpack_from("<II", data, 0x248)
    begin += 512 * (data[0x1F1] + 1)
    # The payload ends with its size unpacked, which is not the packer's.
    return lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(data[begin:begin + length]) if data[begin:begin + len(XZ)] == XZ else data


def _put_modules(kernel, into):
    os.makedirs(into)
    order = []
    for module in MODULES:
        text = subprocess.run(["modprobe", "-S", _release(kernel), "-d", kernel, "-D", module], capture_output=True, text=True, check=True).stdout
        for line in text.splitlines():
            words = line.split()
            if words[0] == "insmod" and os.path.basename(words[1]) not in order:
                order.append(os.path.basename(words[1]))
                shutil.copy(words[1], into)
    with open(os.path.join(into, "order"), "w") as file:
        file.write("".join(name + "\n" for name in order))


def _pack(directory, kernel, made):
    busybox = shutil.which("busybox")
    with tempfile.TemporaryDirectory(dir=directory) as root:
        os.mkdir(os.path.join(root, "bin"))
        shutil.copy(busybox, os.path.join(root, "bin", "busybox"))
        shutil.copy(os.path.join(HERE, "init"), os.path.join(root, "init"))
        os.chmod(os.path.join(root, "init"), 0o755)
        _put_modules(kernel, os.path.join(root, "modules"))
        names = "".join(os.path.relpath(os.path.join(at, name), root) + "\n" for at, folders, files in os.walk(root) for name in folders + files)
        with open(made + ".new", "wb") as file:
            subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=root, input=names.encode(), stdout=file, check=True)
    os.rename(made + ".new", made)


def prepare(directory):
    """Paths of the kernel and of its initramfs, made anew when what they are made of has changed."""
    kernel = os.path.join(directory, "kernel")
    images = glob.glob(os.path.join(kernel, "boot", "vmlinuz-*"))
    if not images:
        raise Missing(f"no Debian kernel in {kernel}; scripts/setup --tests fetches one")
    vmlinux, initramfs = os.path.join(directory, "vmlinux"), os.path.join(directory, "initramfs")
    if not _newer(vmlinux, images):
        with open(vmlinux + ".new", "wb") as file:
            file.write(_startable(images[0]))
        os.rename(vmlinux + ".new", vmlinux)
    if not _newer(initramfs, images + [os.path.join(HERE, "init"), __file__]):
        _pack(directory, kernel, initramfs)
    return vmlinux, initramfs


if __name__ == "__main__":
    try:
        fetch(sys.argv[1])
    except Missing as missing:
        sys.exit(f"tmpi: tests/verbs-vm will be skipped: {missing}")
