"""Commands in front of the program, and programs that start others: --wrapper, env, nice and the like, shells and scripts."""

import os
import signal

from harness import LaunchTest, main, program


class WrappedTest(LaunchTest):
    def script(self, name, *lines):
        path = os.path.join(self.directory(), name)
        with open(path, "w") as file:
            file.write("\n".join(("#!/bin/sh",) + lines) + "\n")
        os.chmod(path, 0o755)
        return path

    def logger(self):
        """A wrapper that notes what it starts, and where it does."""
        log = os.path.join(self.directory(), "log")
        return self.script("logger", f'echo "$1|$2" >> {log}', "shift", 'exec "$@"'), log

    def test_wrapper_starts_node_processes(self):
        wrapper, log = self.logger()
        job = self.run_job("-n", 4, "--nodes", 2, "--wrapper", f"{wrapper} 'a  b'", program("trivial.c"))
        self.assertEqual((job.out, job.err, job.code), (b"4 of 4\n", b"", 0))
        with open(log) as file:
            lines = file.read().splitlines()
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertRegex(line, r"^a  b\|/.*/tmpi-node$")

    def test_wrapper_on_other_hosts(self):
        wrapper, log = self.logger()
        agent = self.script("agent", 'shift', 'exec sh -c "$*"')
        job = self.run_job("-n", 2, "--host", "alpha,beta", "--launch-agent", agent, "--net", "tcp:interface=lo", "--wrapper",
                           f"{wrapper} remote", program("trivial.c"))
        self.assertEqual((job.out, job.code), (b"2 of 2\n", 0), job.err)
        with open(log) as file:
            self.assertEqual(file.read(), "remote|tmpi-node\n" * 2)

    def test_a_program_of_several_names_is_run_by_the_one_that_was_given(self):
        log = os.path.join(self.directory(), "names")
        many = self.script("many", f'echo "$(basename "$0")" >> {log}', 'exec "$@"')
        one = os.path.join(self.directory(), "one")
        os.symlink(many, one)
        self.assertEqual(self.run_job("-n", 2, "--wrapper", one, program("trivial.c")).out, b"2 of 2\n")
        path = {"PATH": os.path.dirname(one) + ":" + os.environ["PATH"]}
        self.assertEqual(self.run_job("-n", 2, "--wrapper", "one", program("trivial.c"), env=path).out, b"2 of 2\n")
        with open(log) as file:
            self.assertEqual(file.read(), "one\none\n")
        self.assertEqual(self.run_job("-n", 2, "linux64", program("trivial.c")).out, b"2 of 2\n")

    def test_wrapper_that_is_missing(self):
        job = self.run_job("--wrapper", "nosuchwrapper -x", program("trivial.c"))
        self.check_failure(job, 127, "--wrapper nosuchwrapper -x: cannot find the program 'nosuchwrapper'")

    def test_wrapper_that_stays(self):
        """One that starts the node process as a child, as debuggers and profilers do."""
        wrapper = self.script("parent", '"$@"', "exit $?")
        self.assertEqual(self.run_job("-n", 2, "--wrapper", wrapper, program("trivial.c")).out, b"2 of 2\n")
        self.assertEqual(self.run_job("-n", 2, "--wrapper", wrapper, program("misbehave.c"), "exit", 1, 7).code, 7)
        for killed in signal.SIGKILL, signal.SIGTERM:
            job = self.start("-n", 2, "--wrapper", wrapper, program("chatter.c"))
            job.read_until(b" talks\n", 2)
            job.process.send_signal(killed)
            job.finish()
            self.check_nothing_left(job)

    def test_commands_in_front(self):
        job = self.run_job("-n", 2, "env", "A=one", "B=x y", program("show.c"), "A", "B", "TMPI_COMM_WORLD_SIZE")
        self.assertEqual(job.out.count(b" A=one B=x y TMPI_COMM_WORLD_SIZE=2 "), 2, job.out + job.err)
        job = self.run_job("-n", 2, "env", "-u", "GONE", "nice", "-n", 1, program("show.c"), "GONE", env={"GONE": "no"})
        self.assertEqual(job.out.count(b" GONE=(unset) "), 2, job.out + job.err)
        core = min(os.sched_getaffinity(0))
        job = self.run_job("-v", "-n", 2, "taskset", "-c", core, program("trivial.c"))
        self.assertEqual(job.out, b"2 of 2\n", job.err)
        self.assertIn(b"2 ranks on 1 workers", job.err)
        self.assertEqual(self.run_job("-n", 2, "env", "A=one", "uname").out, b"Linux\n" * 2)

    def test_several_programs(self):
        show = program("show.c")
        job = self.run_job("-n", 1, "env", "A=one", show, "A", ":", "-n", 1, "env", "A=two", show, "A")
        self.assertIn(b"0/2", job.out)
        self.assertEqual((job.out.count(b"A=one"), job.out.count(b"A=two")), (1, 1), job.out)
        job = self.run_job("-n", 1, "nice", show, ":", "-n", 1, show)
        self.check_failure(job, 2, "'nice' stands in front of", "Put it in front of each of them, or give it as --wrapper")
        self.assertEqual(self.run_job("-n", 1, "nice", show, ":", "-n", 1, "nice", show).code, 0)

    def test_which_word_is_the_program(self):
        self.check_failure(self.run_job("-n", 2, "perf", "stat", "uname"), 2, "cannot tell which of the words behind 'perf'", "--wrapper")
        self.check_failure(self.run_job("-n", 2, "valgrind", program("trivial.c")), 2, "valgrind PROGRAM")

    def test_program_that_a_rank_starts(self):
        trivial = program("trivial.c")
        text = f"a rank has started {trivial}, a program of tmpi, as a process of its own, in which it would be rank 0 of 1"
        self.check_failure(self.run_job("-n", 2, "sh", "-c", trivial), 126, text, "Give tmpirun", "--wrapper")
        self.check_failure(self.run_job("-n", 2, "sh", self.script("run.sh", trivial, "echo went on")), 126, text)
        job = self.run_job("-n", 1, "sh", "-c", trivial)
        self.assertEqual((job.out, job.err, job.code), (b"1 of 1\n", b"", 0))
        job = self.run_job("-n", 1, "sh", "-c", f"unset TMPI_COMM_WORLD_SIZE; {trivial}", ":", "-n", 1, "true")
        self.assertEqual((job.out, job.code), (b"1 of 1\n", 0), job.err)

    def test_where_there_is_no_launcher_to_tell(self):
        """A node process whose tmpirun is on another machine."""
        end = os.path.join(self.directory(), "end")
        os.mkfifo(end)
        agent = self.script("agent", "shift", f'setsid -f sh -c "$*; echo $? > {end}"', f"exit $(cat {end})")
        job = self.run_job("-n", 2, "--host", "alpha", "--launch-agent", agent, "sh", "-c", program("trivial.c"))
        self.assertNotEqual(job.code, 0)
        self.assertIn(b"as a process of its own", job.err)


if __name__ == "__main__":
    main()
