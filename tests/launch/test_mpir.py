"""Debuggers find ranks by the MPIR interface."""

import os
import socket
import struct

import mpir
from harness import TMPIRUN, LaunchTest, executable, main, program, wait_for


class MpirTest(LaunchTest):
    def started(self, *arguments):
        """tmpirun at its breakpoint, and a file with its stderr."""
        log = os.open(os.path.join(self.directory(), "err"), os.O_RDWR | os.O_CREAT)
        self.addCleanup(os.close, log)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TMPI_")}
        starter = mpir.Starter.start(TMPIRUN, [str(word) for word in arguments], environment, log)
        starter.write(starter.address("MPIR_being_debugged"), struct.pack("i", 1))
        starter.set_breakpoint()
        self.assertTrue(starter.go_on())
        return starter, log

    def check_table(self, table, ranks, nodes, path):
        self.assertEqual(len(table), ranks)
        self.assertEqual({host for host, _, _ in table}, {socket.gethostname()})
        self.assertEqual({name for _, name, _ in table}, {path})
        processes = [process for _, _, process in table]
        self.assertEqual(len(set(processes)), nodes)
        self.assertEqual({executable(process) for process in processes}, {"tmpi-node"})
        for node in range(nodes):  # blocks of ranks
            self.assertEqual(len(set(processes[node * ranks // nodes:(node + 1) * ranks // nodes])), 1)

    def test_started_by_a_debugger(self):
        for nodes in (1, 2):
            path = program("ring.c")
            starter, log = self.started("-q", "-n", 6, "--nodes", nodes, path)
            self.assertEqual(starter.integer("MPIR_debug_state"), mpir.DEBUG_SPAWNED)
            self.check_table(starter.table(), 6, nodes, path)
            self.assertIn("MPIR_i_am_starter", starter.symbols)
            self.assertIn("MPIR_partial_attach_ok", starter.symbols)
            self.assertFalse(starter.go_on())
            self.assertEqual(os.waitstatus_to_exitcode(starter.status), 0, os.pread(log, 4000, 0))

    def test_an_abort_is_told(self):
        starter, _ = self.started("-q", "-n", 4, program("misbehave.c"), "abort-mpi", 1, 42)
        self.assertTrue(starter.go_on())
        self.assertEqual(starter.integer("MPIR_debug_state"), mpir.DEBUG_ABORTING)
        self.assertIn("called MPI_Abort with code 42", starter.text(starter.pointer(starter.address("MPIR_debug_abort_string"))))
        self.assertFalse(starter.go_on())
        self.assertEqual(os.waitstatus_to_exitcode(starter.status), 42)

    def test_attached_to_a_running_job(self):
        path = program("tree.c", "-g")
        job = self.start("-q", "-n", 8, "--nodes", 2, path)

        def table():
            starter = mpir.Starter.attach(job.process.pid, TMPIRUN)
            rows = starter.table()
            starter.detach()
            return rows

        self.check_table(wait_for(table, "the table"), 8, 2, path)
        job.process.terminate()
        job.finish()
        self.check_failure(job, 143, "the job was ended by SIGTERM")


if __name__ == "__main__":
    main()
