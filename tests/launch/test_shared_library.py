"""--share-library: ranks have a library together, whose exceptions are each rank's own all the same."""

import os
import subprocess

from harness import BIN, HANG, HERE, LaunchTest, main

SOURCE = os.path.join(HERE, "programs", "caught.cpp")


class SharedLibrary(LaunchTest):
    def test_exceptions_over_switches(self):
        place = self.directory()
        compile_it = [os.path.join(BIN, "tmpicxx"), "-g", "-O1", SOURCE]
        subprocess.run([*compile_it, "-DLIBRARY", "-shared", "-fPIC", "-o", os.path.join(place, "libcaught.so")], check=True, timeout=HANG)
        subprocess.run([*compile_it, "-o", os.path.join(place, "caught"), f"-L{place}", f"-Wl,-rpath,{place}", "-lcaught"], check=True, timeout=HANG)
        for options, together in (((), 1), (("--share-library", "libcaught"), 4)):
            for workers in (1, 2):
                job = self.run_job("-n", 4, "--workers", workers, *options, os.path.join(place, "caught"), together)
                self.assertEqual((job.code, job.err), (0, b""), options)


if __name__ == "__main__":
    main()
