"""libtmpi_msgq.so: a client of the message queue interface finds known receives, sends and unexpected messages on communicators with names."""

import subprocess

from ctypes import c_void_p

from message_queues import COMPLETE, MATCHED, PENDING, RECEIVES, SENDS, UNEXPECTED, Debugger, queues_of, standing_still
from observed import LaunchTest, main, program

RANKS = 4
WORLD = [0, 1, 2, 3]
LARGE = 200000 * 8


def facts(operation):
    """status, source or destination, tag (None: any), bytes of the buffer"""
    return (operation.status, operation.desired_local_rank, None if operation.tag_wild else operation.desired_tag, operation.desired_length)


class MessageQueuesTest(LaunchTest):
    def queues(self, *arguments, nodes=1):
        """What a debugger that looks at all node processes sees: queues by the communicator's name, in each process alone."""
        job = self.start("-n", RANKS, *arguments, program("queues.c"), stdin=subprocess.PIPE)
        job.read_until(b"waiting")
        seen = [queues_of(pid) for pid in job.node_pids(nodes)]
        job.finish(input=b"\n")
        self.assertEqual(job.code, 0, job.err)
        names = [name for process in seen for name in process]
        self.assertEqual(len(names), len(set(names)))
        return seen, {name: queues for process in seen for name, queues in process.items()}

    def check_communicators(self, found):
        names = {f"{name} [rank {rank}]" for rank in WORLD for name in ("MPI_COMM_WORLD", "MPI_COMM_SELF", "everyone", ("even", "odd")[rank % 2])}
        self.assertEqual(set(found), names)  # the one that was freed is gone
        for rank in WORLD:
            for name, members in (("MPI_COMM_WORLD", WORLD), ("everyone", WORLD), ("MPI_COMM_SELF", [rank]), (("even", "odd")[rank % 2], [2 + rank % 2, rank % 2])):
                communicator, group, _ = found[f"{name} [rank {rank}]"]
                self.assertEqual((communicator.size, communicator.local_rank, group), (len(members), members.index(rank), members))
        unique = lambda name: found[name][0].unique_id
        self.assertEqual(len({unique(f"everyone [rank {rank}]") for rank in WORLD}), 1)
        self.assertEqual(len({unique(name) for name in ("everyone [rank 0]", "even [rank 0]", "odd [rank 1]", "MPI_COMM_WORLD [rank 0]")}), 4)

    def check_receives(self, found):
        everyone = found["everyone [rank 0]"][2][RECEIVES]
        self.assertEqual([facts(operation) for operation in everyone], [(PENDING, -1, 7, 800), (COMPLETE, 1, 5, 16)])
        self.assertEqual((everyone[1].actual_local_rank, everyone[1].actual_global_rank, everyone[1].actual_tag, everyone[1].actual_length), (1, 1, 5, 16))
        self.assertEqual(everyone[0].text()[:2], ["nonblocking receive", "100 elements of 8 bytes"])
        even = found["even [rank 0]"][2][RECEIVES]
        self.assertEqual([facts(operation) for operation in even], [(PENDING, 0, None if i == 4 else i, 8) for i in range(9)])
        self.assertEqual({operation.desired_global_rank for operation in even}, {2})
        for rank in (1, 2):
            blocking = found[f"everyone [rank {rank}]"][2][RECEIVES]
            self.assertEqual([(*facts(operation), operation.text()[0]) for operation in blocking], [(PENDING, 0, 100, 0, "blocking receive")])

    def check_messages(self, found):
        unexpected = found["everyone [rank 0]"][2][UNEXPECTED]
        self.assertEqual(sorted((operation.status, operation.actual_global_rank, operation.actual_tag, operation.actual_length) for operation in unexpected),
                         [(MATCHED, 1, 11, 8), (MATCHED, 2, 22, 80), (MATCHED, 3, 33, LARGE)])
        self.assertEqual({operation.actual_tag for operation in unexpected if operation.text()[0] == "its data are still with the sender"}, self.with_the_sender)

    def check_nothing_else(self, found):
        known = {("everyone [rank 0]", RECEIVES), ("everyone [rank 0]", UNEXPECTED), ("even [rank 0]", RECEIVES), ("everyone [rank 1]", RECEIVES),
                 ("everyone [rank 2]", RECEIVES), ("everyone [rank 2]", SENDS), ("everyone [rank 3]", SENDS)}
        self.assertEqual({(name, kind) for name, (_, _, queues) in found.items() for kind in range(3) if queues[kind]}, known)

    def test_one_node(self):
        for workers in (1, 2):
            with self.subTest(workers=workers):
                _, found = self.queues("--workers", workers)
                self.with_the_sender = {22, 33}
                self.check_communicators(found)
                self.check_receives(found)
                self.check_messages(found)
                self.check_nothing_else(found)
                send = found["everyone [rank 2]"][2][SENDS]
                self.assertEqual([(*facts(operation), operation.text()[0]) for operation in send], [(PENDING, 0, 22, 80, "nonblocking, synchronous send")])
                send = found["everyone [rank 3]"][2][SENDS]
                self.assertEqual([(*facts(operation), operation.text()[0]) for operation in send], [(PENDING, 0, 33, LARGE, "blocking send")])

    def test_two_nodes(self):
        seen, found = self.queues("--nodes", 2, nodes=2)
        self.assertEqual(sorted(len(process) for process in seen), [8, 8])
        self.with_the_sender = {33}
        self.check_communicators(found)
        self.check_receives(found)
        self.check_messages(found)
        self.check_nothing_else(found)
        send = found["everyone [rank 2]"][2][SENDS]
        self.assertEqual([facts(operation) for operation in send], [(PENDING, 0, 22, 80)])
        send = found["everyone [rank 3]"][2][SENDS]  # a blocking one to another node says only what it waits for
        self.assertEqual([(*facts(operation)[:3], operation.text()[0]) for operation in send], [(PENDING, 0, 33, "blocking send")])

    def test_says_why_there_are_none(self):
        job = self.start("-n", 1, program("token.c"), "wait")
        job.read_until(b"waiting")
        with standing_still(job.node_pid()):
            debugger = Debugger(job.node_pid())
            facts_of_queues = debugger.symbols.pop("tmpi_facts_of_queues")
            has, why = debugger.introduce()
            self.assertFalse(has)
            self.assertIn("no node process of tmpi", why)
            debugger.symbols["tmpi_facts_of_queues"] = facts_of_queues
            debugger.readable = False
            update = debugger.library.mqs_update_communicator_list(c_void_p(debugger.PROCESS))
            self.assertIn(b"cannot be read", debugger.library.mqs_dll_error_string(update))
            debugger.readable = True
            self.assertEqual(len(debugger.queues()), 2)
            debugger.tear_down()
            debugger.close()
        job.destroy()


if __name__ == "__main__":
    main()
