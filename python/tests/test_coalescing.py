# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The coalescing manager: several operations under one handle, and what errors inside it leave."""

import pytest
import torch
import torch.distributed as dist
from reference import same

CPU = torch.device("cpu")
MANAGERS = [{}, {"device": CPU}]


def reduced(arguments, async_ops):
    size = dist.get_world_size()
    tensors = [torch.ones(2), torch.ones(3, dtype=torch.int64), torch.ones(70001), torch.ones(0)]
    with dist._coalescing_manager(async_ops=async_ops, **arguments) as handle:
        for tensor in tensors:
            dist.all_reduce(tensor)
    if async_ops:
        handle.wait()
    for tensor in tensors:
        same(tensor, torch.full_like(tensor, size))


def gathered_and_scattered(arguments, async_ops):
    rank, size = dist.get_rank(), dist.get_world_size()
    whole = [torch.zeros(size * n) for n in (1, 5)]
    with dist._coalescing_manager(async_ops=async_ops, **arguments) as handle:
        for tensor in whole:
            dist.all_gather_into_tensor(tensor, torch.full((tensor.numel() // size,), rank + 1.0))
    if async_ops:
        handle.wait()
    for tensor in whole:
        same(tensor, torch.arange(1.0, size + 1).repeat_interleave(tensor.numel() // size))
    blocks = [torch.zeros(n) for n in (1, 5)]
    with dist._coalescing_manager(async_ops=async_ops, **arguments) as handle:
        for block in blocks:
            dist.reduce_scatter_tensor(block, torch.ones(size * block.numel()))
    if async_ops:
        handle.wait()
    for block in blocks:
        same(block, torch.full_like(block, size))


@pytest.mark.parametrize("async_ops", [False, True])
@pytest.mark.parametrize("arguments", MANAGERS, ids=["plain", "device"])
@pytest.mark.parametrize("body", [reduced, gathered_and_scattered])
def test_coalesced_collectives_give_what_single_ones_give(ranks, body, arguments, async_ops):
    ranks.run(body, arguments, async_ops)


def mixed():
    rank, size = dist.get_rank(), dist.get_world_size()
    right, left = (rank + 1) % size, (rank - 1) % size
    incoming, whole = torch.zeros(1 << 18), torch.full((3,), float(rank))
    with dist._coalescing_manager(device=CPU, async_ops=True) as handle:
        dist.send(torch.full((1 << 18,), float(rank)), right)  # returns though nobody receives yet
        dist.broadcast(whole, 0)
        dist.recv(incoming, left)
    assert len(handle.works) == 1
    value = handle.works[0].get_future().wait()
    assert any(tensor.data_ptr() == incoming.data_ptr() for tensor in value)
    same(incoming, torch.full((1 << 18,), float(left)))
    same(whole, torch.zeros(3))


def test_operations_of_different_kinds_have_one_handle(ranks):
    ranks.run(mixed)


def exchanged():
    rank, size = dist.get_rank(), dist.get_world_size()
    incoming = {peer: torch.zeros(peer + 1) for peer in range(size)}
    operations = [dist.P2POp(dist.isend, torch.full((rank + 1,), float(rank)), peer)
                  for peer in range(size)]
    operations += [dist.P2POp(dist.irecv, tensor, peer) for peer, tensor in incoming.items()]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    for peer, tensor in incoming.items():
        same(tensor, torch.full((peer + 1,), float(peer)))


def test_batched_messages_arrive(ranks):
    ranks.run(exchanged)


def usable():
    tensor = torch.ones(5)
    dist.all_reduce(tensor)
    same(tensor, torch.full((5,), float(dist.get_world_size())))
    with dist._coalescing_manager(device=CPU):
        dist.all_reduce(tensor)
    same(tensor, torch.full((5,), float(dist.get_world_size() ** 2)))


def broken_in_the_middle(arguments):
    first = torch.ones(3)
    with pytest.raises(ZeroDivisionError):
        with dist._coalescing_manager(**arguments):
            dist.all_reduce(first)
            dist.broadcast(torch.ones(2), 0)
            raise ZeroDivisionError
    usable()
    with pytest.raises((RuntimeError, ValueError)):
        with dist._coalescing_manager(**arguments):
            dist.broadcast(torch.ones(2), 0)
            dist.all_to_all_single(torch.ones(3), torch.ones(3), [1], [1, 2, 3, 4])
    usable()


@pytest.mark.parametrize("arguments", MANAGERS, ids=["plain", "device"])
def test_an_error_inside_leaves_the_group_usable(ranks, arguments):
    ranks.run(broken_in_the_middle, arguments)


def nothing_inside():
    for async_ops in (False, True):
        with dist._coalescing_manager(device=CPU, async_ops=async_ops) as handle:
            pass
        handle.wait()
    usable()


def test_an_empty_group_of_calls_is_fine(two_ranks):
    two_ranks.run(nothing_inside)
