# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The operators of torch.ops.tutti do what they say, eagerly and compiled."""

import pytest
import torch
import torch.distributed as dist
from reference import ALL_TYPES, SHAPES, check, data, reduced, same, strided_copies
from test_reductions import inputs_of_all, operations
from torch.distributed import ReduceOp

OPS = torch.ops.tutti
# As PyTorch's own functional collectives call them.
NAMES = {ReduceOp.SUM: "sum", ReduceOp.AVG: "avg", ReduceOp.PRODUCT: "product",
         ReduceOp.MIN: "min", ReduceOp.MAX: "max", ReduceOp.BAND: "band", ReduceOp.BOR: "bor",
         ReduceOp.BXOR: "bxor"}
FORMS = ["packet", "overload"]
# "inductor" works, too, but compiles for minutes on a small machine.
compiled = pytest.mark.parametrize("backend", ["eager", "aot_eager"])


def form_of(operator, form):
    """The operator as Python programs call it, or as compilers do."""
    return operator if form == "packet" else operator.default


def reduce_everything(dtype, form):
    rank = dist.get_rank()
    in_place, functional = form_of(OPS.all_reduce_, form), form_of(OPS.all_reduce, form)
    for shape in SHAPES:
        everyone = inputs_of_all(shape, dtype)
        for op in operations(dtype):
            expected = reduced(everyone, op)
            for tensor in [everyone[rank].clone(), *strided_copies(everyone[rank])]:
                before = tensor.clone()
                check(functional(tensor, NAMES[op]), expected)
                same(tensor, before)
                assert in_place(tensor, NAMES[op]) is None
                check(tensor, expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_all_reduce_gives_what_every_rank_can_work_out(two_ranks, dtype, form):
    two_ranks.run(reduce_everything, dtype, form)


def move_everything(dtype, form):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for rows in (0, 1, 5):
        blocks = [data((rows, 3), dtype, each) for each in range(ranks)]
        expected = torch.cat([block.view(torch.uint8) for block in blocks]).view(dtype)
        for block in [blocks[rank], *strided_copies(blocks[rank])]:
            same(form_of(OPS.all_gather, form)(block), expected)
            output = torch.zeros_like(expected)
            form_of(OPS.all_gather_into, form)(output, block)
            same(output, expected)
        sent = [[data((each, 3), dtype, each, salt) for each in range(ranks)]
                for salt in range(ranks)]  # by sender, then receiver, who gets as many as its rank
        received = torch.cat([sender[rank].view(torch.uint8) for sender in sent]).view(dtype)
        mine = torch.cat([block.view(torch.uint8) for block in sent[rank]]).view(dtype)
        splits = [rank] * ranks, list(range(ranks))
        same(form_of(OPS.all_to_all, form)(mine, *splits), received)
        output = torch.zeros_like(received)
        form_of(OPS.all_to_all_into, form)(output, mine, *splits)
        same(output, received)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_all_gather_and_all_to_all_move_every_type(three_ranks, dtype, form):
    three_ranks.run(move_everything, dtype, form)


def reduce_scatter_everything(form):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for dtype in (torch.bfloat16, torch.float64, torch.int32):
        everyone = inputs_of_all((4 * ranks, 7), dtype)
        for op in operations(dtype):
            expected = reduced(everyone, op)[4 * rank:4 * rank + 4]
            for tensor in [everyone[rank], *strided_copies(everyone[rank])]:
                check(form_of(OPS.reduce_scatter, form)(tensor, NAMES[op]), expected)
                output = torch.zeros((4, 7), dtype=dtype)
                form_of(OPS.reduce_scatter_into, form)(output, tensor, NAMES[op])
                check(output, expected)


@pytest.mark.parametrize("form", FORMS)
def test_reduce_scatter_gives_each_rank_its_block(ranks, form):
    ranks.run(reduce_scatter_everything, form)


def equal_splits_without_sizes():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    mine = torch.arange(2 * ranks) + 100 * rank
    expected = torch.cat([torch.arange(2) + 2 * rank + 100 * each for each in range(ranks)])
    same(OPS.all_to_all(mine), expected)


def test_all_to_all_splits_equally_where_no_sizes_are_given(ranks):
    ranks.run(equal_splits_without_sizes)


def arguments_by_name():
    rank, name = dist.get_rank(), dist.group.WORLD.group_name
    for keywords in ({"group_name": name}, {"reduce_op": "max", "group_name": name},
                     {"group_name": name, "reduce_op": "MAX"}, {"reduce_op": "sum"}, {}):
        result = OPS.all_reduce(input=torch.tensor([rank]), **keywords)
        ranks = dist.get_world_size()
        assert result.item() == (ranks - 1 if "reduce_op" in keywords and
                                 keywords["reduce_op"].lower() == "max"
                                 else ranks * (ranks - 1) // 2)


def test_arguments_can_be_named_and_left_out(ranks):
    ranks.run(arguments_by_name)


def several_groups():
    rank = dist.get_rank()
    pairs = dist.new_group([0, 1]), dist.new_group([1, 2])
    for members, group in zip(((0, 1), (1, 2)), pairs):
        if rank in members:
            value = torch.tensor([2 ** rank])
            assert OPS.all_reduce(value, "sum", group.group_name).item() == sum(
                2 ** each for each in members)
    name = pairs[0].group_name if rank < 2 else None
    for group in pairs:
        if group is not dist.GroupMember.NON_GROUP_MEMBER:
            dist.destroy_process_group(group)
    if name:
        with pytest.raises(ValueError, match=f"no process group '{name}'.*are '0'"):
            OPS.all_reduce(torch.ones(1), "sum", name)
    assert OPS.all_reduce(torch.ones(1)).item() == 3


def test_a_group_is_found_by_name_until_it_is_destroyed(three_ranks):
    three_ranks.run(several_groups)


def wrong_arguments():
    tensor = torch.ones(4)
    with pytest.raises(ValueError, match="no process group 'nobody'; .* are '0'"):
        OPS.all_reduce_(tensor, "sum", "nobody")
    with pytest.raises(ValueError, match="reduce_op is 'add', expected sum, avg"):
        OPS.all_reduce_(tensor, "add")
    with pytest.raises(RuntimeError, match="missing value for argument 'input'|argument"):
        OPS.all_reduce_()
    with pytest.raises(RuntimeError, match="unknown|Unknown"):
        OPS.all_reduce_(tensor, group="0")
    with pytest.raises(RuntimeError, match="expected 2 blocks of 4 elements"):
        OPS.all_gather_into(torch.ones(9), tensor)
    with pytest.raises(RuntimeError, match="has 3 rows, expected a multiple of 2"):
        OPS.reduce_scatter(torch.ones(3))
    with pytest.raises(RuntimeError, match="split sizes sum to 3, the tensor has 4 rows"):
        OPS.all_to_all(tensor, [2, 2], [1, 2])
    assert OPS.all_reduce(tensor).sum() == 8  # the group is as good as before


def test_wrong_arguments_are_named_and_harm_nothing(two_ranks):
    two_ranks.run(wrong_arguments)


def step(tensor, name):
    """All operators, with computation between."""
    total = OPS.all_reduce(tensor * 2, "sum", name)
    OPS.all_reduce_(total, "max", name)
    gathered = OPS.all_gather(total + 1, name)
    exchanged = OPS.all_to_all(gathered, None, None, name)
    into = torch.empty_like(gathered)
    OPS.all_gather_into(into, total, name)
    block = OPS.reduce_scatter(exchanged + into, "sum", name)
    return block.relu(), total


def run_compiled(backend):
    name = dist.group.WORLD.group_name
    torch.manual_seed(dist.get_rank())
    program = torch.compile(step, fullgraph=True, backend=backend)
    for rows in (4, 6, 8):  # the second size makes the compiler think of all others
        tensor = torch.randn(rows, 5)
        for got, expected in zip(program(tensor, name), step(tensor, name)):
            torch.testing.assert_close(got, expected)


@compiled
def test_programs_with_operators_compile_whole(two_ranks, backend):
    two_ranks.run(run_compiled, backend)


def checked_by_pytorch():
    name = dist.group.WORLD.group_name
    tensor = torch.randn(4, 6)
    for operator, arguments in [
            (OPS.all_reduce_, (tensor.clone(), "sum", name)),
            (OPS.all_reduce, (tensor, "sum", name)),
            (OPS.all_gather_into, (torch.empty(8, 6), tensor, name)),
            (OPS.all_gather, (tensor, name)),
            (OPS.reduce_scatter_into, (torch.empty(2, 6), tensor, "sum", name)),
            (OPS.reduce_scatter, (tensor, "sum", name)),
            (OPS.all_to_all_into, (torch.empty(4, 6), tensor, None, None, name)),
            (OPS.all_to_all, (tensor, [3, 1] if dist.get_rank() == 0 else [1, 3],
                              [3, 1] if dist.get_rank() == 0 else [1, 3], name))]:
        torch.library.opcheck(operator.default, arguments)


def test_pytorch_finds_the_operators_well_formed(two_ranks):
    two_ranks.run(checked_by_pytorch)


def subclass_and_modes():
    seen = []

    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            seen.append(function)
            return super().__torch_function__(function, types, args, kwargs or {})

    OPS.all_reduce_(torch.ones(2).as_subclass(Logged))
    assert seen
    with torch._subclasses.FakeTensorMode():
        assert OPS.all_gather(torch.empty(3, 2)).shape == (6, 2)
    with torch.profiler.profile() as profile:
        OPS.all_reduce_(torch.ones(2))
    assert "tutti::all_reduce_" in {event.key for event in profile.key_averages()}


def test_whoever_takes_part_in_dispatch_sees_the_operators(two_ranks):
    two_ranks.run(subclass_and_modes)


def inputs_that_want_gradients():
    weight = torch.ones(3, requires_grad=True)
    with pytest.warns(UserWarning, match="autograd kernel was not registered"):
        OPS.all_reduce(weight).sum().backward()
    with torch.no_grad():
        OPS.all_reduce_(weight)
    assert torch.equal(weight, torch.full((3,), 2.0))


def test_missing_gradients_are_warned_of(two_ranks):
    two_ranks.run(inputs_that_want_gradients)
