# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Tutti(CMakePackage):
    """Collective communication between the processes of a job: a C library with a C++ header,
    behind the APIs of oneCCL and of MPI's standard ABI, and a command that measures, explains and
    watches."""

    # No address of releases is known yet: what is committed in the checkout that this is in.
    git = pathlib.Path(__file__).resolve().parents[6].as_uri()

    license("Apache-2.0")
    maintainers("tutti")

    test_requires_compiler = True

    version("1.0.0")

    variant("tools", default=True, description="Build the tutti command")
    variant("oneccl", default=True, description="Build libccl.so.2, in a folder of its own")
    variant("mpi_abi", default=True, description="Build libmpi_abi.so.1, in a folder of its own")
    variant("ofi", default=True, description="Messages between hosts over libfabric, too")
    variant("pmix", default=True, description="Meet through PMIx where a launcher offers it")
    variant("devices", default=False, description="Memory of devices: OpenCL and Level Zero")
    variant("static", default=True, description="Build libtutti.a, too")
    variant("lto", default=True, description="Optimise the library as a whole")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11", type="build", when="+tools")
    depends_on("nlohmann-json", type="build")
    depends_on("fmt@9: +pic")  # a part of a shared library
    depends_on("highway@1.0.3:")
    depends_on("hwloc@2.9:")
    depends_on("libsodium")
    # Their headers; the libraries are opened when they are needed.
    depends_on("libfabric@1.17:", when="+ofi")
    depends_on("pmix", when="+pmix")
    with when("+devices"):
        depends_on("opencl-c-headers@2022:", type="build")
        depends_on("oneapi-level-zero@1.8:")

    conflicts("%gcc@:10", msg="C++20 is needed: GCC 11 or later")
    conflicts("%clang@:13", msg="C++20 is needed: clang 14 or later")
    conflicts("platform=darwin", msg="Tutti is for Linux")

    def cmake_args(self):
        args = [
            self.define_from_variant("TUTTI_TOOLS", "tools"),
            self.define_from_variant("TUTTI_ONECCL", "oneccl"),
            self.define_from_variant("TUTTI_MPI_ABI", "mpi_abi"),
            self.define_from_variant("TUTTI_OFI", "ofi"),
            self.define_from_variant("TUTTI_PMIX", "pmix"),
            self.define_from_variant("TUTTI_STATIC", "static"),
            self.define_from_variant("TUTTI_LTO", "lto"),
            # What happens to be on the machine changes nothing: no module for each MPI on the PATH,
            # no kernels of devices by a clang of the system, no headers of the system.
            self.define("TUTTI_MPI", False),
            self.define("TUTTI_OPENCL_CLANG", False),
        ]
        if self.spec.satisfies("~devices"):
            args.append(self.define("TUTTI_OPENCL_HEADERS", False))
            args.append(self.define("TUTTI_LEVEL_ZERO_HEADERS", False))
        return args

    # libccl.so and libmpi_abi.so stay in their folders, which nobody is given unasked: the search
    # path of linked programs is that of libtutti alone.
    @property
    def libs(self):
        return find_libraries("libtutti", self.prefix, shared=True, recursive=True)

    @run_after("install")
    def keep_example(self):
        cache_extra_test_sources(self, join_path("examples", "allreduce.c"))

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_ranks(self):
        self.test_ranks()

    def test_ranks(self):
        """two ranks agree on sums of all sizes"""
        if self.spec.satisfies("~tools"):
            raise SkipTest("tutti is built with +tools alone")
        tutti = self.prefix.bin.tutti
        Executable(tutti)("run", "-n", "2", tutti, "bench", "allreduce", "-t", "64K")

    def test_example(self):
        """an example in C is compiled, and two ranks of it run"""
        if self.spec.satisfies("~tools"):
            raise SkipTest("tutti is built with +tools alone")
        folder = self.test_suite.current_test_cache_dir.examples
        with working_dir(folder):
            Executable(self["c"].cc)(
                f"-I{self.prefix.include}",
                "allreduce.c",
                "-o",
                "allreduce",
                *self.libs.ld_flags.split(),
                f"-Wl,-rpath,{self.libs.directories[0]}",
            )
            tutti = Executable(self.prefix.bin.tutti)
            tutti("run", "-n", "2", join_path(folder, "allreduce"))
