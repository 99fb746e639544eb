"""Node processes on other hosts, through ssh: an sshd of the test's own stands for them, on loopback."""

import os
import re
import signal
import socket
import subprocess
import time
import unittest

import sshd
from harness import BIN, HANG, HERE, PROMPTLY, LaunchTest, claims_time, executable, main, program, stat_field


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


@unittest.skipUnless(sshd.available(), "no sshd here")
class HostTest(LaunchTest):
    @classmethod
    def setUpClass(cls):
        cls.sshd = sshd.Sshd()
        cls.addClassCleanup(cls.sshd.stop)

    def on_hosts(self, *arguments, agent=None, env=None, **options):
        return self.run_job("-q", *arguments, env={"TMPI_SSH": agent or self.sshd.agent, **(env or {})}, **options)

    def start_on_hosts(self, *arguments, **options):
        return self.start("-q", "--no-deadlock-check", *arguments, env={"TMPI_SSH": self.sshd.agent}, **options)

    def script(self, text):
        path = os.path.join(self.directory(), "agent")
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        return path


class PlacementTest(HostTest):
    def shown(self, *arguments, **options):
        job = self.on_hosts(*arguments, program("show.c"), "TMPI_LOCAL_RANK", "TMPI_LOCAL_SIZE", "PATH", "WISH", **options)
        self.assertEqual(job.code, 0, job.err)
        return sorted(job.out.decode().splitlines(), key=lambda line: int(line.split("/")[0]))

    def test_surroundings(self):
        here = os.path.realpath(self.directory())
        path = "/opt/nowhere:" + os.environ["PATH"]
        lines = self.shown("-n", 5, "--host", "alpha:4,beta", "-x", "WISH=good day", cwd=here, env={"PATH": path})
        for rank, (local, size) in enumerate([(0, 4), (1, 4), (2, 4), (3, 4), (0, 1)]):
            self.assertTrue(lines[rank].startswith(f"{rank}/5 {here} "), lines[rank])
            self.assertIn(f"TMPI_LOCAL_RANK={local} TMPI_LOCAL_SIZE={size} PATH={path} WISH=good day", lines[rank])

    def test_environment_is_tmpiruns(self):
        self.assertIn("WISH=it's \"me\" $HOME", self.shown("-n", 1, "--host", "alpha", env={"WISH": "it's \"me\" $HOME"})[0])

    def test_files(self):
        directory = self.directory()
        for name, text in (("openmpi", "# two hosts\nalpha slots=2\nbeta slots=2 max_slots=4\n"), ("mpich", "alpha:2\nbeta:2 # two\n")):
            with open(os.path.join(directory, name), "w") as file:
                file.write(text)
            lines = self.shown("-n", 4, "--hostfile", os.path.join(directory, name), "--map-by", "node")
            self.assertEqual([re.search(r"LOCAL_RANK=(\d)", line).group(1) for line in lines], ["0", "0", "1", "1"])

    def test_this_machine_needs_no_shell(self):
        job = self.on_hosts("-n", 2, "--host", f"localhost,{socket.gethostname()}", program("trivial.c"), agent="/bin/false")
        self.assertEqual((job.out, job.code), (b"2 of 2\n", 0), job.err)

    def test_here_and_there(self):
        self.assertEqual(len(self.shown("-n", 4, "--host", "localhost:2,gamma:2")), 4)

    def test_unused_hosts_are_left_alone(self):
        self.assertEqual(len(self.shown("-n", 2, "--host", "alpha:2,closed:2")), 2)

    def test_program_is_found_there(self):
        directory = os.path.dirname(program("show.c"))
        name = os.path.basename(program("show.c"))
        job = self.on_hosts("-n", 2, "--host", "alpha,beta", name, env={"PATH": directory + ":" + os.environ["PATH"]})
        self.assertEqual(job.code, 0, job.err)

    def test_libraries_are_found_there(self):
        place = self.directory()
        for name, text, flags in (("libanswer.so", "int answer(void) { return 42; }", ("-shared", "-fPIC")),
                                  ("answer", "#include <stdio.h>\nint answer(void);\nint main(void) { return !printf(\"%d\\n\", answer()); }",
                                   ("-L" + place, "-lanswer"))):
            source = os.path.join(place, name + ".c")
            with open(source, "w") as file:
                file.write(text)
            subprocess.run([os.path.join(BIN, "tmpicc"), "-o", os.path.join(place, name), source, *flags], check=True, timeout=HANG)
        job = self.on_hosts("-n", 2, "--host", "alpha,beta", os.path.join(place, "answer"), env={"LD_LIBRARY_PATH": place})
        self.assertEqual((job.out, job.code), (b"42\n42\n", 0), job.err)

    def test_noise_of_start_up_files(self):
        agent = self.script(f'echo "Welcome to this machine"; exec {self.sshd.agent} "$@"\n')
        job = self.on_hosts("-n", 1, "--host", "alpha", program("trivial.c"), agent=agent)
        self.assertEqual((job.out, job.code), (b"1 of 1\n", 0), job.err)

    def test_another_agent(self):
        agent = self.script('test "$1" = on && test "$2" = host-alpha || exit 3\nshift 2\nexec "$@"\n') + " on host-{}"
        job = self.on_hosts("-n", 1, "--host", "alpha", program("trivial.c"), agent=agent)
        self.assertEqual((job.out, job.code), (b"1 of 1\n", 0), job.err)


class TrafficTest(HostTest):
    def test_stdin_and_output(self):
        data = os.urandom(500_000)
        job = self.on_hosts("-n", 2, "--host", "alpha,beta", program("copy_input.c"), input=data)
        self.assertEqual(job.out, data)

    def test_output_past_the_streams_of_ranks(self):
        job = self.on_hosts("-n", 2, "--host", "alpha", program("raw.c"))
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(job.out.count(b"raw out\n"), 2)
        self.assertEqual(job.err.count(b"raw err\n"), 2)

    @claims_time
    def test_state_dump_and_interrupt(self):
        job = self.start_on_hosts("-n", 4, "--host", "alpha,beta", program("misbehave.c"), "hang")
        job.read_until(b"rank 3 is here\n")
        job.ask_until(b"  ranks 0-3 (4): blocked in MPI_Recv")
        job.process.send_signal(signal.SIGINT)
        start = time.monotonic()
        job.finish()
        self.in_time(time.monotonic() - start, PROMPTLY)
        self.assertEqual(job.code, 130, job.err)
        self.check_nothing_left(job)

    def test_nobody_can_connect_to_tmpirun(self):
        job = self.start_on_hosts("-n", 2, "--host", "alpha,beta", program("misbehave.c"), "hang")
        job.read_until(b"is here\n")
        inodes = set()
        folder = f"/proc/{job.process.pid}/fd"
        for fd in os.listdir(folder):
            try:
                target = os.readlink(os.path.join(folder, fd))
            except OSError:
                continue
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
        for table in ("tcp", "tcp6", "udp", "udp6"):
            with open(f"/proc/net/{table}") as file:
                self.assertFalse([line for line in file if line.split()[9] in inodes])
        job.process.terminate()
        job.finish()
        self.check_nothing_left(job)

    def test_the_secret_is_on_no_command_line(self):
        job = self.start_on_hosts("-n", 2, "--host", "alpha,beta", program("misbehave.c"), "hang")
        job.read_until(b"is here\n")
        words = " ".join(command for _, command in job.survivors())
        self.assertIn("tmpi-node --remote", words)
        self.assertIsNone(re.search(r"\b[0-9a-f]{32,}\b", words), words)
        job.process.terminate()
        job.finish()


class EndTest(HostTest):
    """Whatever goes wrong there: one message that says host and cause, promptly, and nothing stays behind."""

    def fails(self, code, *texts, arguments, **options):
        job = self.promptly(PROMPTLY + 1, self.on_hosts(*arguments, **options))
        self.check_failure(job, code, *texts)
        return job

    @claims_time
    def test_unreachable(self):
        for host, words in (("closed", "Connection refused"), ("silent", "ended with exit code 255 (Connection timed out")):
            self.fails(1, f"cannot start a node process on host {host}: ", words, f"{host} true`",
                       arguments=("-n", 2, "--host", f"alpha,{host}", program("trivial.c")))

    def test_no_tmpi_there(self):
        agent = self.script('exec /bin/sh -c "exec tmpi-node --remote"\n')
        self.fails(127, "tmpi-node is missing on host alpha", "install the same tmpi", arguments=("-n", 1, "--host", "alpha",
                                                                                                   program("trivial.c")),
                   agent=agent, env={"PATH": "/usr/bin:/bin"})

    def test_no_agent(self):
        job = self.on_hosts("-n", 1, "--host", "alpha", "true", agent="no-such-shell")
        self.check_failure(job, 127, "--launch-agent no-such-shell: cannot find the program")

    @claims_time
    def test_another_version_there(self):
        place = self.directory()
        os.symlink(os.path.join(HERE, "fake_node.py"), os.path.join(place, "tmpi-node"))
        agent = self.script(f'shift; PATH="{place}:$PATH" exec tmpi-node --remote\n')
        for scenario, words in (("wrong_version", "speaks version"), ("other_tmpi", "is of tmpi 0.0.1, tmpirun of tmpi")):
            self.fails(1, "tmpi-node on host alpha", words, "install the same tmpi for both",
                       arguments=("-n", 1, "--host", "alpha", program("trivial.c")), agent=agent, env={"FAKE_NODE": scenario})

    @claims_time
    def test_no_program_there(self):
        self.fails(127, "on host ", "cannot find the program './no-such-program'", arguments=("-n", 2, "--host", "alpha,beta",
                                                                                                "./no-such-program"))
        none = self.script("")
        self.fails(126, os.path.basename(none), arguments=("-n", 2, "--host", "alpha,beta", none))

    def test_no_directory_there(self):
        self.fails(127, "--wdir /no/such", arguments=("-n", 1, "--host", "alpha", "--wdir", "/no/such", program("trivial.c")))

    @claims_time
    def test_abort_there(self):
        self.fails(42, "rank 3 on", "called MPI_Abort with code 42",
                   arguments=("-n", 4, "--host", "alpha,beta", program("misbehave.c"), "abort-mpi", 3, 42))

    @claims_time
    def test_killed_node_process(self):
        job = self.start_on_hosts("-n", 4, "--host", "alpha,beta", program("misbehave.c"), "child", 3)
        job.read_until(b"started\n")
        victims = [pid for pid, _ in job.survivors() if executable(pid) == "tmpi-node"]
        # Per host a supervisor and its child, the node process.
        children = [pid for pid in victims if self.parent(pid) in victims]
        self.assertEqual(len(children), 2, victims)
        os.kill(children[-1], signal.SIGKILL)
        start = time.monotonic()
        job.finish()
        self.in_time(time.monotonic() - start, PROMPTLY)
        self.check_failure(job, 137, "on host ", "ranks ", "killed by signal 9 (Killed)")
        self.check_nothing_left(job)

    @claims_time
    def test_killed_ssh(self):
        job = self.start_on_hosts("-n", 4, "--host", "alpha,beta", program("misbehave.c"), "hang")
        job.read_until(b"rank 3 is here\n")
        shells = [pid for pid, command in job.survivors() if command.split(" ")[0].endswith("/ssh") and " beta " in command]
        self.assertEqual(len(shells), 1)
        os.kill(shells[0], signal.SIGTERM)
        start = time.monotonic()
        job.finish()
        self.in_time(time.monotonic() - start, PROMPTLY)
        self.assertNotEqual(job.code, 0)
        self.check_failure(job, job.code, "host beta", "ranks 2-3")
        self.check_nothing_left(job)

    def parent(self, pid):
        return int(stat_field(pid, 4))

    @claims_time
    def test_network_that_falls_silent(self):
        """Nothing comes through any more, and no stream ends: the sshd in between is stopped."""
        job = self.start_on_hosts("-n", 4, "--host", "localhost:2,beta:2", program("misbehave.c"), "hang")
        job.read_until(b"rank 3 is here\n")
        there = [pid for pid, command in job.survivors() if "tmpi-node --remote" in command and "ssh" not in command]
        between = next(self.parent(pid) for pid in there if self.parent(pid) not in there)
        self.addCleanup(kill, between)
        os.kill(between, signal.SIGSTOP)
        start = time.monotonic()
        job.finish()
        self.in_time(time.monotonic() - start, 8)
        self.check_failure(job, 1, "the connection to host beta was lost, with ranks 2-3")
        self.check_nothing_left(job)

    def test_killed_tmpirun(self):
        job = self.start_on_hosts("-n", 4, "--host", "alpha,beta", program("misbehave.c"), "hang")
        job.read_until(b"rank 3 is here\n")
        job.process.kill()
        job.process.wait()
        self.check_nothing_left(job)


if __name__ == "__main__":
    main()
