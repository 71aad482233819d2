# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Operations that move data leave every bit where it belongs, for every type and shape."""

import pytest
import torch
import torch.distributed as dist
from reference import ALL_TYPES, SHAPES, data, same, strided_copies


def here():
    return dist.get_rank(), dist.get_world_size()


def layouts(tensor):
    """Blank tensors of the same shape, in several layouts."""
    blank = torch.zeros_like(tensor)
    return [blank, *strided_copies(blank)]


def broadcast_everything(dtype):
    rank, size = here()
    for shape in SHAPES:
        for root in range(size):
            expected = data(shape, dtype, root)
            for tensor in [data(shape, dtype, rank), *strided_copies(data(shape, dtype, rank))]:
                dist.broadcast(tensor, root)
                same(tensor, expected)


@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_broadcast(ranks, dtype):
    ranks.run(broadcast_everything, dtype)


def all_gather_everything(dtype):
    rank, size = here()
    for shape in SHAPES:
        mine = data(shape, dtype, rank)
        for source in [mine, *strided_copies(mine)]:
            for kind in range(len(layouts(mine))):
                outputs = [layouts(mine)[kind] for _ in range(size)]
                dist.all_gather(outputs, source)
                for peer, output in enumerate(outputs):
                    same(output, data(shape, dtype, peer))
        adjacent = torch.zeros((size, *shape), dtype=dtype)
        dist.all_gather(list(adjacent), mine)
        for peer, output in enumerate(adjacent):
            same(output, data(shape, dtype, peer))


@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_all_gather(ranks, dtype):
    ranks.run(all_gather_everything, dtype)


def coalesced_all_gather(dtype):
    rank, size = here()
    for async_op in (False, True):
        inputs = [data(shape, dtype, rank) for shape in SHAPES]
        outputs = [[torch.zeros_like(tensor) for tensor in inputs] for _ in range(size)]
        work = dist.all_gather_coalesced(outputs, inputs, async_op=async_op)
        if async_op:
            work.wait()
        for peer, tensors in enumerate(outputs):
            for output, shape in zip(tensors, SHAPES):
                same(output, data(shape, dtype, peer))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.complex64], ids=str)
def test_coalesced_all_gather(ranks, dtype):
    ranks.run(coalesced_all_gather, dtype)


def coalesced_all_gather_with_a_missing_output():
    rank, size = here()
    inputs = [torch.ones(2), torch.ones(3)]
    outputs = [[torch.zeros(2), torch.zeros(3)] for _ in range(size)]
    outputs[1].pop()
    with pytest.raises(RuntimeError, match="2 inputs, and 1 outputs for rank 1"):
        dist.all_gather_coalesced(outputs, inputs)


def test_coalesced_all_gather_of_lists_that_do_not_fit_is_an_error(ranks):
    ranks.run(coalesced_all_gather_with_a_missing_output)


def all_gather_tensor(dtype):
    rank, size = here()
    for shape in SHAPES[1:]:
        mine = data(shape, dtype, rank)
        expected = torch.stack([data(shape, dtype, peer) for peer in range(size)])
        for output in layouts(expected):
            dist.all_gather_into_tensor(output, mine)
            same(output, expected)
    first, second = (torch.zeros(size * length, dtype=dtype) for length in (3, 8))
    with dist._coalescing_manager(async_ops=True) as manager:
        dist.all_gather_into_tensor(first, data((3,), dtype, rank))
        dist.all_gather_into_tensor(second, data((8,), dtype, rank))
    manager.wait()
    same(first, torch.cat([data((3,), dtype, peer) for peer in range(size)]))
    same(second, torch.cat([data((8,), dtype, peer) for peer in range(size)]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool],
                         ids=str)
def test_all_gather_into_tensor(ranks, dtype):
    ranks.run(all_gather_tensor, dtype)


def gather_and_scatter(dtype):
    rank, size = here()
    for shape in SHAPES:
        for root in range(size):
            mine = data(shape, dtype, rank)
            outputs = [torch.zeros_like(mine) for _ in range(size)] if rank == root else None
            dist.gather(mine, outputs, root)
            for peer, output in enumerate(outputs or []):
                same(output, data(shape, dtype, peer))
            inputs = [data(shape, dtype, peer, salt=root) for peer in range(size)]
            for output in layouts(mine):
                dist.scatter(output, inputs if rank == root else None, root)
                same(output, data(shape, dtype, rank, salt=root))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.complex64, torch.bool],
                         ids=str)
def test_gather_and_scatter(ranks, dtype):
    ranks.run(gather_and_scatter, dtype)


def exchange_lists(dtype):
    rank, size = here()
    for shape in SHAPES:
        outputs = [torch.zeros(shape, dtype=dtype) for _ in range(size)]
        dist.all_to_all(outputs, [data(shape, dtype, rank, peer) for peer in range(size)])
        for peer, output in enumerate(outputs):
            same(output, data(shape, dtype, peer, rank))


def exchange_rows(dtype):
    rank, size = here()
    even = torch.zeros((2 * size, 3), dtype=dtype)
    dist.all_to_all_single(even, data((2 * size, 3), dtype, rank))
    for peer in range(size):
        same(even[2 * peer:2 * peer + 2], data((2 * size, 3), dtype, peer)[2 * rank:2 * rank + 2])


@pytest.mark.parametrize("job", [exchange_lists, exchange_rows],
                         ids=lambda job: job.__name__)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bfloat16], ids=str)
def test_all_to_all(ranks, job, dtype):
    ranks.run(job, dtype)


def ring_of_messages(dtype):
    rank, size = here()
    after, before = (rank + 1) % size, (rank - 1) % size
    for shape in SHAPES:
        mine = data(shape, dtype, rank)
        for output in layouts(mine):
            sending = dist.isend(mine, after)
            dist.recv(output, before)
            sending.wait()
            same(output, data(shape, dtype, before))


@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_send_and_recv(ranks, dtype):
    ranks.run(ring_of_messages, dtype)


def receive_from_anyone():
    rank, size = here()
    if rank > 0:
        dist.send(torch.tensor([float(rank)]), 0)
        return
    found = {}
    for _ in range(size - 1):
        tensor = torch.zeros(1)
        source = dist.recv(tensor)
        found[source] = tensor.item()
    assert found == {peer: float(peer) for peer in range(1, size)}


def test_recv_from_any_source_names_the_source(ranks):
    ranks.run(receive_from_anyone)


def tags_out_of_order():
    rank, _ = here()
    if rank == 0:
        works = [dist.isend(torch.tensor([tag]), 1, tag=tag) for tag in (3, 1, 2)]
    elif rank == 1:
        tensors = {tag: torch.zeros(1, dtype=torch.int64) for tag in (1, 2, 3)}
        works = [dist.irecv(tensors[tag], 0, tag=tag) for tag in (1, 2, 3)]
    else:
        return
    for work in works:
        work.wait()
    if rank == 1:
        assert [tensors[tag].item() for tag in (1, 2, 3)] == [1, 2, 3]


def test_messages_match_by_tag(ranks):
    ranks.run(tags_out_of_order)


def batched_messages():
    rank, size = here()
    outputs = [torch.zeros(4) for _ in range(size)]
    operations = []
    for peer in range(size):
        if peer == rank:
            continue
        operations.append(dist.P2POp(dist.irecv, outputs[peer], peer))
        operations.append(dist.P2POp(dist.isend, torch.full((4,), 10.0 * rank + peer), peer))
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    for peer in range(size):
        if peer != rank:
            same(outputs[peer], torch.full((4,), 10.0 * peer + rank))


def test_batch_isend_irecv(ranks):
    ranks.run(batched_messages)


def short_message():
    if dist.get_rank() == 0:
        dist.send(torch.ones(3), 1)
        return None
    with pytest.raises(RuntimeError) as error:
        dist.recv(torch.zeros(5), 0)
    return str(error.value)


def test_a_message_shorter_than_the_tensor_is_an_error(two_ranks):
    _, text = two_ranks.run(short_message)
    assert "rank 0" in text and "3 elements" in text and "5" in text


def objects():
    rank, size = here()
    everyone = [{"rank": peer, "data": list(range(peer * 50))} for peer in range(size)]
    found = [None] * size
    dist.all_gather_object(found, everyone[rank])
    assert found == everyone
    sent = ["text", 1.5, {"a": [1]}] if rank == 1 else [None] * 3
    dist.broadcast_object_list(sent, src=1)
    assert sent == ["text", 1.5, {"a": [1]}]
    found = [None] * size if rank == 0 else None
    dist.gather_object(everyone[rank], found)
    assert rank != 0 or found == everyone
    mine = [None]
    dist.scatter_object_list(mine, everyone if rank == 0 else None)
    assert mine == [everyone[rank]]


def test_object_collectives(ranks):
    ranks.run(objects)


def conjugated_views():
    rank, _ = here()
    tensor = data((9,), torch.complex64, 0) if rank == 0 else torch.zeros(9, dtype=torch.complex64)
    # The backend itself: PyTorch's dispatcher would hand it a copy.
    backend = dist.group.WORLD._get_backend(torch.device("cpu"))
    backend.broadcast([tensor.conj()], dist.BroadcastOptions()).wait()
    same(tensor, data((9,), torch.complex64, 0))


def test_conjugated_views_move_their_values(ranks):
    ranks.run(conjugated_views)


def sizes_that_do_not_fit():
    rank, size = here()
    with pytest.raises(RuntimeError, match=f"{size} blocks of 3 elements, got a tensor of 5"):
        dist.all_gather_into_tensor(torch.zeros(5), torch.zeros(3))
    with pytest.raises(RuntimeError, match="place in the list 2"):
        dist.all_gather([torch.zeros(2)] * size, torch.zeros(3))
    with pytest.raises(RuntimeError, match="sum to 7, the tensor has 4 rows"):
        nothing = [0] * (size - 1)
        dist.all_to_all_single(torch.zeros(4), torch.zeros(4), [7, *nothing], [4, *nothing])


def test_sizes_that_do_not_fit_are_refused_by_number(ranks):
    ranks.run(sizes_that_do_not_fit)
    ranks.run(objects)
