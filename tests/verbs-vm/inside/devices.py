"""The emulated machine has what the other tests in it need: two RDMA devices whose ports are active and reach each other."""

import subprocess
import unittest

from kernel_log import KernelLog, complaints_of
from support import DEVICES, perftest


class DevicesTest(unittest.TestCase):
    def test_ports_are_active(self):
        links = subprocess.run(["rdma", "link"], capture_output=True, text=True, check=True).stdout
        for device in DEVICES:
            self.assertIn(f"link {device}/1 state ACTIVE physical_state LINK_UP", links)

    def check_perftest(self, size, column, tool, *options):
        """The messages have gone to and fro if there is a row; its figure is 0 now and then, where perftest's measurement of the clock has failed."""
        for _ in range(3):
            row = perftest(tool, *options)
            self.assertEqual(row[0], size)
            if row[column] > 0:
                return
        self.fail(f"{tool}: {row}")

    def test_devices_reach_each_other(self):
        self.check_perftest(2, 2, "ib_send_lat", "-n", "200")
        self.check_perftest(65536, 3, "ib_read_bw", "-n", "20", "-s", "65536")


class KernelLogTest(unittest.TestCase):
    def test_what_is_said_is_read(self):
        log = KernelLog()
        with open("/dev/kmsg", "w") as kernel:
            kernel.write("a remark of tests/verbs-vm\n")
        self.assertIn("a remark of tests/verbs-vm", list(log.lines()))
        self.assertEqual(log.complaints(), [])

    def test_complaints_are_found(self):
        said = """rdma_rxe: loaded
refcount_t: underflow; use-after-free.
WARNING: CPU: 0 PID: 320 at lib/refcount.c:28 refcount_warn_saturate+0xba/0x110
RIP: 0010:refcount_warn_saturate+0xba/0x110
 <TASK>
 __rxe_cleanup+0x155/0x160 [rdma_rxe]
 ? complete+0x18/0x80
 rxe_destroy_qp.part.0+0x26/0x30 [rdma_rxe]
 </TASK>""".splitlines()
        first, second = complaints_of(said)
        self.assertEqual(first, "refcount_t: underflow; use-after-free.")
        self.assertTrue(second.startswith("WARNING: CPU: 0") and second.endswith(" (__rxe_cleanup < rxe_destroy_qp)"), second)
        self.assertEqual(complaints_of(["sched: RT throttling activated", "rxe0: qp#17 moved to error state"]), [])
