#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Ray Train over ccl: `python ray_train_ccl.py`. Ray starts the workers itself.

Trains a small network in two workers, and checks that the loss went down."""

import ray
from ray.train import ScalingConfig
from ray.train.torch import TorchConfig, TorchTrainer


def train():
    import torch
    import torch.distributed as dist

    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    inputs = torch.randn(16, 8)
    wanted = inputs.sum(1, keepdim=True)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0], losses
    if dist.get_rank() == 0:
        print(f"Ray Train over {dist.get_backend()}: loss {losses[0]:.3f} -> {losses[-1]:.3f}")


if __name__ == "__main__":
    ray.init(num_cpus=4, include_dashboard=False)
    TorchTrainer(train, scaling_config=ScalingConfig(num_workers=2),
                 torch_config=TorchConfig(backend="ccl")).fit()
