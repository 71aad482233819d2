#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Elastic training: a rank is killed, torchrun starts all again, and they go on from a snapshot.

    torchrun --nproc_per_node=2 --max-restarts=1 examples/torch/elastic_restart.py

In its first life the last rank kills itself in the middle of an epoch. The others are told at once
and end; the second life begins with the epoch after the last snapshot. The end must be that of a
training that nothing has disturbed.
"""

import argparse
import os
import pathlib
import signal
import sys
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, wrap, snapshot, arguments):
        torch.manual_seed(arguments.seed)
        self.arguments, self.snapshot = arguments, snapshot
        self.network = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 5))
        self.model = wrap(self.network)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-2)
        self.epoch = 0

    def save(self):
        state = {"model": self.network.state_dict(), "optimizer": self.optimizer.state_dict(),
                 "epoch": self.epoch}
        torch.save(state, f"{self.snapshot}.new")
        os.replace(f"{self.snapshot}.new", self.snapshot)

    def load(self):
        state = torch.load(self.snapshot, map_location="cpu", weights_only=True)
        self.network.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.epoch = state["epoch"]

    def run_epoch(self, ranks, before_step=lambda step: None):
        for step in range(self.arguments.steps):
            before_step(step)
            inputs = torch.cat([self.batch(rank, step) for rank in ranks])
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(inputs), inputs[:, 5:]).backward()
            self.optimizer.step()
        self.epoch += 1

    def batch(self, rank, step):
        number = self.arguments.seed + 1000 * self.epoch + 10 * step + rank
        return torch.randn(16, 10, generator=torch.Generator().manual_seed(number))


def snapshot_path(arguments):
    """The same in every life of the job, and another one for another job."""
    if arguments.snapshot:
        return pathlib.Path(arguments.snapshot)
    job = f"{os.environ.get('TORCHELASTIC_RUN_ID', 'none')}-{os.getppid()}"
    return pathlib.Path(tempfile.gettempdir()) / f"elastic-{job}.pt"


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=10, help="per epoch")
    parser.add_argument("--fail-in-epoch", type=int, default=2,
                        help="when the last rank kills itself, in its first life only")
    parser.add_argument("--snapshot", metavar="FILE", help="default: one that is deleted again")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    life = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
    dist.init_process_group(arguments.backend)
    rank, size = dist.get_rank(), dist.get_world_size()
    trainer = Trainer(DDP, snapshot_path(arguments), arguments)
    if trainer.snapshot.exists():
        trainer.load()
    if rank == 0:
        print(f"life {life} begins with epoch {trainer.epoch}", flush=True)

    def before_step(step):
        if (life, trainer.epoch, rank, step) == (0, arguments.fail_in_epoch, size - 1, 3):
            print(f"rank {rank} kills itself in epoch {trainer.epoch}", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    while trainer.epoch < arguments.epochs:
        try:
            trainer.run_epoch([rank], before_step)
        except RuntimeError as error:
            sys.exit(f"rank {rank}, life {life}: {error}")  # not 0: torchrun starts all again
        if rank == 0:
            trainer.save()
            print(f"life {life}: epoch {trainer.epoch}/{arguments.epochs} saved", flush=True)

    alone = Trainer(lambda network: network, None, arguments)
    while alone.epoch < arguments.epochs:
        alone.run_epoch(range(size))
    for ours, expected in zip(trainer.network.parameters(), alone.network.parameters()):
        torch.testing.assert_close(ours, expected, rtol=1e-3, atol=1e-4)
    dist.barrier()
    if rank == 0:
        if not arguments.snapshot:
            trainer.snapshot.unlink()
        print(f"ok: life {life} ended where an undisturbed training ends")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
