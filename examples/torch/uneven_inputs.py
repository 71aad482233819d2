#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel where ranks have different numbers of batches: the Join context manager.

    torchrun --nproc_per_node=2 examples/torch/uneven_inputs.py

Rank r has 3 r batches more than rank 0, and its last one is shorter. A rank that has no batch left
answers the others' collectives until all are done. At the end all must hold the same parameters.
"""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset


def make_loader(rank, arguments):
    samples = arguments.batch * (arguments.batches + 3 * rank) - rank
    generator = torch.Generator().manual_seed(arguments.seed + rank)
    inputs = torch.randn(samples, 20, generator=generator)
    labels = (inputs[:, :2].sum(1) > 0).long()
    return DataLoader(TensorDataset(inputs, labels), batch_size=arguments.batch)


def train(model, loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for epoch in range(epochs):
        steps = 0
        with Join([model]):
            for inputs, labels in loader:
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(inputs), labels).backward()
                optimizer.step()
                steps += 1
        print(f"rank {dist.get_rank()}, epoch {epoch + 1}/{epochs}: {steps} steps of its own, "
              f"the last of {len(inputs)} samples", flush=True)


def accuracy_over_all(model, loader):
    right, seen = torch.zeros(1), torch.zeros(1)
    with torch.no_grad():
        for inputs, labels in loader:
            right += (model.module(inputs).argmax(1) == labels).sum()
            seen += len(labels)
    dist.all_reduce(right)
    dist.all_reduce(seen)
    return (right / seen).item()


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batches", type=int, default=8, help="that rank 0 has per epoch")
    parser.add_argument("--batch", type=int, default=16, help="samples per batch")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    dist.init_process_group(arguments.backend)
    torch.manual_seed(arguments.seed)
    model = DDP(nn.Sequential(nn.Linear(20, 16), nn.Tanh(), nn.Linear(16, 2)))
    loader = make_loader(dist.get_rank(), arguments)
    train(model, loader, arguments.epochs)

    reached = accuracy_over_all(model, loader)
    mine = nn.utils.parameters_to_vector(model.parameters()).detach()
    rank_0s = mine.clone()
    dist.broadcast(rank_0s, src=0)
    assert torch.equal(mine, rank_0s), "the ranks have diverged"
    assert reached > 0.85, f"accuracy {reached:.1%}"
    if dist.get_rank() == 0:
        print(f"ok: all ranks hold the same model, accuracy {reached:.1%}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
