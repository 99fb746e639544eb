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

    def test_devices_reach_each_other(self):
        size, _, least = perftest("ib_send_lat", "-n", "200")[:3]
        self.assertEqual(size, 2)
        self.assertLess(0, least)
        size, _, _, bandwidth = perftest("ib_read_bw", "-n", "20", "-s", "65536")[:4]
        self.assertEqual(size, 65536)
        self.assertLess(0, bandwidth)


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
