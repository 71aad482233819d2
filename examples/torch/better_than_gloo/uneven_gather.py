#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""all_gather where every rank gives another number of elements, rank 0 none at all.

    torchrun --nproc_per_node=2 examples/torch/better_than_gloo/uneven_gather.py

With --backend gloo the call is refused: sizes must be padded by hand.
"""

import argparse

import torch
import torch.distributed as dist


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    dist.init_process_group(parser.parse_args().backend)
    rank, size = dist.get_rank(), dist.get_world_size()
    mine = torch.full((3 * rank,), float(rank))
    parts = [torch.empty(3 * peer) for peer in range(size)]
    dist.all_gather(parts, mine)
    for peer, part in enumerate(parts):
        assert part.eq(peer).all() and len(part) == 3 * peer, parts
    if rank == 0:
        print("ok: lengths", [len(part) for part in parts])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
