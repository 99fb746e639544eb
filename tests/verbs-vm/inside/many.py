"""Many node processes: what takes too long in an emulated machine to be run each time."""

from support import VerbsTest, limits_follow


class ManyTest(VerbsTest):
    def test_limits_follow_the_program(self):
        """Four node processes to a device."""
        limits_follow(self, 8)
