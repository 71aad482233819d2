# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Random programs of PyTorch's collectives: any kind, type, shape, layout and group, blocking or not,
over ccl and then over Gloo. What fails is made smaller by Hypothesis, which prints the program.
"""

import random
from dataclasses import dataclass

import pytest
import torch
import torch.distributed as dist
from reference import same

pytest.importorskip("hypothesis")
from hypothesis import strategies as st  # noqa: E402
from random_programs import any_program, intact, shapes  # noqa: E402

SIZE = 3
GROUPS = {"world": [0, 1, 2], "pair": [0, 2]}
# Those that Gloo has, too.
TYPES = ["int8", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
OPS = ["SUM", "PRODUCT", "MIN", "MAX"]
BITWISE = ["BAND", "BOR", "BXOR"]
KINDS = ["all_reduce", "reduce", "broadcast", "all_gather", "all_gather_into_tensor", "gather",
         "scatter", "reduce_scatter_tensor", "all_to_all_single", "ring", "barrier"]
LAYOUTS = ["plain", "spaced", "transposed", "offset"]
made = {}  # groups, in a rank: of ccl and of Gloo


@dataclass
class Call:
    kind: str
    dtype: str
    shape: tuple
    op: str
    root: int
    layout: str
    waits: bool
    group: str
    salt: int


@st.composite
def calls(draw):
    dtype = draw(st.sampled_from(TYPES))
    ops = OPS if getattr(torch, dtype).is_floating_point else OPS + BITWISE
    return Call(draw(st.sampled_from(KINDS)), dtype, draw(shapes()), draw(st.sampled_from(ops)),
                draw(st.integers(0, 2)), draw(st.sampled_from(LAYOUTS)), draw(st.booleans()),
                draw(st.sampled_from(sorted(GROUPS))), draw(st.integers(0, 9)))


def block(call, source, target=0):
    """Small numbers, so that results are exact in every type."""
    count = torch.Size(call.shape).numel()
    numbers = (torch.arange(count) * (call.salt + 1) + 3 * source + target) % 3
    return numbers.to(getattr(torch, call.dtype)).reshape(call.shape)


def laid_out(call, tensor):
    """The same numbers, whose memory is laid out as the call has it."""
    if call.layout == "spaced":
        other = torch.zeros((*tensor.shape, 2), dtype=tensor.dtype)[..., 0]
    elif call.layout == "transposed" and tensor.dim() == 2:
        other = torch.zeros(tensor.shape[::-1], dtype=tensor.dtype).t()
    elif call.layout == "offset":
        other = torch.zeros(tensor.numel() + 1, dtype=tensor.dtype)[1:].reshape(tensor.shape)
    else:
        return tensor
    return other.copy_(tensor)


def begin(call, group, ranks, lay_out):
    """The handles of a call, the tensors that it fills, and what must live until it has."""
    rank, me = dist.get_rank(), ranks.index(dist.get_rank())
    root, everyone = ranks[call.root % len(ranks)], range(len(ranks))
    op = getattr(dist.ReduceOp, call.op)
    mine = lay_out(block(call, me))
    to_all = torch.stack([block(call, me, to) for to in everyone])
    several = [lay_out(torch.zeros_like(block(call, me))) for _ in everyone]
    whole, one = torch.zeros_like(to_all), lay_out(torch.zeros_like(block(call, me)))
    options = {"group": group, "async_op": True}
    if call.kind == "all_reduce":
        return [dist.all_reduce(mine, op, **options)], [mine]
    if call.kind == "reduce":  # what others than the root have afterwards nobody says
        return [dist.reduce(mine, root, op, **options)], [mine] if rank == root else []
    if call.kind == "broadcast":
        return [dist.broadcast(mine, root, **options)], [mine]
    if call.kind == "all_gather":
        return [dist.all_gather(several, mine, **options)], several
    if call.kind == "all_gather_into_tensor":
        return [dist.all_gather_into_tensor(whole.view(-1), block(call, me).reshape(-1),
                                            **options)], [whole]
    if call.kind == "gather":
        return ([dist.gather(mine, several if rank == root else None, root, **options)],
                several if rank == root else [])
    if call.kind == "scatter":
        parts = [lay_out(part) for part in to_all] if rank == root else None
        return [dist.scatter(one, parts, root, **options)], [one]
    if call.kind == "all_to_all_single":
        return [dist.all_to_all_single(whole, to_all, **options)], [whole]
    if call.kind == "ring":
        before, after = ranks[me - 1], ranks[(me + 1) % len(ranks)]
        return dist.batch_isend_irecv([
            dist.P2POp(dist.isend, block(call, me), after, group, call.salt),
            dist.P2POp(dist.irecv, whole[0], before, group, call.salt)]), [whole]
    return [dist.barrier(**options)], []


def begin_reduce_scatter(call, group, ranks):
    me = ranks.index(dist.get_rank())
    to_all = torch.stack([block(call, me, to) for to in range(len(ranks))])
    part = torch.zeros_like(to_all[0])
    work = dist.reduce_scatter_tensor(part, to_all, getattr(dist.ReduceOp, call.op), group=group,
                                      async_op=True)
    return [work], [part]


def wanted(call, group, ranks):
    """The same over Gloo, which has no reduce_scatter of all types: a part of an allreduce."""
    if call.kind == "reduce_scatter_tensor":
        me = ranks.index(dist.get_rank())
        to_all = torch.stack([block(call, me, to) for to in range(len(ranks))])
        dist.all_reduce(to_all, getattr(dist.ReduceOp, call.op), group=group)
        return [to_all[me]]
    works, tensors = begin(call, group, ranks, lambda tensor: tensor)
    for work in works:
        work.wait()
    return tensors


def run_program(program):
    if not made:
        for name, ranks in GROUPS.items():
            made[name] = dist.new_group(ranks), dist.new_group(ranks, backend="gloo")
    begun = []
    for call in program:
        ranks = GROUPS[call.group]
        if dist.get_rank() not in ranks:
            continue
        if call.kind == "reduce_scatter_tensor":
            works, tensors = begin_reduce_scatter(call, made[call.group][0], ranks)
        else:
            works, tensors = begin(call, made[call.group][0], ranks,
                                   lambda tensor, call=call: laid_out(call, tensor))
        begun.append((call, works, tensors))
        if call.waits:
            for work in works:
                work.wait()
    late = [work for _, works, _ in begun for work in works]
    random.Random(len(program)).shuffle(late)
    for work in late:
        work.wait()
    for number, (call, _, tensors) in enumerate(begun):
        for tensor, other in zip(tensors, wanted(call, made[call.group][1], GROUPS[call.group]),
                                 strict=True):
            try:
                same(tensor, other)
            except AssertionError as error:
                raise AssertionError(f"call {number}, {call}: {error}") from None


@any_program(calls(), examples=60)
def test_any_program_gives_what_gloo_gives(kept_ranks, program):
    for ranks in intact(kept_ranks, SIZE):
        ranks.run(run_program, program)
