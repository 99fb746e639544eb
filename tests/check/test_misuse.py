"""Each misuse of programs/misuse.c ends the job with one message that has rank, call, place and what is wrong; leaks are listed at the end."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "launch"))
from harness import BIN, LaunchTest  # noqa: E402

SOURCE = os.path.join(HERE, "programs", "misuse.c")
COMM, TYPE, REQUEST, BUFFER, OTHER, NOT_SAME = 5, 3, 7, 1, 16, 40  # error classes = exit codes
with open(SOURCE, encoding="utf-8") as text:
    LINES = {mark: number for number, line in enumerate(text, 1) for mark in re.findall(r"// @(\w+)", line)}


def at(mark):
    return f"misuse.c:{LINES[mark]}"


class MisuseTest(LaunchTest):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="tmpi-check-")
        cls.program = os.path.join(cls.scratch.name, "misuse")
        subprocess.run([os.path.join(BIN, "tmpicc"), "-g", "-O1", "-o", cls.program, SOURCE], check=True, timeout=300)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def run_case(self, case, *arguments, options=()):
        job = self.run_job("-n", 4, "--check", "--timeout", 120, *options, self.program, case, *arguments)
        job.text = job.err.decode()
        return job

    def misuse(self, case, code, pattern, options=()):
        """`pattern` is the whole message after the host; it comes once, and nothing else does."""
        for order in (("--workers", 1), ("--workers", 2), ("--workers", 1, "--sched", "random:3")):
            with self.subTest(order=order):
                job = self.run_case(case, options=(*options, *order))
                self.assertEqual(job.code, code, job.text)
                self.assertRegex(job.text, r"^tmpirun: rank \d on \S+: " + pattern + r"\n$")
        return job

    # Handles.
    def test_coming_communicator(self):
        self.misuse("coming_comm", COMM, rf"MPI_Barrier at {at('coming_comm')}: the communicator is being made by MPI_Comm_idup at .*")

    def test_freed_communicator(self):
        job = self.misuse("freed_comm", COMM, rf"MPI_Barrier at {at('freed_comm')}: the communicator was freed by MPI_Comm_free at "
                          rf"{at('comm_free')} \(made by MPI_Comm_dup at {at('dup')}\)\. .*")
        self.assertIn("rank 1 on", job.text)

    def test_freed_type(self):
        self.misuse("freed_type", TYPE, rf"MPI_Bcast at {at('freed_type')}: the datatype was freed by MPI_Type_free at "
                    rf"{at('type_free')} \(made by MPI_Type_contiguous at {at('type_made')}\)\. .*")

    def test_completed_request(self):
        self.misuse("completed_request", REQUEST, rf"MPI_Waitall at {at('completed')}: request 1 of the array was completed by "
                    rf"MPI_Wait at {at('wait')} \(made by MPI_Irecv at {at('irecv')}\)\. .*")

    def test_foreign(self):
        self.misuse("foreign", COMM, rf"MPI_Send at {at('foreign')}: the communicator belongs to rank 0\. .*")

    def test_garbage(self):
        self.misuse("garbage", REQUEST, rf"MPI_Wait at {at('garbage')}: the request is 0x5555555555555555, which was never made: .*")

    # Buffers.
    def overlap(self, case, call, sentence):
        self.misuse(case, BUFFER, rf"{call}: {sentence}( \(8 bytes from 0x[0-9a-f]+ on\))?\. Complete that operation first .*")

    def test_receive_over_receive(self):
        self.overlap("two_receives", f"MPI_Irecv at {at('second_receive')}",
                     f"receives into memory into which MPI_Irecv at {at('first_receive')} still receives")

    def test_send_from_pending_receive(self):
        self.overlap("send_from_receive", f"MPI_Send at {at('send_from_receive')}",
                     f"sends from memory into which MPI_Irecv at {at('pending_receive')} still receives")

    def test_receive_into_pending_send_of_a_column(self):
        self.overlap("receive_into_send", f"MPI_Recv at {at('receive_into_send')}",
                     f"receives into memory from which MPI_Isend at {at('pending_send')} still sends")

    def test_persistent(self):
        self.overlap("persistent", f"MPI_Startall at {at('startall')}",
                     f"receives into memory into which MPI_Recv_init at {at('persistent_first')} still receives")

    def test_nonblocking_collective(self):
        self.overlap("reduction", f"MPI_Bcast at {at('bcast_on_reduction')}",
                     f"(receives into|sends from) memory into which MPI_Iallreduce at {at('iallreduce')} still receives")

    def test_neighbours(self):
        self.overlap("pending_neighbours", f"MPI_Bcast at {at('bcast_on_neighbours')}",
                     f"(receives into|sends from) memory into which MPI_Ineighbor_alltoall at {at('pending_neighbours')} still receives")

    # Collectives: which of two ranks comes second is open.
    def mismatch(self, case, calls, number, comm, sentence, options=()):
        call = "(" + "|".join(f"{name} at {at(mark)}" for name, mark in calls) + ")"
        self.misuse(case, NOT_SAME, rf"{call}: does not match {call} of rank \d: both are collective call {number} of their rank on "
                    rf"{comm}\. {sentence}", options)

    def test_other_function(self):
        self.mismatch("other_function", [("MPI_Allreduce", "allreduce"), ("MPI_Barrier", "barrier")], 2, "MPI_COMM_WORLD",
                      "All members of a communicator must make the same collective calls in the same order: .*")

    def test_other_server(self):
        self.mismatch("other_server", [("MPI_Comm_accept", "other_server")], 1, "MPI_COMM_WORLD", r"The root is (1 here and 0|0 here and 1) there")

    def test_other_root(self):
        self.mismatch("other_root", [("MPI_Bcast", "other_root")], 1, "MPI_COMM_WORLD", r"The root is (1 here and 0|0 here and 1) there")

    def test_other_operator(self):
        self.mismatch("other_op", [("MPI_Allreduce", "other_op")], 1, f"the communicator made by MPI_Comm_dup at {at('dup')}",
                      r"The operator is (MPI_MAX here and MPI_SUM|MPI_SUM here and MPI_MAX) there")

    def test_other_count(self):
        self.mismatch("other_count", [("MPI_Ireduce", "other_count")], 1, "MPI_COMM_WORLD", r"The count is (3 here and 2|2 here and 3) there")

    def test_other_type(self):
        self.mismatch("other_type", [("MPI_Bcast", "other_type")], 1, "MPI_COMM_WORLD",
                      r"The datatype is (MPI_INT here and MPI_FLOAT|MPI_FLOAT here and MPI_INT) there")

    def test_other_block(self):
        self.mismatch("other_block", [("MPI_Gather", "other_block")], 1, "MPI_COMM_WORLD",
                      r"The data is (12 bytes here and 8|8 bytes here and 12) there: count or datatype differ")

    # The two sides of one call.
    def own(self, case, function, sent, expected):
        self.misuse(case, NOT_SAME, rf"{function} at {at(case)}: the rank itself is among the members, and sends {sent} to itself but "
                    rf"receives {expected} from itself: .*")

    def test_own_chunk(self):
        self.own("own_chunk", "MPI_Allgather", "8 bytes of MPI_INT", "12 bytes of MPI_INT")
        self.own("own_type", "MPI_Alltoall", "4 bytes of MPI_INT", "4 bytes of MPI_FLOAT")
        self.own("own_counts", "MPI_Iallgatherv", "8 bytes of MPI_DOUBLE", "16 bytes of MPI_DOUBLE")
        self.own("own_root", "MPI_Gather", "8 bytes of MPI_INT", "12 bytes of MPI_INT")

    def aliased(self, case, function, size):
        self.misuse(case, BUFFER, rf"{function} at {at(case)}: receives into memory from which the same call sends "
                    rf"\({size} bytes from 0x[0-9a-f]+ on\)\. Use another buffer, .*")

    def test_aliased(self):
        self.aliased("aliased", "MPI_Allgather", 16)
        self.aliased("aliased_chunk", "MPI_Alltoallv", 8)
        self.aliased("aliased_sum", "MPI_Allreduce_init", 8)
        self.aliased("aliased_neighbours", "MPI_Neighbor_alltoall", 8)
        self.aliased("aliased_neighbours_v", "MPI_Ineighbor_allgatherv", 8)

    def test_other_creation(self):
        self.mismatch("other_creation", [("MPI_Comm_split", "split"), ("MPI_Comm_dup", "dup_instead")], 1, "MPI_COMM_WORLD", "All members .*")

    # Windows and files have orders of their own.
    def test_windows(self):
        made = f"the window made by MPI_Win_create at {at('win_made')}"
        self.mismatch("other_end_of_window", [("MPI_Win_free", "win_free"), ("MPI_Win_fence", "fence")], 2, made,
                      "All members of a window must make the same collective calls in the same order: .*")
        self.mismatch("other_assertion", [("MPI_Win_fence", "other_assertion")], 2, made,
                      "The assertion MPI_MODE_NOSUCCEED is (given here and not given|not given here and given) there")
        self.mismatch("other_window_size", [("MPI_Win_create", "win_made")], 1, "MPI_COMM_WORLD",
                      "The size, of which the hint same_size says that it is the same, is (256 here and 512|512 here and 256) there")
        self.mismatch("other_unit", [("MPI_Win_allocate", "other_unit")], 1, "MPI_COMM_WORLD",
                      "The disp_unit, of which the hint same_disp_unit says that it is the same, is (8 here and 4|4 here and 8) there")

    def on_file(self, case, number, sentence, *calls):
        self.mismatch(case, [(name, mark) for name, mark in calls], number, f"the file opened by MPI_File_open at {at('opened')}", sentence)

    def test_files(self):
        order = "All members of a file's communicator must make the same collective calls in the same order: .*"
        self.on_file("other_file_call", 2, order, ("MPI_File_sync", "sync"), ("MPI_File_write_ordered", "write_ordered"))
        self.on_file("whole_or_split", 1, order, ("MPI_File_write_all_begin", "write_all_begin"), ("MPI_File_write_all", "write_all"))

    def differs(self, case, number, what, values, call):
        one, two = values
        self.on_file(case, number, f"The {what} is ({one} here and {two}|{two} here and {one}) there", (call, case))

    def test_file_arguments(self):
        self.mismatch("other_mode", [("MPI_File_open", "opened")], 2, "MPI_COMM_WORLD",
                      r"The access mode is MPI_MODE_CREATE \| MPI_MODE_(WRONLY|RDWR) here and MPI_MODE_CREATE \| MPI_MODE_(WRONLY|RDWR) there")
        self.differs("other_size", 3, "size", (8, 16), "MPI_File_set_size")
        self.differs("other_allocation", 1, "size", (8, 16), "MPI_File_preallocate")
        self.differs("other_representation", 1, "data representation", ('"native"', '"external32"'), "MPI_File_set_view")
        self.differs("other_etype", 1, "extent of the etype", (1, 4), "MPI_File_set_view")
        self.differs("other_offset", 1, "offset", (0, 4), "MPI_File_seek_shared")
        self.differs("other_whence", 1, "whence", ("MPI_SEEK_CUR", "MPI_SEEK_END"), "MPI_File_seek_shared")
        self.differs("other_flag", 1, "flag", (0, 1), "MPI_File_set_atomicity")

    def test_between_halves(self):
        for case, call in (("split_sync", "MPI_File_sync"), ("split_view", "MPI_File_set_view"), ("split_size", "MPI_File_set_size"),
                           ("split_allocation", "MPI_File_preallocate"), ("split_close", "MPI_File_close"),
                           ("split_write", "MPI_File_iwrite_all"), ("split_twice", "MPI_File_read_all_begin"),
                           ("split_other_end", "MPI_File_write_all_end")):
            self.misuse(case, OTHER, rf"{call} at {at(case)}: MPI_File_write_at_all_begin at {at('begun')} has been begun with this file and "
                        r"not ended\. Call MPI_File_write_at_all_end first")
        self.misuse("split_other_thread", OTHER, rf"MPI_File_write_at_all_end at {at('split_other_thread')}: MPI_File_write_at_all_begin at "
                    rf"{at('begun')} has been called by another thread: both halves .*")
        self.misuse("split_no_begin", OTHER, rf"MPI_File_read_ordered_end at {at('split_no_begin')}: no split collective operation has been .*")

    def test_pending_on_file(self):
        self.misuse("pending_sync", REQUEST, rf"MPI_File_sync at {at('pending_sync')}: MPI_File_iwrite_at at {at('pending_write')} is still "
                    r"pending on this file\. Complete that operation first .*")

    # With --profile the calls go through two wrappers: places are still the program's, in both reports.
    def test_with_profile(self):
        path = os.path.join(self.directory(), "out.json")
        job = self.run_job("-n", 4, "--check", "--profile=" + path, "--trace", path + ".trace", self.program, "clean")
        self.assertEqual(job.code, 0, job.err.decode())
        with open(path, encoding="utf-8") as file:
            calls = {(call["function"], call["line"]) for call in json.load(file)["calls"]}
        self.assertIn(("MPI_Comm_dup", LINES["dup"]), calls)
        job = self.run_job("-n", 4, "--check", "--profile", "-q", self.program, "freed_type")
        self.assertEqual(job.code, TYPE)
        self.assertIn(f"MPI_Bcast at {at('freed_type')}: the datatype was freed", job.err.decode())

    # What other implementations may refuse.
    def test_liberties(self):
        job = self.run_case("liberties")
        self.assertEqual((job.code, job.text), (0, "tmpirun: warning: accepted here, but not defined by the MPI report; another MPI may refuse it:\n"
                         f"  ranks 0-3: MPI_Allreduce at {at('lxor')}: MPI_LXOR on MPI_DOUBLE\n"
                         f"  ranks 0-3: MPI_Reduce at {at('replace')}: MPI_REPLACE, which is for one-sided communication\n"
                         f"  ranks 1-3: MPI_Reduce_local at {at('land')}: MPI_LAND on MPI_AINT\n"
                         f"  rank 2: MPI_Type_get_name at {at('marker')}: MPI_LB, which MPI 3.0 removed\n"))
        job = self.run_case("liberties", options=("-q",))
        self.assertEqual((job.code, job.text), (0, ""))

    def test_nineteen(self):
        job = self.run_case("nineteen")
        self.assertEqual((job.code, job.text), (0, "tmpirun: warning: right, but perhaps not what is meant (docs/reference/abi.md):\n"
                         f"  ranks 0-3: MPI_Type_create_darray at {at('nineteen')}: array_of_dargs[0] is 19, which is MPI_DISTRIBUTE_DFLT_DARG: "
                         "blocks of one element, as CYCLIC(1), and not of 19\n"))

    def test_left_out(self):
        self.misuse("left_out", NOT_SAME, rf"(MPI_Finalize at {at('finalize')}: does not match MPI_Reduce at {at('left_out')} of rank \d|"
                    rf"MPI_Reduce at {at('left_out')}: does not match MPI_Finalize at {at('finalize')} of rank 2): both are collective call 1 of .*")

    # One-sided communication.
    def test_window_races(self):
        def line(call, mark, member, who, other, other_mark):
            return rf"MPI_{call} at {at(mark)}: memory of member {member} of the window that {who} accesses by MPI_{other} at {at(other_mark)} between the same fences"

        for options in (("--workers", 1), ("--workers", 2)):
            with self.subTest(options=options):
                job = self.run_case("window_races", options=options)
                lines = job.text.splitlines()
                self.assertEqual((job.code, lines[0]), (0, "tmpirun: warning: races for memory of windows, what comes of them is not defined:"))
                races = ((("rank 1", "Put", "race_put"), ("rank 2", "Get", "race_get"), 0),
                         (("rank 1", "Accumulate", "race_int"), ("rank 3", "Accumulate", "race_short"), 0))
                for (rank, call, mark), (other_rank, other, other_mark), member in races:
                    self.assertRegex(job.text, rf"  ({rank}: {line(call, mark, member, other_rank, other, other_mark)}|"
                                     rf"{other_rank}: {line(other, other_mark, member, rank, call, mark)})\n")
                self.assertRegex(job.text, rf"  rank 3: {line('Put', 'race_own', 1, 'the rank itself', 'Put', 'race_own')}\n")
                self.assertRegex(job.text, rf"  rank 2: MPI_Get at {at('race_buffer')}: a buffer that the rank itself accesses by MPI_Get at {at('race_get')} between the same fences\n")
                self.assertEqual(len(lines), 5, job.text)

    def test_no_window_races(self):
        for options in (("--workers", 1), ("--workers", 2), ("--nodes", 2)):
            job = self.run_case("no_window_races", options=options)
            self.assertEqual((job.code, job.text), (0, ""))

    # Messages that are left.
    def test_unreceived(self):
        for options in (("--workers", 1), ("--workers", 2), ("--nodes", 2)):
            with self.subTest(options=options):
                job = self.run_case("unreceived", options=options)
                lines = {line for line in job.text.splitlines() if line.startswith("  ")}
                self.assertEqual(job.code, 0)
                self.assertEqual(job.text.splitlines()[0], "tmpirun: warning: not received at MPI_Finalize:")
                self.assertIn(lines, ({"  ranks 0-1: 3 messages with tag 5 on MPI_COMM_WORLD, the first from its rank 3"},))

    # Leaks.
    def test_leaks(self):
        for code in (0, 3):
            job = self.run_case("leaks", code)
            self.assertEqual(job.code, code, "leaks leave the exit code alone")
            self.assertEqual(re.split(r"tmpirun: rank \d on", job.text)[0], "tmpirun: warning: not freed at MPI_Finalize:\n"
                             f"  ranks 0,2-3: 3 requests made by MPI_Recv_init at {at('leaked_request')}\n"
                             f"  ranks 0-3: 4 communicators made by MPI_Comm_split at {at('leaked_comm')}\n"
                             f"  ranks 0-3: 12 datatypes made by MPI_Type_contiguous at {at('leaked_type')}\n")

    def test_no_leaks(self):
        job = self.run_case("clean")
        self.assertEqual((job.code, job.text), (0, ""))

    def test_off(self):
        job = self.run_job("-n", 4, self.program, "leaks")
        self.assertEqual((job.code, job.err), (0, b""))


if __name__ == "__main__":
    unittest.main()
