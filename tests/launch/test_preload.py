"""LD_PRELOAD: a profiling library stands between the ranks and MPI."""

import json
import os
import subprocess

from harness import BIN, HANG, HERE, LaunchTest, main, program

SOURCE = os.path.join(HERE, "programs", "preloaded.c")


class Preload(LaunchTest):
    def library(self, *flags, compiler="tmpicc", name="libpreloaded.so", source=SOURCE):
        path = os.path.join(self.directory(), name)
        command = [os.path.join(BIN, compiler)] if compiler == "tmpicc" else [compiler]
        subprocess.run([*command, "-g", "-shared", "-fPIC", "-o", path, source, *flags], check=True, timeout=HANG)
        return path

    def check_counts(self, job, ranks):
        self.assertEqual(job.code, 0, job.err)
        lines = sorted(line for line in job.out.decode().splitlines() if line.startswith("preloaded:"))
        self.assertEqual(lines, [f"preloaded: rank {rank} has sent 1, constructed 1" for rank in range(ranks)])

    def test_from_the_environment(self):
        library = self.library()
        for options in (("-n", 4, "--workers", 1), ("-n", 4, "--nodes", 2)):
            self.check_counts(self.run_job(*options, program("ring.c"), env={"LD_PRELOAD": library}), 4)

    def test_for_one_program(self):
        library = self.library("-DNEXT")
        job = self.run_job("-n", 3, "-x", f"LD_PRELOAD={library}", program("ring.c"))
        self.check_counts(job, 3)
        self.assertEqual(job.err, b"")

    def test_with_both_names(self):
        """It is no MPI library by that: it calls one."""
        library = self.library("-DNEXT", "-DBOTH")
        self.check_counts(self.run_job("-n", 3, "-x", f"LD_PRELOAD={library}", program("ring.c")), 3)

    def test_a_whole_library(self):
        stub = os.path.join(self.directory(), "stub.c")
        with open(stub, "w", encoding="utf-8") as text:
            text.write("int MPI_Init(int* c, char*** v) { return 0; }\nint PMPI_Init(int* c, char*** v) { return 0; }\n")
        library = self.library(source=stub, compiler="cc", name="libwhole.so")
        job = self.run_job("-n", 2, "-x", f"LD_PRELOAD={library}", program("ring.c"))
        self.check_failure(job, 126, f"LD_PRELOAD: {library}: is an MPI library itself; leave it out, tmpi brings its own")

    def test_by_name(self):
        library = self.library()
        env = {"LD_PRELOAD": "libpreloaded.so", "LD_LIBRARY_PATH": os.path.dirname(library)}
        self.check_counts(self.run_job("-n", 2, program("ring.c"), env=env), 2)

    def test_profile_shows_the_calls(self):
        library = self.library()
        file = os.path.join(self.directory(), "profile.json")
        job = self.run_job("-n", 3, f"--profile={file}", "-x", f"LD_PRELOAD={library}", program("ring.c"))
        self.check_counts(job, 3)
        with open(file, encoding="utf-8") as text:
            calls = {call["function"]: call for call in json.load(text)["calls"]}
        self.assertEqual(calls["MPI_Send"]["total"]["calls"], 3)
        self.assertEqual(os.path.basename(calls["MPI_Send"]["file"]), "preloaded.c")

    def test_others_are_the_ranks_too(self):
        """What wraps no MPI function: by -x in the ranks alone; in tmpirun's environment, in the process."""
        empty = os.path.join(self.directory(), "empty.c")
        with open(empty, "w", encoding="utf-8") as text:
            text.write("int nothing_of_mpi;\n")
        other = self.library(source=empty, compiler="cc", name="libempty.so")
        job = self.run_job("-n", 2, program("ring.c"), env={"LD_PRELOAD": other})
        self.assertEqual((job.code, job.err), (0, b""))
        job = self.run_job("-n", 2, "-x", f"LD_PRELOAD={other}", program("ring.c"))
        self.assertEqual((job.code, job.err), (0, b""))
        job = self.run_job("-n", 2, "-x", "LD_PRELOAD=libnowhere.so", program("ring.c"))
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(job.err.decode(), "tmpirun: warning: -x LD_PRELOAD: libnowhere.so cannot be found, or must be in the process that "
                         "runs the ranks; set LD_PRELOAD for tmpirun itself to have it there\n")

    def test_one_that_only_calls_mpi_is_left_alone(self):
        """Also one that the loader could not use."""
        caller = os.path.join(self.directory(), "caller.c")
        with open(caller, "w", encoding="utf-8") as text:
            text.write("__attribute__((weak)) int MPI_Initialized(int*);\n"
                       "int asks(int* flag) { return MPI_Initialized ? MPI_Initialized(flag) : 0; }\n"
                       '__asm__(".pushsection .text\\n.quad asks\\n.popsection");\n')
        library = self.library("-Wl,-z,notext", source=caller, compiler="cc", name="libcaller.so")
        job = self.run_job("-n", 2, program("ring.c"), env={"LD_PRELOAD": library})
        self.assertEqual((job.code, job.err), (0, b""))

    def test_of_another_mpi(self):
        stub = os.path.join(self.directory(), "stub.c")
        with open(stub, "w", encoding="utf-8") as text:
            text.write("void ompi_something(void) {}\n")
        foreign = self.library("-Wl,-soname,libmpi.so.40", source=stub, compiler="cc", name="libmpi.so.40")
        library = self.library("-Wl,--no-as-needed", foreign)
        job = self.run_job("-n", 2, "-x", f"LD_PRELOAD={library}", program("ring.c"))
        self.check_failure(job, 126, f"LD_PRELOAD: {library}: was built for another MPI (it needs libmpi.so.40), whose handles and "
                           "constants differ; rebuild it with tmpicc -shared -fPIC")


if __name__ == "__main__":
    main()
