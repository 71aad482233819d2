#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Mistakes that programs make, and what the ranks are told.

    torchrun --nproc_per_node=2 examples/torch/better_than_gloo/mistakes.py KIND

KIND: types (float32 on one rank, int32 on the others), sizes, calls (all_reduce on one rank,
broadcast on the others), missing (the last rank does not call), died (it has ended). Over ccl every
rank that waits gets an error that names the rank and both calls. With --backend gloo:
types: no error, the bits of the one are added to the numbers of the other;
sizes: the process is ended by std::terminate; the others: a timeout or a closed connection.
Where all ranks are alive they make another group after that, and go on.
"""

import argparse
import datetime
import os
import time

import torch
import torch.distributed as dist


def make_mistake(kind, odd):
    if kind == "types":
        dist.all_reduce(torch.ones(4, dtype=torch.int32 if odd else torch.float32))
    elif kind == "sizes":
        dist.all_reduce(torch.ones(1000 if odd else 8))
    elif kind == "calls" and odd:
        dist.broadcast(torch.ones(4), src=dist.get_rank())
        dist.barrier()
    elif kind == "calls":
        dist.all_reduce(torch.ones(4))
    elif kind == "missing" and odd:
        time.sleep(4)
    elif kind == "died" and odd:
        os._exit(0)
    else:
        dist.all_reduce(torch.ones(3))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["types", "sizes", "calls", "missing", "died"])
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    arguments = parser.parse_args()
    dist.init_process_group(arguments.backend, timeout=datetime.timedelta(seconds=2))
    rank, last = dist.get_rank(), dist.get_world_size() - 1
    dist.barrier()
    began, text = time.perf_counter(), ""
    try:
        make_mistake(arguments.kind, rank == last)
    except RuntimeError as error:
        text = str(error)
    silent = rank == last and arguments.kind == "missing"
    print(f"rank {rank}, after {time.perf_counter() - began:.1f} s: {text or 'no error'}",
          flush=True)
    assert silent or f"rank {last}" in text, "the rank that is wrong is not named"
    if arguments.kind != "died":
        dist.destroy_process_group()
        dist.init_process_group(arguments.backend, timeout=datetime.timedelta(seconds=10))
        tensor = torch.ones(2)
        dist.all_reduce(tensor)
        assert tensor.eq(last + 1).all(), tensor
        dist.destroy_process_group()
    if rank == 0:
        print("ok: named")


if __name__ == "__main__":
    main()
