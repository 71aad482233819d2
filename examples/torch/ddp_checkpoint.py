#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel with a checkpoint: rank 0 saves, all ranks load and go on.

    torchrun --nproc_per_node=2 examples/torch/ddp_checkpoint.py

Trains, saves half-way, and trains the second half twice: once straight on, and once with a new
model that starts from the file. Both must end with the same parameters.
"""

import argparse
import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def new_model():
    model = DDP(nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 5)))
    return model, torch.optim.Adam(model.parameters(), lr=1e-2)


def train(model, optimizer, steps, seed):
    for step in steps:
        generator = torch.Generator().manual_seed(1000 * seed + 10 * step + dist.get_rank())
        inputs = torch.randn(16, 10, generator=generator)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), inputs[:, :5])
        loss.backward()
        optimizer.step()
    if dist.get_rank() == 0:
        print(f"steps {steps.start} to {steps.stop - 1}: loss {loss.item():.4f}", flush=True)


def save(path, model, optimizer):
    if dist.get_rank() == 0:  # all ranks hold the same: one file is enough
        state = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(state, path + ".new")
        os.replace(path + ".new", path)  # whoever is killed while saving leaves the old file whole
    dist.barrier()  # nobody reads before it is written


def load(path, model, optimizer):
    state = torch.load(path, map_location="cpu", weights_only=True)
    model.module.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])


def shared_folder():
    """A temporary folder of rank 0, whose name all ranks get. It must be one that all can see."""
    name = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(name, src=0)
    return name[0]


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--checkpoint", metavar="FILE", help="default: one that is deleted again")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    dist.init_process_group(arguments.backend)
    path = arguments.checkpoint or os.path.join(shared_folder(), "model.pt")
    half = arguments.steps // 2
    torch.manual_seed(arguments.seed)

    model, optimizer = new_model()
    train(model, optimizer, range(half), arguments.seed)
    save(path, model, optimizer)
    train(model, optimizer, range(half, arguments.steps), arguments.seed)

    resumed, resumed_optimizer = new_model()
    load(path, resumed, resumed_optimizer)
    train(resumed, resumed_optimizer, range(half, arguments.steps), arguments.seed)

    for ours, expected in zip(resumed.parameters(), model.parameters()):
        torch.testing.assert_close(ours, expected)
    dist.barrier()  # all have read the file
    if dist.get_rank() == 0:
        if not arguments.checkpoint:
            os.remove(path)
            os.rmdir(os.path.dirname(path))
        print("ok: training from the checkpoint ends where training straight on does")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
