"""Two jobs of one user on one machine: how they find each other, what they do together, and what becomes of one when the other ends."""

import os
import signal
import socket
import struct
import subprocess
import time
import unittest

from harness import LaunchTest, main, program, wait_for

NODES = ("--nodes", 2, "--net", "tcp")
HELLO, REFUSED = 128, 132


class OtherJobs(LaunchTest):
    def setUp(self):
        self.where = self.directory()
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.where)

    def job(self, ranks, *arguments, **options):
        return self.start("-n", ranks, "-q", *arguments[:-1], program("jobs.c"), *arguments[-1], env=self.env, **options)

    def pair(self, server, client, code=0):
        """Both end well, and leave nothing behind."""
        for job in (client, server):
            self.assertEqual(job.finish().code, code, job.err)
        for job in (client, server):
            self.check_nothing_left(job)
        self.assertEqual(os.listdir(os.path.join(self.where, "tmpi")), [])

    def test_work_together(self):
        server, client = self.job(2, ("serve", "work", 2)), self.job(3, ("connect", "work", 2))
        self.pair(server, client)
        self.assertEqual((server.out, client.out, server.err, client.err), (b"served\n", b"connected\n", b"", b""))

    def test_several_node_processes(self):
        for ours, theirs in ((NODES, NODES), (("--nodes", 3, "--net", "sim"), ()), ((), ("--nodes", 2, "--eager-limit", "dynamic"))):
            self.pair(self.job(3, *ours, ("serve", "nodes", 1)), self.job(4, *theirs, ("connect", "nodes", 1)))

    def test_other_algorithms(self):
        """--coll is a job's own: on communicators with ranks of two jobs both take the same algorithm."""
        for ours, theirs in (((*NODES, "--coll", "ALLREDUCE=ring,ALLTOALL=linear,BARRIER=dissemination"), ()), (("--coll", "ALLREDUCE=recursive_doubling"), NODES)):
            self.pair(self.job(3, *ours, ("serve", "coll", 1)), self.job(4, *theirs, ("connect", "coll", 1)))

    def test_other_eager_limits(self):
        self.pair(self.job(1, "--eager-limit", 8 << 20, ("serve", "eager", 3)), self.job(1, "--eager-limit", 4096, ("connect", "eager", 3)))

    def test_several_clients(self):
        server = self.job(2, ("serve", "many", 4))
        clients = [self.job(1, ("connect", "many", 2)) for _ in range(2)]
        self.assertEqual([client.finish().code for client in clients], [0, 0])
        self.assertEqual(server.finish().code, 0, server.err)

    def test_three_jobs(self):
        hub = self.job(1, ("hub", "three"))
        spokes = [self.job(1, ("spoke", "three")) for _ in range(2)]
        for job in (*spokes, hub):
            self.assertEqual(job.finish().code, 0, job.err)

    def test_both_call(self):
        for _ in range(3):
            self.pair(self.job(2, ("both", "one", "two")), self.job(2, ("both", "two", "one")))

    def test_join(self):
        path = os.path.join(self.where, "socket")
        server, client = self.job(1, ("join", "accept", path)), self.job(1, ("join", "connect", path))
        self.assertEqual((client.finish().out, server.finish().out), (b"joined\n", b"joined\n"), client.err + server.err)

    def test_the_other_one_aborts(self):
        for nodes in ((), NODES):
            server, client = self.job(2, *nodes, ("serve-one", "abort")), self.job(2, ("abort", "abort"))
            self.assertEqual(client.finish().code, 42, client.err)
            self.check_failure(server.finish(), 1, "with which this one is connected, has ended: rank ", "called MPI_Abort with code 42")

    def test_the_other_one_is_killed(self):
        for whom in ("tmpirun", "node"):
            server, client = self.job(1, ("serve-one", "kill")), self.job(1, ("hold", "kill"))
            server.read_until(b"accepted\n")
            os.kill(client.process.pid if whom == "tmpirun" else client.node_pid(), signal.SIGKILL)
            client.finish()
            self.check_failure(server.finish(), 1, "with which this one is connected, has ended")

    def test_the_other_one_leaves(self):
        """What its ranks were to send never comes: a deadlock, which was none while it lived."""
        for nodes in ((), NODES):
            server, client = self.job(2, *nodes, ("serve-one", "leave")), self.job(1, ("leave", "leave"))
            self.assertEqual(client.finish().code, 0, client.err)
            self.assertEqual(server.finish().code, 125, server.err)
            self.assertIn(b"blocked in MPI_Recv from rank 0 of ", server.err)

    def test_who_has_disconnected_goes_on(self):
        server = self.job(1, ("let-go", "go"), stdin=subprocess.PIPE)
        client = self.job(1, ("go", "go"), stdin=subprocess.PIPE)
        server.read_until(b"disconnected\n")
        self.assertEqual(client.finish(input=b"x").code, 42, client.err)
        self.assertEqual(server.finish(input=b"x").code, 0, server.err)

    def test_what_was_sent_is_received_late(self):
        """The sender's job is over when the other one looks; a rank that reads its input meanwhile holds nobody up."""
        for nodes in ((), NODES):
            late = self.job(1, ("late", "late"), stdin=subprocess.PIPE)
            sender = self.job(2, *nodes, ("send", "late"))
            self.assertEqual(sender.finish().code, 0, sender.err)
            late.read_until(b"accepted\n")
            self.assertEqual((late.finish(input=b"x").out, late.code), (b"received\n", 0), late.err)

    def test_a_wait_within_the_job_is_a_deadlock(self):
        server, client = self.job(1, ("alone", "self")), self.job(1, ("hold", "self"))
        self.assertEqual(server.finish().code, 125, server.err)
        self.check_failure(client.finish(), 1, "with which this one is connected, has ended: deadlock")

    def look(self, name):
        job = self.run_job("-n", 1, "-q", program("jobs.c"), "look", name, env=self.env)
        self.assertEqual(job.code, 0, job.err)
        return job.out.decode()

    def test_names(self):
        self.assertRegex(self.look("nobody"), '^name .*nobody in this job has published the name "nobody", nor in another job of yours')
        holders = []
        for arguments in (("publish", "one"), ("publish", "two"), ("publish", "two"), ("publish", "inside", "job"), ("narrow", "narrow")):
            holders.append(self.job(1, arguments, stdin=subprocess.PIPE))
            holders[-1].read_until(b"published\n")
        self.assertRegex(self.look("one"), "^port .*nobody has come to the other end of the port .* within the timeout")
        self.assertRegex(self.look("two"), '^name .*"two" is published by several jobs of yours: .*jobs.* and ')
        self.assertRegex(self.look("inside"), "^name ")
        self.assertRegex(self.look("narrow"), "^port .*opened for ranks of its own job alone")
        for holder in holders:
            self.assertEqual(holder.finish(input=b"x").code, 0, holder.err)
        self.assertRegex(self.look("one"), "^name ")

    def stopped(self, role):
        """A job with a port, whose tmpirun is stopped, and one that has been connected with it."""
        holder = self.job(1, (role, "stop"), stdin=subprocess.PIPE)
        holder.read_until(b"published\n")
        seconds = ("0.3",) if role == "slow" else ()
        patient = self.job(1, ("patient", "stop", *seconds), stdin=subprocess.PIPE)
        patient.read_until(b"within the timeout\n")
        if role == "slow":
            holder.process.stdin.write(b"x")
            holder.process.stdin.flush()
            time.sleep(0.2)  # it accepts, most likely
        os.kill(holder.process.pid, signal.SIGSTOP)
        return holder, patient

    def stopped_visitor(self, host, name):
        """A job that connects with HOST, which accepts from now on; its tmpirun is stopped."""
        visitor = self.job(1, ("visit", name))
        visitor.ask_until(b"MPI_Comm_connect")
        time.sleep(0.3)  # its call has come to the other tmpirun, most likely
        os.kill(visitor.process.pid, signal.SIGSTOP)
        host.process.stdin.write(b"x")
        host.process.stdin.flush()
        return visitor

    def test_a_stopped_tmpirun(self):
        """Nobody waits for it without an end, and a timeout is kept; who accepts and has been paired with its rank takes the next one."""
        host = self.job(1, ("slow", "next"), stdin=subprocess.PIPE)
        host.read_until(b"published\n")
        first = self.stopped_visitor(host, "next")
        holder, patient = self.stopped("publish")
        second = self.job(1, ("visit", "next"))
        self.assertRegex(self.look("stop"), "^port .*within the timeout")
        self.assertRegex(patient.finish(input=b"x").out.decode(), "port .* has not answered within 10 seconds; is its tmpirun stopped")
        os.kill(holder.process.pid, signal.SIGCONT)
        self.assertRegex(self.look("stop"), "^port .*within the timeout")
        self.assertEqual(holder.finish(input=b"x").code, 0, holder.err)
        self.assertEqual((second.finish().code, host.finish().code), (0, 0), second.err + host.err)
        os.kill(first.process.pid, signal.SIGCONT)
        self.assertIn(b"MPI_ERR_PORT", first.finish().err)

    def test_who_has_gone_is_not_accepted(self):
        """A connection that has not been waited for is none: the next one is accepted."""
        holder, patient = self.stopped("slow")
        self.assertRegex(patient.finish(input=b"x").out.decode(), "port .*within the timeout")
        os.kill(holder.process.pid, signal.SIGCONT)
        visitor = self.job(1, ("visit", "stop"))
        self.assertEqual((visitor.finish().code, holder.finish().code), (0, 0), visitor.err + holder.err)

    def test_a_timeout_beside_a_stopped_caller(self):
        """Who connects is paired, but its tmpirun does not say that it still wants that: MPI_Comm_accept keeps its timeout."""
        holder = self.job(1, ("brisk", "brisk"), stdin=subprocess.PIPE)
        holder.read_until(b"published\n")
        visitor = self.stopped_visitor(holder, "brisk")
        holder.read_until(b"within the timeout")
        os.kill(visitor.process.pid, signal.SIGCONT)
        self.assertEqual(holder.finish(input=b"x").code, 0, holder.err)
        self.assertEqual(visitor.finish().code, 0, visitor.err)

    def test_a_library_that_connects(self):
        """Whether a library will connect nobody knows before: the user says so. The advice is about the job that lacks it."""
        loader, library = program("loads.c", "-ldl"), program("jobs.c", "-shared", "-fPIC", "-Dmain=run")
        for options in ((), ("--other-jobs",)):
            server = self.start("-n", 1, "-q", *options, loader, library, "serve-one" if not options else "slow", "lib", env=self.env,
                                stdin=subprocess.PIPE)
            if not options:
                said = wait_for(lambda: next(filter(lambda text: text.startswith("port "), [self.look("lib")]), None), "the name")
                self.assertRegex(said, "^port .*no connection with the job .*loads.*: it has a program that does not refer to .*--other-jobs")
                server.process.kill()
                server.finish()
                continue
            visitor = self.start("-n", 1, "-q", *options, loader, library, "visit", "lib", env=self.env)
            self.assertEqual(server.finish(input=b"x").code, 0, server.err)
            self.assertEqual(visitor.finish().code, 0, visitor.err)

    def test_the_advice_is_for_this_job(self):
        holder = self.job(1, ("publish", "one"), stdin=subprocess.PIPE)
        holder.read_until(b"published\n")
        caller = self.run_job("-n", 1, "-q", program("loads.c", "-ldl"), program("jobs.c", "-shared", "-fPIC", "-Dmain=run"), "look", "one",
                              env=self.env)
        self.assertRegex(caller.out.decode(), "^port .*no connection with the job .*jobs.*: this job has a program that does not refer to .*--other-jobs")
        self.assertEqual(holder.finish(input=b"x").code, 0, holder.err)

    def test_what_a_dead_job_leaves(self):
        holder = self.job(1, ("publish", "dead"), stdin=subprocess.PIPE)
        holder.read_until(b"published\n")
        holder.process.kill()
        holder.finish()
        self.assertEqual(len(os.listdir(os.path.join(self.where, "tmpi"))), 4)  # two sockets, a port, a name
        self.assertRegex(self.look("dead"), "^name ")
        self.assertEqual(os.listdir(os.path.join(self.where, "tmpi")), [])

    def test_directory_of_others(self):
        """What others could write to is not trusted; ports and names within the job work all the same."""
        os.mkdir(os.path.join(self.where, "tmpi"))
        os.chmod(os.path.join(self.where, "tmpi"), 0o755)
        self.assertRegex(self.look("one"), r"^name .*belongs to .* mode 755\); it must be yours")
        holder = self.start("-n", 1, program("jobs.c"), "publish", "one", env=self.env)
        self.assertEqual(holder.finish().code, 0, holder.err)
        self.assertRegex(holder.err.decode(), "warning: ports are for ranks of this job alone: the directory .*/tmpi, .* XDG_RUNTIME_DIR or TMPDIR")
        os.rmdir(os.path.join(self.where, "tmpi"))
        os.symlink(self.directory(), os.path.join(self.where, "tmpi"))
        self.assertRegex(self.look("one"), "^name .*cannot be opened")

    def knock(self, *frames):
        """The answer to bytes that come to the only job's socket."""
        [name] = [name for name in os.listdir(os.path.join(self.where, "tmpi")) if name.endswith(".sock")]
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(os.path.join(self.where, "tmpi", name))
            caller.settimeout(60)
            caller.sendall(b"".join(frames))
            caller.shutdown(socket.SHUT_WR)
            answer = b""
            while piece := caller.recv(4096):
                answer += piece
            return answer

    def test_strangers(self):
        """Another version, nonsense, silence: the job goes on."""
        def frame(kind, payload):
            return struct.pack("<IHHi", len(payload), kind, 0, -1) + payload
        holder = self.job(1, ("publish", "one"), stdin=subprocess.PIPE)
        holder.read_until(b"published\n")
        hello = struct.pack("<III", 0x49504D54, 7, 0)
        self.assertIn(b"the two jobs run different versions of tmpi", self.knock(frame(HELLO, hello)))
        self.assertEqual(struct.unpack_from("<IH", self.knock(frame(HELLO, b"what?")))[1], REFUSED)
        self.assertIn(b"not said who it is", self.knock(frame(133, b"")))
        self.knock(b"\xff" * 64)
        self.knock()
        self.assertRegex(self.look("one"), "^port ")
        self.assertEqual(holder.finish(input=b"x").code, 0, holder.err)


if __name__ == "__main__":
    main()
