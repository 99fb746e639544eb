"""tmpi for Spack. Link this file as packages/tmpi/package.py into a package repository of yours: the sources are those of the checkout it lies in.

spack install tmpi; spack install APPLICATION ^tmpi
"""

import pathlib

from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
except ImportError:
    pass  # before Spack 1.0 spack.package has them


class Tmpi(CMakePackage):
    """A virtualized MPI: the ranks of a machine are fibers of one process, many on each core."""

    homepage = "file://" + str(pathlib.Path(__file__).resolve().parents[2])
    git = homepage

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("fortran", default=True, description="Modules mpi and mpi_f08")

    provides("mpi@:5.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("boost+container+context")
    depends_on("hwloc@2:")
    depends_on("numactl")
    depends_on("libsodium")
    depends_on("fmt@9:")
    depends_on("nlohmann-json")
    depends_on("elfutils")
    depends_on("liburing")
    depends_on("rdma-core")
    depends_on("libfabric")
    depends_on("otf2@3:")
    depends_on("pmix@4:")

    requires("platform=linux", msg="tmpi runs on Linux only")
    requires("target=x86_64:", msg="tmpi runs on x86-64 only")

    generator("ninja")
    build_targets = ["runtime"]

    def cmake_args(self):
        if self.spec.satisfies("+fortran"):
            return []
        return [self.define("TMPI_GFORTRAN", "TMPI_GFORTRAN-NOTFOUND")]

    def setup_run_environment(self, env):
        env.set("MPICC", join_path(self.prefix.bin, "mpicc"))
        env.set("MPICXX", join_path(self.prefix.bin, "mpicxx"))
        env.set("MPIF77", join_path(self.prefix.bin, "mpif77"))
        env.set("MPIF90", join_path(self.prefix.bin, "mpif90"))

    def setup_dependent_build_environment(self, env, dependent_spec):
        # While a package is built, the wrappers run Spack's compilers.
        module = dependent_spec.package.module
        for variable, compiler in (("TMPI_CC", "spack_cc"), ("TMPI_CXX", "spack_cxx"), ("TMPI_FC", "spack_fc")):
            if hasattr(module, compiler):
                env.set(variable, getattr(module, compiler))

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = join_path(self.prefix.bin, "mpicc")
        self.spec.mpicxx = join_path(self.prefix.bin, "mpicxx")
        if self.spec.satisfies("+fortran"):
            self.spec.mpifc = join_path(self.prefix.bin, "mpif90")
            self.spec.mpif77 = join_path(self.prefix.bin, "mpif77")
