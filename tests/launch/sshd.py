"""An sshd of the test's own on loopback: its keys and files are in a directory of its own, and several host names lead to it."""

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import time

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
HOSTS = ("alpha", "beta", "gamma")  # this machine, but only ssh knows


def available():
    return os.path.exists(SSHD) and shutil.which("ssh") is not None


class Sshd:
    def __init__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="tmpi-sshd-")
        self.port = self._free_port()
        for name in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path(name)], check=True, timeout=30)
        shutil.copy(self.path("user_key.pub"), self.path("authorized_keys"))
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        self._write("sshd_config", f"""
Port {self.port}
ListenAddress 127.0.0.1
HostKey {self.path("host_key")}
AuthorizedKeysFile {self.path("authorized_keys")}
PidFile {self.path("pid")}
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
        self._wait()

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def _write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def _free_port(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

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

    def _wait(self):
        end = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    with open(self.path("log")) as file:
                        raise AssertionError("sshd does not start: " + file.read())
                time.sleep(0.02)

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        self.mute.close()
        self.deaf.close()
        self.directory.cleanup()
