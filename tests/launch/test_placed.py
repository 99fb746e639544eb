"""Programs that a plain compiler has linked, with thread-local variables: each rank has a thread pointer of its own."""

import os
import shutil
import subprocess
import unittest

from harness import BIN, HANG, HERE, LaunchTest, main

PROGRAMS = os.path.join(HERE, "programs")
SOURCE = os.path.join(PROGRAMS, "placed.cpp")
ROOT = os.path.dirname(BIN)


class Placed(LaunchTest):
    def build(self, *options, compiler="g++", source="placed.cpp", libraries=("-ltmpi",)):
        made = os.path.join(self.directory(), "placed")
        command = [compiler, *options, os.path.join(PROGRAMS, source), "-o", made, f"-I{ROOT}/include", f"-L{ROOT}/lib", *libraries, "-pthread"]
        subprocess.run(command, check=True, timeout=HANG)
        return made

    def check(self, program, ranks, *options, rounds=20, more=(), env=None):
        self.check_ranks(ranks, *options, program, rounds, *more, env=env)

    def check_ranks(self, ranks, *arguments, env=None):
        job = self.run_job("-n", ranks, *arguments, env=env)
        self.assertEqual((job.code, job.err.decode()), (0, ""), arguments)
        self.assertEqual(sorted(job.out.decode().splitlines()), sorted(f"rank {rank}: 0 failures" for rank in range(ranks)))

    def test_compilers(self):
        for options in (("-O0", "-fstack-protector-all", "-g"), ("-O2",), ("-O2", "-D_FORTIFY_SOURCE=2", "-fstack-protector-strong", "-Wl,-z,now")):
            program = self.build(*options)
            for ranks, workers in ((1, 1), (4, 1), (5, 2)):
                self.check(program, ranks, "--workers", workers)

    def test_many(self):
        self.check(self.build("-O2"), 64, "--workers", 2, rounds=3)

    def test_nodes(self):
        self.check(self.build("-O2"), 6, "--nodes", 2)

    def test_moves(self):
        program = self.build("-O2")
        for balance in ("steal", "rotate"):
            self.check(program, 8, "--workers", 2, "--balance", balance, rounds=60, more=("uneven",))

    def test_under_check(self):
        program = self.build("-O2")
        for option in ("--check", "--profile"):
            job = self.run_job("-n", 4, "-q", option, program, 5)
            self.assertEqual(job.code, 0, job.err.decode())

    def test_other_programs_beside(self):
        placed, plain = self.build("-O2"), os.path.join(self.directory(), "own")
        subprocess.run([os.path.join(BIN, "tmpicxx"), SOURCE, "-o", plain], check=True, timeout=HANG)
        job = self.run_job("-n", 2, placed, 10, ":", "-n", 2, plain, 10)
        self.assertEqual((job.code, job.err), (0, b""))

    def test_cancelled(self):
        job = self.run_job("-n", 3, "--workers", 2, self.build("-O2"), "cancel")
        self.assertEqual((job.code, job.err), (0, b""))
        self.assertEqual(sorted(job.out.decode().splitlines()), [f"rank {rank} leaves" for rank in range(3)])

    def test_without_the_instruction(self):
        preloaded = os.path.join(self.directory(), "libwithout.so")
        subprocess.run(["gcc", "-shared", "-fPIC", os.path.join(PROGRAMS, "without_fsgsbase.c"), "-o", preloaded], check=True, timeout=HANG)
        self.check(self.build("-O2"), 4, "--workers", 2, rounds=5, env={"LD_PRELOAD": preloaded})

    def test_openmp_threads_and_children(self):
        self.check_ranks(4, "--workers", 2, self.build("-O2", "-fopenmp", compiler="gcc", source="placed_team.c"))

    @unittest.skipIf(shutil.which("gfortran") is None, "gfortran is missing")
    def test_fortran(self):
        built = self.build("-O2", "-fopenmp", compiler="gfortran", source="placed_common.f90", libraries=("-ltmpifort", "-ltmpi"))
        self.check_ranks(4, "--workers", 2, built)

    def library(self):
        made = os.path.join(self.directory(), "libfixed_place.so")
        source = os.path.join(PROGRAMS, "fixed_place.c")
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-ftls-model=initial-exec", source, "-o", made], check=True, timeout=HANG)
        return made

    def test_libraries_with_fixed_places(self):
        """More than there is room for in one pool: each rank has a pool, and a thread pointer."""
        library, user = self.library(), os.path.join(self.directory(), "user")
        source = os.path.join(PROGRAMS, "fixed_place_user.c")
        subprocess.run([os.path.join(BIN, "tmpicc"), source, "-o", user, library], check=True, timeout=HANG)
        for ranks, options in (4, ()), (64, ()), (64, ("--balance", "rotate")):
            self.check_ranks(ranks, "--workers", 2, *options, user)
        opening = self.build("-DPLACED", compiler="gcc", source="fixed_place_user.c", libraries=("-ltmpi", "-ldl"))
        self.check_ranks(64, "--workers", 2, opening, library)

    def test_too_large(self):
        job = self.run_job("-n", 2, self.build("-O2", "-DLARGE=270000"), 1)
        self.check_failure(job, 126, "thread-local variables that a plain compiler has linked", "link it with tmpicc")

    def test_kind_is_told(self):
        shown = subprocess.run([os.path.join(BIN, "tmpirun"), "--show-libraries", self.build("-O2")], check=True, capture_output=True, text=True, timeout=HANG)
        self.assertIn("a thread pointer for each rank", shown.stdout)


if __name__ == "__main__":
    main()
