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


def openmpi(shop):
    """Ranks pin themselves, since each host would begin at the first core. HAN is the hierarchy."""
    program = shop.compile("openmpi", "mpicc.openmpi", ["mpi.c"])
    listed, agent = launch_files(shop, "openmpi", "{} slots={}")
    base = f"--mca pml ob1 --mca btl self,vader,tcp --mca btl_tcp_if_include {DEVICE}"
    base += " --bind-to none" + " --mca mpi_yield_when_idle 1" * shop.oversubscribed
    variants = {"": ""}
    if shop.per_host > 1:
        variants = {"flat": "", "HAN": "--mca coll_han_priority 100"}
    for variant, extra in variants.items():
        options = f"{base} {extra}".split()
        command = ["mpirun.openmpi", "--allow-run-as-root", "--hostfile", listed, "--mca",
                   "plm_rsh_agent", agent, "-np", shop.ranks, *options, program]
        yield contestant("Open MPI", variant, command, arguments=" ".join(options))


def mpich(shop):
    """Debian's has UCX below, which is to use TCP between hosts."""
    program = shop.compile("mpich", "mpicc.mpich", ["mpi.c"])
    listed, agent = launch_files(shop, "mpich", "{}:{}")
    command = ["mpirun.mpich", "-f", listed, "-launcher", "ssh", "-launcher-exec", agent,
               "-np", shop.ranks, program]
    transports = "tcp,sm,self" if shop.per_host > 1 else "tcp,self"
    yield contestant("MPICH", "", command, f"UCX_TLS={transports} UCX_NET_DEVICES={DEVICE}")


def gloo(shop):
    command = [contestants.interpreter_with_torch(shop), HERE / "gloo.py"]
    yield contestant("Gloo", "", command, f"GLOO_SOCKET_IFNAME={DEVICE}", one_by_one=True)


SPREAD = {"tutti": tutti, "openmpi": openmpi, "mpich": mpich, "gloo": gloo}


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
