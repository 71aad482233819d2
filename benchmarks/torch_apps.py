#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Whole programs over ccl and over Gloo: steps of training, and decoding with tensor parallelism.

Both backends live in the same processes and take turns, step by step, so that whatever else the
machine does meets both. Models and data are random; what is measured is the time of a step.
"""

import argparse
import json
import os
import statistics
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from peers.session import free_port

BACKENDS = ("ccl", "gloo")


class Block(nn.Module):
    """A layer of ResNet-18."""

    def __init__(self, inside, outside, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside),
            nn.ReLU(), nn.Conv2d(outside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside))
        self.way = nn.Identity() if stride == 1 and inside == outside else nn.Sequential(
            nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        return (self.body(x) + self.way(x)).relu()


def resnet18():
    """For pictures of 32 x 32, as those of CIFAR."""
    layers = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    inside = 64
    for outside, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(inside, outside, stride), Block(outside, outside, 1)]
        inside = outside
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


class Transformer(nn.Module):
    def __init__(self, width=256, layers=4, words=1000):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, words)

    def forward(self, x):
        return self.head(self.layers(self.embedding(x)))


def training_step(model, inputs, targets):
    optimizer = torch.optim.SGD(model.parameters(), 0.01)

    def step():
        optimizer.zero_grad()
        cross_entropy(model(inputs).flatten(0, -2), targets.flatten()).backward()
        optimizer.step()
    return step


def text_step(model):
    inputs = torch.randint(0, 1000, (4, 64))
    return training_step(model, inputs, torch.randint(0, 1000, (4 * 64,)))


def ddp_transformer(group):
    return text_step(DistributedDataParallel(Transformer(), process_group=group))


def ddp_resnet(group):
    model = DistributedDataParallel(resnet18(), process_group=group)
    return training_step(model, torch.randn(8, 3, 32, 32), torch.randint(0, 10, (8,)))


def no_ddp_transformer(_group):
    return text_step(Transformer())


def no_ddp_resnet(_group):
    return training_step(resnet18(), torch.randn(8, 3, 32, 32), torch.randint(0, 10, (8,)))


def fsdp2_transformer(group):
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.fsdp import fully_shard

    mesh = DeviceMesh.from_group(group, "cpu")
    model = Transformer()
    for layer in model.layers.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return text_step(model)


class Decoder:
    """Layers split among the ranks as Megatron does: two allreduces of a token each per layer."""

    WIDTH, LAYERS, WORDS = 1024, 8, 4000

    def __init__(self, ranks, reduce):
        def weight(rows, columns):
            return torch.randn(rows, columns, dtype=torch.bfloat16) / columns ** 0.5
        part = self.WIDTH // ranks
        self.layers = [(weight(3 * part, self.WIDTH), weight(self.WIDTH, part),
                        weight(4 * part, self.WIDTH), weight(self.WIDTH, 4 * part))
                       for _ in range(self.LAYERS)]
        self.reduce = reduce

    def token(self, x):
        for to_attention, from_attention, up, down in self.layers:
            query, key, value = nn.functional.linear(x, to_attention).chunk(3, -1)
            mixed = (query * key).softmax(-1) * value
            x = x + self.reduce(nn.functional.linear(mixed, from_attention))
            x = x + self.reduce(nn.functional.linear(nn.functional.linear(x, up).relu(), down))
            x = x / x.norm()
        return x


def decode(ranks, reduce):
    decoder, x = Decoder(ranks, reduce), torch.ones(1, Decoder.WIDTH, dtype=torch.bfloat16)

    @torch.inference_mode()
    def step():
        decoder.token(x)
    return step


def tensor_parallel_decode(group):
    def reduce(tensor):
        dist.all_reduce(tensor, group=group)
        return tensor
    return decode(dist.get_world_size(), reduce)


def tensor_parallel_decode_operators(group):
    name = group.group_name

    def reduce(tensor):
        torch.ops.tutti.all_reduce_(tensor, "sum", name)
        return tensor
    return decode(dist.get_world_size(), reduce)


def decode_without_communication(_group):
    return decode(dist.get_world_size(), lambda tensor: tensor)


# name -> (what to measure by contestant, tokens of a step or 0)
PROGRAMS = {
    "ddp-transformer": ({"ccl": ddp_transformer, "gloo": ddp_transformer,
                         "alone": no_ddp_transformer}, 0),
    "ddp-resnet18": ({"ccl": ddp_resnet, "gloo": ddp_resnet, "alone": no_ddp_resnet}, 0),
    "fsdp2-transformer": ({"ccl": fsdp2_transformer, "gloo": fsdp2_transformer,
                           "alone": no_ddp_transformer}, 0),
    "tp-decode": ({"ccl": tensor_parallel_decode, "operators": tensor_parallel_decode_operators,
                   "gloo": tensor_parallel_decode, "alone": decode_without_communication}, 1),
}


def seconds_of(step, group, times):
    dist.barrier(group)
    began = time.perf_counter()
    for _ in range(times):
        step()
    return (time.perf_counter() - began) / times


def measure(program, groups, options):
    """{contestant: seconds of a step by round, of the slowest rank}"""
    makers, _tokens = PROGRAMS[program]
    times = 20 if program == "tp-decode" else 1
    steps = {}
    for name, make in makers.items():
        torch.manual_seed(0)
        steps[name] = make(groups["gloo" if name == "gloo" else "ccl"])
        for _ in range(3):  # DDP arranges its buckets anew after the first
            steps[name]()
    rounds = {name: [] for name in steps}
    for _ in range(options.rounds):
        for name, step in steps.items():
            rounds[name].append(seconds_of(step, groups["gloo"], times))
    everyone = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, rounds, groups["gloo"])
    return {name: [max(turns) for turns in zip(*(each[name] for each in everyone))]
            for name in steps}


def report(program, ranks, rounds):
    ms = {name: statistics.median(turns) * 1e3 for name, turns in rounds.items()}
    cells = "  ".join(f"{name} {value:9.2f}" for name, value in ms.items())
    print(f"{program:20}{ranks} ranks  ms: {cells}  ccl/gloo {ms['ccl'] / ms['gloo']:.2f}"
          f"  over alone: ccl {ms['ccl'] - ms['alone']:.2f}, gloo {ms['gloo'] - ms['alone']:.2f}",
          flush=True)
    if PROGRAMS[program][1]:
        print(" " * 20 + "tokens/s: " + "  ".join(f"{name} {1e3 / value:.0f}"
                                                  for name, value in ms.items()), flush=True)


def rank_main(rank, ranks, options, port):
    import tutti_ccl.torch  # noqa: F401  (makes the backend known)

    if ranks <= os.cpu_count():
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[rank]})
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    groups = {"ccl": dist.new_group(backend="ccl"), "gloo": dist.group.WORLD}
    results = []
    for program in options.programs:
        rounds = measure(program, groups, options)
        results.append({"program": program, "ranks": ranks, "seconds_by_round": rounds})
        if rank == 0:
            report(program, ranks, rounds)
    if rank == 0 and options.json:
        options.json.write_text(json.dumps(
            json.loads(options.json.read_text() or "[]") + results, indent=1) + "\n")
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4], metavar="N")
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS),
                        metavar="NAME", help=f"some of: {', '.join(PROGRAMS)} (default: all)")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path, metavar="FILE", help="everything that was measured")
    options = parser.parse_args()
    if options.json:
        options.json.write_text("")
    for ranks in options.ranks:
        torch.multiprocessing.spawn(rank_main, (ranks, options, free_port()), nprocs=ranks)


if __name__ == "__main__":
    main()
