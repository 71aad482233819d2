# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Reductions compute what they say, for every type, operation and shape."""

import pytest
import torch
import torch.distributed as dist
from reference import (ALL_TYPES, COMPLEX, FLOATS, INTEGERS, SHAPES, check, data, reduced, same,
                       strided_copies)
from torch.distributed import ReduceOp

ARITHMETIC = [ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX]
BITWISE = [ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR]


def operations(dtype):
    if dtype.is_complex:
        return [ReduceOp.SUM, ReduceOp.AVG]
    if dtype == torch.bool:
        return ARITHMETIC + BITWISE
    return ARITHMETIC + [ReduceOp.AVG] + ([] if dtype.is_floating_point else BITWISE)


def inputs_of_all(shape, dtype, salt=0):
    return [data(shape, dtype, rank, salt) for rank in range(dist.get_world_size())]


def all_reduce_everything(dtype):
    rank = dist.get_rank()
    for shape in SHAPES:
        everyone = inputs_of_all(shape, dtype)
        for op in operations(dtype):
            expected = reduced(everyone, op)
            for tensor in [everyone[rank].clone(), *strided_copies(everyone[rank])]:
                dist.all_reduce(tensor, op)
                check(tensor, expected)
            tensor = everyone[rank].clone()
            dist.all_reduce(tensor, op, async_op=True).wait()
            check(tensor, expected)


@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_all_reduce(ranks, dtype):
    ranks.run(all_reduce_everything, dtype)


def all_reduce_bits(dtype):
    everyone = inputs_of_all((4099,), dtype)
    tensor = everyone[dist.get_rank()]
    dist.all_reduce(tensor)
    return tensor


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_every_rank_gets_the_same_bits(ranks, dtype):
    first, *others = ranks.run(all_reduce_bits, dtype)
    for other in others:
        same(other, first)


def all_reduce_premultiplied(dtype, as_tensor):
    everyone = inputs_of_all((257,), dtype)
    tensor = everyone[dist.get_rank()].clone()
    factor = torch.tensor([0.5], dtype=torch.float32) if as_tensor else 0.5
    dist.all_reduce(tensor, dist._make_nccl_premul_sum(factor))
    check(tensor, reduced(everyone, ReduceOp.SUM) * 0.5)


@pytest.mark.parametrize("as_tensor", [False, True], ids=["number", "tensor"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.complex64],
                         ids=str)
def test_premultiplied_sum(ranks, dtype, as_tensor):
    ranks.run(all_reduce_premultiplied, dtype, as_tensor)


def premultiplied_integers():
    tensor = torch.full((5,), dist.get_rank() + 1, dtype=torch.int32)
    with pytest.raises(RuntimeError, match="PREMUL_SUM of Int .* a whole factor"):
        dist.all_reduce(tensor, dist._make_nccl_premul_sum(0.5))
    dist.all_reduce(tensor, dist._make_nccl_premul_sum(3.0))
    check(tensor, torch.full((5,), 3 * sum(range(1, dist.get_world_size() + 1))))


def test_integers_are_not_multiplied_by_a_fraction_that_would_become_0(ranks):
    ranks.run(premultiplied_integers)


def coalesced_all_reduce(dtype):
    rank = dist.get_rank()
    cases = [inputs_of_all(shape, dtype, salt) for salt, shape in enumerate(SHAPES)]
    for async_op in (False, True):
        tensors = [everyone[rank].clone() for everyone in cases]
        with dist._coalescing_manager(async_ops=async_op) as manager:
            for tensor in tensors:
                dist.all_reduce(tensor)
        if async_op:
            manager.wait()
        for tensor, everyone in zip(tensors, cases):
            check(tensor, reduced(everyone, ReduceOp.SUM))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64], ids=str)
def test_coalesced_all_reduce(ranks, dtype):
    ranks.run(coalesced_all_reduce, dtype)


def reduce_scatter_everything(dtype):
    rank, size = dist.get_rank(), dist.get_world_size()
    for shape in [(0,), (1,), (3, 5), (1023,)]:
        everyone = inputs_of_all((size, *shape), dtype)
        mine = everyone[rank]
        for op in operations(dtype):
            expected = reduced(everyone, op)[rank]
            blank = torch.zeros(shape, dtype=dtype)
            for output in [blank.clone(), *strided_copies(blank)]:
                dist.reduce_scatter(output, [block.clone() for block in mine], op)
                check(output, expected)
            for source in [mine, *strided_copies(mine)]:
                output = blank.clone()
                dist.reduce_scatter(output, list(source), op)  # views of one tensor
                check(output, expected)
            output = blank.clone()
            dist.reduce_scatter_tensor(output, mine.reshape(-1, *shape[1:]), op)
            check(output, expected)


@pytest.mark.parametrize("dtype", [t for t in ALL_TYPES if t not in COMPLEX], ids=str)
def test_reduce_scatter(ranks, dtype):
    ranks.run(reduce_scatter_everything, dtype)


def coalesced_reduce_scatter():
    rank, size = dist.get_rank(), dist.get_world_size()
    lengths = [1, 5, 400]
    everyone = [inputs_of_all((size, length), torch.float32, length) for length in lengths]
    outputs = [torch.zeros(length) for length in lengths]
    with dist._coalescing_manager(async_ops=True) as manager:
        for output, inputs in zip(outputs, everyone):
            dist.reduce_scatter_tensor(output, inputs[rank].reshape(-1))
    manager.wait()
    for output, inputs in zip(outputs, everyone):
        check(output, reduced(inputs, ReduceOp.SUM)[rank])


def test_coalesced_reduce_scatter(ranks):
    ranks.run(coalesced_reduce_scatter)


def reduce_to_each_root(dtype):
    rank, size = dist.get_rank(), dist.get_world_size()
    everyone = inputs_of_all((3, 5), dtype)
    for root in range(size):
        for op in operations(dtype):
            for tensor in [everyone[rank].clone(), *strided_copies(everyone[rank])]:
                dist.reduce(tensor, root, op)
                if rank == root:
                    check(tensor, reduced(everyone, op))
                else:
                    same(tensor, everyone[rank])


@pytest.mark.parametrize("dtype", INTEGERS[:5] + FLOATS[:4], ids=str)
def test_reduce(ranks, dtype):
    ranks.run(reduce_to_each_root, dtype)


def bools_of_other_bytes():
    """Any byte but 0 is true: rank r gives 0, 1, 2 << r, and 3 - r."""
    rank, size = dist.get_rank(), dist.get_world_size()

    def given(peer):
        return torch.tensor([0, 1, 2 << peer, 3 - peer], dtype=torch.uint8)

    truths = torch.stack([given(peer) != 0 for peer in range(size)])
    expected = {ReduceOp.SUM: truths.any(0), ReduceOp.MAX: truths.any(0),
                ReduceOp.BOR: truths.any(0), ReduceOp.PRODUCT: truths.all(0),
                ReduceOp.MIN: truths.all(0), ReduceOp.BAND: truths.all(0),
                ReduceOp.BXOR: truths.sum(0) % 2 == 1}
    for op, values in expected.items():
        for view in (given(rank).view(torch.bool),
                     given(rank).repeat_interleave(2).view(torch.bool)[::2]):
            dist.all_reduce(view, op)
            same(view.contiguous().view(torch.uint8), values.to(torch.uint8))
        output = torch.zeros(4, dtype=torch.bool)
        dist.reduce_scatter(output, [given(rank).view(torch.bool) for _ in range(size)], op)
        same(output.view(torch.uint8), values.to(torch.uint8))
        dist.reduce_scatter_tensor(output, given(rank).repeat(size).view(torch.bool), op)
        same(output.view(torch.uint8), values.to(torch.uint8))
        source = given(rank).view(torch.bool)
        dist.reduce(source, 0, op)
        same(source.view(torch.uint8), values.to(torch.uint8) if rank == 0 else given(rank))


def test_bools_are_true_whatever_their_byte(ranks):
    ranks.run(bools_of_other_bytes)


def multiplied(dtype):
    # Below torch.distributed, which asks for no product of complex numbers.
    rank, ranks = dist.get_rank(), dist.get_world_size()
    everyone = [data((1001,), dtype, each, 0) for each in range(ranks)]
    product = torch.stack(everyone).prod(0)
    mine = everyone[rank].clone()
    options = dist.AllreduceOptions()
    options.reduceOp = ReduceOp.PRODUCT
    dist.group.WORLD.allreduce([mine], options).wait()
    check(mine, product)
    check(torch.ops.tutti.all_reduce(everyone[rank], "product"), product)
    factor = torch.tensor([2 - 1j], dtype=dtype)
    mine = everyone[rank].clone()
    dist.all_reduce(torch.view_as_real(mine), dist._make_nccl_premul_sum(0.5))
    check(mine, sum(everyone) * 0.5)
    mine = everyone[rank].clone()
    options.reduceOp = dist._make_nccl_premul_sum(factor)
    dist.group.WORLD.allreduce([mine], options).wait()
    check(mine, sum(everyone) * factor)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_complex_numbers_are_multiplied_as_such(three_ranks, dtype):
    three_ranks.run(multiplied, dtype)


def refused(dtype, op):
    tensor = torch.ones(3, dtype=dtype)
    with pytest.raises(RuntimeError) as error:
        # Below torch.distributed, which refuses some of these itself.
        options = dist.AllreduceOptions()
        options.reduceOp = op
        dist.group.WORLD.allreduce([tensor], options).wait()
    same(tensor, torch.ones(3, dtype=dtype))
    return str(error.value)


@pytest.mark.parametrize("dtype, op, words", [
    (torch.complex64, ReduceOp.MAX, ["MAX", "ComplexFloat"]),
    (torch.complex128, ReduceOp.MIN, ["MIN", "ComplexDouble"]),
    (torch.complex32, ReduceOp.PRODUCT, ["PRODUCT", "ComplexHalf"]),
    (torch.bool, ReduceOp.AVG, ["AVG", "Bool"]),
    (torch.float32, ReduceOp.BAND, ["float32"]),
], ids=str)
def test_reductions_without_meaning_are_refused_by_name(two_ranks, dtype, op, words):
    for text in two_ranks.run(refused, dtype, op):
        assert all(word in text for word in words), text
    two_ranks.run(all_reduce_everything, torch.float32)  # the group still works
