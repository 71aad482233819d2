# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Sums of sparse tensors, and training of embeddings with sparse gradients."""

import pytest
import torch
import torch.distributed as dist
from reference import same
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def entries(rank, dtype=torch.float32, count=None):
    """Entry i of rank r lies in row (i + r) % 7; one row is there twice."""
    count = rank if count is None else count
    rows = torch.tensor([[(i + rank) % 7 for i in range(count)] + [0] * (count > 0)])
    values = torch.arange(1, 1 + 3 * rows.size(1)).reshape(-1, 3).to(dtype) * (rank + 1)
    return torch.sparse_coo_tensor(rows.reshape(1, -1), values, (7, 3))


def total(size, dtype, count=None):
    return sum(entries(rank, dtype, count).to_dense().to(torch.float64) for rank in range(size))


def sums(dtype, async_op):
    rank, size = dist.get_rank(), dist.get_world_size()
    tensor, other = entries(rank, dtype), entries(rank, dtype, 4)
    if async_op:
        works = [dist.all_reduce(t, async_op=True) for t in (tensor, other)]
        dense = torch.ones(3)
        dist.all_reduce(dense)  # between the steps of the others
        same(dense, torch.full((3,), float(size)))
        value = works[1].get_future().wait()
        assert value[0].is_sparse
        works[0].wait()
    else:
        dist.all_reduce(tensor)
        dist.all_reduce(other)
    for got, count in ((tensor, None), (other, 4)):
        assert got.is_sparse and got.is_coalesced() and got.dtype == dtype
        same(got.to_dense().to(torch.float64), total(size, dtype, count))


@pytest.mark.parametrize("async_op", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.bfloat16])
def test_sparse_sums_are_those_of_the_dense_tensors(ranks, dtype, async_op):
    ranks.run(sums, dtype, async_op)


def of_nothing():
    tensor = torch.sparse_coo_tensor(size=(4, 2))
    dist.all_reduce(tensor)
    assert tensor._nnz() == 0
    same(tensor.to_dense(), torch.zeros(4, 2))


def test_sparse_sums_of_ranks_without_entries(ranks):
    ranks.run(of_nothing)


def messages_after():
    """The call does not wait: rank 0 sends what rank 1 receives before it comes to the sum."""
    rank = dist.get_rank()
    tensor, token = entries(rank), torch.zeros(1)
    if rank == 0:
        work = dist.all_reduce(tensor, async_op=True)
        dist.send(token, 1)
        work.wait()
    else:
        dist.recv(token, 0)
        dist.all_reduce(tensor)
    same(tensor.to_dense().double(), total(2, torch.float32))


def test_an_asynchronous_sparse_sum_does_not_wait_for_other_ranks(two_ranks):
    two_ranks.run(messages_after)


def refused():
    rank = dist.get_rank()
    texts = []
    for tensor in (torch.sparse_coo_tensor([[0]], [1.0], (4 + rank,)),
                   torch.sparse_coo_tensor([[0]], [1.0], (4,)).to([torch.float32, torch.float64][rank])):
        with pytest.raises(RuntimeError) as error:
            dist.all_reduce(tensor)
        texts.append(str(error.value))
    with pytest.raises(RuntimeError) as error:
        dist.all_reduce(entries(rank), op=dist.ReduceOp.MAX)
    assert "ReduceOp.SUM" in str(error.value)
    dist.barrier()
    return texts


def test_sparse_tensors_that_differ_are_refused_with_both_descriptions(two_ranks):
    for sizes, types in two_ranks.run(refused):
        assert "[4]" in sizes and "[5]" in sizes, sizes
        assert "Float" in types and "Double" in types, types


def embedding(sparse):
    rank = dist.get_rank()
    torch.manual_seed(5)
    model = DistributedDataParallel(nn.Embedding(10, 4, sparse=sparse))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        rows = torch.tensor([rank, 3 + step] if rank == 0 or step < 2 else [], dtype=torch.int64)
        model(rows).sum().backward()
        assert model.module.weight.grad.is_sparse == sparse
        optimizer.step()
    return model.module.weight.detach()


def test_embeddings_train_with_sparse_gradients_as_with_dense_ones(ranks):
    for sparse, dense in zip(ranks.run(embedding, True), ranks.run(embedding, False)):
        torch.testing.assert_close(sparse, dense)
