#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""DeepSpeed's ZeRO over ccl: `torchrun --nproc-per-node=2 deepspeed_zero.py [STAGE [BACKEND]]`.

Trains a small network on numbers that are the same on all ranks, prints the loss, and checks that
it went down and that all ranks have the same."""

import sys

import deepspeed
import torch
import torch.distributed as dist


def main(stage=0, backend="ccl"):
    deepspeed.init_distributed(backend)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    config = {
        "train_micro_batch_size_per_gpu": 8,
        "zero_optimization": {"stage": stage},
        "zero_allow_untested_optimizer": True,
    }
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=config)
    inputs = torch.randn(8, 16)
    wanted = inputs.sum(1, keepdim=True)
    losses = []
    for _ in range(20):
        loss = torch.nn.functional.mse_loss(engine(inputs), wanted)
        engine.backward(loss)
        engine.step()
        losses.append(loss.item())
    everyone = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, losses[-1])
    assert len(set(everyone)) == 1 and losses[-1] < losses[0], (everyone, losses)
    if dist.get_rank() == 0:
        print(f"ZeRO {stage} over {dist.get_backend()}: loss {losses[0]:.3f} -> {losses[-1]:.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*(int(word) if word.isdigit() else word for word in sys.argv[1:]))
