"""The emulated machine has what the other tests in it need: two RDMA devices whose ports are active and reach each other."""

import subprocess
import unittest

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
