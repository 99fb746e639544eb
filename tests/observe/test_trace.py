"""tmpirun --trace: the file is valid, slices of a core do not overlap, arrows have both ends, times agree with MPI_Wtime."""

import collections
import json
import os

from observed import ObservedTest, claims_only_time, line_of, main, program


SHARED = "windows_and_files.c"


class Timeline:
    def __init__(self, trace):
        self.data = trace["otherData"]
        self.names = {}
        self.slices = collections.defaultdict(list)
        self.starts, self.ends, self.counters = {}, {}, collections.defaultdict(list)
        for event in trace["traceEvents"]:
            kind = event["ph"]
            if kind == "M" and event["name"] == "thread_name":
                self.names[event["tid"]] = event["args"]["name"]
            elif kind == "X":
                self.slices[event["tid"]].append(event)
            elif kind == "s":
                assert event["id"] not in self.starts
                self.starts[event["id"]] = event
            elif kind == "f":
                assert event["id"] not in self.ends
                self.ends[event["id"]] = event
            elif kind == "C":
                self.counters[event["name"]].append((event["ts"], next(iter(event["args"].values()))))

    def track(self, name):
        return next((self.slices[tid] for tid, known in self.names.items() if known == name), [])

    def cores(self):
        return {tid: self.slices[tid] for tid, name in self.names.items() if name.startswith("worker")}

    def seconds(self, ts):
        return ts / 1e6 + self.data["origin"]


def nanoseconds(microseconds):
    return round(microseconds * 1000)


class TraceTest(ObservedTest):
    def trace(self, *arguments, **options):
        job, trace = self.observe("--trace", *arguments, **options)
        return job, Timeline(trace)

    def check_consistent(self, timeline):
        for slices in timeline.cores().values():
            spans = sorted((nanoseconds(s["ts"]), nanoseconds(s["ts"] + s["dur"])) for s in slices)
            for (_, end), (begin, _) in zip(spans, spans[1:]):
                self.assertLessEqual(end, begin, "two ranks on one core at the same time")
        self.assertEqual(set(timeline.starts), set(timeline.ends))
        for number, start in timeline.starts.items():
            end = timeline.ends[number]
            self.assertLessEqual(start["ts"], end["ts"], "a message arrives before it is sent")
            for event in (start, end):  # viewers hang arrows into slices
                ts = nanoseconds(event["ts"])
                self.assertTrue(any(nanoseconds(s["ts"]) <= ts <= nanoseconds(s["ts"] + s["dur"])
                                    for s in timeline.slices[event["tid"]]), event)

    def test_complete(self):
        job, timeline = self.trace("-n", 4, "--workers", 2, "-q", program("stamps.c"), 20)
        self.check_consistent(timeline)
        self.assertEqual(timeline.data["dropped_events"], 0)
        self.assertEqual(timeline.data["unpaired_messages"], 0)
        self.assertNotIn("warning", job.text)
        own = [m for m in timeline.starts.values() if not m["args"].get("collective")]
        # 4 ranks to their right, 3 to rank 0, in each round; 4 in Sendrecv_replace.
        self.assertEqual(len(own), 20 * 7 + 4)
        self.assertEqual(sorted(m["args"]["bytes"] for m in own if m["args"]["tag"] == 1), [8] * 40 + [1 << 16] * 40)
        wildcards = [s for s in timeline.track("rank 0") if s["name"] == "MPI_Recv"]
        self.assertEqual(sorted(s["args"]["peer"] for s in wildcards), [1] * 20 + [2] * 20 + [3] * 20)
        for s in wildcards:
            self.assertEqual(s["args"]["tag"], 2 + s["args"]["peer"])
        in_flight = timeline.counters["bytes in flight"]
        self.assertTrue(all(value >= 0 for _, value in in_flight))
        self.assertEqual(in_flight[-1][1], 0)
        self.assertIn("ready ranks of worker 1", timeline.counters)

    def test_ranks_that_move(self):
        """Each call says on which core it has ended, and that core's track agrees."""
        _, timeline = self.trace("-n", 4, "--workers", 2, "--balance", "rotate", "-q", program("stamps.c"), 20)
        self.check_consistent(timeline)
        cores = {}
        for slices in timeline.cores().values():
            for s in slices:
                cores.setdefault(s["args"]["worker"], []).append(s)
            self.assertEqual(len({s["args"]["worker"] for s in slices}), 1)
        self.assertEqual(sorted(cores), [0, 1])
        for rank in range(4):
            calls = timeline.track(f"rank {rank}")
            self.assertEqual({s["args"]["worker"] for s in calls if s["cat"] == "mpi"}, {0, 1})
            for call in (s for s in calls if s["cat"] == "mpi"):
                end = nanoseconds(call["ts"] + call["dur"])
                self.assertTrue(any(nanoseconds(s["ts"]) - 1 <= end <= nanoseconds(s["ts"] + s["dur"]) + 1
                                    for s in cores[call["args"]["worker"]] if s["args"]["rank"] == rank), call)

    def test_messages_of_one_sender_in_order(self):
        _, timeline = self.trace("-n", 3, "--workers", 2, "-q", program("stamps.c"), 50)
        self.check_consistent(timeline)
        for sender in (1, 2):
            sizes = [m["args"]["bytes"] for m in sorted(timeline.starts.values(), key=lambda m: timeline.ends[m["id"]]["ts"])
                     if m["args"]["from"] == sender and m["args"]["tag"] == 2 + sender]
            self.assertEqual(sizes, [1 + i for i in range(50)])

    def test_times_agree_with_the_clock(self):
        job, timeline = self.trace("-n", 3, "--workers", 1, program("stamps.c"))
        stamps = [line.split() for line in job.out.decode().splitlines()]
        self.assertEqual(len(stamps), 6)
        for rank, name, begin, end in stamps:
            calls = [s for s in timeline.track(f"rank {rank}") if s["name"] == name]
            call = calls[0]  # the first barrier
            # The stamps enclose the call; a microsecond covers rounding and the clocks' two conversions.
            self.assertGreaterEqual(timeline.seconds(call["ts"]), float(begin) - 1e-6)
            self.assertLessEqual(timeline.seconds(call["ts"] + call["dur"]), float(end) + 1e-6)

    @claims_only_time
    def test_ranks_run_where_they_wait_not(self):
        """On one core a rank's slices on the core fill what its call did not wait."""
        _, timeline = self.trace("-n", 2, "--workers", 1, program("uneven.c"), 2)
        core = next(iter(timeline.cores().values()))
        for rank in (0, 1):
            meet = next(s for s in timeline.track(f"rank {rank}") if s["name"] == "MPI_Barrier")
            self.assertTrue(meet["args"]["at"].endswith(f":{line_of('uneven.c', 'meet')}"))
            begin, end = meet["ts"], meet["ts"] + meet["dur"]
            ran = sum(max(0, min(end, s["ts"] + s["dur"]) - max(begin, s["ts"])) for s in core if s["args"]["rank"] == rank)
            self.assertAlmostEqual(meet["dur"] - meet["args"]["waiting_us"], ran, delta=5)

    def test_dropped_events(self):
        rounds = 300
        job, timeline = self.trace("-n", 4, "--workers", 2, "--trace-buffer", "16k", program("stamps.c"), rounds)
        self.check_consistent(timeline)
        dropped = timeline.data["dropped_events"]
        self.assertGreater(dropped, 1000)
        self.assertIn(f"lacks its {dropped} oldest events, for which --trace-buffer 16k had no room; with ", job.text)
        self.assertLessEqual(sum(len(s) for s in timeline.cores().values()), 2 * 256)
        # What is left is the end, and its arrows still join the right ends: small messages grow by one byte a round.
        own = [m for m in timeline.starts.values() if not m["args"].get("collective") and m["args"]["tag"] == 3]
        self.assertGreater(len(own), 2)
        expected = [1 + i % 64 for i in range(rounds)]
        self.assertEqual([m["args"]["bytes"] for m in sorted(own, key=lambda m: m["ts"])], expected[-len(own):])

    def test_enough_room_as_advised(self):
        job, _ = self.trace("-n", 4, "--workers", 2, "--trace-buffer", "16k", program("stamps.c"), 100)
        advice = job.text.split("; with ")[1].split()[0]
        job, timeline = self.trace("-n", 4, "--workers", 2, "--trace-buffer", advice, "-q", program("stamps.c"), 100)
        self.assertEqual(timeline.data["dropped_events"], 0)

    def test_quiet(self):
        job, timeline = self.trace("-n", 4, "--workers", 2, "--trace-buffer", "16k", "-q", program("stamps.c"), 100)
        self.assertGreater(timeline.data["dropped_events"], 0)
        self.assertNotIn("warning", job.text)

    def test_node_processes(self):
        """One file: tracks of all cores and ranks, arrows between node processes, one clock."""
        rounds = 20
        job, timeline = self.trace("-n", 6, "--nodes", 3, "--map-by", "cyclic", "-q", program("stamps.c"), rounds)
        self.check_consistent(timeline)
        self.assertEqual(timeline.data["unpaired_messages"], 0)
        self.assertEqual([bool(timeline.track(f"rank {rank}")) for rank in range(6)], [True] * 6)
        self.assertEqual(len(timeline.cores()), 3)
        own = [m for m in timeline.starts.values() if not m["args"].get("collective")]
        self.assertEqual(len(own), rounds * (6 + 5) + 6)
        self.assertTrue(any(m["args"]["from"] % 3 != m["args"]["to"] % 3 for m in own))
        stamps = collections.defaultdict(list)
        for rank, name, begin, end in map(str.split, job.out.decode().splitlines()):
            stamps[int(rank), name].append((float(begin), float(end)))
        for (rank, name), spans in stamps.items():  # node processes of one machine have one clock
            call = next(s for s in timeline.track(f"rank {rank}") if s["name"] == name)
            self.assertGreaterEqual(timeline.seconds(call["ts"]), spans[0][0] - 1e-6)
            self.assertLessEqual(timeline.seconds(call["ts"] + call["dur"]), spans[0][1] + 1e-6)

    def test_a_node_process_that_dies(self):
        """The others' part of the trace is there."""
        job, timeline = self.trace("-n", 2, "--nodes", 2, program("uneven.c"), 1, "kill", code=128 + 9)
        self.assertIn("warning: the trace lacks node process 1", job.text)
        self.assertTrue(timeline.data["ended_early"])
        self.assertTrue(timeline.track("rank 0"))

    def test_messages_of_threads(self):
        _, timeline = self.trace("-n", 3, "--workers", 2, "-q", program("threads.c", flags=("-g", "-O1", "-pthread")))
        self.check_consistent(timeline)
        own = [m["args"] for m in timeline.starts.values() if not m["args"].get("collective")]
        self.assertEqual(sorted((m["from"], m["to"], m["tag"]) for m in own), [(r, r, tag) for r in range(3) for tag in range(5)])
        self.assertEqual(timeline.data["unrecorded_calls"], 15)

    def test_windows_and_files(self):
        """Every call has a slice with its name, its line, target and bytes; and times that agree with the program's."""
        path = os.path.join(self.directory(), "file")
        job, timeline = self.trace("-n", 4, "--workers", 2, "-q", program(SHARED), path, 0.02)
        self.check_consistent(timeline)
        self.check_windows_and_files(job, timeline)

    def test_windows_and_files_in_two_node_processes(self):
        job, timeline = self.trace("-n", 4, "--nodes", 2, "--map-by", "cyclic", "-q", program(SHARED),
                                   os.path.join(self.directory(), "file"), 0.02)
        self.check_windows_and_files(job, timeline)

    def check_windows_and_files(self, job, timeline):
        said = {(words[0], int(words[1])): (float(words[2]), float(words[3])) for words in map(str.split, job.out.decode().splitlines())}
        for rank in range(4):
            calls = collections.defaultdict(list)
            for s in timeline.track(f"rank {rank}"):
                if s["cat"] == "mpi":
                    calls[s["name"], int(s["args"]["at"].rsplit(":", 1)[1])].append(s)
            right = (rank + 1) % 4
            one = lambda mark, function: self.only(calls[function, line_of(SHARED, mark)])
            for mark, function, count in (("vector", "MPI_Put_c", 28), ("accumulate", "MPI_Accumulate", 80), ("get", "MPI_Get", 200),
                                          ("getacc", "MPI_Get_accumulate", 24), ("fetch", "MPI_Fetch_and_op", 8),
                                          ("swap", "MPI_Compare_and_swap", 2), ("rput", "MPI_Rput", 120), ("rget", "MPI_Rget", 80)):
                self.assertEqual((one(mark, function)["args"]["peer"], one(mark, function)["args"]["bytes"]), (right, count), mark)
            puts = calls["MPI_Put", line_of(SHARED, "put")]
            self.assertEqual([(s["args"]["peer"], s["args"]["bytes"]) for s in puts], [(right, 4 * (100 + rank))] * 5)
            nobody = one("nobody", "MPI_Put")["args"]
            self.assertEqual((nobody["peer"], nobody.get("bytes")), ("MPI_PROC_NULL", None))
            self.assertEqual(one("flush", "MPI_Win_flush")["args"]["peer"], right)
            for mark, function, count in (("write_all", "MPI_File_write_at_all", 4096), ("iwrite", "MPI_File_iwrite_at", 400),
                                          ("read", "MPI_File_read", 22), ("begin", "MPI_File_read_all_begin", 24),
                                          ("ordered", "MPI_File_write_ordered", 13), ("shared", "MPI_File_write_shared_c", 14),
                                          ("short", "MPI_File_read_at", 4096)):
                self.assertEqual((one(mark, function)["args"]["bytes"], one(mark, function)["args"].get("peer")), (count, None), mark)
            self.assertEqual(len(calls["MPI_File_write_at", line_of(SHARED, "write")]), 5)
            for what, first, last in (("window", ("allocate", "MPI_Win_allocate"), ("free", "MPI_Win_free")),
                                      ("file", ("open", "MPI_File_open"), ("close", "MPI_File_close"))):
                begin, end = said[what, rank]
                first, last = one(*first), one(*last)
                self.assertGreaterEqual(timeline.seconds(first["ts"]), begin - 1e-6)
                self.assertLessEqual(timeline.seconds(last["ts"] + last["dur"]), end + 1e-6)
            if rank == 3:
                asked, let_go = said["asked", 3][1], said["kept", 2][1]
                ask = one("ask", "MPI_Win_lock")
                self.assertEqual(ask["args"]["peer"], 3)
                self.assertGreaterEqual(timeline.seconds(ask["ts"]), asked - 1e-6)
                self.assertGreaterEqual(timeline.seconds(ask["ts"] + ask["dur"]), let_go - 1e-6)

    def only(self, calls):
        self.assertEqual(len(calls), 1, calls)
        return calls[0]

    def ended_early(self, ending, limit, code):
        """Where rank 0 was."""
        _, timeline = self.trace("-n", 2, "--workers", 1, "--timeout", limit, "--no-deadlock-check", program("uneven.c"), 1, ending, code=code)
        self.check_consistent(timeline)
        self.assertTrue(timeline.data["ended_early"])
        calls = timeline.track("rank 0")
        return calls[-1]["args"]["at"] if calls and calls[-1]["args"].get("unfinished") else ""

    def test_abort(self):
        self.assertTrue(self.ended_early("abort", 1000, 3).endswith(f":{line_of('uneven.c', 'abort')}"))

    def test_timeout(self):
        for limit in (2, 10, 100):  # until rank 0 is there by then
            if (place := self.ended_early("hang", limit, 124)).endswith(f":{line_of('uneven.c', 'hang')}"):
                break
        self.assertTrue(place.endswith(f":{line_of('uneven.c', 'hang')}"), place)


if __name__ == "__main__":
    main()
