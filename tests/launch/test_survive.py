"""--survive: node processes are killed, and the ranks go on from their last checkpoint, wherever its files are left; hosts come and go in a running job."""

import glob
import os
import random
import re
import shutil
import signal
import subprocess
import time

from harness import HANG, LaunchTest, executable, main, program, stat_field, wait_for

KILLS = int(os.environ.get("TMPI_TEST_KILLS", 4))  # at random moments
RANKS = 6


class SurviveTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.stop = os.path.join(self.directory(), "stop")
        self.folder = os.path.join(self.directory(), "checkpoint")
        self.steps = program("checkpoint.c", "-lm", "-pthread")
        # Each host has memory of its own, where that can be had.
        self.memory = self.directory()
        own = subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL).returncode == 0
        agent = os.path.join(self.directory(), "agent")
        with open(agent, "w") as file:
            file.write("#!/bin/sh\nexport TMPI_TEST_HOST=$1\nshift\n")
            if own:
                file.write(f"mkdir -p {self.memory}/$TMPI_TEST_HOST\n"
                           f'exec unshare --mount sh -c "mount --bind {self.memory}/$TMPI_TEST_HOST /dev/shm && exec sh -c \\"\\$*\\"" sh "$@"\n')
            else:
                file.write('exec sh -c "$*"\n')
        os.chmod(agent, 0o755)
        self.hosts = ("--launch-agent", agent, "--net", "tcp:interface=lo", "--host")

    def begin(self, *options, ranks=RANKS):
        """A program that knows nothing of it and runs until it is told to stop; then it says whether all was right."""
        return self.start("-n", ranks, *options, self.steps, "rounds", self.stop)

    def end(self, job, ranks=RANKS, code=0):
        with open(self.stop, "w"):
            pass
        job.finish()
        self.assertEqual(job.code, code, job.err.decode())
        self.assertEqual(sorted(job.out.decode().splitlines()), [f"rank {rank}: right" for rank in range(ranks)] if code == 0 else [])
        self.check_nothing_left(job)
        os.remove(self.stop)
        self.assertEqual([path for path in glob.glob("/dev/shm/tmpi-*") if path in self.stores], [])

    def save(self, job):
        """It may be that the job cannot be asked just now, since its ranks are about to go on."""
        wait_for(lambda: self.run_job("--job", job.process.pid, "--checkpoint-now").out.startswith(b"written to"), "a checkpoint")

    stores = set()

    def store(self, pid):
        """The folder in memory of a node process."""
        def found():
            for fd in glob.glob(f"/proc/{pid}/fd/*"):
                try:
                    path = os.readlink(fd)
                except OSError:  # closed meanwhile
                    continue
                if path.startswith("/dev/shm/tmpi-"):
                    self.stores.add(path)
                    return path
            return None
        return wait_for(found, "the folder in memory")

    def complete(self, store, parts, after=0):
        """The number of a checkpoint later than `after`, once it is the only one in the parts of these node processes."""
        def found():
            try:
                numbers = [{int(name) for name in os.listdir(os.path.join(store, f"node-{part}"))} for part in parts]
            except OSError:
                return None
            same = numbers[0] if all(each == numbers[0] for each in numbers) and len(numbers[0]) == 1 else {0}
            return max(same) if max(same) > after else None
        return wait_for(found, "a checkpoint in memory")

    def node_processes(self, job, count):
        """Those that ranks are in, not what has started them on another host. They have started."""
        def found():
            pids = [pid for pid, _ in job.survivors() if executable(pid) == "tmpi-node"]
            inner = [pid for pid in pids if not any(int(stat_field(other, 4)) == pid for other in pids)]
            return inner if len(inner) == count else None

        return sorted(wait_for(found, f"{count} node processes"), key=lambda pid: (int(stat_field(pid, 22)), pid))

    def test_in_memory(self):
        """Of three node processes each is lost once with its memory."""
        job = self.begin("--nodes", 3, "--checkpoint", "every=1h", "--survive", 1)
        last = 0
        for lost in (1, 0, 2):
            pids = job.node_pids(3)
            store = self.store(pids[lost])
            self.save(job)
            last = self.complete(store, range(3), last)
            files = {part: set(os.listdir(f"{store}/node-{part}/{last}")) for part in range(3)}
            self.assertEqual({len(each) for each in files.values()}, {4})  # two of its own, two copies
            self.assertEqual(set().union(*files.values()), {f"rank-{rank}" for rank in range(RANKS)})
            self.assertEqual(os.stat(f"{store}/node-0/{last}/rank-0").st_mode & 0o777, 0o600)
            self.assertEqual(os.stat(store).st_mode & 0o777, 0o700)
            shutil.rmtree(f"{store}/node-{lost}")
            os.kill(pids[lost], signal.SIGKILL)
            wait_for(lambda: not set(pids) & {pid for pid, _ in job.survivors()}, "the old node processes to end")
        self.save(job)
        self.complete(self.store(job.node_pids(3)[0]), range(3), last)
        self.end(job)
        said = re.findall(r"tmpirun: node process (\d) on host .* was killed by signal 9 .*; the ranks go on from where they were [\d.]+ seconds ago", job.err.decode())
        self.assertEqual(said, ["1", "0", "2"])

    def test_in_a_directory(self):
        job = self.begin("-q", "--nodes", 2, "--checkpoint", "every=200ms,to=" + self.folder, "--survive", 0)
        for _ in range(2):
            begun = time.time()
            pids = job.node_pids(2)
            wait_for(lambda: os.path.exists(self.folder + "/last/job") and os.stat(self.folder + "/last/job").st_mtime > begun, "a checkpoint")
            os.kill(pids[0], signal.SIGKILL)
            wait_for(lambda: not set(pids) & {pid for pid, _ in job.survivors()}, "the old node processes to end")
        self.end(job)
        self.assertEqual(job.err, b"")

    def lose(self, *pids):
        """The hosts of node processes, with their memory; their names."""
        hosts = []
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
            with open(f"/proc/{pid}/environ", "rb") as file:
                hosts.append(re.search(rb"TMPI_TEST_HOST=(\w+)", file.read()).group(1).decode())
            for left in glob.glob(f"{self.memory}/{hosts[-1]}/*"):
                shutil.rmtree(left)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        return hosts

    def test_hosts(self):
        """A host that is lost is not used again; a spare one takes its place first, then the others its ranks."""
        job = self.begin("-v", *self.hosts, "alpha,beta,gamma", "--spare-hosts", "delta", "--survive", 1)
        lost = set()
        for count, which in ((3, 1), (3, 2), (2, 0)):
            self.save(job)
            pids = self.node_processes(job, count)
            lost.update(self.lose(pids[which]))
            wait_for(lambda: not set(pids) & {pid for pid, _ in job.survivors()}, "the old node processes to end")
        self.save(job)
        self.end(job)
        self.assertEqual([path for path in glob.glob(f"{self.memory}/*/tmpi-*") if path.split("/")[-2] not in lost], [])
        self.assertIn("--survive 1: ranks are on 1 node process, so that there is no copy of them elsewhere", job.err.decode())
        runs = re.findall(r"tmpirun: (?:node \d|the node process)? ?on host (\w+): \d+ ranks on|node \d on host (\w+): \d+ ranks on", job.err.decode())
        hosts = [a or b for a, b in runs]
        self.assertEqual([set(hosts[:3]), set(hosts[3:6]), set(hosts[6:8])], [{"alpha", "beta", "gamma"}, *self.later(job)])

    def test_two_at_once(self):
        job = self.begin(*self.hosts, "alpha,beta,gamma,delta", "--survive", 2)
        self.save(job)
        pids = self.node_processes(job, 4)
        self.lose(*pids[1:3])
        wait_for(lambda: not set(pids) & {pid for pid, _ in job.survivors()}, "the old node processes to end")
        self.save(job)
        self.end(job)

    def test_several_programs_and_one_timeout(self):
        command = (self.steps, "rounds", self.stop)
        job = self.start("--timeout", 10, "--nodes", 2, "--survive", 1, "-n", 2, *command, ":", "-n", 3, program("checkpoint.c", "-lm", "-pthread", "-O2"),
                         *command[1:])
        self.save(job)
        os.kill(job.node_pids(2)[1], signal.SIGKILL)
        job.finish()
        self.assertEqual(job.code, 124, job.err)
        self.assertIn(b"the job was ended after its --timeout of 10 seconds", job.err)
        self.assertLess(job.seconds, 60)

    def later(self, job):
        """Which hosts are left depends on which node process the system has started first."""
        lost = re.findall(r"node process \d on host (\w+) \(pid", job.err.decode())
        first = {"alpha", "beta", "gamma", "delta"} - {lost[0]}
        return [first, first - {lost[1]}]

    def test_none_that_could_be_gone_on_with(self):
        job = self.begin("--nodes", 2, "--checkpoint", "every=1h", "--survive", 1)
        pids = job.node_pids(2)
        job.ask_until(b"rounds")
        os.kill(pids[1], signal.SIGKILL)
        self.end(job, code=137)
        self.assertIn("there is no checkpoint yet that the ranks could go on from", job.err.decode())
        # Of what was kept not enough is left.
        job = self.begin("--nodes", 2, "--checkpoint", "every=1h", "--survive", 0)
        pids = job.node_pids(2)
        store = self.store(pids[0])
        self.save(job)
        shutil.rmtree(f"{store}/node-1")
        os.kill(pids[1], signal.SIGKILL)
        self.end(job, code=1)
        self.assertIn("of no checkpoint in memory are the files of all ranks left; more copies are kept with --survive N", job.err.decode())

    def test_not_for_ever(self):
        job = self.begin("--nodes", 2, "--survive", 1)
        job.node_pids(2)
        job.ask_until(b"rounds")
        self.save(job)
        self.store(job.node_pids(2)[0])
        for _ in range(4):
            pids = job.node_pids(2)
            wait_for(lambda: job.process.poll() is not None or len(glob.glob(f"/proc/{pids[1]}/task/*")) > 1, "the node process")
            os.kill(pids[1], signal.SIGKILL)
            wait_for(lambda: not set(pids) & {pid for pid, _ in job.survivors()}, "the old node processes to end")
        self.end(job, code=137)
        self.assertIn("that was the 3. time since the same checkpoint, and the ranks do not go on once more", job.err.decode())

    def test_asked_from_outside(self):
        job = self.begin("-v", *self.hosts, "alpha", "--checkpoint", "signal=USR2", "--survive", 1)
        ask = lambda *words: self.run_job("--job", job.process.pid, *words)
        job.ask_until(b"rounds")
        for option, where, sentence in (("--add-host", "beta,gamma", b"the ranks go on on 3 hosts"), ("--remove-host", "alpha", b"the ranks go on on 2 hosts"),
                                        ("--add-host", "alpha:2", b"the ranks go on on 3 hosts")):
            answer = wait_for(lambda: (each := ask(option, where)) and b"ask again" not in each.err and each, "the job to have started")
            self.assertEqual((answer.code, answer.out.strip()), (0, sentence), answer.err)
            job.ask_until(b"rounds")
        self.check_failure(ask("--remove-host", "alpha,beta"), 1, "keeps copies of its ranks on 1 other host: only so many")
        self.check_failure(ask("--remove-host", "delta"), 1, "does not run on host delta")
        self.check_failure(ask("--add-host", "beta"), 1, "runs on host beta already")
        self.check_failure(ask("--add-host", "-x"), 2, "is no name of a host")
        self.save(job)
        files = glob.glob(f"{self.memory}/beta/tmpi-*/node-*/*/rank-*") or glob.glob("/dev/shm/tmpi-*/node-*/*/rank-*")
        self.assertGreater(len(files), 0)
        job.process.send_signal(signal.SIGUSR2)
        wait_for(lambda: not os.path.exists(files[0]), "the next checkpoint")
        self.end(job)
        job = self.begin("--migratable")
        job.ask_until(b"rounds")
        self.check_failure(ask("--checkpoint-now"), 1, "was not started with --checkpoint or --survive")
        self.end(job)

    def test_at_random_moments(self):
        choose = random.Random(time.time_ns())
        job = self.begin("--nodes", 3, "--checkpoint", "every=100ms", "--survive", 1)
        for _ in range(KILLS):
            pids = job.node_pids(3)
            self.save(job)
            self.store(pids[0])
            time.sleep(choose.random() * 0.3)
            os.kill(choose.choice(pids), signal.SIGKILL)
            wait_for(lambda: not set(pids) & {pid for pid, _ in job.survivors()}, "the old node processes to end")
            if job.process.poll() is not None:
                break
        self.end(job)
        self.assertEqual(job.err.count(b"the ranks go on from where they were"), KILLS)

    def test_options(self):
        for options, sentence in ((("--checkpoint", "every=1s"), "which only --survive N makes use of"), (("--survive", "x"), "expected a whole number"),
                                  (("--spare-hosts", "a"), "add --survive N"), (("--checkpoint", "signal=KILL"), "expected every=TIME")):
            self.check_failure(self.run_job(*options, "-n", 1, self.steps, "rounds", self.stop), 2, sentence)


if __name__ == "__main__":
    main()
