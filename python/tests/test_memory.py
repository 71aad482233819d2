# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Tensors of tutti_ccl.torch.empty() are reduced like others, and live as long as any."""

import gc

import pytest
import torch
import torch.distributed as dist
from ranks import Ranks
from reference import check, data, reduced

import tutti_ccl.torch as tutti

# Below and above what peers read where it lies, and what is aligned to large pages.
SHAPES = [(3, 5), (70001,), (1 << 20,)]


def reduce_each(dtype):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for shape in SHAPES:
        everyone = [data(shape, dtype, each) for each in range(ranks)]
        tensor = tutti.empty(*shape, dtype=dtype)
        assert tensor.shape == shape and tensor.dtype == dtype and not tensor.any()
        for call in (dist.all_reduce, torch.ops.tutti.all_reduce_,
                     lambda x: dist.all_reduce(x, async_op=True).wait()):
            tensor.copy_(everyone[rank])
            call(tensor)
            check(tensor, reduced(everyone, dist.ReduceOp.SUM))
        mixed = everyone[rank].clone() if rank == 0 else tensor.copy_(everyone[rank])
        dist.all_reduce(mixed)
        check(mixed, reduced(everyone, dist.ReduceOp.SUM))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_reductions_of_it_are_right(ranks, dtype):
    ranks.run(reduce_each, dtype)


def outlive_the_group():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    group = dist.new_group()
    tensor = tutti.empty(1 << 18, group=group)
    part = tensor[1000:2000].fill_(rank + 1)
    array = part.numpy()
    dist.all_reduce(tensor, group=group)
    dist.destroy_process_group(group)
    total = ranks * (ranks + 1) // 2
    assert (part == total).all() and (array == total).all()
    tensor.add_(1)
    dist.all_reduce(tensor)  # ordinary memory to any other group
    assert (tensor[1000:2000] == ranks * (total + 1)).all()
    del tensor, part
    gc.collect()
    assert (array == ranks * (total + 1)).all()


def test_it_outlives_its_group(ranks):
    ranks.run(outlive_the_group)


def take_and_drop():
    before = mapped_shared()
    for _ in range(50):
        tensor = tutti.empty(1 << 20)
        dist.all_reduce(tensor)
        del tensor
    return mapped_shared() - before


def mapped_shared():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssShmem")) << 10


def test_its_memory_is_used_again(two_ranks):
    for growth in two_ranks.run(take_and_drop):
        assert growth < 20 * (4 << 20)  # of 50 pieces of 4 MiB


def keep_until_exit():
    keep_until_exit.tensor = tutti.empty(1 << 18)
    dist.all_reduce(keep_until_exit.tensor)


def test_programs_that_keep_it_end_well():
    group = Ranks(2)
    group.run(keep_until_exit)
    assert group.close() == [0, 0]


def ask_for_odd_sizes():
    assert tutti.empty(0, 3).shape == (0, 3)
    assert tutti.empty((2, 3), dtype=torch.int64).shape == (2, 3)
    assert tutti.empty().shape == ()
    with pytest.raises(ValueError, match="a size is -1"):
        tutti.empty(-1)
    with pytest.raises(ValueError, match="fits into no memory"):
        tutti.empty(1 << 40, 1 << 40)
    with pytest.raises(ValueError, match="no process group 'nobody'"):
        tutti.empty(4, group="nobody")


def test_odd_sizes_give_tensors_or_errors_that_say_why(two_ranks):
    two_ranks.run(ask_for_odd_sizes)
