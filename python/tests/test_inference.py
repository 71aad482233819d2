# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The calls of inference engines' groups: vLLM's by tutti_ccl.vllm, SGLang's by PyTorch's names."""

import pytest
import torch
import torch.distributed as dist
from reference import check, data, reduced, same
from torch.distributed import ReduceOp
from tutti_ccl.vllm.collectives import Collectives

FLOATS = [torch.bfloat16, torch.float16, torch.float32]


class Group(Collectives):
    """What vLLM's own base class gives to a communicator."""

    def __init__(self, members):
        group = dist.new_group(members, backend="ccl")
        if dist.get_rank() in members:
            self.device_group, self.group_name = group, group.group_name
            self.ranks, self.world_size = members, len(members)
            self.rank_in_group = members.index(dist.get_rank())


def group_of_all():
    return Group(list(range(dist.get_world_size())))


@pytest.fixture(params=[2, 3, 4], ids="{}ranks".format)
def group_ranks(request, kept_ranks):
    from conftest import intact

    yield from intact(kept_ranks, request.param)


def every_dimension():
    group = group_of_all()
    ranks, mine = group.world_size, group.rank_in_group
    for dtype in FLOATS:
        for shape in [(4 * ranks,), (2 * ranks, 3 * ranks), (ranks, 2 * ranks, 5 * ranks),
                      (1, 1, ranks)]:
            everyone = [data(shape, dtype, each) for each in range(ranks)]
            total = reduced(everyone, ReduceOp.SUM)
            tensor = everyone[mine].clone()
            assert group.all_reduce(tensor) is tensor
            check(tensor, total)
            for dim in range(-len(shape), len(shape)):
                same(group.all_gather(everyone[mine], dim), torch.cat(everyone, dim))
                same(group.all_gatherv(everyone[mine], dim), torch.cat(everyone, dim))
                for dst in range(ranks):
                    gathered = group.gather(everyone[mine], dst, dim)
                    assert (gathered is None) == (dst != mine)
                    if dst == mine:
                        same(gathered, torch.cat(everyone, dim))
                if shape[dim] % ranks == 0:
                    block = torch.as_tensor(total).chunk(ranks, dim)[mine].numpy()
                    check(group.reduce_scatter(everyone[mine], dim), block)
                    check(group.reduce_scatterv(everyone[mine], dim), block)


def test_calls_join_and_divide_along_every_dimension(group_ranks):
    group_ranks.run(every_dimension)


def uneven():
    group = group_of_all()
    ranks, mine = group.world_size, group.rank_in_group
    for sizes in [list(range(1, ranks + 1)), [5] + [0] * (ranks - 1), [3] * ranks, [0] * ranks]:
        for dtype in (torch.bfloat16, torch.float32, torch.int64):
            for dim in (0, 1, -1):
                shape = [4, 6, 2]
                blocks = []
                for each in range(ranks):
                    shape[dim] = sizes[each]
                    blocks.append(data(tuple(shape), dtype, each))
                same(group.all_gatherv(blocks[mine], dim, sizes), torch.cat(blocks, dim))
                pair = group.all_gatherv([blocks[mine], blocks[mine] * 2], dim, sizes)
                same(pair[1], torch.cat(blocks, dim) * 2)
                shape[dim] = sum(sizes)
                everyone = [data(tuple(shape), dtype, each) for each in range(ranks)]
                total = torch.as_tensor(reduced(everyone, ReduceOp.SUM)).split(sizes, dim)[mine]
                check(group.reduce_scatterv(everyone[mine], dim, sizes), total.numpy())
    tensor = torch.ones(2, 3)
    with pytest.raises(ValueError, match="all_gatherv: sizes are .*, expected . with 2 for rank"):
        group.all_gatherv(tensor, 0, [3] * ranks)
    with pytest.raises(ValueError, match="reduce_scatterv: sizes are .* with a sum of 2, as"):
        group.reduce_scatterv(tensor, 0, [2] * ranks)
    with pytest.raises(ValueError, match=r"dim is 2, expected one of a tensor of \(2, 3\)"):
        group.all_gather(tensor, 2)


def test_blocks_of_different_sizes_are_gathered_and_reduced(group_ranks):
    group_ranks.run(uneven)


def pass_dictionaries():
    last = dist.get_world_size() - 1
    group = Group([last, *range(last)])  # whose places differ from ranks
    mine, ranks = group.rank_in_group, group.world_size
    long_key = "k" * 5000  # a head that does not fit in the first message
    sent = {"hidden_states": data((7, 33), torch.bfloat16, 1), "none": torch.empty(0, 4),
            "transposed": data((5, 9), torch.float32, 2).t(), "ids": data((3,), torch.int64, 3),
            "scalar": torch.tensor(2.5), "mask": data((4,), torch.bool, 4)}
    for dictionary in (sent, {}, sent | {"other": ("x", 1), "nothing": None},
                       {long_key: data((300000,), torch.float16, 5)}):
        if mine > 0:  # along the stages of a pipeline
            got = group.recv_tensor_dict(mine - 1)
            assert list(got) == list(dictionary)
            for key, value in dictionary.items():
                if isinstance(value, torch.Tensor):
                    same(got[key], value)
                else:
                    assert got[key] == value
            dictionary = got
        if mine < ranks - 1:
            group.send_tensor_dict(dictionary, mine + 1)
    with pytest.raises(TypeError, match="a key is 1, expected text"):
        group.send_tensor_dict({1: torch.ones(1)}, 0)


def test_dictionaries_of_tensors_pass_from_stage_to_stage(group_ranks):
    group_ranks.run(pass_dictionaries)


def compiled_layer(backend):
    group = group_of_all()
    name, ranks = group.group_name, group.world_size

    def layer(hidden):
        hidden = group.all_reduce(hidden * 2)
        return group.all_gather(hidden.relu(), -1), hidden

    for rows in (4, 6):
        hidden = torch.randn(rows, 8, generator=torch.Generator().manual_seed(rows))
        gathered, total = torch.compile(layer, fullgraph=True, backend=backend)(hidden)
        torch.testing.assert_close(total, hidden * 2 * ranks)
        torch.testing.assert_close(gathered, torch.cat([total.relu()] * ranks, -1))
    assert name == group.device_group.group_name


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_layers_are_compiled_whole_with_the_calls_in_them(two_ranks, backend):
    two_ranks.run(compiled_layer, backend)


# ---- SGLang ------------------------------------------------------------------------------------

# Tokens of a step and width of the model, as its CPU path passes them.
STEPS = [(1, 2048), (4, 4096), (33, 7168), (512, 896)]
VOCABULARY = 1024


def sglang_calls():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    group = dist.new_group(backend="ccl")
    for dtype in FLOATS:
        for shape in STEPS:
            everyone = [data(shape, dtype, each) for each in range(ranks)]
            total = reduced(everyone, ReduceOp.SUM)
            for call in (lambda tensor: dist.all_reduce(tensor, group=group),
                         lambda tensor: torch.ops.tutti.all_reduce_(tensor, "sum",
                                                                    group.group_name)):
                tensor = everyone[rank].clone()
                call(tensor)
                check(tensor, total)
            # Logits, gathered one below the other and joined along the vocabulary.
            tokens = shape[0]
            logits = [data((tokens, VOCABULARY), dtype, each) for each in range(ranks)]
            below = torch.empty(ranks * tokens, VOCABULARY, dtype=dtype)
            dist.all_gather_into_tensor(below, logits[rank], group=group)
            beside = below.reshape(ranks, tokens, VOCABULARY).movedim(0, 1).reshape(tokens, -1)
            same(beside, torch.cat(logits, -1))
            parts = [torch.empty_like(logits[0]) for _ in range(ranks)] if rank == 0 else None
            dist.gather(logits[rank], parts, dst=0, group=group)
            if rank == 0:
                same(torch.cat(parts, -1), torch.cat(logits, -1))
            # Attention that each rank computes for tokens of its own.
            padded = [data((ranks * tokens, shape[1]), dtype, each) for each in range(ranks)]
            expected = reduced(padded, ReduceOp.SUM)[rank * tokens:(rank + 1) * tokens]
            mine = torch.empty(shape, dtype=dtype)
            dist.reduce_scatter_tensor(mine, padded[rank], group=group)
            check(mine, expected)
            dist.reduce_scatter(mine, list(padded[rank].chunk(ranks)), group=group)
            check(mine, expected)
            outputs = list(torch.empty(ranks * tokens, shape[1], dtype=dtype).chunk(ranks))
            dist.all_gather(outputs, everyone[rank], group=group)
            same(torch.cat(outputs), torch.cat(everyone))


def test_calls_of_sglang_give_what_every_rank_can_work_out(ranks):
    ranks.run(sglang_calls)


def requests_of_a_scheduler():
    """SGLang hands the requests of rank 0 on as bytes, their number first; and stages hand on
    tensors after what describes them."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    group = dist.new_group(backend="ccl")
    for payload in (b"", b"requests" * 5000):
        size = torch.tensor([len(payload) if rank == 0 else -1], dtype=torch.long)
        dist.broadcast(size, src=0, group=group)
        body = torch.frombuffer(bytearray(payload), dtype=torch.uint8) if payload and rank == 0 \
            else torch.empty(int(size), dtype=torch.uint8)
        if int(size):
            dist.broadcast(body, src=0, group=group)
        assert body.numpy().tobytes() == payload
    objects = [{"step": 3}, "text"] if rank == 0 else [None, None]
    dist.broadcast_object_list(objects, src=0, group=group)
    assert objects == [{"step": 3}, "text"]
    described = [("hidden_states", (4, 64)), ("residual", (4, 64))]
    if rank > 0:
        for key, shape in described:
            tensor = torch.empty(shape, dtype=torch.bfloat16)
            dist.recv(tensor, rank - 1, group=group)
            same(tensor, data(shape, torch.bfloat16, len(key)))
    if rank < ranks - 1:
        works = [dist.isend(data(shape, torch.bfloat16, len(key)), rank + 1, group=group)
                 for key, shape in described]
        for work in works:
            work.wait()


def test_requests_and_stages_of_sglang_arrive_whole(ranks):
    ranks.run(requests_of_a_scheduler)
