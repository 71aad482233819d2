# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Random programs: calls of any kind, type, shape and communicator, blocking or not, alone or in
groups, each beside numpy. What fails is made smaller by Hypothesis, which prints the program.
"""

import contextlib
from dataclasses import dataclass

import core_ranks
import numpy as np
import pytest

import tutti_ccl as ccl

pytest.importorskip("hypothesis")
from hypothesis import strategies as st  # noqa: E402
from random_programs import any_program, intact, shapes  # noqa: E402

SIZE = 3
TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "?"]
# Of what a type can be reduced with.
REDUCTIONS = {"SUM": np.add, "PROD": np.multiply, "MIN": np.minimum, "MAX": np.maximum,
              "BAND": np.bitwise_and, "BOR": np.bitwise_or, "BXOR": np.bitwise_xor}
FITS = {"i": list(REDUCTIONS), "u": list(REDUCTIONS), "f": ["SUM", "PROD", "MIN", "MAX"],
        "c": ["SUM", "PROD"], "b": ["BAND", "BOR", "BXOR"]}
FORMS = ["blocking", "request", "in group"]
KINDS = ["Allreduce", "Reduce", "Bcast", "Allgather", "Reduce_scatter_block", "Alltoall", "Gather",
         "Scatter", "ring"]
IN_PLACE = ["Allreduce", "Allgather", "Alltoall"]
# All ranks, some of them, and all in another order.
COMMUNICATORS = ["world", "parity", "backwards"]


@dataclass
class Call:
    kind: str
    dtype: str
    shape: tuple
    op: str
    root: int
    form: str
    in_place: bool
    communicator: str
    salt: int


@st.composite
def calls(draw):
    dtype = draw(st.sampled_from(TYPES))
    kind = draw(st.sampled_from(KINDS))
    return Call(kind, dtype, draw(shapes()), draw(st.sampled_from(FITS[np.dtype(dtype).kind])),
                draw(st.integers(0, SIZE - 1)), draw(st.sampled_from(FORMS)),
                kind in IN_PLACE and draw(st.booleans()), draw(st.sampled_from(COMMUNICATORS)),
                draw(st.integers(0, 9)))


def block(call, source, target=0):
    """What `source` gives for `target`: small numbers, so that results are exact in every type."""
    numbers = (np.arange(int(np.prod(call.shape))) * (call.salt + 1) + 3 * source + target) % 3
    values = numbers.astype(call.dtype)
    if values.dtype.kind == "c":
        values += values.dtype.type(1j) * (numbers == target % 3)
    return values.reshape(call.shape)


def reduced(call, ranks, target=0):
    total = block(call, 0, target)
    for source in range(1, ranks):
        total = REDUCTIONS[call.op](total, block(call, source, target))
    return total


def prepared(call, comm):
    """The arguments of a call, the buffer that it fills, and what is in that afterwards."""
    rank, everyone, op = comm.rank, range(comm.size), getattr(ccl, call.op)
    root = call.root % comm.size
    mine, to_all = block(call, rank), np.stack([block(call, rank, to) for to in everyone])
    one, all_ = np.zeros_like(mine), np.zeros_like(to_all)
    if call.in_place:
        one[...] = mine
        all_[...] = to_all if call.kind == "Alltoall" else all_
        all_[rank] = to_all[rank] if call.kind == "Alltoall" else mine
    place = ccl.IN_PLACE
    if call.kind == "Allreduce":
        return (place if call.in_place else mine, one, op), one, reduced(call, comm.size)
    if call.kind == "Reduce":
        return ((mine, one, op, root), one, reduced(call, comm.size)) if rank == root else \
            ((mine, None, op, root), one, np.zeros_like(one))
    if call.kind == "Bcast":
        one[...] = mine if rank == root else one
        return (one, root), one, block(call, root)
    if call.kind == "Allgather":
        wanted = np.stack([block(call, source) for source in everyone])
        return (place if call.in_place else mine, all_), all_, wanted
    if call.kind == "Reduce_scatter_block":
        return (to_all, one, op), one, reduced(call, comm.size, rank)
    if call.kind == "Alltoall":
        wanted = np.stack([block(call, source, rank) for source in everyone])
        return (place if call.in_place else to_all, all_), all_, wanted
    if call.kind == "Gather":
        wanted = np.stack([block(call, source) for source in everyone])
        return ((mine, all_, root), all_, wanted) if rank == root else \
            ((mine, None, root), all_, np.zeros_like(all_))
    return (to_all if rank == root else None, one, root), one, block(call, root, rank)


def start_ring(call, comm):
    """Everyone sends to the next rank: two requests."""
    before, after = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    recv = np.zeros(call.shape, call.dtype)
    requests = [comm.Irecv(recv, before, call.salt),
                comm.Isend(block(call, comm.rank), after, call.salt)]
    return requests, recv, block(call, before)


def check(number, call, buffer, wanted):
    if not np.array_equal(buffer, wanted):
        raise AssertionError(f"call {number}, {call}: {buffer} instead of {wanted}")


def run_program(program):
    world = core_ranks.comm()
    there = {"world": world, "parity": world.split(world.rank % 2, 0),
             "backwards": world.split(0, -world.rank)}
    results, requests = [], []
    with contextlib.ExitStack() as stack:
        grouped = None  # calls that follow one another in a group are one
        for number, call in enumerate(program):
            comm = there[call.communicator]
            if call.form == "in group" and grouped is None:
                grouped = stack.enter_context(contextlib.ExitStack())
                grouped.enter_context(ccl.group())
            elif call.form != "in group" and grouped is not None:
                grouped.close()
                grouped = None
            if call.kind == "ring":
                begun, buffer, wanted = start_ring(call, comm)
                requests += begun
                if call.form == "blocking":
                    for request in begun:
                        request.wait()
            else:
                arguments, buffer, wanted = prepared(call, comm)
                if call.form == "blocking":
                    getattr(comm, call.kind)(*arguments)
                else:
                    requests.append(getattr(comm, "I" + call.kind.lower())(*arguments))
            results.append((number, call, buffer, wanted))
    for request in requests:
        request.wait()
    for result in results:
        check(*result)
    for name in ("parity", "backwards"):
        there[name].destroy()


@pytest.fixture(scope="module")
def kept():
    made = {}
    yield made
    for ranks in made.values():
        ranks.close()


@any_program(calls(), examples=150)
def test_any_program_gives_what_numpy_gives(kept, program):
    for ranks in intact(kept, SIZE, core_ranks.start):
        ranks.run(run_program, program)
