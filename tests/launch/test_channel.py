"""tmpirun against a node process that misbehaves (fake_node.py): what it prints, what it returns, and that it always ends."""

import os
import shutil
import signal
import subprocess
import tempfile
import time

from harness import HANG, HERE, PROMPTLY, TMPIRUN, LaunchTest, claims_time, main

_place = None


def fake_tmpirun():
    """A copy of tmpirun that finds the fake node process beside it; that one is a link, for it imports what lies beside its file."""
    global _place
    if _place is None:
        _place = tempfile.TemporaryDirectory(prefix="tmpi-fake-")
        shutil.copy(TMPIRUN, _place.name)
        os.symlink(os.path.join(HERE, "fake_node.py"), os.path.join(_place.name, "tmpi-node"))
    return os.path.join(_place.name, "tmpirun")


class ChannelTest(LaunchTest):
    def arguments(self, scenario, ranks, more, options):
        options.update(tmpirun=fake_tmpirun(), env={"FAKE_NODE": scenario})
        return ["-n", ranks, *more, "true"]

    def fake(self, scenario, *more, ranks=4, **options):
        return self.run_job(*self.arguments(scenario, ranks, more, options), **options)

    def start_fake(self, scenario, *more, ranks=4, **options):
        return self.start(*self.arguments(scenario, ranks, more, options), **options)

    def test_frames_may_come_in_pieces(self):
        job = self.fake("one_by_one")
        self.assertEqual((job.out, job.err, job.code), (b"hello\n", b"", 0))

    def test_garbage(self):
        self.check_failure(self.fake("garbage"), 1, "not tmpi's protocol")

    def test_wrong_version(self):
        self.check_failure(self.fake("wrong_version"), 1, "install the same tmpi")

    def test_unknown_type(self):
        self.check_failure(self.fake("unknown_type"), 1, "type 999", "same installation")

    def test_cut_frame(self):
        self.check_failure(self.fake("cut_frame"), 1, "ranks 0-3", "before its ranks had")

    def test_killed_before_hello(self):
        self.check_failure(self.fake("dies_early"), 137, "ranks 0-3", "killed by signal 9")

    def test_killed_later_names_the_ranks_that_were_left(self):
        job = self.fake("dies_with_output")
        self.check_failure(job, 137, "with ranks 1-3, was killed by signal 9 (Killed)")
        self.assertEqual(job.out, b"last output")

    def test_exit_without_a_word(self):
        self.check_failure(self.fake("exits_silently"), 7, "exit code 7")

    def test_first_non_zero_code_in_time(self):
        job = self.fake("first_code")
        self.check_failure(job, 9, "rank 1 on host", "the first of 2 ranks")

    def test_records_of_unknown_ranks(self):
        job = self.fake("hostile_ranks")
        self.assertEqual((job.out, job.code), (b"fine\n", 0))

    def test_raw_output_of_the_node_process(self):
        job = self.fake("pipes")
        self.assertEqual((job.out, job.err, job.code), (b"raw out\n", b"raw err\n", 0))

    def test_timeout_ends_a_deaf_job_and_its_children(self):
        job = self.fake("deaf", "--timeout", "0.5")
        self.check_failure(job, 124, "--timeout of 0.5 seconds")

    @claims_time
    def test_second_interrupt_kills(self):
        job = self.start_fake("deaf")
        job.read_until(b"ready\n")
        job.process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        job.process.send_signal(signal.SIGINT)
        start = time.monotonic()
        job.finish()
        self.in_time(time.monotonic() - start, 3)  # after one interrupt it would have 5 s
        self.check_failure(job, 130, "SIGINT")
        self.check_nothing_left(job)

    def test_killed_tmpirun_leaves_nothing(self):
        job = self.start_fake("state_dump")
        job.read_until(b"ready\n")
        job.process.kill()
        job.finish()
        self.check_nothing_left(job)

    def test_state_dump_and_forwarded_signals(self):
        job = self.start_fake("state_dump")
        job.read_until(b"ready\n")
        job.process.send_signal(signal.SIGUSR1)
        job.read_until(b"signal 10\n")
        job.process.send_signal(signal.SIGUSR1)
        job.read_until(b"signal 10\n")
        job.process.send_signal(signal.SIGUSR2)
        job.read_until(b"signal 12\n")
        job.process.send_signal(signal.SIGTERM)
        job.finish()
        self.assertEqual(job.code, 143)
        self.assertEqual(job.err.decode().count("  rank 3: running\n  ranks 0-2 (3): blocked in MPI_Recv\n"), 1)
        self.assertEqual(job.err.count(b"every rank at this moment"), 1)  # the second one is a rank's own affair
        self.check_nothing_left(job)

    @claims_time
    def test_lost_connection(self):
        job = self.promptly(PROMPTLY, self.fake("loses", "--nodes", 2, cwd=self.directory()))
        self.check_failure(job, 1, "has lost the connection to node process 1 on host", "with ranks 2-3: the connection was reset")

    @claims_time
    def test_lost_connection_to_the_silent(self):
        job = self.promptly(PROMPTLY + 2, self.fake("one_loses", "--nodes", 2))  # which do not end when they are told to
        self.check_failure(job, 1, "node process 0 on host", "has lost the connection to node process 1 on host", "with ranks 2-3")

    def test_lost_connection_is_only_a_consequence(self):
        job = self.fake("loses_the_dead", "--nodes", 2, cwd=self.directory())
        self.check_failure(job, 137, "node process 1 on host", "ranks 2-3", "killed by signal 9")

    def test_frames_without_sense(self):
        job = self.fake("hostile_frames", "--nodes", 2)
        self.assertEqual(job.out, b"fine\nfine\n")

    def test_stdin_whole(self):
        data = os.urandom(3_000_000)
        job = self.fake("echo", input=data)
        self.assertEqual(job.out, data)

    def test_only_wanted_input_is_taken(self):
        read_end, write_end = os.pipe()
        job = self.start_fake("takes_one_line", stdin=read_end)
        self.assertEqual(job.read_until(b"Name? "), b"Name? ")  # the prompt shows while the rank waits
        os.write(write_end, b"Ada\n")
        job.finish()
        self.assertEqual(job.out, b"hello Ada\n")
        os.write(write_end, b"rest\n")
        self.assertEqual(os.read(read_end, 10), b"rest\n")
        os.close(read_end)
        os.close(write_end)

    def test_closed_stdin_is_at_its_end(self):
        job = self.fake("echo", preexec_fn=lambda: os.close(0))
        self.assertEqual((job.out, job.code), (b"", 0))

    def test_reader_that_leaves_ends_the_job_quietly(self):
        job = self.start_fake("flood")
        job.read_until(b"y\n")
        job.process.stdout.close()
        job.process.wait(HANG)
        self.assertEqual(job.process.returncode, 141)
        self.assertEqual(job.process.stderr.read(), b"")
        job.process.stderr.close()
        self.check_nothing_left(job)

    def test_slow_reader_holds_the_job_back(self):
        job = self.start_fake("flood")
        job.read_until(b"y\n")
        time.sleep(1.0)
        with open(f"/proc/{job.process.pid}/statm") as file:
            resident = int(file.read().split()[1]) * 4096
        self.assertLess(resident, 32 << 20)
        job.process.send_signal(signal.SIGINT)  # and still listens to signals
        time.sleep(0.1)
        job.process.send_signal(signal.SIGINT)
        job.process.stdout.close()
        job.process.wait(HANG)
        job.process.stderr.close()
        self.check_nothing_left(job)

    def test_full_disk_is_reported(self):
        with open("/dev/full", "wb") as full:
            job = self.fake("flood", stdout=full)
        self.check_failure(job, 1, "cannot write to stdout: No space left on device")

    def test_output_directory_that_cannot_be(self):
        job = self.fake("one_by_one", "--output-filename", "/proc/nowhere")
        self.check_failure(job, 1, "cannot create the directory")

    def test_terminal_shows_progress_without_newline(self):
        master, slave = os.openpty()
        job = self.start_fake("takes_one_line", stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        seen = b""
        while b"Name? " not in seen:
            seen += os.read(master, 100)
        os.write(master, b"Bob\n")
        job.finish()
        self.assertEqual(job.code, 0)
        os.close(master)


if __name__ == "__main__":
    main()
