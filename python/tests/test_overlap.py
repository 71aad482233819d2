# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs that share memory: all of it where a call can work in place; in part is an
error, and so is an output whose elements share memory with one another."""

import pytest
import torch
import torch.distributed as dist

COUNTS = [1, 3, 1000, 70_000]


def block(base, count):
    return torch.arange(count) % 97 + float(base)


def exchange_in_place():
    rank, size = dist.get_rank(), dist.get_world_size()
    for count in COUNTS:
        given = torch.cat([block(1000 * rank + 100 * peer, count) for peer in range(size)])
        wanted = torch.cat([block(1000 * peer + 100 * rank, count) for peer in range(size)])
        for alone in (False, True):  # one rank may be in place while another is not
            for asynchronous in (False, True):
                x = given.clone()
                source = x if rank == 0 or not alone else given
                work = dist.all_to_all_single(x, source, async_op=asynchronous)
                if asynchronous:
                    work.wait()
                assert torch.equal(x, wanted)
        x = given.clone()
        blocks = list(x.split(count))
        dist.all_to_all(blocks, blocks)
        assert torch.equal(x, wanted)
        x = given.clone()
        torch.ops.tutti.all_to_all_into(x, x)
        assert torch.equal(x, wanted)


def test_all_to_all_works_in_place(ranks):
    ranks.run(exchange_in_place)


def overlapping_calls(count, off):
    """By name; each with an input and an output that are `off` elements apart from in place."""
    rank, size = dist.get_rank(), dist.get_world_size()
    whole = torch.zeros(size * count + off)
    last, part = whole[off:], whole[off:off + size * count]
    one = part[rank * count:(rank + 1) * count]
    blocks = list(whole[:size * count].split(count))
    return {
        "all_gather_into_tensor":
            lambda: dist.all_gather_into_tensor(whole[:size * count], one),
        "all_gather": lambda: dist.all_gather(blocks, one),
        "reduce_scatter_tensor": lambda: dist.reduce_scatter_tensor(one, whole[:size * count]),
        "reduce_scatter": lambda: dist.reduce_scatter(one, blocks),
        "all_to_all": lambda: dist.all_to_all_single(last, whole[:size * count]),
    }


def refuse_overlaps():
    size = dist.get_world_size()
    for count in (1000, 70_000):
        for off in (1, count // 2):
            for name, call in overlapping_calls(count, off).items():
                with pytest.raises(RuntimeError, match=f"ccl:{name}.*overlap.*in place"):
                    call()
    mine = torch.zeros(4)
    for outputs in ([mine] * size, list(torch.zeros(2 * size + 2).unfold(0, 4, 2))):
        with pytest.raises(RuntimeError, match="outputs 0 .* and 1 .* overlap"):
            dist.all_gather(outputs[:size], mine)
    dist.barrier()  # nothing was begun


def test_what_overlaps_in_part_is_refused_by_name(ranks):
    ranks.run(refuse_overlaps)


def refuse_expanded():
    rank, size = dist.get_rank(), dist.get_world_size()
    expanded = torch.zeros(1).expand(4)
    sliding = torch.zeros(6).unfold(0, 4, 1)  # rows that share elements
    for output in (expanded, sliding):
        with pytest.raises(RuntimeError, match="lie in one place"):
            dist.all_reduce(output)
        with pytest.raises(RuntimeError, match="lie in one place"):
            dist.broadcast(output, 0)
        with pytest.raises(RuntimeError, match="lie in one place"):
            dist.reduce_scatter_tensor(output, torch.zeros(size * output.numel()))
    dist.barrier()
    # As inputs they may be so; elements of other tensors may lie between those of an output.
    gathered = torch.zeros(4 * size)
    dist.all_gather_into_tensor(gathered, torch.full((1,), float(rank)).expand(4))
    assert torch.equal(gathered, torch.arange(size).repeat_interleave(4).float())
    between = torch.zeros(8).as_strided((3, 2), (2, 3))  # at 0, 3, 2, 5, 4, 7
    between.fill_(1)
    dist.all_reduce(between)
    assert torch.equal(between, torch.full((3, 2), float(size)))


def test_an_output_whose_elements_share_memory_is_refused_by_name(ranks):
    ranks.run(refuse_expanded)
