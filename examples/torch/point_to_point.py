#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""A laboratory of messages between ranks: each experiment is a function that checks its result.

    torchrun --nproc_per_node=2 examples/torch/point_to_point.py
    torchrun --nproc_per_node=4 examples/torch/point_to_point.py --only ring_allreduce
"""

import argparse

import torch
import torch.distributed as dist


def ring(rank, size, count):
    """A token goes round once; each rank adds its number to it."""
    token = torch.zeros(count)
    if rank == 0:
        dist.send(token, dst=(rank + 1) % size)
        dist.recv(token, src=size - 1)
        assert token.eq(sum(range(size))).all(), token
    else:
        dist.recv(token, src=rank - 1)
        dist.send(token + rank, dst=(rank + 1) % size)


def both_ways(rank, size, count):
    """isend and irecv return at once; buffers are ours again after wait()."""
    right, left = (rank + 1) % size, (rank - 1) % size
    sent, received = torch.full((count,), float(rank)), torch.empty(count)
    requests = [dist.isend(sent, dst=right), dist.irecv(received, src=left)]
    for request in requests:
        request.wait()
    assert received.eq(left).all(), received


def any_source(rank, size, count):
    """Without src, recv takes whoever comes first, and says who it was."""
    if rank == 0:
        senders = set()
        for _ in range(size - 1):
            received = torch.empty(count)
            sender = dist.recv(received)
            assert received.eq(sender).all(), (sender, received)
            senders.add(sender)
        assert senders == set(range(1, size)), senders
    else:
        dist.send(torch.full((count,), float(rank)), dst=0)


def tags(rank, size, count):
    """Messages of one sender are told apart by their tags, whatever their order."""
    partner = rank ^ 1
    if partner >= size:
        return
    requests = [dist.isend(torch.full((count,), 10.0 * rank + tag), dst=partner, tag=tag)
                for tag in range(3)]
    for tag in (2, 0, 1):
        received = torch.empty(count)
        dist.recv(received, src=partner, tag=tag)
        assert received.eq(10 * partner + tag).all(), (tag, received)
    for request in requests:
        request.wait()


def neighbours(rank, size, count):
    """batch_isend_irecv starts a list of messages together: the order in it does not matter."""
    right, left = (rank + 1) % size, (rank - 1) % size
    mine = torch.full((count,), float(rank))
    from_left, from_right = torch.empty(count), torch.empty(count)
    operations = [dist.P2POp(dist.irecv, from_left, left, tag=1),
                  dist.P2POp(dist.irecv, from_right, right, tag=2),
                  dist.P2POp(dist.isend, mine, right, tag=1),
                  dist.P2POp(dist.isend, mine, left, tag=2)]
    for request in dist.batch_isend_irecv(operations):
        request.wait()
    assert from_left.eq(left).all() and from_right.eq(right).all(), (from_left, from_right)


def ring_allreduce(rank, size, count):
    """An allreduce of messages alone: sums of parts go round, then the parts themselves."""
    right, left = (rank + 1) % size, (rank - 1) % size
    values = torch.full((count,), rank + 1.0)
    parts = list(values.chunk(size)) + [values[:0]] * size  # fewer than ranks if count is small
    for step in range(2 * (size - 1)):
        outgoing, incoming = parts[(rank - step) % size], parts[(rank - step - 1) % size]
        received = torch.empty_like(incoming)
        request = dist.isend(outgoing.clone(), dst=right)
        dist.recv(received, src=left)
        request.wait()
        if step < size - 1:
            incoming += received
        else:
            incoming.copy_(received)
    expected = torch.full((count,), rank + 1.0)
    dist.all_reduce(expected)
    torch.testing.assert_close(values, expected)


def objects(rank, size, count):
    """What is no tensor is pickled. Receive it from ranks that you trust only."""
    if rank == 0:
        dist.send_object_list([{"count": count}, "text"], dst=size - 1)
    if rank == size - 1:
        received = [None, None]
        dist.recv_object_list(received, src=0)
        assert received == [{"count": count}, "text"], received


EXPERIMENTS = [ring, both_ways, any_source, tags, neighbours, ring_allreduce, objects]


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    parser.add_argument("--count", type=int, default=1000, help="elements per message")
    parser.add_argument("--only", choices=[e.__name__ for e in EXPERIMENTS])
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    dist.init_process_group(arguments.backend)
    rank, size = dist.get_rank(), dist.get_world_size()
    assert size > 1, "messages need two ranks at least"
    for experiment in EXPERIMENTS:
        if arguments.only in (None, experiment.__name__):
            experiment(rank, size, arguments.count)
            dist.barrier()
            if rank == 0:
                print(f"ok: {experiment.__name__}: {experiment.__doc__}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
