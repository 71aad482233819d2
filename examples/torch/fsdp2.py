#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Fully sharded training (FSDP2), with a sharded checkpoint.

    torchrun --nproc_per_node=2 examples/torch/fsdp2.py

Each rank keeps a share of all parameters, gradients and optimizer states. Half-way every rank
saves its share, and a new model loads them and goes on. The end must be that of one process.
"""

import argparse
import shutil
import tempfile

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

WIDTH, WORDS, LENGTH = 64, 32, 12


class Predictor(nn.Module):
    """Predicts the next word of sequences that a fixed permutation makes."""

    def __init__(self, layers):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True)
            for _ in range(layers))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words):
        x = self.words(words)
        for block in self.blocks:
            x = block(x)
        return self.head(x.flatten(0, 1))


def batch_of(rank, step, arguments):
    generator = torch.Generator().manual_seed(arguments.seed + 100 * step + rank)
    words = torch.randint(0, WORDS, (arguments.batch, LENGTH), generator=generator)
    return words, (words * 5 + 3) % WORDS


def loss_of(model, words, targets):
    return nn.functional.cross_entropy(model(words), targets.flatten())


def new_model(arguments):
    torch.manual_seed(arguments.seed)
    return Predictor(arguments.layers)


def new_sharded(arguments, mesh):
    model = new_model(arguments)
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model, torch.optim.AdamW(model.parameters(), lr=3e-3)


def train(model, optimizer, steps, arguments):
    for step in steps:
        optimizer.zero_grad()
        loss = loss_of(model, *batch_of(dist.get_rank(), step, arguments))
        loss.backward()
        optimizer.step()
    if dist.get_rank() == 0:
        print(f"steps {steps.start} to {steps.stop - 1}: loss {loss.item():.4f}", flush=True)


def train_alone(ranks, arguments):
    model = new_model(arguments)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(arguments.steps):
        batches = [batch_of(rank, step, arguments) for rank in range(ranks)]
        optimizer.zero_grad()
        loss_of(model, *(torch.cat(parts) for parts in zip(*batches))).backward()
        optimizer.step()
    return model


def save(model, optimizer, folder):
    model_state, optimizer_state = get_state_dict(model, optimizer)
    dcp.save({"model": model_state, "optimizer": optimizer_state}, checkpoint_id=folder)


def load(model, optimizer, folder):
    model_state, optimizer_state = get_state_dict(model, optimizer)
    state = {"model": model_state, "optimizer": optimizer_state}
    dcp.load(state, checkpoint_id=folder)
    set_state_dict(model, optimizer, model_state_dict=state["model"],
                   optim_state_dict=state["optimizer"])


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=8, help="sequences per rank and step")
    parser.add_argument("--checkpoint", metavar="FOLDER", help="default: one that is deleted again")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    dist.init_process_group(arguments.backend)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    folder = [arguments.checkpoint or (tempfile.mkdtemp() if rank == 0 else None)]
    dist.broadcast_object_list(folder, src=0)
    mesh = init_device_mesh("cpu", (ranks,))
    half = arguments.steps // 2

    model, optimizer = new_sharded(arguments, mesh)
    train(model, optimizer, range(half), arguments)
    save(model, optimizer, folder[0])
    resumed, optimizer = new_sharded(arguments, mesh)
    load(resumed, optimizer, folder[0])
    train(resumed, optimizer, range(half, arguments.steps), arguments)

    alone = train_alone(ranks, arguments)
    shares = sum(p.to_local().numel() for p in resumed.parameters())
    total = sum(p.numel() for p in alone.parameters())
    for ours, expected in zip(resumed.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(ours.full_tensor(), expected, rtol=1e-2, atol=1e-3)
    if rank == 0:
        if not arguments.checkpoint:
            shutil.rmtree(folder[0])
        print(f"rank 0 keeps {shares} of {total} parameters")
        print(f"ok: {ranks} ranks over {arguments.backend} trained as one process does")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
