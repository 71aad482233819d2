#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Tensor-parallel inference: every rank holds a share of each layer of a small transformer.

    torchrun --nproc_per_node=2 examples/torch/tensor_parallel.py

Generates tokens greedily with a cache of keys and values. The tokens and the logits must be those
of the whole model in one process.
"""

import argparse
import copy
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

VOCABULARY = 128


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.head_width = width // heads
        self.q, self.k, self.v = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x, cache):
        # As many heads as this rank's share of q, k and v has.
        q, k, v = (layer(x).unflatten(-1, (-1, self.head_width)).transpose(1, 2)
                   for layer in (self.q, self.k, self.v))
        first = not cache
        if not first:
            k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
        cache[:] = [k, v]
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=first)
        return self.out(mixed.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = Attention(width, heads)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x, cache):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, layers, width, heads, positions):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, width)
        self.positions = nn.Embedding(positions, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, tokens, caches, start):
        places = torch.arange(start, start + tokens.shape[1])
        x = self.tokens(tokens) + self.positions(places)
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x[:, -1]))


def split_over_ranks(model, mesh):
    """Each block needs two all_reduces: after `out` and after `down`."""
    plan = {"attention.q": ColwiseParallel(), "attention.k": ColwiseParallel(),
            "attention.v": ColwiseParallel(), "attention.out": RowwiseParallel(),
            "up": ColwiseParallel(), "down": RowwiseParallel()}
    for block in model.blocks:
        parallelize_module(block, mesh, plan)
    return model


@torch.inference_mode()
def generate(model, prompt, steps):
    """The tokens, the last logits, and tokens per second."""
    caches = [[] for _ in model.blocks]
    tokens, new, began = prompt, prompt, time.perf_counter()
    for _ in range(steps):
        logits = model(new, caches, tokens.shape[1] - new.shape[1])
        new = logits.argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, new], dim=1)
    return tokens, logits, steps * len(prompt) / (time.perf_counter() - began)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--batch", type=int, default=2, help="prompts at once")
    parser.add_argument("--tokens", type=int, default=32, help="to generate per prompt")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    dist.init_process_group(arguments.backend)
    rank, size = dist.get_rank(), dist.get_world_size()
    assert arguments.heads % size == 0, f"{arguments.heads} heads do not divide by {size} ranks"
    torch.manual_seed(arguments.seed)  # the same weights and prompts on every rank
    whole = Transformer(arguments.layers, arguments.width, arguments.heads, 8 + arguments.tokens)
    prompt = torch.randint(0, VOCABULARY, (arguments.batch, 8))
    mesh = init_device_mesh("cpu", (size,), mesh_dim_names=("tp",))
    split = split_over_ranks(copy.deepcopy(whole).eval(), mesh)

    expected_tokens, expected_logits, alone = generate(whole.eval(), prompt, arguments.tokens)
    generate(split, prompt, 2)  # the first calls make plans
    tokens, logits, together = generate(split, prompt, arguments.tokens)
    torch.testing.assert_close(logits, expected_logits, rtol=1e-3, atol=1e-3)
    assert torch.equal(tokens, expected_tokens), (tokens, expected_tokens)
    if rank == 0:
        print(f"tokens of the first prompt: {tokens[0, 8:].tolist()}")
        print(f"one process {alone:.0f} tokens/s (beside {size - 1} others that do the same), "
              f"{size} ranks {together:.0f} tokens/s")
        print(f"ok: {size} ranks over {arguments.backend} say what the whole model says")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
