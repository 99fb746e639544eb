"""An sshd of the test's own on loopback: its keys and files are in a directory of its own, and several host names lead to it."""

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import time

from harness import HANG
from ports import free_ports

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
HOSTS = ("alpha", "beta", "gamma")  # this machine, but only ssh knows


def available():
    return os.path.exists(SSHD) and shutil.which("ssh") is not None


class Sshd:
    def __init__(self):
        for _ in range(3):  # somebody may take the port before it does
            self._start()
            if self._listens():
                return
            with open(self.path("log")) as file:
                problem = file.read()
            self.stop()
        raise AssertionError("sshd does not start: " + problem)

    def _start(self):
        self.directory = tempfile.TemporaryDirectory(prefix="tmpi-sshd-")
        self.port = free_ports(1)[0]
        for name in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path(name)], check=True, timeout=HANG)
        shutil.copy(self.path("user_key.pub"), self.path("authorized_keys"))
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        self._write("sshd_config", f"""
Port {self.port}
ListenAddress 127.0.0.1
HostKey {self.path("host_key")}
AuthorizedKeysFile {self.path("authorized_keys")}
PidFile {self.path("pid")}
LoginGraceTime 0
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
MaxStartups 200
MaxSessions 200
AcceptEnv TMPI_TEST_MARK
""")
        self._write("ssh_config", f"""
Host {" ".join(HOSTS)}
  HostName 127.0.0.1
  Port {self.port}
Host closed
  HostName 127.0.0.1
  Port {self._closed_port()}
Host silent
  HostName 127.0.0.1
  Port {self._silent_port()}
Host *
  User {getpass.getuser()}
  IdentityFile {self.path("user_key")}
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  GlobalKnownHostsFile /dev/null
  LogLevel ERROR
  SendEnv TMPI_TEST_MARK
""")
        self.agent = f"ssh -F {self.path('ssh_config')}"
        with open(self.path("log"), "w") as log:
            self.process = subprocess.Popen([SSHD, "-D", "-e", "-f", self.path("sshd_config")], stdout=subprocess.DEVNULL, stderr=log)

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def _write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def _closed_port(self):
        """Nobody listens there, and nobody else gets it."""
        self.deaf = socket.socket()
        self.deaf.bind(("127.0.0.1", 0))
        return self.deaf.getsockname()[1]

    def _silent_port(self):
        """Connections are taken, but nobody ever says a word."""
        self.mute = socket.socket()
        self.mute.bind(("127.0.0.1", 0))
        self.mute.listen(16)
        return self.mute.getsockname()[1]

    def _listens(self):
        end = time.monotonic() + HANG
        while time.monotonic() < end and self.process.poll() is None:
            with open(self.path("log")) as file:
                if "Server listening on" in file.read():
                    return True
            time.sleep(0.02)
        return False

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.mute.close()
        self.deaf.close()
        self.directory.cleanup()
