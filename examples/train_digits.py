#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Trains a small convolutional network on handwritten digits with DistributedDataParallel.

One process of the job; start them with any launcher:

    tutti run -n 2 python examples/train_digits.py
    torchrun --nproc-per-node 2 examples/train_digits.py --backend gloo

The data are the 1797 images of 8 x 8 pixels that come with scikit-learn. Fails if it
has trained for the usual number of epochs and fewer than 97 % of the images that were held out are
recognised.
"""

import argparse
import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

try:
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
except ImportError:
    sys.exit("train_digits.py: the images come with scikit-learn: pip install scikit-learn")

WANTED_ACCURACY, USUAL_EPOCHS = 0.97, 40
WARM_UP_STEPS = 20  # not timed: memory is allocated, buckets are arranged


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    parser.add_argument("--epochs", type=int, default=USUAL_EPOCHS)
    parser.add_argument("--batch", type=int, default=32, help="images per process and step")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", metavar="FILE", help="where rank 0 writes the results")
    return parser.parse_args()


def load_data():
    """Training images and labels, then those held out: the same on every rank."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    parts = train_test_split(images.numpy(), labels.numpy(), test_size=0.2, random_state=0,
                             stratify=labels.numpy())
    train_x, test_x, train_y, test_y = (torch.tensor(part) for part in parts)
    return train_x, train_y, test_x, test_y


def make_network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.2),
        nn.Linear(32 * 4 * 4, 128), nn.ReLU(),
        nn.Linear(128, 10),
    )


class Progress:
    """One line on standard error: redrawn on a terminal, ten times in all elsewhere."""

    def __init__(self, title, total):
        self.title, self.total, self.terminal = title, total, sys.stderr.isatty()

    def show(self, done, text):
        if not self.terminal and done * 10 // self.total == (done - 1) * 10 // self.total:
            return
        filled = 30 * done // self.total
        line = f"{self.title} [{'#' * filled}{'.' * (30 - filled)}] {done}/{self.total} {text}"
        if self.terminal:
            line = f"\r{line}\033[K"
        end = "" if self.terminal and done < self.total else "\n"
        print(line, end=end, file=sys.stderr, flush=True)


def train(network, arguments, images, labels):
    """Returns the seconds of every step."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    per_step = arguments.batch * ranks
    steps = len(images) // per_step
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=4e-3, total_steps=arguments.epochs * steps)
    order = torch.Generator().manual_seed(arguments.seed)  # the same on every rank
    progress = Progress(f"{arguments.backend:4} epoch", arguments.epochs)
    seconds = []
    network.train()
    for epoch in range(arguments.epochs):
        shuffled = torch.randperm(len(images), generator=order)
        for step in range(steps):
            start = step * per_step + rank * arguments.batch
            mine = shuffled[start:start + arguments.batch]
            began = time.perf_counter()
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(network(images[mine]), labels[mine])
            loss.backward()
            optimizer.step()
            seconds.append(time.perf_counter() - began)
            schedule.step()
        if rank == 0:
            progress.show(epoch + 1, f"loss {loss.item():.3f}, "
                          f"{statistics.median(seconds[-steps:]) * 1e3:.2f} ms/step")
    return seconds


@torch.no_grad()
def accuracy(network, images, labels):
    network.eval()
    return (network(images).argmax(1) == labels).float().mean().item()


def main():
    arguments = parse_arguments()
    # Without a launcher: a job of one process.
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "127.0.0.1"),
                        ("MASTER_PORT", "29500")):
        os.environ.setdefault(name, value)
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    dist.init_process_group(arguments.backend)
    train_x, train_y, test_x, test_y = load_data()
    network = DistributedDataParallel(make_network())
    torch.manual_seed(arguments.seed + dist.get_rank())  # other neurons drop out on other ranks
    seconds = train(network, arguments, train_x, train_y)
    reached = accuracy(network.module, test_x, test_y)
    timed = seconds[WARM_UP_STEPS:] or seconds
    if dist.get_rank() == 0:
        result = {"backend": arguments.backend, "processes": dist.get_world_size(),
                  "accuracy": reached, "steps": len(seconds),
                  "median_step_ms": statistics.median(timed) * 1e3}
        print(f"{result['backend']}: test accuracy {reached:.2%}, "
              f"median step {result['median_step_ms']:.2f} ms")
        if arguments.json:
            with open(arguments.json, "w", encoding="utf-8") as file:
                json.dump(result, file)
    dist.destroy_process_group()
    if reached < WANTED_ACCURACY and arguments.epochs >= USUAL_EPOCHS:
        sys.exit(f"test accuracy {reached:.2%} is below {WANTED_ACCURACY:.0%}")


if __name__ == "__main__":
    main()
