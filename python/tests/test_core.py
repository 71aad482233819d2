# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The calls of tutti_ccl without torch, each against numpy."""

import array
import os
import re
import subprocess
import sys

import core_ranks
import numpy as np
import pytest
from programs import ROOT

import tutti_ccl as ccl

TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]
OPS = {"SUM": sum, "PROD": lambda x: np.prod(x, 0), "MIN": lambda x: np.min(x, 0),
       "MAX": lambda x: np.max(x, 0)}
BITS = {"BAND": np.bitwise_and, "BOR": np.bitwise_or, "BXOR": np.bitwise_xor}


@pytest.fixture(scope="module", params=[2, 3], ids=["2ranks", "3ranks"])
def ranks(request):
    made = core_ranks.start(request.param)
    yield made
    made.close()


def given(rank, shape=(4,), dtype="f8"):
    """What that rank gives: small numbers, for exact sums and products of every type."""
    return (np.arange(np.prod(shape)).reshape(shape) % 3 + rank + 1).astype(dtype)


def everyones(shape=(4,), dtype="f8"):
    return np.stack([given(rank, shape, dtype) for rank in range(core_ranks.comm().size)])


def equal(found, wanted):
    assert found is not None
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def reductions(dtype):
    comm, all_of = core_ranks.comm(), everyones(dtype=dtype)
    for name, function in OPS.items():
        wanted = np.asarray(function(all_of)).astype(dtype)
        recv = np.zeros(4, dtype)
        comm.Allreduce(given(comm.rank, dtype=dtype), recv, getattr(ccl, name))
        equal(recv, wanted)
        equal(comm.allreduce(given(comm.rank, dtype=dtype), getattr(ccl, name)), wanted)
    if np.dtype(dtype).kind in "iu":
        for name, function in BITS.items():
            equal(comm.allreduce(given(comm.rank, dtype=dtype), getattr(ccl, name)),
                  function.reduce(all_of))


@pytest.mark.parametrize("dtype", TYPES)
def test_reductions_give_what_numpy_gives(ranks, dtype):
    ranks.run(reductions, dtype)


def complex_reductions(dtype):
    comm = core_ranks.comm()
    all_of = everyones(dtype=dtype) * (2 - 1j) + 1j
    mine = all_of[comm.rank].astype(dtype)
    for name, wanted in (("SUM", all_of.sum(0)), ("PROD", all_of.prod(0))):
        recv = np.zeros(4, dtype)
        comm.Allreduce(mine, recv, getattr(ccl, name))
        equal(recv, wanted.astype(dtype))
        comm.Allreduce([mine, ccl.MPI.COMPLEX if dtype == "c8" else "c16"], recv,
                       getattr(ccl, name))
        equal(recv, wanted.astype(dtype))
        equal(comm.allreduce(mine, getattr(ccl, name)), wanted.astype(dtype))
    with pytest.raises(ccl.InvalidArgument, match="max is for types that have an order"):
        comm.Allreduce(mine, np.zeros(4, dtype), ccl.MAX)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_numbers_are_added_and_multiplied(ranks, dtype):
    ranks.run(complex_reductions, dtype)


def equal_blocks():
    comm, size, rank = core_ranks.comm(), core_ranks.comm().size, core_ranks.comm().rank
    mine, rows = given(rank), given(rank, (size, 4))
    all_rows = everyones((size, 4))
    gathered = np.zeros((size, 4))
    comm.Allgather(mine, gathered)
    equal(gathered, everyones())
    equal(comm.allgather(mine), everyones())
    exchanged = np.zeros((size, 4))
    comm.Alltoall(rows, exchanged)
    equal(exchanged, all_rows[:, rank])
    equal(comm.alltoall(rows), all_rows[:, rank])
    block = np.zeros(4)
    comm.Reduce_scatter_block(rows, block)
    equal(block, all_rows.sum(0)[rank])
    equal(comm.reduce_scatter(rows, ccl.MAX), all_rows.max(0)[rank])
    equal(comm.allreduce(np.asarray(3.5)), np.asarray(3.5 * size))
    equal(comm.allreduce(np.full((2, 0), 1.0)), np.zeros((2, 0)))
    comm.Barrier()


def rooted():
    comm, size, rank = core_ranks.comm(), core_ranks.comm().size, core_ranks.comm().rank
    for root in range(size):
        here = rank == root
        buffer = given(rank)
        comm.Bcast(buffer, root)
        equal(buffer, given(root))
        whole = given(root, (2, 3), "i4")
        equal(comm.bcast(whole if here else None, root), whole)
        recv = np.zeros(4) if here else None
        comm.Reduce(given(rank), recv, ccl.SUM, root)
        lower = comm.reduce(given(rank), root=root)
        gathered = np.zeros((size, 4)) if here else None
        comm.Gather(given(rank), gathered, root)
        lower_gathered = comm.gather(given(rank), root)
        if here:
            equal(recv, everyones().sum(0))
            equal(lower, everyones().sum(0))
            equal(gathered, everyones())
            equal(lower_gathered, everyones())
        else:
            assert lower is None and lower_gathered is None
        block, rows = np.zeros(4), given(root, (size, 4))
        comm.Scatter(rows if here else None, block, root)
        equal(block, rows[rank])
        equal(comm.scatter(rows if here else None, root), rows[rank])


def in_place():
    comm, size, rank = core_ranks.comm(), core_ranks.comm().size, core_ranks.comm().rank
    buffer = given(rank)
    comm.Allreduce(ccl.IN_PLACE, buffer)
    equal(buffer, everyones().sum(0))
    gathered = np.zeros((size, 4))
    gathered[rank] = given(rank)
    comm.Allgather(ccl.IN_PLACE, gathered)
    equal(gathered, everyones())
    buffer = given(rank)
    comm.Reduce(ccl.IN_PLACE if rank == 0 else buffer, buffer if rank == 0 else None)
    equal(buffer, everyones().sum(0) if rank == 0 else given(rank))
    rows = given(rank, (size, 4))
    comm.Alltoall(ccl.IN_PLACE, rows)
    equal(rows, everyones((size, 4))[:, rank])
    rows = given(rank, (size, 4))
    comm.Alltoallv(ccl.IN_PLACE, None, rows, [4] * size)
    equal(rows, everyones((size, 4))[:, rank])
    rows = given(rank, (size, 4))
    with pytest.raises(ValueError, match="tutti_alltoall: send .* and recv .* overlap"):
        comm.Alltoall(rows.reshape(-1)[:-size], rows.reshape(-1)[size:])
    comm.Reduce_scatter_block(rows, rows[rank])
    equal(rows[rank], everyones((size, 4)).sum(0)[rank])


def uneven():
    comm, size, rank = core_ranks.comm(), core_ranks.comm().size, core_ranks.comm().rank
    counts = [r + 1 for r in range(size)]
    total, starts = sum(counts), np.cumsum([0, *counts])
    mine = np.full(rank + 1, rank, "i4")
    joined = np.repeat(np.arange(size), counts).astype("i4")
    recv = np.zeros(total, "i4")
    comm.Allgatherv(mine, recv, counts)
    equal(recv, joined)
    apart = np.full(2 * total, -1, "i4")
    comm.Allgatherv(mine, apart, counts, [2 * int(start) for start in starts[:-1]])
    equal(np.concatenate([apart[2 * s : 2 * s + n] for s, n in zip(starts, counts)]), joined)
    block = np.zeros(rank + 1, "i4")
    comm.Reduce_scatter(np.arange(total, dtype="i4"), block, counts)
    equal(block, size * np.arange(total, dtype="i4")[starts[rank] : starts[rank + 1]])
    sent, got = np.repeat(np.arange(size), counts).astype("i4"), np.zeros(size * (rank + 1), "i4")
    comm.Alltoallv(sent, counts, got, [rank + 1] * size)
    equal(got, np.full(size * (rank + 1), rank, "i4"))
    root = size - 1
    gathered = np.zeros(total, "i4") if rank == root else None
    comm.Gatherv(mine, gathered, counts, root=root)
    block = np.zeros(rank + 1, "i4")
    comm.Scatterv(joined if rank == root else None, counts, block, root=root)
    equal(block, mine)
    if rank == root:
        equal(gathered, joined)


def messages():
    comm, size, rank = core_ranks.comm(), core_ranks.comm().size, core_ranks.comm().rank
    after, before = (rank + 1) % size, (rank - 1) % size
    recv = np.zeros(8)
    got = comm.Sendrecv(given(rank), after, recv, before, 3, 3)
    assert (got.source, got.tag, got.count) == (before, 3, 4)
    equal(recv[:4], given(before))
    request = comm.Irecv(recv, tag=5)
    comm.Send(given(rank, dtype="f8"), after, 5)
    got = request.wait(30)
    assert (got.source, got.count) == (before, 4)
    assert request.wait().source == before and request.test()
    with ccl.group():
        assert comm.Recv(recv, before, 6) is None
        comm.Send(given(rank) + 1, after, 6)
    equal(recv[:4], given(before) + 1)


def requests():
    comm, size, rank = core_ranks.comm(), core_ranks.comm().size, core_ranks.comm().rank
    calls = {
        "Iallreduce": (given(rank), np.zeros(4)), "Ibcast": (np.ones(4),),
        "Iallgather": (given(rank), np.zeros((size, 4))),
        "Ireduce_scatter_block": (given(rank, (size, 4)), np.zeros(4)),
        "Ialltoall": (given(rank, (size, 4)), np.zeros((size, 4))),
        "Ireduce": (given(rank), np.zeros(4)), "Igather": (given(rank), np.zeros((size, 4))),
        "Iscatter": (np.ones((size, 4)), np.zeros(4)), "Ibarrier": (),
        "Iallgatherv": (given(rank), np.zeros(4 * size), [4] * size),
        "Ireduce_scatter": (given(rank, (size, 4)), np.zeros(4), [4] * size),
        "Ialltoallv": (given(rank, (size, 4)), [4] * size, np.zeros(4 * size), [4] * size),
        "Igatherv": (given(rank), np.zeros(4 * size), [4] * size),
        "Iscatterv": (np.ones(4 * size), [4] * size, np.zeros(4)),
    }
    started = {name: getattr(comm, name)(*buffers) for name, buffers in calls.items()}
    for request in started.values():
        request.wait()
        assert request.test()
    equal(calls["Iallreduce"][1], everyones().sum(0))
    equal(calls["Ialltoall"][1], everyones((size, 4))[:, rank])
    with ccl.group():
        grouped = [comm.Iallreduce(np.ones(4), np.zeros(4)) for _ in range(3)]
    assert all(request.wait() is None for request in grouped)


def buffers_are_kept():
    comm = core_ranks.comm()
    recv = bytearray(8)
    request = comm.Iallreduce(array.array("B", [1] * 8), recv)
    with pytest.raises(TypeError, match="send is str"):
        comm.Iallreduce("text", recv)
    request.wait()
    recv.extend(b"x")  # not exported any more
    assert request.test()
    view = memoryview(array.array("d", [1.0, 2.0]))
    comm.Allreduce(ccl.IN_PLACE, view)
    assert view.tolist() == [comm.size, 2.0 * comm.size]
    truths = np.array([comm.rank == 0, False])
    equal(comm.allreduce(truths, ccl.BOR), np.array([True, False]))


def parts():
    comm, size, rank = core_ranks.comm(), core_ranks.comm().size, core_ranks.comm().rank
    assert comm.split(None if rank else 1, name="one") is None or rank == 0
    with comm.split(0, -rank) as turned:
        assert (turned.rank, turned.size) == (size - 1 - rank, size)
        turned.set_timeout(30)
        turned.check()
        assert turned.allgather(rank) == list(range(size))[::-1]
    assert turned.is_destroyed
    with pytest.raises(ValueError, match="has been destroyed"):
        turned.Barrier()


def tensors():
    import ml_dtypes
    import torch

    comm = core_ranks.comm()
    for dtype in (torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.int64):
        tensor = torch.full((5,), float(comm.rank + 1)).to(dtype)
        comm.Allreduce(ccl.IN_PLACE, tensor, ccl.MAX)
        assert tensor.float().tolist() == [comm.size] * 5
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        dtype = np.dtype(getattr(ml_dtypes, name))
        equal(comm.allreduce(np.ones(3, dtype)), np.full(3, comm.size, dtype))
    with pytest.raises(TypeError, match="of datetime64"):
        comm.Bcast(np.zeros(1, "M8[s]"))
    with pytest.raises(TypeError, match="require gradient"):
        comm.Allreduce(torch.ones(2, requires_grad=True), torch.ones(2))
    with pytest.raises(ValueError, match="recv is torch.Tensor that is not contiguous"):
        comm.Allreduce(torch.ones(2), torch.ones(4)[::2])


CASES = [equal_blocks, rooted, in_place, uneven, messages, requests, buffers_are_kept, parts,
         tensors]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_calls_do_what_numpy_does(ranks, case):
    ranks.run(case)


def run_ranks(program):
    command = [os.path.join(ccl.cwd, "bin", "tutti"), "run", "-n", "2", sys.executable, program]
    return subprocess.run(command, check=True, timeout=60, text=True, stdout=subprocess.PIPE).stdout


def test_the_example_runs_and_is_right():
    assert "ok: the sum of 2 ranks is 1" in run_ranks(ROOT / "examples/python/allreduce.py")


def test_the_program_of_the_page_runs(tmp_path):
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    program = tmp_path / "program.py"
    program.write_text(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1] +
                       "assert out.tolist() == [0, 2, 4, 6] and buffer.sum() == 4\n")
    run_ranks(program)
