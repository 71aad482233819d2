# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The calls that latency.py times: what each contestant does for each collective."""

import random

import torch
import torch.distributed as dist

TOKEN = 2048  # elements of bfloat16: 4 KB
LAYOUTS = 64  # of uneven calls, of which each step takes the next


class Refused(Exception):
    """The contestant has no such call."""


class Even:
    """Buffers of a collective in which all ranks have the same part of `count` elements."""

    def __init__(self, collective, count, dtype, ranks, rank):
        whole = count * ranks
        self.shape = {"all_reduce": (0, count), "broadcast": (0, count),
                      "all_gather": (count, whole), "reduce_scatter": (whole, count),
                      "all_to_all": (whole, whole)}[collective]
        self.send, self.recv = (torch.zeros(size, dtype=dtype) for size in self.shape)
        self.rank, self.ranks, self.collective, self.count = rank, ranks, collective, count

    def fill(self):
        value = self.rank + 1 if self.collective != "broadcast" else 1 if self.rank == 0 else 9
        self.send.fill_(value)
        self.recv.fill_(value)

    def is_right(self):
        total = self.ranks * (self.ranks + 1) // 2
        if self.collective in ("all_reduce", "reduce_scatter"):
            expected = torch.full_like(self.recv, total)
        elif self.collective == "broadcast":
            expected = torch.full_like(self.recv, 1)
        else:
            expected = torch.arange(1, self.ranks + 1).repeat_interleave(self.count)
        return torch.equal(self.recv, expected.to(self.recv.dtype))


class Uneven:
    """Lists of tensors of up to `tokens` tokens each; every step has other sizes."""

    def __init__(self, collective, tokens, ranks, rank):
        chance = random.Random(tokens)
        pool = torch.zeros(ranks * tokens, TOKEN, dtype=torch.bfloat16)
        self.rank, self.ranks, self.collective = rank, ranks, collective
        self.layouts = []
        for _ in range(LAYOUTS):
            sizes = [chance.randint(0, tokens) for _ in range(ranks)]
            blocks = list(pool[:sum(sizes)].split(sizes))
            self.layouts.append((blocks, torch.zeros(sizes[rank], TOKEN, dtype=torch.bfloat16)))
        self.step = 0

    def next(self):
        self.step = (self.step + 1) % LAYOUTS
        return self.layouts[self.step]

    def fill(self):
        blocks, own = self.layouts[(self.step + 1) % LAYOUTS]
        for block in blocks:
            block.fill_(self.rank + 1)
        own.fill_(self.rank + 1)

    def is_right(self):
        blocks, own = self.layouts[self.step]
        if self.collective == "all_gather":
            return all((block == rank + 1).all() for rank, block in enumerate(blocks))
        return bool((own == self.ranks * (self.ranks + 1) // 2).all())


def through_c10d(collective, buffers, group):
    """A function that makes one call on the buffers."""
    if isinstance(buffers, Uneven):
        def uneven():
            blocks, own = buffers.next()
            if collective == "all_gather":
                dist.all_gather(blocks, own, group=group)
            else:
                dist.reduce_scatter(own, blocks, group=group)
        return uneven
    send, recv = buffers.send, buffers.recv
    return {
        "all_reduce": lambda: dist.all_reduce(recv, group=group),
        "broadcast": lambda: dist.broadcast(recv, 0, group=group),
        "all_gather": lambda: dist.all_gather_into_tensor(recv, send, group=group),
        "reduce_scatter": lambda: dist.reduce_scatter_tensor(recv, send, group=group),
        "all_to_all": lambda: dist.all_to_all_single(recv, send, group=group),
    }[collective]


def through_operators(collective, buffers, group):
    if isinstance(buffers, Uneven) or collective == "broadcast":
        raise Refused("no such operator")
    send, recv, name = buffers.send, buffers.recv, group.group_name
    return {
        "all_reduce": lambda: torch.ops.tutti.all_reduce_(recv, "sum", name),
        "all_gather": lambda: torch.ops.tutti.all_gather_into(recv, send, name),
        "reduce_scatter": lambda: torch.ops.tutti.reduce_scatter_into(recv, send, "sum", name),
        "all_to_all": lambda: torch.ops.tutti.all_to_all_into(recv, send, None, None, name),
    }[collective]


def through_deepspeed(collective, buffers, _group):
    if isinstance(buffers, Uneven) or collective != "all_reduce":
        raise Refused("it has an allreduce only")
    return lambda: torch.ops.deepspeed.inference_all_reduce_(buffers.recv)
