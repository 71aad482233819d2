#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel over a model that is itself split over two ranks.

    torchrun --nproc_per_node=4 examples/torch/ddp_model_parallel.py

Ranks form a mesh of replicas by stages. The first stage of a replica sends its activations to the
second, which sends their gradients back; each stage averages its gradients with the same stage of
the other replicas. Works with every even number of ranks. At the end the model must be the one
that a single process gets.
"""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel as DDP

WIDTH = 64


def make_stages():
    return (nn.Sequential(nn.Linear(10, WIDTH), nn.ReLU()),
            nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 5)))


def batch_of(replica, step, arguments):
    generator = torch.Generator().manual_seed(arguments.seed + 100 * step + replica)
    inputs = torch.randn(arguments.batch, 10, generator=generator)
    return inputs, inputs[:, :5].roll(1, dims=1)


def first_step(stage, inputs, pair):
    activations = stage(inputs)
    dist.send(activations.detach(), group=pair, group_dst=1)
    gradient = torch.empty_like(activations)
    dist.recv(gradient, group=pair, group_src=1)
    activations.backward(gradient)


def second_step(stage, targets, pair):
    activations = torch.empty(len(targets), WIDTH)
    dist.recv(activations, group=pair, group_src=0)
    activations.requires_grad_()
    loss = nn.functional.mse_loss(stage(activations), targets)
    loss.backward()
    dist.send(activations.grad, group=pair, group_dst=0)
    return loss.item()


def train(mesh, arguments):
    replica, place = mesh.get_local_rank("replica"), mesh.get_local_rank("stage")
    pair = mesh.get_group("stage")
    stage = DDP(make_stages()[place], process_group=mesh.get_group("replica"))
    optimizer = torch.optim.SGD(stage.parameters(), lr=0.1)
    for step in range(arguments.steps):
        inputs, targets = batch_of(replica, step, arguments)
        optimizer.zero_grad()
        if place == 0:
            first_step(stage, inputs, pair)
        else:
            loss = second_step(stage, targets, pair)
            if replica == 0 and (step + 1) % 10 == 0:
                print(f"step {step + 1}/{arguments.steps}: loss {loss:.4f}", flush=True)
        optimizer.step()
    return place, list(stage.parameters())


def train_alone(replicas, arguments):
    stages = make_stages()
    model = nn.Sequential(*stages)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(arguments.steps):
        batches = [batch_of(replica, step, arguments) for replica in range(replicas)]
        inputs, targets = (torch.cat(parts) for parts in zip(*batches))
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
    return stages


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--batch", type=int, default=16, help="samples per step and replica")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    dist.init_process_group(arguments.backend)
    world_size = dist.get_world_size()
    assert world_size % 2 == 0, f"an even number of ranks is needed, not {world_size}"
    mesh = init_device_mesh("cpu", (world_size // 2, 2), mesh_dim_names=("replica", "stage"))
    torch.manual_seed(arguments.seed)
    place, parameters = train(mesh, arguments)

    torch.manual_seed(arguments.seed)
    alone = train_alone(world_size // 2, arguments)
    for ours, expected in zip(parameters, alone[place].parameters(), strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-3, atol=1e-4)
    dist.barrier()
    if dist.get_rank() == 0:
        print(f"ok: {world_size // 2} replica(s) of two stages trained as one process does")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
