#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Tensors that are not contiguous: a column of a matrix, a transposed output.

    torchrun --nproc_per_node=2 examples/torch/better_than_gloo/strided.py [--backend gloo]

Gloo of PyTorch 2.13 takes them for contiguous in some calls, and says nothing.
"""

import argparse

import torch
import torch.distributed as dist


def column(rank, size):
    matrix = torch.full((4, 3), rank + 1.0)
    dist.all_reduce(matrix[:, 1])
    expected = torch.full((4, 3), rank + 1.0)
    expected[:, 1] = size * (size + 1) / 2
    return "all_reduce of a column", matrix, expected


def scatter(rank, size):
    parts = [torch.arange(6.0).view(3, 2) + 10 * i for i in range(size)]
    output = torch.zeros(2, 3).t()
    dist.scatter(output, parts if rank == 0 else None, src=0)
    return "scatter into a transposed tensor", output, parts[rank]


def all_to_all(rank, size):
    whole = torch.arange(4.0 * size).view(2 * size, 2)
    output = torch.zeros(2, 2 * size).t()
    dist.all_to_all_single(output, whole + 100 * rank)
    mine = whole[2 * rank:2 * rank + 2]
    expected = torch.cat([mine + 100 * peer for peer in range(size)])
    return "all_to_all_single into a transposed tensor", output, expected


def send(rank, size):
    sent = torch.arange(6.0).view(2, 3).t()
    received = torch.zeros(3, 2)
    if rank == 0:
        try:
            dist.send(sent, dst=size - 1)
        except RuntimeError as error:
            print(f"send of a transposed tensor: {error}", flush=True)
            dist.send(received, dst=size - 1)  # let nobody wait
    if rank == size - 1:
        dist.recv(received, src=0)
        return "send of a transposed tensor", received, sent
    return "", sent, sent


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    backend = parser.parse_args().backend
    dist.init_process_group(backend)
    rank, size = dist.get_rank(), dist.get_world_size()
    wrong = 0
    for call in (column, scatter, all_to_all, send):
        name, result, expected = call(rank, size)
        if not torch.equal(result, expected):
            wrong += 1
            print(f"rank {rank}: {name} over {backend} gives\n{result}\ninstead of\n{expected}",
                  flush=True)
        dist.barrier()
    dist.destroy_process_group()
    assert wrong == 0, f"{wrong} results are wrong"
    if rank == 0:
        print("ok: strided tensors have the right elements, and no others have changed")


if __name__ == "__main__":
    main()
