#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Types and operations: 16-bit integers, 8-bit floats, averages of integers, scaled sums.

    torchrun --nproc_per_node=2 examples/torch/better_than_gloo/types_and_operations.py

With --backend gloo each of them is refused.
"""

import argparse

import torch
import torch.distributed as dist


def scaled_sum(factor):
    """What FSDP2 uses for set_gradient_divide_factor."""
    return dist._make_nccl_premul_sum(factor)


CASES = [
    ("sum of int16", torch.int16, dist.ReduceOp.SUM, lambda n: n * (n + 1) // 2),
    ("largest uint16", torch.uint16, dist.ReduceOp.MAX, lambda n: n),
    ("sum of float8_e4m3fn", torch.float8_e4m3fn, dist.ReduceOp.SUM, lambda n: n * (n + 1) / 2),
    ("average of int64", torch.int64, dist.ReduceOp.AVG, lambda n: (n + 1) // 2),
    ("half the sum of bfloat16", torch.bfloat16, scaled_sum(0.5), lambda n: n * (n + 1) / 4),
]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    backend = parser.parse_args().backend
    dist.init_process_group(backend)
    rank, size = dist.get_rank(), dist.get_world_size()
    refused = 0
    for name, dtype, operation, expected in CASES:
        tensor = torch.full((5,), rank + 1.0).to(dtype)
        try:
            dist.all_reduce(tensor, op=operation)
            assert tensor.double().eq(expected(size)).all(), (name, tensor)
            text = str(tensor[0].item())
        except RuntimeError as error:
            refused += 1
            text = str(error).splitlines()[0]
        if rank == 0:
            print(f"{name:26} {text}", flush=True)
    dist.destroy_process_group()
    assert refused == 0, f"{backend} refuses {refused} of {len(CASES)}"
    if rank == 0:
        print("ok")


if __name__ == "__main__":
    main()
