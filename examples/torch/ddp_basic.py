#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel, as small as it gets: each rank trains on its share of every batch.

    torchrun --nproc_per_node=2 examples/torch/ddp_basic.py

At the end all ranks must hold the same parameters, and they must be those that one process gets
from the whole batches.
"""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 32)
        self.net2 = nn.Linear(32, 5)

    def forward(self, x):
        return self.net2(torch.relu(self.net1(x)))


def make_data(samples, seed):
    """The same on every rank: the sampler gives each its share."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(samples, 10, generator=generator)
    return TensorDataset(inputs, inputs @ torch.randn(10, 5, generator=generator))


def train(model, dataset, arguments, rank, world_size):
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank, seed=arguments.seed)
    loader = DataLoader(dataset, batch_size=arguments.batch // world_size, sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(arguments.epochs):
        sampler.set_epoch(epoch)  # another order in each epoch, the same for all ranks
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(inputs), targets)
            loss.backward()  # gradients are averaged over the ranks meanwhile
            optimizer.step()
        if dist.get_rank() == 0:
            print(f"{world_size} rank(s), epoch {epoch + 1}/{arguments.epochs}: "
                  f"loss {loss.item():.4f}", flush=True)
    return loss.item()


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--samples", type=int, default=1920)
    parser.add_argument("--batch", type=int, default=96, help="samples per step, of all ranks")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    dist.init_process_group(arguments.backend)
    rank, world_size = dist.get_rank(), dist.get_world_size()
    assert arguments.batch % world_size == arguments.samples % arguments.batch == 0, (
        "this comparison needs equal shares: samples a multiple of batch, batch one of the ranks")
    dataset = make_data(arguments.samples, arguments.seed)

    torch.manual_seed(arguments.seed + rank)  # DDP starts from the parameters of rank 0
    model = DDP(ToyModel())
    train(model, dataset, arguments, rank, world_size)

    mine = nn.utils.parameters_to_vector(model.parameters()).detach()
    everybodys = [torch.empty_like(mine) for _ in range(world_size)]
    dist.all_gather(everybodys, mine)
    assert all(torch.equal(mine, theirs) for theirs in everybodys), "the ranks have diverged"

    if rank == 0:
        torch.manual_seed(arguments.seed)
        alone = ToyModel()
        train(alone, dataset, arguments, 0, 1)
        expected = nn.utils.parameters_to_vector(alone.parameters()).detach()
        torch.testing.assert_close(mine, expected, rtol=1e-3, atol=1e-4)
        print(f"ok: {world_size} ranks over {arguments.backend} trained as one process does")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
