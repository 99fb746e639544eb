"""Which device a job uses, and what -v says of it; what is wrong with what was asked for."""

from support import DEVICES, VerbsTest, built

STEADY = ("tests", "verbs-vm", "steady")


class ChoiceTest(VerbsTest):
    def job(self, net, *options):
        return self.run_job("-n", 2, "--nodes", 2, "--net", net, *options, built(*STEADY), 5, 8)

    def test_nodes_of_one_machine_take_turns(self):
        for net in ("auto", "verbs"):
            with self.subTest(net):
                job = self.job(net, "-v")
                err = job.err.decode()
                self.assertEqual(job.code, 0, err)
                for device, address in zip(DEVICES, ("10.99.0.1", "10.99.1.1")):
                    self.assertRegex(err, rf"verbs on {device} port 1 \(RoCE v2, GID \d+ {address}\), NUMA node \S+, MTU 4096, inline \d+ bytes")

    def test_one_device_for_both(self):
        job = self.job(f"verbs:{DEVICES[1]}", "-v")
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(job.err.count(f"verbs on {DEVICES[1]} port 1".encode()), 2, job.err)

    def test_what_is_not_there(self):
        for net, *texts in (("verbs:mlx5_7", 'no adapter "mlx5_7"', DEVICES[0]), (f"verbs:{DEVICES[0]},2", f"{DEVICES[0]} has 1 port"),
                            (f"verbs:{DEVICES[0]},1,200", "no GID with index 200")):
            with self.subTest(net):
                job = self.job(net)
                self.assertNotEqual(job.code, 0)
                self.check_failure(job, job.code, *texts)
