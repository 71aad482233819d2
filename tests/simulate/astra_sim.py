#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Exported Chakra traces in ASTRA-sim, beside `tutti simulate`. No test: nobody packages ASTRA-sim.

Usage: astra_sim.py TUTTI ASTRA-SIM

ASTRA-SIM is its analytical backend that knows congestion. A message takes alpha and its bytes, over
one link of a ring or the two of a switch, which stores and forwards. A compute node has as many
operations as nanoseconds, which a roofline of 1e9 operations and bytes a second turns into these.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ALPHA_US, RATE_GBIT = 20, 8
SIZES = ["8", "1kb", "32kb"]
RANKS = [2, 4, 8, 16]
CALLS = [
    ("allreduce", "ring", "Ring"),
    ("allreduce", "ring", "Switch"),
    ("allreduce", "recursive_doubling", "Switch"),
    ("allgather", "ring", "Ring"),
    ("allgather", "bruck", "Switch"),
    ("alltoall", "pairwise", "Switch"),
    ("alltoall", "bruck", "Switch"),
    ("reduce_scatter", "circulant", "Switch"),
]
SYSTEM = {
    "scheduling-policy": "LIFO", "endpoint-delay": 0, "active-chunks-per-dimension": 1,
    "preferred-dataset-splits": 1, "collective-optimization": "baseline",
    "all-reduce-implementation": ["ring"], "all-gather-implementation": ["ring"],
    "reduce-scatter-implementation": ["ring"], "all-to-all-implementation": ["ring"],
    "roofline-enabled": 1, "peak-perf": 0.001, "local-mem-bw": 1,
}


def simulated(tutti, collective, algorithm, ranks, size, prefix):
    command = [tutti, "simulate", collective, "-a", algorithm, "-n", str(ranks), "--hosts",
               str(ranks), "--latency", str(ALPHA_US), "--rate", str(RATE_GBIT), "-b", size,
               "--json", "--export-chakra", prefix]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["seconds"]


def replayed(astra, folder, ranks, shape):
    """Seconds until the last rank has ended; None if not all do."""
    links = {"Ring": 1, "Switch": 2}[shape]
    rate = links * RATE_GBIT * 1e9 / 8 / 2**30  # its GB/s are of 2^30 bytes
    files = {
        "network": f"topology: [ {shape} ]\nnpus_count: [ {ranks} ]\nbandwidth: [ {rate} ]\n"
                   f"latency: [ {1000 * ALPHA_US / links} ]\n",
        "system": json.dumps(SYSTEM),
        "remote-memory": json.dumps({"memory-type": "NO_MEMORY_EXPANSION"}),
    }
    command = [astra, f"--workload-configuration={folder}/call"]
    for name, text in files.items():
        Path(folder, name).write_text(text)
        command.append(f"--{name}-configuration={folder}/{name}")
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    ends = [int(cycles) for cycles in re.findall(r"finished, (\d+) cycles", done.stdout)]
    return max(ends) * 1e-9 if done.returncode == 0 and len(ends) == ranks else None


def main():
    tutti, astra = (str(Path(name).resolve()) for name in sys.argv[1:3])
    for collective, algorithm, shape in CALLS:
        for ranks in RANKS:
            for size in SIZES:
                with tempfile.TemporaryDirectory() as folder:
                    ours = simulated(tutti, collective, algorithm, ranks, size, f"{folder}/call")
                    theirs = replayed(astra, folder, ranks, shape)
                took = f"{theirs * 1e6:9.2f} us {100 * (theirs / ours - 1):+6.1f} %" if theirs else "failed"
                print(f"{collective:15}{algorithm:19}{shape:7}{ranks:3} {size:>5}{ours * 1e6:10.2f} us{took:>21}")


if __name__ == "__main__":
    sys.exit(main())
