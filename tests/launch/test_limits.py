"""What the system refuses (descriptors, processes, a full disk, /proc), and channels that somebody cuts: one true sentence each."""

import os
import resource
import subprocess
import time
import unittest

from harness import TMPIRUN, LaunchTest, main, program, wait_for

NOBODY = 4321  # a user without processes


def no_namespaces():
    done = subprocess.run(["unshare", "-r", "-m", "true"], stderr=subprocess.DEVNULL)
    return done.returncode != 0


class LimitTest(LaunchTest):
    def limited(self, options, *arguments, **more):
        return self.run_job("-c", f'ulimit {options}; exec "$0" "$@"', TMPIRUN, *arguments, tmpirun="/bin/sh", **more)

    def test_descriptors(self):
        for nodes in (1, 2):
            refused = 0
            for limit in range(4, 24):
                with self.subTest(limit=limit, nodes=nodes):
                    job = self.limited(f"-n {limit}", "-q", "-n", 2, "--nodes", nodes, program("trivial.c"))
                    if job.code == 0:
                        self.assertEqual(job.err, b"")
                    else:
                        self.check_failure(job, job.code, "raise the limit on open files (ulimit -n)")
                        refused += 1
            self.assertGreater(refused, 3)
            self.assertLess(refused, 18)

    @unittest.skipUnless(os.geteuid() == 0, "only root becomes another user, whose processes are few")
    def test_processes(self):
        trivial = program("trivial.c")
        os.chmod(os.path.dirname(trivial), 0o755)
        for limit in (2, 3, 4, 5, 6):

            def become_nobody(limit=limit):
                resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
                os.setgid(NOBODY)
                os.setuid(NOBODY)

            with self.subTest(limit=limit):
                try:
                    job = self.run_job("-q", "-n", 8, "--workers", 8, trivial, preexec_fn=become_nobody)
                except PermissionError as error:
                    self.skipTest(f"another user cannot run what is tested here: {error}")
                self.check_failure(job, 1, "(ulimit -u)")
                self.assertEqual(job.err.count(b"\n"), 1, job.err)

    def test_full_disk(self):
        trivial = program("trivial.c")
        for nodes in (1, 2):
            job = self.run_job("-q", "-n", 2, "--nodes", nodes, "--profile=/dev/full", trivial)
            self.assertEqual(job.code, 1, job.err)
            self.assertIn(b"--profile=/dev/full: the file could not be written: No space left on device\n", job.err)
        job = self.run_job("-q", "-n", 2, "--trace", "/dev/full", trivial)
        self.check_failure(job, 1, "--trace /dev/full: the file could not be written: No space left on device\n")
        job = self.run_job("-q", "-n", 2, "--trace", "/dev/full", program("misbehave.c"), "abort-mpi", 1, 42)
        self.assertEqual(job.code, 42, job.err)  # why the job has ended counts more

    @unittest.skipIf(no_namespaces(), "no user namespaces here")
    def test_without_proc(self):
        """Its kind of container: /proc is empty."""
        hide = 'mount -t tmpfs none /proc && exec "$0" "$@"'
        for command in ([TMPIRUN], ["../" + os.path.relpath(TMPIRUN, os.path.dirname(os.getcwd()))]):
            job = self.start("-r", "-m", "/bin/sh", "-c", hide, *command, "-q", "-n", 4, program("trivial.c"), tmpirun="unshare").finish()
            self.assertEqual((job.code, job.err), (0, b""))

    def test_rank_that_closes_what_is_not_its_own(self):
        """They stay open: close says EBADF."""
        job = self.run_job("-q", "-n", 4, "--vratio", 2, program("misbehave.c"), "close-all", 2)
        self.assertEqual((job.code, job.err), (0, b""))

    def test_channel_that_is_shut_down(self):
        """Several threads notice at once; a node process that ended its group for each of them would end tmpirun's."""
        for _ in range(20):
            job = self.run_job("-q", "-n", 4, "--vratio", 2, program("misbehave.c"), "shut-down", 2)
            self.check_failure(job, 76, "lost its control channel to tmpirun", "ranks 0-3")
            self.assertNotIn(b"somebody sent it", job.err)

    def test_matched_receive_of_no_message(self):
        job = self.run_job("-q", "-n", 2, program("misbehave.c"), "mrecv")
        self.check_failure(job, job.code, "MPI_Mrecv failed: ", "the message is MPI_MESSAGE_NULL: a probe has found none")


class AgentTest(LaunchTest):
    """Launch agents that do not do what one does."""

    def agent(self, text):
        path = os.path.join(self.directory(), "agent")
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        return ["-q", "-n", 2, "--host", "alpha", "--launch-agent", path]

    def test_silent(self):
        arguments = self.agent("exec sleep 300\n")
        job = self.run_job("--start-timeout", 1, *arguments, program("trivial.c"))
        self.check_failure(job, 1, "no node process has started on host alpha within 1 seconds", "--start-timeout")

    def test_silent_one_and_a_signal(self):
        job = self.start(*self.agent("exec sleep 300\n"), program("trivial.c"))
        wait_for(lambda: any(command.startswith("sleep") for _, command in job.survivors()), "the agent")
        start = time.monotonic()
        job.process.terminate()
        job.finish()
        self.assertEqual(job.code, 143, job.err)
        self.assertLess(time.monotonic() - start, 4.5)  # five seconds are for ranks that handle it themselves
        self.check_nothing_left(job)

    def test_one_that_never_stops_printing(self):
        job = self.run_job(*self.agent("exec yes 'no such option'\n"), program("trivial.c"))
        self.check_failure(job, 1, "cannot start a node process on host alpha", "has printed 64 KiB and not started it", "no such option")

    def test_one_that_ends_the_channel_and_stays(self):
        job = self.run_job(*self.agent("exec >&- <&-; sleep 300\n"), program("trivial.c"))
        self.check_failure(job, 1, "on host alpha", "has closed its control channel and not ended; tmpirun has killed it")


if __name__ == "__main__":
    main()
