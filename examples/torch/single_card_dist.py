#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Data-parallel training on the tiles of one card, or on two shares of the CPU, without a launcher:
`python examples/torch/single_card_dist.py`. Intel Extension for PyTorch had an API of that name."""

import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import tutti_ccl.torch  # noqa: F401


def train(rank, ranks, store):
    device = torch.device("xpu", rank) if torch.xpu.is_available() else torch.device("cpu")
    backend = "ccl" if device.type == "cpu" else "cpu:ccl,xpu:xccl"
    dist.init_process_group(backend, init_method=f"file://{store}", rank=rank, world_size=ranks)
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 1).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    inputs = torch.randn(64, 16)[rank::ranks].to(device)
    losses = []
    for _ in range(50):
        loss = torch.nn.functional.mse_loss(model(inputs), inputs.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0], losses
    if rank == 0:
        print(f"ok: {ranks} processes on {device.type}: loss {losses[0]:.3f} -> {losses[-1]:.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    ranks = torch.xpu.device_count() if torch.xpu.is_available() else 2
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(ranks, f"{folder}/store"), nprocs=ranks)
