#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What one all_reduce costs a PyTorch program, over ccl and over gloo, by size.

Both backends live in the same processes and take turns, so that whatever else the machine does
meets both. Three forms: a blocking call; a handle and its wait(); a handle's future, which is what
DistributedDataParallel waits for.
"""

import argparse
import os
import socket
import statistics
import time

import torch
import torch.distributed as dist
import torch.multiprocessing

FORMS = {
    "blocking": lambda tensor, group: dist.all_reduce(tensor, group=group),
    "handle": lambda tensor, group: dist.all_reduce(tensor, group=group, async_op=True).wait(),
    "future": lambda tensor, group:
        dist.all_reduce(tensor, group=group, async_op=True).get_future().wait(),
}
ROUNDS = 7
ROUND_SECONDS = 0.05


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def calls_per_round(size):
    """About ROUND_SECONDS worth: 50 us and 2 ns per byte, which is what gloo takes."""
    return max(3, int(ROUND_SECONDS / (5e-5 + 2e-9 * size)))


def microseconds(form, group, size):
    """Of one call, the mean of one round."""
    tensor = torch.ones(max(1, size // 4))
    calls = calls_per_round(size)
    FORMS[form](tensor, group)
    dist.barrier(group)
    began = time.perf_counter()
    for _ in range(calls):
        FORMS[form](tensor, group)
    return (time.perf_counter() - began) / calls * 1e6


def rank_main(rank, arguments, port):
    import tutti_ccl.torch  # noqa: F401  (makes the backend known)

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=arguments.processes)
    groups = {"ccl": dist.new_group(backend="ccl"), "gloo": dist.group.WORLD}
    if rank == 0:
        print(f"all_reduce of float32, {arguments.processes} processes, us per call "
              f"(median of {ROUNDS} rounds)\n")
        print(f"{'form':10}{'bytes':>10}{'ccl':>12}{'gloo':>12}{'gloo / ccl':>12}")
    for form in FORMS:
        for size in arguments.sizes:
            rounds = [{name: microseconds(form, group, size) for name, group in groups.items()}
                      for _ in range(ROUNDS)]
            ccl, gloo = (statistics.median(r[name] for r in rounds) for name in ("ccl", "gloo"))
            if rank == 0:
                print(f"{form:10}{size:>10}{ccl:>12.1f}{gloo:>12.1f}{gloo / ccl:>12.1f}")
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--processes", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="+", metavar="BYTES",
                        default=[4, 1 << 10, 16 << 10, 64 << 10, 1 << 20, 16 << 20])
    arguments = parser.parse_args()
    port = free_port()
    torch.multiprocessing.spawn(rank_main, (arguments, port), nprocs=arguments.processes)


if __name__ == "__main__":
    main()
