"""What ranks print comes out whole: lines unmixed, nothing lost, nothing added, fast."""

import fcntl
import os
import struct
import termios
import time

from harness import HANG, LaunchTest, claims_time, main, program, wait_for


class OutputTest(LaunchTest):
    def check_lines(self, text, ranks, count, length, parity):
        seen = {rank: [] for rank in range(ranks)}
        ends = set()
        for line in text.split(b"\n"):
            words = line.split(b" ")
            if words[-1] == b"end":
                ends.add(int(words[0]))
            elif line:
                rank, number, letters = words
                self.assertEqual(letters, bytes([ord("a") + int(rank) % 26]) * length)
                seen[int(rank)].append(int(number))
        for rank in range(ranks):
            self.assertEqual(seen[rank], list(range(parity, count, 2)), f"rank {rank}'s lines, in order")
        return ends

    def test_long_lines_of_many_ranks_are_never_mixed(self):
        ranks, count, length = 1000, 6, 3000
        job = self.run_job("-n", ranks, "-q", "--workers", 4, program("lines.c"), count, length)
        self.assertEqual(job.code, 0, job.err[-500:])
        self.assertEqual(self.check_lines(job.out, ranks, count, length, 0), set(range(ranks)))
        self.check_lines(job.err, ranks, count, length, 1)

    def test_stdout_and_stderr_in_one_pipe(self):
        read_end, write_end = os.pipe()
        job = self.start("-n", 20, program("lines.c"), 10, 200, stdout=write_end, stderr=write_end)
        os.close(write_end)
        with os.fdopen(read_end, "rb") as pipe:
            text = pipe.read()
        job.finish()
        for line in text.split(b"\n"):
            words = line.split(b" ")
            self.assertTrue(words[-1] == b"end" or line == b"" or len(words) == 3 and len(words[2]) == 200, line)

    def test_one_unterminated_line_stays_so(self):
        job = self.run_job("-n", 1, program("lines.c"), 0, 0)
        self.assertEqual(job.out, b"0 end")

    def test_every_byte_value(self):
        job = self.run_job("-n", 3, program("bytes.c"), 1_000_000)
        state, wanted = 1, bytearray()
        for _ in range(1_000_000):
            state = (state * 1103515245 + 12345) & 0xFFFFFFFF
            wanted.append((state >> 16) & 0xFF)
        self.assertEqual(job.out, bytes(wanted))

    @claims_time
    def test_hundred_megabytes(self):
        path = os.path.join(self.directory(), "out")

        with open(path, "wb") as file:
            job = self.promptly(15, self.run_job("-n", 4, program("flood.c"), 250_000, 99, stdout=file))
        self.assertEqual(job.code, 0)
        self.assertEqual(os.path.getsize(path), 100_000_000)
        print(f"\n1e6 lines, 100 MB from 4 ranks: {job.seconds:.2f} s")

    def test_tags(self):
        job = self.run_job("-n", 3, "--tag-output", program("plain.c"))
        self.assertEqual(sorted(job.out.splitlines()), [f"[1,{r}]<stdout>:plain {r}".encode() for r in range(3)])

    def test_output_files(self):
        directory = os.path.join(self.directory(), "a", "b")
        job = self.run_job("-n", 12, "--output-filename", directory, program("lines.c"), 4, 10)
        self.assertEqual((job.out, job.err, job.code), (b"", b"", 0))
        for rank in range(12):
            with open(os.path.join(directory, f"rank.{rank}", "stdout")) as file:
                letters = chr(ord("a") + rank) * 10
                self.assertEqual(file.read(), f"{rank} 0 {letters}\n{rank} 2 {letters}\n{rank} end")
            self.assertTrue(os.path.exists(os.path.join(directory, f"rank.{rank}", "stderr")))

    def test_more_output_files_than_descriptors(self):
        directory = self.directory()
        limited = os.path.join(self.directory(), "limited")
        with open(limited, "w") as script:
            script.write(f'#!/bin/sh\nulimit -n 128\nexec "$TMPI_BIN/tmpirun" "$@"\n')
        os.chmod(limited, 0o755)
        job = self.run_job("-n", 200, "--output-filename", directory, program("lines.c"), 4, 10, tmpirun=limited)
        self.assertEqual(job.code, 0, job.err)
        for rank in range(200):
            with open(os.path.join(directory, f"rank.{rank}", "stdout")) as file:
                self.assertTrue(file.read().endswith(f"{rank} end"))

    @staticmethod
    def cpu_seconds(jobs):
        """Of the processes of tmpirun, so far."""
        ticks = 0
        for job in jobs:
            with open(f"/proc/{job.process.pid}/stat") as file:
                ticks += sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def test_reader_that_comes_late(self):
        """Nothing is lost of what waits anywhere on its way when the node process ends: in tmpirun, which takes no more, and in its channel."""
        jobs = {lines: self.start("-n", 1, program("flood.c"), lines, 99) for lines in range(11000, 13400, 200)}

        def is_full(job):
            return struct.unpack("i", fcntl.ioctl(job.process.stdout, termios.FIONREAD, b"\0" * 4))[0] > 30000

        wait_for(lambda: all(map(is_full, jobs.values())), "output in every pipe")
        time.sleep(1)  # some node processes have ended by now, others cannot yet
        begun = self.cpu_seconds(jobs.values())
        time.sleep(1)
        # A tmpirun that does not sleep takes as much as it gets. There are twelve.
        self.assertLess(self.cpu_seconds(jobs.values()) - begun, 0.5, "of tmpirun, which has nothing to do")
        for lines, job in jobs.items():
            job.finish()
            self.assertEqual((len(job.out), job.err, job.code), (100 * lines, b"", 0))

    def test_reader_that_leaves(self):
        job = self.start("-n", 2, program("flood.c"), 100_000_000, 20)
        job.read_until(b"x\n")
        job.process.stdout.close()
        self.assertEqual(job.process.wait(HANG), 141)
        self.assertEqual(job.process.stderr.read(), b"")
        job.process.stderr.close()
        self.check_nothing_left(job)


class InputTest(LaunchTest):
    def test_input_goes_to_rank_0(self):
        data = os.urandom(1_000_000)
        job = self.run_job("-n", 4, program("copy_input.c"), input=data)
        self.assertEqual(job.out, data)

    def test_no_input(self):
        self.assertEqual(self.run_job("-n", 4, program("copy_input.c")).out, b"")

    def test_input_goes_to_the_rank_that_is_to_have_it(self):
        data = os.urandom(1_000_000)
        for nodes in ((), ("--nodes", 2)):
            job = self.run_job("-n", 4, "-q", *nodes, "--stdin", 3, program("copy_input.c"), "from", 3, input=data)
            self.assertEqual((job.out, job.code), (data, 0), job.err)

    def test_input_goes_to_nobody(self):
        job = self.run_job("-n", 2, "--stdin", "none", program("copy_input.c"), input=b"not read\n")
        self.assertEqual((job.out, job.err, job.code), (b"", b"", 0))

    def test_every_rank_reads_all_input(self):
        data = os.urandom(1_000_000)
        for layout in (("--workers", 1), ("--nodes", 2), ("--nodes", 3, "--map-by", "cyclic")):
            job = self.run_job("-n", 5, "-q", *layout, "--stdin", "all", program("copy_input.c"), "sum", input=data)
            wanted = "".join(f"rank {rank} read {len(data)} bytes, sum {sum(data)}\n" for rank in range(5))
            self.assertEqual((sorted(job.out.decode().splitlines()), job.code), (wanted.splitlines(), 0), job.err)

    def test_prompt(self):
        read_end, write_end = os.pipe()
        job = self.start("-n", 2, program("copy_input.c"), "ask", stdin=read_end)
        self.assertEqual(job.read_until(b"Name? "), b"Name? ")
        os.write(write_end, b"Ada\n")
        job.finish()
        self.assertEqual((job.out, job.code), (b"hello Ada\n", 0))
        os.close(read_end)
        os.close(write_end)


if __name__ == "__main__":
    main()
