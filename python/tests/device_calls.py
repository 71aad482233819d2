# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What tensors of a device that is made up must give, whichever it is, and how it is made."""

import os
import pathlib
import shutil
import subprocess

import pytest
import torch
import torch.distributed as dist

HERE = pathlib.Path(__file__).parent


def compiled(source, made, *options):
    """The library of a device, from a file beside this one, against the installed PyTorch."""
    compiler = os.environ.get("CXX") or shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler to make a device with")
    root = pathlib.Path(torch.__file__).parent
    done = subprocess.run(
        [*compiler.split(), "-std=c++20", "-O0", "-shared", "-fPIC", f"-I{root}/include",
         HERE / source, f"-L{root}/lib", "-ltorch_cpu", "-lc10", *options, "-o", made],
        text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return made


def on(device, *values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype).to(device)


def values(tensors):
    return [tensor.cpu().tolist() for tensor in tensors]


def equal_parts(device):
    mine = dist.get_rank() + 1.0
    summed, sent = on(device, mine, 2 * mine), on(device, mine)
    lists = [on(device, 0, 0), on(device, 0, 0)]
    dist.all_reduce(summed)
    dist.broadcast(sent, 1)
    dist.all_gather(lists, on(device, mine, -mine))
    gathered, block = on(device, 0, 0, 0, 0), on(device, 0)
    dist.all_gather_into_tensor(gathered, on(device, mine, 10))
    dist.reduce_scatter_tensor(block, on(device, mine, 3 * mine), dist.ReduceOp.AVG)
    scattered = on(device, 0)
    dist.reduce_scatter(scattered, [on(device, mine), on(device, 5 * mine)])
    return values([summed, sent, *lists, gathered, block, scattered])


def rooted_and_exchanged(device):
    rank = dist.get_rank()
    reduced, gathered = on(device, rank + 1.0), [on(device, 0), on(device, 0)]
    dist.reduce(reduced, 0)
    dist.gather(on(device, rank + 4.0), gathered if rank == 1 else None, 1)
    scattered = on(device, 0)
    dist.scatter(scattered, [on(device, 7), on(device, 8)] if rank == 0 else None, 0)
    received = on(device, *[0] * 3)
    dist.all_to_all_single(received, on(device, *[rank] * 3), [1, 2] if rank == 0 else [2, 1],
                           [1, 2] if rank == 0 else [2, 1])
    lists = [on(device, 0), on(device, 0)]
    dist.all_to_all(lists, [on(device, 10 + rank), on(device, 20 + rank)])
    return values([reduced, *gathered, scattered, received, *lists])


def without_waiting(device):
    rank = dist.get_rank()
    columns = torch.zeros(4, 2).to(device)
    column = columns[:, 1]
    column.copy_(torch.tensor([1.0, 2, 3, 4]))
    works = [dist.all_reduce(column, async_op=True)]
    flags = torch.tensor([rank == 0, False]).to(device)
    works.append(dist.all_reduce(flags, async_op=True))
    imaginary = torch.tensor([1 + 2j], dtype=torch.complex64).to(device)
    works.append(dist.all_reduce(imaginary, async_op=True))
    output = on(device, 0, 0)
    future = dist.all_gather_into_tensor(output, on(device, rank), async_op=True).get_future()
    doubled = future.then(lambda done: done.value()[0].cpu() * 2).wait()
    for work in works:
        work.wait()
    return [columns.cpu().tolist(), flags.cpu().tolist(), imaginary.cpu().tolist(),
            doubled.tolist()]


BOOL_OPERATIONS = {"SUM": any, "MAX": any, "BOR": any, "PRODUCT": all, "MIN": all, "BAND": all,
                   "BXOR": lambda pair: pair[0] != pair[1]}


def booleans(device):
    rank = dist.get_rank()
    flags = [bool(rank), True, False, not rank]
    mine = torch.tensor(flags).to(device)
    found = {}
    for name in BOOL_OPERATIONS:
        one = mine.clone()
        dist.all_reduce(one, getattr(dist.ReduceOp, name))
        found[name] = one.cpu().tolist()
    odd = torch.tensor([2 * rank, 4], dtype=torch.uint8).to(device).view(torch.bool)
    dist.all_reduce(odd)
    block, gathered = mine[:2].clone(), torch.zeros(8, dtype=torch.bool).to(device)
    dist.reduce_scatter_tensor(block, mine)
    dist.all_gather_into_tensor(gathered, mine)
    sent = mine.clone()
    dist.broadcast(sent, 1)
    return found, values([odd.view(torch.uint8), block, gathered, sent])


def messages(device, receives_first):
    rank = dist.get_rank()
    received, other = on(device, 0, 0), on(device, 0)
    exchange = [dist.P2POp(dist.isend, on(device, rank, 5), 1 - rank),
                dist.P2POp(dist.irecv, received, 1 - rank)]
    for work in dist.batch_isend_irecv(exchange[::-1] if receives_first else exchange):
        work.wait()
    if rank == 0:
        dist.send(on(device, 9), 1)
    else:
        assert dist.recv(other) == 0
    some = [on(device, 1), on(device, 2)]
    with dist._coalescing_manager(device=received.device):
        for tensor in some:
            dist.all_reduce(tensor)
    return values([received, other, *some])


class DeviceCalls:
    """Tests of a device: `device` is its name, the fixture `pair` two ranks that have it."""

    device = None

    def test_all_ranks_have_equal_parts(self, pair):
        for rank, found in enumerate(pair.run(equal_parts, self.device)):
            assert found == [[3, 6], [2], [1, -1], [2, -2], [1, 10, 2, 10], [[1.5], [4.5]][rank],
                             [[3], [15]][rank]]

    def test_roots_and_exchanges(self, pair):
        zero, one = pair.run(rooted_and_exchanged, self.device)
        assert zero == [[3], [0], [0], [7], [0, 1, 1], [10], [11]]
        assert one == [[2], [4], [5], [8], [0, 0, 1], [20], [21]]

    def test_calls_that_are_not_waited_for_and_odd_tensors(self, pair):
        expected = [[[0, 2], [0, 4], [0, 6], [0, 8]], [True, False], [2 + 4j], [0, 2]]
        assert pair.run(without_waiting, self.device) == [expected, expected]

    def test_booleans_stay_booleans(self, pair):
        ranks = [[False, True, False, True], [True, True, False, False]]
        reduced = {name: [combine(pair) for pair in zip(*ranks)]
                   for name, combine in BOOL_OPERATIONS.items()}
        for rank, found in enumerate(pair.run(booleans, self.device)):
            block = reduced["SUM"][2 * rank:2 * rank + 2]
            assert found == (reduced, [[1, 1], block, ranks[0] + ranks[1], ranks[1]])

    @pytest.mark.parametrize("first", ["send", "receive"])
    def test_messages_and_coalesced_calls(self, pair, first):
        found = pair.run(messages, self.device, first == "receive")
        assert found == [[[1, 5], [0], [2], [4]], [[0, 5], [9], [2], [4]]]
