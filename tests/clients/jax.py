# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""JAX on CPUs: its own collectives over Tutti, and those of tutti_ccl.jax.

    ./dev clients jax [--only tests|names|time] [--ranks 2] [--rounds 3] [--mpich WRAPPER]

tests: python/tests/test_jax.py, each result against numpy. names: what jaxlib asks of an MPI, as
our library has it. time: microseconds of psum over Tutti and over Gloo, in turns, and of
tutti_ccl.jax.allreduce, as the slowest rank sees them; and of psum over MPICH, if WRAPPER is the
libmpiwrapper.so that MPItrampoline needs for another MPI (MPIwrapper, built with mpicc.mpich).
"""

import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys

# Version 0.12 wants Python 3.12.
PACKAGES = ["jax==0.12.0.1; python_version >= '3.12'", "jaxlib==0.12.0.1; python_version >= '3.12'",
            "jax==0.10.2; python_version < '3.12'", "jaxlib==0.10.2; python_version < '3.12'",
            "torch==2.13.0", "pytest"]

TREE = pathlib.Path(__file__).resolve().parents[2]
BYTES = [8, 4096, 65536, 1 << 20, 16 << 20]

# One rank: the door is the argument.
TIMED = r"""
import json, os, statistics, sys, time
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec
door, sizes = sys.argv[1], json.loads(sys.argv[2])
rank, ranks = (int(os.environ.get(ours) or os.environ[mpich]) for ours, mpich in
               (("RANK", "PMI_RANK"), ("WORLD_SIZE", "PMI_SIZE")))
if door == "calls":
    import tutti_ccl.jax as tutti
    total, mine = jax.jit(tutti.allreduce), lambda count: jnp.ones(count, jnp.float32)
else:
    jax.distributed.initialize(f"127.0.0.1:{os.environ['MASTER_PORT']}", ranks, rank)
    mesh = jax.make_mesh((ranks,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    split = PartitionSpec("i")
    total = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "i"), mesh=mesh, in_specs=split,
                                  out_specs=split))
    mine = lambda count: jax.make_array_from_process_local_data(
        NamedSharding(mesh, split), np.ones(count, np.float32))
found = {}
for size in sizes:
    x = mine(size // 4)
    times = []
    for _ in range(60 if size < 1 << 20 else 20):
        begin = time.perf_counter()
        jax.block_until_ready(total(x))
        times.append(time.perf_counter() - begin)
    found[size] = statistics.median(times[10:]) * 1e6
os.write(1, ("times " + json.dumps(found) + "\n").encode())  # at once: ranks share the pipe
"""


def run(*command, **environment):
    return subprocess.run(list(map(str, command)), cwd=TREE, text=True, check=False,
                          env={**os.environ, **environment}, stdout=subprocess.PIPE)


def timed(door, ranks, wrapper):
    launcher, environment = [sys.executable, "-m", "tutti_ccl", "run"], {}
    if door == "gloo":
        environment = {"JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo"}
    if door == "tutti":
        from tutti_ccl import jax as tutti
        environment = tutti.settings()
    if door == "mpich":
        launcher = ["mpiexec.mpich"]
        environment = {"JAX_CPU_COLLECTIVES_IMPLEMENTATION": "mpi", "MPITRAMPOLINE_LIB": wrapper,
                       "MASTER_PORT": str(free_port())}
    done = run(*launcher, "-n", ranks, sys.executable, "-c", TIMED, door, json.dumps(BYTES),
               **environment)
    tables = [json.loads(line[6:]) for line in done.stdout.splitlines()
              if line.startswith("times ")]
    # JAX frees communicators after MPI_Finalize, at which MPICH ends the job.
    fine = done.returncode == 0 or door == "mpich"
    if not fine or len(tables) != ranks:
        raise SystemExit(f"{door}: status {done.returncode}\n{done.stdout}")
    return {size: max(table[str(size)] for table in tables) for size in BYTES}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def compare(ranks, rounds, wrapper):
    doors = {"tutti": "psum over Tutti", "gloo": "psum over Gloo", "calls": "tutti_ccl.jax"}
    if wrapper:
        doors["mpich"] = "psum over MPICH"
    found = {door: [] for door in doors}
    for _ in range(rounds):
        for door in doors:
            found[door].append(timed(door, ranks, wrapper))
    print(f"\nfloat32, {ranks} ranks, microseconds (median of {rounds} runs)")
    print(f"{'bytes':>10}" + "".join(f"{name:>18}" for name in doors.values()))
    for size in BYTES:
        print(f"{size:>10}" + "".join(
            f"{statistics.median(each[size] for each in found[door]):>18.1f}" for door in doors))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["tests", "names", "time"])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mpich", metavar="WRAPPER")
    given = parser.parse_args()
    if given.only in (None, "names"):
        from tutti_ccl import jax as tutti
        names = run(sys.executable, TREE / "tests" / "mpi" / "trampoline_test.py", tutti.library())
        if names.returncode != 0:
            raise SystemExit("jaxlib asks for other names than our library has")
    if given.only in (None, "tests"):
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "--noconftest",
                               "python/tests/test_jax.py"], cwd=TREE, check=False)
        if done.returncode != 0:
            raise SystemExit(done.returncode)
    if given.only in (None, "time"):
        compare(given.ranks, given.rounds, given.mpich)


if __name__ == "__main__":
    main()
