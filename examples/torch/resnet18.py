#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""ResNet-18 (He et al., 2015) on images of CIFAR's shape, with resume.

    torchrun --nproc_per_node=2 examples/torch/resnet18.py
    torchrun --nproc_per_node=2 examples/torch/resnet18.py --checkpoint r.pt --stop-after 1
    torchrun --nproc_per_node=2 examples/torch/resnet18.py --checkpoint r.pt --resume

The images are made up (a pattern per class, and noise), so nothing is downloaded. The default is a
narrow network that trains in seconds; --width 64 is the real one. A run that was stopped and
resumed ends with the same checksum of the parameters as one that was not. Fails if too few of the
images that were held out are recognised.
"""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

CLASSES = 10


class BasicBlock(nn.Module):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels_in, channels, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(channels), nn.ReLU(inplace=True),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels))
        self.shortcut = nn.Identity()
        if stride != 1 or channels_in != channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels_in, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet18(width):
    """With a first layer of 3 x 3, as is usual for images of 32 x 32."""
    layers = [nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    channels = width
    for group in range(4):
        for block in range(2):
            stride = 2 if group > 0 and block == 0 else 1
            layers.append(BasicBlock(channels, width << group, stride))
            channels = width << group
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES)]
    return nn.Sequential(*layers)


def make_data(images, seed):
    patterns = torch.randn(CLASSES, 3, 8, 8, generator=torch.Generator().manual_seed(1))
    patterns = nn.functional.interpolate(patterns, size=(32, 32), mode="bilinear")
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(images) % CLASSES
    noise = torch.randn(images, 3, 32, 32, generator=generator)
    return TensorDataset(patterns[labels] + noise, labels)


class Trainer:
    def __init__(self, arguments):
        self.arguments = arguments
        torch.manual_seed(arguments.seed)
        self.model = DDP(resnet18(arguments.width))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.02, momentum=0.9,
                                         weight_decay=5e-4)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer,
                                                                   arguments.epochs)
        self.data = make_data(arguments.images, seed=2)
        self.sampler = DistributedSampler(self.data, seed=arguments.seed)
        self.loader = DataLoader(self.data, batch_size=arguments.batch, sampler=self.sampler)
        self.epoch = 0

    def parts(self):
        return {"model": self.model.module, "optimizer": self.optimizer, "schedule": self.schedule}

    def save(self, path):
        if dist.get_rank() == 0:
            state = {name: part.state_dict() for name, part in self.parts().items()}
            torch.save(state | {"epoch": self.epoch}, path + ".new")
            os.replace(path + ".new", path)
        dist.barrier()

    def resume(self, path):
        state = torch.load(path, map_location="cpu", weights_only=True)
        for name, part in self.parts().items():
            part.load_state_dict(state[name])
        self.epoch = state["epoch"]

    def run_epoch(self):
        self.model.train()
        self.sampler.set_epoch(self.epoch)
        began = time.perf_counter()
        for images, labels in self.loader:
            self.optimizer.zero_grad()
            loss = nn.functional.cross_entropy(self.model(images), labels)
            loss.backward()
            self.optimizer.step()
        self.schedule.step()
        self.epoch += 1
        seconds = (time.perf_counter() - began) / len(self.loader)
        if dist.get_rank() == 0:
            print(f"epoch {self.epoch}/{self.arguments.epochs}: loss {loss.item():.3f}, "
                  f"{seconds * 1e3:.0f} ms per step", flush=True)

    def checksum(self):
        return sum(p.detach().double().sum() for p in self.model.parameters()).item()

    @torch.no_grad()
    def accuracy(self):
        self.model.eval()
        images, labels = make_data(200, seed=3).tensors
        return (self.model.module(images).argmax(1) == labels).float().mean().item()


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=16, help="images per rank and step")
    parser.add_argument("--images", type=int, default=480)
    parser.add_argument("--width", type=int, default=8, help="channels of the first layer")
    parser.add_argument("--checkpoint", metavar="FILE", help="written after every epoch")
    parser.add_argument("--resume", action="store_true", help="start from the checkpoint")
    parser.add_argument("--stop-after", type=int, metavar="EPOCHS",
                        help="stop early, as if the job's time were over")
    parser.add_argument("--wanted-accuracy", type=float, default=0.8)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.resume and not arguments.checkpoint:
        parser.error("--resume needs --checkpoint FILE")
    return arguments


def main():
    arguments = parse_arguments()
    dist.init_process_group(arguments.backend)
    trainer = Trainer(arguments)
    if arguments.resume:
        trainer.resume(arguments.checkpoint)
    stop = min(arguments.epochs, trainer.epoch + (arguments.stop_after or arguments.epochs))
    while trainer.epoch < stop:
        trainer.run_epoch()
        if arguments.checkpoint:
            trainer.save(arguments.checkpoint)
    reached = trainer.accuracy()
    if dist.get_rank() == 0:
        print(f"after epoch {trainer.epoch}: accuracy {reached:.1%}, "
              f"checksum {trainer.checksum():.9f}")
    dist.destroy_process_group()
    if trainer.epoch == arguments.epochs:
        assert reached >= arguments.wanted_accuracy, f"accuracy {reached:.1%}"


if __name__ == "__main__":
    main()
