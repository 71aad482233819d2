# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Lists of tensors and splits: whatever their sizes, layout and type, each block finds its place,
and those that do not fit are named."""

import pytest
import torch
import torch.distributed as dist
from ranks import Ranks
from reference import check, data, reduced, same, strided_copies

TYPES = [torch.float32, torch.int16, torch.bool, torch.complex64, torch.float8_e4m3fn,
         torch.float16]


def rows(source, target):
    """How much one rank sends to another; nothing at all between some."""
    return (source + 2 * target) % 4


def strided(tensor):
    return next(strided_copies(tensor))


def all_to_all_lists(dtype, lay):
    rank, size = dist.get_rank(), dist.get_world_size()
    for asynchronous in (False, True):
        inputs = [lay(data((rows(rank, peer), 3), dtype, rank, peer)) for peer in range(size)]
        outputs = [lay(torch.zeros((rows(peer, rank), 3), dtype=dtype)) for peer in range(size)]
        work = dist.all_to_all(outputs, inputs, async_op=asynchronous)
        if asynchronous:
            work.wait()
        for peer, output in enumerate(outputs):
            same(output, data((rows(peer, rank), 3), dtype, peer, rank))


@pytest.mark.parametrize("lay", [torch.clone, strided], ids=["dense", "strided"])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_all_to_all_of_unequal_lists(ranks, dtype, lay):
    ranks.run(all_to_all_lists, dtype, lay)


def all_to_all_views():
    """Blocks that lie one after the other, some of them empty, are used where they are."""
    rank, size = dist.get_rank(), dist.get_world_size()
    sent = [rows(rank, peer) for peer in range(size)]
    received = [rows(peer, rank) for peer in range(size)]
    output = torch.zeros(sum(received))
    dist.all_to_all(list(output.split(received)),
                    list(torch.cat([data((count,), torch.float32, rank, peer)
                                    for peer, count in enumerate(sent)]).split(sent)))
    same(output, torch.cat([data((count,), torch.float32, peer, rank)
                            for peer, count in enumerate(received)]))


def test_all_to_all_of_views_of_one_tensor(ranks):
    ranks.run(all_to_all_views)


def all_to_all_rows(dtype, lay):
    rank, size = dist.get_rank(), dist.get_world_size()
    sent = [rows(rank, peer) for peer in range(size)]
    received = [rows(peer, rank) for peer in range(size)]
    for asynchronous in (False, True):
        output = lay(torch.zeros((sum(received), 5), dtype=dtype))
        work = dist.all_to_all_single(output, lay(data((sum(sent), 5), dtype, rank)), received,
                                      sent, async_op=asynchronous)
        if asynchronous:
            work.wait()
        for peer, block in enumerate(output.split(received)):
            theirs = [rows(peer, other) for other in range(size)]
            same(block, data((sum(theirs), 5), dtype, peer).split(theirs)[rank])


@pytest.mark.parametrize("lay", [torch.clone, strided], ids=["dense", "strided"])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_all_to_all_of_unequal_rows(ranks, dtype, lay):
    ranks.run(all_to_all_rows, dtype, lay)


def splits_on_some_ranks():
    rank, size = dist.get_rank(), dist.get_world_size()
    equal = [2] * size
    for sent, received in [(equal, equal), (equal, None), (None, equal)]:
        if rank == 0:
            sent = received = None
        output = torch.zeros(2 * size)
        dist.all_to_all_single(output, data((2 * size,), torch.float32, rank), received, sent)
        same(output, torch.cat([data((2 * size,), torch.float32, peer)[2 * rank:2 * rank + 2]
                                for peer in range(size)]))


def test_a_rank_without_splits_meets_ranks_with_equal_ones(ranks):
    ranks.run(splits_on_some_ranks)


def all_gather_uneven(dtype, lay):
    rank, size = dist.get_rank(), dist.get_world_size()
    shapes = [(3 * peer, 2) for peer in range(size)]  # rank 0 has nothing
    for asynchronous in (False, True):
        outputs = [lay(torch.zeros(shape, dtype=dtype)) for shape in shapes]
        work = dist.all_gather(outputs, lay(data(shapes[rank], dtype, rank)),
                               async_op=asynchronous)
        if asynchronous:
            work.wait()
        for peer, output in enumerate(outputs):
            same(output, data(shapes[peer], dtype, peer))


@pytest.mark.parametrize("lay", [torch.clone, strided], ids=["dense", "strided"])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_all_gather_of_unequal_tensors(ranks, dtype, lay):
    ranks.run(all_gather_uneven, dtype, lay)


def reduce_scatter_uneven(dtype, lay, op):
    rank, size = dist.get_rank(), dist.get_world_size()
    lengths = [7 * peer for peer in range(size)]  # rank 0 gets nothing
    everyone = [[data((lengths[block],), dtype, peer, block) for block in range(size)]
                for peer in range(size)]
    for asynchronous in (False, True):
        output = lay(torch.zeros(lengths[rank], dtype=dtype))
        work = dist.reduce_scatter(output, [lay(block) for block in everyone[rank]], op,
                                   async_op=asynchronous)
        if asynchronous:
            work.wait()
        check(output, reduced([inputs[rank] for inputs in everyone], op))


@pytest.mark.parametrize("lay", [torch.clone, strided], ids=["dense", "strided"])
@pytest.mark.parametrize("dtype, op", [
    (torch.float32, dist.ReduceOp.SUM), (torch.int32, dist.ReduceOp.MAX),
    (torch.bool, dist.ReduceOp.SUM), (torch.bfloat16, dist.ReduceOp.SUM),
], ids=["float32", "int32", "bool", "bfloat16"])
def test_reduce_scatter_of_unequal_blocks(ranks, dtype, op, lay):
    ranks.run(reduce_scatter_uneven, dtype, lay, op)


def gather_and_scatter(dtype, lay):
    rank, size = dist.get_rank(), dist.get_world_size()
    for asynchronous in (False, True):
        for root in range(size):
            mine = data((4, 3), dtype, rank)
            outputs = [lay(torch.zeros_like(mine)) for _ in range(size)]
            gathering = dist.gather(lay(mine), outputs if rank == root else None, root,
                                    async_op=asynchronous)
            output = lay(torch.zeros_like(mine))
            inputs = [lay(data((4, 3), dtype, peer, root)) for peer in range(size)]
            scattering = dist.scatter(output, inputs if rank == root else None, root,
                                      async_op=asynchronous)
            if asynchronous:
                scattering.wait()
                gathering.wait()
            same(output, data((4, 3), dtype, rank, root))
            for peer, output in enumerate(outputs):
                same(output, data((4, 3), dtype, peer) if rank == root else torch.zeros_like(mine))


@pytest.mark.parametrize("lay", [torch.clone, strided], ids=["dense", "strided"])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_gather_and_scatter_in_every_layout(ranks, dtype, lay):
    ranks.run(gather_and_scatter, dtype, lay)


def in_a_part_of_the_ranks():
    group = dist.new_group([1, 2])
    rank = dist.get_rank()
    if rank == 0:
        return
    lists = [torch.zeros(rank), torch.zeros(rank)]
    dist.all_to_all(lists, [torch.full((1,), 10.0 * rank + 1), torch.full((2,), 10.0 * rank + 2)],
                    group=group)
    assert [block.tolist() for block in lists] == [[10.0 + rank] * rank, [20.0 + rank] * rank]
    mine = torch.tensor([float(rank)])
    outputs = [torch.zeros(1), torch.zeros(1)]
    dist.gather(mine, outputs if rank == 2 else None, 2, group=group)  # a global rank
    assert rank == 1 or [block.item() for block in outputs] == [1.0, 2.0]
    dist.scatter(mine, [torch.tensor([5.0]), torch.tensor([6.0])] if rank == 1 else None, 1,
                 group=group)
    assert mine.item() == 4.0 + rank
    dist.reduce(mine, 2, group=group)
    assert mine.item() == (5.0 if rank == 1 else 11.0)
    outputs = [torch.zeros(3), torch.zeros(0)]
    dist.all_gather(outputs, torch.full((3,), 7.0) if rank == 1 else torch.zeros(0), group=group)
    assert outputs[0].tolist() == [7.0] * 3
    output = torch.zeros(2 if rank == 1 else 0)
    dist.reduce_scatter(output, [torch.ones(2), torch.ones(0)], group=group)
    assert output.tolist() == ([2.0, 2.0] if rank == 1 else [])
    dist.destroy_process_group(group)


def test_collectives_of_blocks_in_a_part_of_the_ranks(three_ranks):
    three_ranks.run(in_a_part_of_the_ranks)


def wrong_lists():
    """What the root gives wrongly is found by it before it calls, so only it has to try."""
    size = dist.get_world_size()
    mine = torch.zeros(2)
    if dist.get_rank() == 0:
        backend = dist.group.WORLD._get_backend(torch.device("cpu"))

        def gather(outputs):
            backend.gather([outputs], [mine], dist.GatherOptions())

        def scatter(inputs):
            backend.scatter([mine], [inputs], dist.ScatterOptions())

        for call, what in [(gather, "outputs"), (scatter, "inputs")]:
            with pytest.raises(RuntimeError, match=f"the root gave 1 {what} for {size} ranks"):
                call([torch.zeros(2)])
            last = size - 1
            with pytest.raises(RuntimeError, match=f"{what} that of rank {last} has 5 elements, "
                                                   "the root's own tensor 2"):
                call([torch.zeros(2)] * last + [torch.zeros(5)])
            with pytest.raises(RuntimeError, match=f"{what} that of rank 0 is Double"):
                call([torch.zeros(2, dtype=torch.float64)] * size)
        with pytest.raises(RuntimeError, match="expected 1 tensor or list of tensors, got 0"):
            backend.gather([], [mine], dist.GatherOptions())
        with pytest.raises(RuntimeError, match=f"root is {size}, expected 0 to {size - 1}"):
            options = dist.ReduceOptions()
            options.rootRank = size
            backend.reduce([mine], options)
    with pytest.raises(RuntimeError, match="split size is -1, expected 0 or more"):
        splits = [-1, *[0] * (size - 2), 5]
        dist.all_to_all_single(torch.zeros(4), torch.zeros(4), splits, splits)
    with pytest.raises(RuntimeError, match="split sizes sum to more than 9223372036854775807"):
        splits = [2**63 - 1, 2**63 - 1, *[0] * (size - 2)]
        dist.all_to_all_single(torch.zeros(4), torch.zeros(4), splits, splits)
    with pytest.raises(RuntimeError, match=f"got 1 split sizes for {size} ranks"):
        dist.all_to_all_single(torch.zeros(4), torch.zeros(4), [4], [4])
    dist.barrier()  # nothing was begun


def test_what_one_rank_can_see_to_be_wrong_is_refused_by_number(ranks):
    ranks.run(wrong_lists)


def different_sizes(kind):
    rank, size = dist.get_rank(), dist.get_world_size()
    mine = torch.zeros(5 if rank == 0 else 7)
    lists = [torch.zeros(5) for _ in range(size)]
    try:
        if kind == "gather":
            dist.gather(mine, lists if rank == 0 else None)
        elif kind == "scatter":
            dist.scatter(mine, lists if rank == 0 else None)
        else:
            dist.all_to_all([torch.zeros_like(mine) for _ in range(size)], lists[:-1] + [mine])
        dist.barrier()  # where a rank learns of it that only gave
    except RuntimeError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("kind, given, expected", [
    ("gather", "7 float32", "5 float32"), ("scatter", "5 float32", "7 float32"),
    ("all_to_all", "20 bytes", "28 bytes"),
], ids=["gather", "scatter", "all_to_all"])
def test_a_block_of_another_size_is_an_error_with_both_sizes(kind, given, expected):
    ranks = Ranks(2)
    # In all_to_all rank 0 need not notice: what it sent is too short for rank 1 alone.
    text = ranks.run(different_sizes, kind)[1]
    ranks.kill()
    assert "TUTTI_ERR_MISMATCH" in text and "rank 0" in text and "rank 1" in text, text
    assert given in text and expected in text, text
