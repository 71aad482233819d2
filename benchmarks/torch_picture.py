#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Draws what ccl and Gloo take in PyTorch: all_reduce by size, and a training step of three models.

    .venv/bin/python benchmarks/torch_picture.py --svg docs/pytorch.svg

Both backends live in the same processes and take turns, so that whatever else the machine does
meets both; of several rounds the fastest counts, which other programs have disturbed least.
"""

import argparse
import copy
import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from peers import plot
from peers.session import free_port

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples" / "torch"
SIZES = [4 << (2 * i) for i in range(12)]  # 4 B to 16 MB
STEPS_PER_ROUND = 8
NAMES = {"ccl": "Tutti", "gloo": "Gloo"}


def models():
    """{name: (model, inputs)}: little arithmetic and many gradients, then the other way round."""
    sys.path.insert(0, str(EXAMPLES))
    from fsdp2 import WORDS, Predictor
    from resnet18 import resnet18

    mlp = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                        nn.Linear(512, 10))
    return {"MLP, 0.3 M parameters": (mlp, torch.randn(8, 64)),
            "transformer, 2 layers, 8 x 12 words": (Predictor(2), torch.randint(0, WORDS, (8, 12))),
            "ResNet-18, width 16, 4 images": (resnet18(16), torch.randn(4, 3, 32, 32))}


def microseconds(group, size):
    """Of one call, the mean of a round of some 50 ms, as Gloo takes 50 us and 2 ns per byte."""
    tensor = torch.ones(size // 4)
    calls = max(3, int(0.05 / (5e-5 + 2e-9 * size)))
    dist.all_reduce(tensor, group=group)
    dist.barrier(group)
    began = time.perf_counter()
    for _ in range(calls):
        dist.all_reduce(tensor, group=group)
    return (time.perf_counter() - began) / calls * 1e6


def latencies(groups, rounds):
    """{backend: [(bytes, microseconds)]} of the blocking call."""
    lines = {name: [] for name in groups}
    for size in SIZES:
        timed = [{name: microseconds(group, size) for name, group in groups.items()}
                 for _ in range(rounds)]
        for name in groups:
            lines[name].append((size, min(r[name] for r in timed)))
    return lines


def milliseconds(model, inputs, group):
    """Of a step, the mean of one round."""
    dist.barrier(group)
    began = time.perf_counter()
    for _ in range(STEPS_PER_ROUND):
        model.zero_grad()
        model(inputs).square().mean().backward()
    return (time.perf_counter() - began) / STEPS_PER_ROUND * 1e3


def steps(groups, rounds):
    """{model: {backend: milliseconds}}."""
    result = {}
    for title, (network, inputs) in models().items():
        replicas = {name: DDP(copy.deepcopy(network), process_group=group)
                    for name, group in groups.items()}
        timed = [{name: milliseconds(model, inputs, groups[name])
                  for name, model in replicas.items()} for _ in range(1 + rounds)]
        # In the first round buckets are arranged.
        result[title] = {name: min(r[name] for r in timed[1:]) for name in groups}
    return result


def bars(result, title):
    """A panel of pairs of bars; each model has its own scale."""
    def draw(axes):
        for place, (model, times) in enumerate(result.items()):
            for row, name in enumerate(NAMES):
                share, y = times[name] / max(times.values()), -3 * place - row
                axes.barh(y, share, color=plot.COLORS[NAMES[name]])
                axes.text(share + 0.02, y, f"{NAMES[name]} {times[name]:.2f} ms", va="center")
            axes.text(0, 0.6 - 3 * place, model)
        axes.set(title=title, xlim=(0, 1.4))
        axes.set_axis_off()
    return draw


def write_picture(path, lines, times, arguments):
    ours = {NAMES[name]: points for name, points in lines.items()}
    statistic = f"fastest of {arguments.rounds} rounds"
    plot.write(path, [
        plot.curves(ours, f"all_reduce, float32, {arguments.processes} processes", statistic),
        bars(times, f"DDP: forward, backward, gradients reduced; {statistic}")])


def print_tables(lines, times):
    print(f"{'bytes':>10}{'ccl us':>12}{'gloo us':>12}{'gloo / ccl':>12}")
    for (size, ccl), (_, gloo) in zip(lines["ccl"], lines["gloo"]):
        print(f"{size:>10}{ccl:>12.1f}{gloo:>12.1f}{gloo / ccl:>12.1f}")
    for model, pair in times.items():
        print(f"{model}: ccl {pair['ccl']:.2f} ms, gloo {pair['gloo']:.2f} ms, "
              f"gloo / ccl {pair['gloo'] / pair['ccl']:.2f}")


def rank_main(rank, arguments, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=arguments.processes)
    groups = {"ccl": dist.new_group(backend="ccl"), "gloo": dist.group.WORLD}
    lines = latencies(groups, arguments.rounds)
    times = steps(groups, arguments.rounds)
    if rank == 0:
        print_tables(lines, times)
        if arguments.svg:
            write_picture(arguments.svg, lines, times, arguments)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--svg", type=pathlib.Path, metavar="FILE")
    arguments = parser.parse_args()
    if arguments.svg and plot.LACKING:
        parser.error(plot.LACKING)
    port = free_port()
    torch.multiprocessing.spawn(rank_main, (arguments, port), nprocs=arguments.processes)


if __name__ == "__main__":
    main()
