# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Contestants of versus.py over several hosts, which are network namespaces of this machine.

Ranks are spread in blocks. The hosts differ in name, network, /dev/shm and System V IPC, so that no
library takes them for one; that data goes over the lines between them is checked by counting bytes.
"""

import sys

from . import contestants
from .contestants import HERE, ROOT, Unavailable, contestant

sys.path.append(str(ROOT / "tests/support"))

import hosts as namespaces  # noqa: E402

DEVICE = "eth0"
AGENT = ROOT / "tests/support/hosts.py"


def shares_of_cores(cores, ranks, hosts):
    """Of each rank, where each host has an equal part of the cores, as machines have: ranks wait
    for those of other hosts, but do not take their cores."""
    share, per_host = len(cores) // hosts, ranks // hosts
    return [cores[rank // per_host * share + rank % per_host % share] for rank in range(ranks)]


def tutti(shop):
    program = shop.build / "bin/versus_tutti"
    if not program.exists():
        raise Unavailable(f"{program} is not built (preset release, target {program.name})")
    yield contestant("Tutti", "", [program], one_by_one=True)


def launch_files(shop, name, line):
    """A list of the hosts, and what stands in for ssh to them."""
    listed, agent = shop.work / f"hosts-{name}", shop.work / "agent"
    listed.write_text("".join(line.format(f"host{h}", shop.per_host) + "\n"
                              for h in range(shop.hosts.count)))
    agent.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{AGENT}" --agent "$@"\n')
    agent.chmod(0o755)
    return listed, agent


def open_mpi(shop, peer, program, launcher, shared_memory):
    """Ranks pin themselves, since each host would begin at the first core. HAN is the hierarchy."""
    listed, agent = launch_files(shop, "openmpi", "{} slots={}")
    base = f"--mca pml ob1 --mca btl self,{shared_memory},tcp --mca btl_tcp_if_include {DEVICE}"
    base += " --bind-to none" + " --mca mpi_yield_when_idle 1" * shop.oversubscribed
    variants = {"": ""}
    if shop.per_host > 1:
        variants = {"flat": "", "HAN": "--mca coll_han_priority 100"}
    for variant, extra in variants.items():
        options = f"{base} {extra}".split()
        command = [launcher, "--allow-run-as-root", "--hostfile", listed, "--mca",
                   "plm_rsh_agent", agent, "-np", shop.ranks, *options, program]
        yield contestant(peer, variant, command, arguments=" ".join(options))


def openmpi(shop):
    program = shop.compile("openmpi", "mpicc.openmpi", ["mpi.c"])
    yield from open_mpi(shop, "Open MPI", program, "mpirun.openmpi", "vader")


def openmpi5(shop):
    program, venv = contestants.openmpi5_program(shop)
    yield from open_mpi(shop, "Open MPI 5", program, venv / "bin/mpirun", "sm")


def hydra(shop, peer, program, launcher, settings):
    """The launcher of MPICH and of what is made from it."""
    listed, agent = launch_files(shop, "hydra", "{}:{}")
    command = [launcher, "-f", listed, "-launcher", "ssh", "-launcher-exec", agent, "-np",
               shop.ranks, program]
    return contestant(peer, "", command, settings)


def mpich(shop):
    """Debian's has UCX below, which is to use TCP between hosts."""
    program = shop.compile("mpich", "mpicc.mpich", ["mpi.c"])
    transports = "tcp,sm,self" if shop.per_host > 1 else "tcp,self"
    yield hydra(shop, "MPICH", program, "mpirun.mpich",
                f"UCX_TLS={transports} UCX_NET_DEVICES={DEVICE}")


def mpich5(shop):
    program, venv = contestants.mpich5_program(shop)
    yield hydra(shop, "MPICH 5", program, venv / "bin/mpirun",
                f"FI_PROVIDER=tcp FI_TCP_IFACE={DEVICE}")


def intelmpi(shop):
    program = contestants.intelmpi_program(shop)
    [launcher, *_], paths = contestants.intel_launcher(shop)
    entry = hydra(shop, "Intel MPI", program, launcher,
                  f"I_MPI_FABRICS=shm:ofi I_MPI_PIN=0 FI_PROVIDER=tcp FI_TCP_IFACE={DEVICE} "
                  f"I_MPI_HYDRA_IFACE={DEVICE}")
    yield contestants.with_paths(entry, paths)


def gloo(shop):
    command = [contestants.interpreter_with_torch(shop), HERE / "gloo.py"]
    yield contestant("Gloo", "", command, f"GLOO_SOCKET_IFNAME={DEVICE}", one_by_one=True)


SPREAD = {"tutti": tutti, "openmpi": openmpi, "openmpi5": openmpi5, "mpich": mpich,
          "mpich5": mpich5, "intelmpi": intelmpi, "gloo": gloo}


def spread(name, shop):
    """The contestant's entries over the workshop's hosts."""
    if name not in SPREAD:
        raise Unavailable("left out: it is started on one host only")
    return SPREAD[name](shop)


def least_line_bytes(collective, size, hosts, per_host):
    """What some host's line must carry in one direction in a call, whatever the algorithm."""
    others = (hosts - 1) * per_host  # ranks on other hosts
    return {
        "allreduce": 2 * (hosts - 1) * size // hosts,
        "broadcast": size,
        "reduce": size,
        "sendrecv": size,
        "alltoall": per_host * others * size,
        "barrier": 0,
    }.get(collective, others * size)


def line_counters(hosts):
    """Bytes that each host's line has carried: [in, out, in, out, ...]."""
    found = []
    for holder in hosts.holders[:hosts.count]:
        with open(f"/proc/{holder.pid}/net/dev") as devices:
            fields = next(line for line in devices if line.strip().startswith(DEVICE)).split()
        found += [int(fields[1]), int(fields[9])]
    return found
