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

import torch_overhead
from peers import plot

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


def latencies(groups, rounds):
    """{backend: [(bytes, microseconds)]} of the blocking call."""
    lines = {name: [] for name in groups}
    for size in SIZES:
        timed = [{name: torch_overhead.microseconds("blocking", group, size)
                  for name, group in groups.items()} for _ in range(rounds)]
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
    """The elements of a panel of pairs of bars, at the origin; each model has its own scale."""
    parts = [f'<text x="{plot.Plot.WIDTH / 2}" y="26" text-anchor="middle" font-size="16">{title}'
             '</text>']
    for place, (model, times) in enumerate(result.items()):
        top, longest = 70 + 145 * place, max(times.values())
        parts.append(f'<text x="80" y="{top}">{model}</text>')
        for row, name in enumerate(("ccl", "gloo")):
            width, y = 560 * times[name] / longest, top + 14 + 44 * row
            label = f"{NAMES[name]} {times[name]:.2f} ms"
            parts += [f'<rect x="80" y="{y}" width="{width:.1f}" height="36" '
                      f'fill="{plot.COLORS[NAMES[name]]}"/>',
                      f'<text x="{90 + width:.1f}" y="{y + 23}">{label}</text>']
    return parts


def svg(lines, times, arguments):
    ours = {NAMES[name]: points for name, points in lines.items()}
    statistic = f"fastest of {arguments.rounds} rounds"
    panels = [plot.panel(ours, f"all_reduce, float32, {arguments.processes} processes", statistic),
              bars(times, f"DDP: forward, backward, gradients reduced; {statistic}")]
    width, height = plot.Plot.WIDTH, plot.Plot.HEIGHT
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * width} {height}" '
             f'width="{2 * width}" height="{height}" font-family="sans-serif" font-size="13">',
             '<style>.g{stroke:#ddd;stroke-width:1}</style>',
             f'<rect width="{2 * width}" height="{height}" fill="white"/>']
    for place, elements in enumerate(panels):
        parts += [f'<g transform="translate({place * width} 0)">', *elements, "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


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
            arguments.svg.write_text(svg(lines, times, arguments), encoding="utf-8")
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--svg", type=pathlib.Path, metavar="FILE")
    arguments = parser.parse_args()
    port = torch_overhead.free_port()
    torch.multiprocessing.spawn(rank_main, (arguments, port), nprocs=arguments.processes)


if __name__ == "__main__":
    main()
