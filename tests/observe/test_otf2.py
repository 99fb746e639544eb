"""tmpirun --trace FILE.otf2: OTF2's own tools read the archive, and find in it what the program has done."""

import collections
import json
import os
import subprocess
import unittest

from observed import HERE, ObservedTest, line_of, main, program

ROUNDS = 20


def reads_otf2():
    return subprocess.run(["/usr/bin/python3", "-c", "import otf2"], capture_output=True).returncode == 0


@unittest.skipUnless(reads_otf2(), "python3-otf2 is missing")
class Otf2Test(ObservedTest):
    def archive(self, *arguments, code=0):
        path = os.path.join(self.directory(), "run.otf2")
        job = self.run_job("--trace", path, *arguments)
        self.assertEqual(job.code, code, job.err)
        read = subprocess.run(["/usr/bin/python3", "-B", os.path.join(HERE, "read_otf2.py"), path], capture_output=True, check=True)
        return job, json.loads(read.stdout), path

    def check(self, *options):
        job, archive, path = self.archive("-n", 4, *options, program("stamps.c"), ROUNDS)
        self.assertIn(b"trace in " + path.encode(), job.err)
        ranks = {f"rank {rank}": archive["locations"][f"rank {rank}"] for rank in range(4)}
        sends, receives = collections.defaultdict(list), collections.defaultdict(list)
        for name, events in ranks.items():
            depth = 0
            times = [event["time"] for event in events]
            self.assertEqual(times, sorted(times))
            for event in events:
                depth += {"Enter": 1, "Leave": -1}.get(event["kind"], 0)
                self.assertIn(depth, (0, 1))
                if event["kind"] == "MpiSend":
                    sends[name, event["peer"], event["comm"], event["tag"]].append((event["time"], event["bytes"]))
                elif event["kind"] == "MpiRecv":
                    receives[event["peer"], name, event["comm"], event["tag"]].append((event["time"], event["bytes"]))
            self.assertEqual(depth, 0)
        # 4 ranks to their right, 3 to rank 0, in each round; 4 in Sendrecv_replace.
        self.assertEqual(sum(map(len, sends.values())), ROUNDS * 7 + 4)
        self.assertEqual(set(sends), set(receives))
        for key, sent in sends.items():
            self.assertEqual([size for _, size in sent], [size for _, size in receives[key]])
            self.assertTrue(all(begin <= end for (begin, _), (end, _) in zip(sent, receives[key])), key)
        regions = {(event["region"], event["file"], event["line"]) for event in ranks["rank 0"] if event["kind"] == "Enter"}
        self.assertIn("MPI_Recv", {name for name, _, _ in regions})
        self.assertEqual({file for _, file, _ in regions}, {"stamps.c"})
        barriers = [event for events in ranks.values() for event in events if event.get("operation") == "BARRIER"]
        self.assertGreaterEqual(len(barriers), 4)
        self.assertEqual({event["comm"] for event in barriers}, {"MPI_COMM_WORLD"})
        self.assertEqual(archive["communicators"]["MPI_COMM_WORLD"], sorted(ranks))
        return archive

    def test_two_workers(self):
        archive = self.check("--workers", 2)
        cores = {name: events for name, events in archive["locations"].items() if name.startswith("worker")}
        self.assertEqual(len(cores), 2)
        self.assertEqual({event["region"] for events in cores.values() for event in events}, {f"rank {rank}" for rank in range(4)})

    def test_two_node_processes(self):
        self.check("--nodes", 2, "--map-by", "cyclic")

    def test_windows_and_files(self):
        _, archive, path = self.archive("-n", 4, "--workers", 2, program("windows_and_files.c"), os.path.join(self.directory(), "f"), 0.02)
        roles = {event["region"]: event["role"] for events in archive["locations"].values() for event in events if event["kind"] == "Enter"}
        self.assertEqual(roles["MPI_Put"], "RMA")
        self.assertEqual(roles["MPI_File_write_at_all"], "FILE_IO")
        printed = subprocess.run(["otf2-print", path], capture_output=True, text=True, check=True)
        self.assertEqual(printed.stderr, "")
        self.assertIn("MPI_Win_flush", printed.stdout)

    def test_ended_early(self):
        _, archive, _ = self.archive("-n", 2, "--workers", 1, "--timeout", 1000, program("uneven.c"), 1, "abort", code=3)
        last = [event for event in archive["locations"]["rank 0"] if event["kind"] == "Enter"][-1]
        self.assertEqual((last["region"], last["line"]), ("MPI_Abort", line_of("uneven.c", "abort")))

    def test_nothing_is_replaced(self):
        for name in ("run.otf2", "run.def", "run"):
            directory = self.directory()
            open(os.path.join(directory, name), "w").close()
            job = self.run_job("-n", 1, "--trace", os.path.join(directory, "run.otf2"), program("uneven.c"), 1)
            self.assertEqual((job.code, job.out), (1, b""))
            self.assertIn(f"{name} exists".encode(), job.err)


if __name__ == "__main__":
    main()
