# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Negated views, whose memory has the negative of their values."""

import pytest
import torch
import torch.distributed as dist


def negated(values):
    """A tensor of these values, which is the imaginary part of a conjugate."""
    numbers = torch.complex(torch.zeros(len(values)), -torch.tensor(values))
    view = numbers.conj().imag
    assert view.is_neg() and view.tolist() == values
    return view


def gathered(call):
    def made(rank, ranks):
        parts = [negated([0.0]) for _ in range(ranks)]
        call(parts, negated([rank + 1.0]))
        return [part.item() for part in parts]

    return made


def whole(call, given, length):
    def made(rank, ranks):
        out = negated([0.0] * length(ranks))
        call(out, negated(given(rank, ranks)))
        return out.tolist()

    return made


def changed(call):
    def made(rank, ranks):
        tensor = negated([rank + 1.0, 5.0])
        call(tensor)
        return tensor.tolist()

    return made


def message(rank, ranks):
    got = negated([0.0])
    request = dist.irecv(got, (rank - 1) % ranks)
    dist.send(negated([rank + 1.0]), (rank + 1) % ranks)
    request.wait()
    return got.tolist()


def scattered(rank, ranks):
    got = negated([0.0])
    dist.scatter(got, [negated([r + 1.0]) for r in range(ranks)] if rank == 0 else None)
    return got.tolist()


CALLS = {
    "all_reduce": (changed(dist.all_reduce), lambda r, n: [n * (n + 1) / 2, 5.0 * n]),
    "all_reduce later": (changed(lambda t: dist.all_reduce(t, async_op=True).wait()),
                         lambda r, n: [n * (n + 1) / 2, 5.0 * n]),
    "broadcast": (changed(lambda t: dist.broadcast(t, 0)), lambda r, n: [1.0, 5.0]),
    "reduce": (changed(lambda t: dist.reduce(t, 0)),
               lambda r, n: [n * (n + 1) / 2, 5.0 * n] if r == 0 else [r + 1.0, 5.0]),
    "all_gather": (gathered(dist.all_gather), lambda r, n: [i + 1.0 for i in range(n)]),
    "all_gather_into_tensor": (
        whole(dist.all_gather_into_tensor, lambda r, n: [r + 1.0], lambda n: n),
        lambda r, n: [i + 1.0 for i in range(n)]),
    "reduce_scatter_tensor": (
        whole(dist.reduce_scatter_tensor, lambda r, n: [i + 1.0 for i in range(n)], lambda n: 1),
        lambda r, n: [n * (r + 1.0)]),
    "all_to_all_single": (
        whole(dist.all_to_all_single, lambda r, n: [10.0 * r + i for i in range(n)], lambda n: n),
        lambda r, n: [10.0 * i + r for i in range(n)]),
    "scatter": (scattered, lambda r, n: [r + 1.0]),
    "isend, irecv": (message, lambda r, n: [(r - 1) % n + 1.0]),
    "operator": (changed(lambda t: torch.ops.tutti.all_reduce_(t)),
                 lambda r, n: [n * (n + 1) / 2, 5.0 * n]),
}


def call_named(name):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    made, wanted = CALLS[name]
    assert made(rank, ranks) == wanted(rank, ranks)


@pytest.mark.parametrize("name", CALLS)
def test_what_is_written_to_a_negated_view_has_the_right_sign(two_ranks, name):
    two_ranks.run(call_named, name)


def over_gloo():
    group = dist.new_group(backend="gloo")
    out = [torch.zeros(1) for _ in range(dist.get_world_size())]
    dist.all_gather(out, negated([dist.get_rank() + 1.0]), group=group)
    dist.reduce(negated([1.0]), 0, group=group)
    return [part.item() for part in out]


def test_other_backends_get_the_values_of_negated_views_as_ever(two_ranks):
    assert two_ranks.run(over_gloo) == [[1.0, 2.0]] * 2


def conjugated():
    numbers = torch.ones(2, dtype=torch.complex64).conj()
    try:
        dist.all_reduce(numbers)
    except RuntimeError as error:
        return "resolve_conj" in str(error)
    return numbers.tolist() == [dist.get_world_size()] * 2


def test_conjugated_views_are_summed_or_refused(two_ranks):
    assert two_ranks.run(conjugated) == [True, True]
