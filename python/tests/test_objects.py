# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The lower-case calls on Python objects, and arrays that are more than their memory."""

import core_ranks
import numpy as np
import pytest

import tutti_ccl as ccl

OBJECTS = [None, True, 7, 2**70, -2.5, 1 + 2j, "text", b"bytes", [1, "a"], (None, 2), {"lr": 0.1},
           {3}, "long" * 1000, np.float32(2), np.array([1, 2.5]), np.arange(3, dtype=">i4")]


@pytest.fixture(scope="module", params=[2, 3], ids=["2ranks", "3ranks"])
def ranks(request):
    made = core_ranks.start(request.param)
    yield made
    made.close()


def same(x, y):
    return np.array_equal(x, y) if isinstance(x, np.ndarray) else type(x) is type(y) and x == y


def objects():
    comm, size, rank = core_ranks.comm(), core_ranks.comm().size, core_ranks.comm().rank
    after, before = (rank + 1) % size, (rank - 1) % size
    for each in OBJECTS:
        for root in range(size):
            assert same(comm.bcast(each if rank == root else None, root), each)
            gathered = comm.gather((rank, each), root)
            assert (gathered is None) == (rank != root)
            if gathered is not None:
                assert [r for r, _ in gathered] == list(range(size))
                assert all(same(x, each) for _, x in gathered)
            given = [(r, each) for r in range(size)] if rank == root else None
            number, found = comm.scatter(given, root)
            assert number == rank and same(found, each)
        assert all(same(x[0], each) for x in comm.allgather([each]))
        assert [x[:2] for x in comm.alltoall([(rank, r, each) for r in range(size)])] == [
            (r, rank) for r in range(size)]
        status = ccl.Status()
        assert same(comm.sendrecv(each, after, 3, source=before, recvtag=3, status=status), each)
        assert (status.Get_source(), status.Get_tag()) == (before, 3)
        assert status.Get_count() == status.count > 0


def reductions():
    comm, size, rank = core_ranks.comm(), core_ranks.comm().size, core_ranks.comm().rank
    numbers = list(range(size))
    assert comm.allreduce(rank) == sum(numbers)
    assert comm.allreduce([rank]) == numbers  # as Python adds lists
    assert comm.allreduce(rank, ccl.MAX) == size - 1 and comm.allreduce(rank, ccl.MIN) == 0
    assert comm.allreduce(rank + 1.0, ccl.AVG) == sum(numbers) / size + 1
    assert comm.allreduce((rank % 2, rank), ccl.MAXLOC) == (1, 1)
    assert comm.allreduce((5, rank), ccl.MINLOC) == (5, 0)
    assert comm.allreduce(rank > 0, ccl.LAND) is False
    assert comm.allreduce(rank > 0, ccl.LOR) is True
    assert comm.allreduce({rank}, ccl.BOR) == set(numbers)
    assert comm.allreduce(str(rank), lambda x, y: y + x) == "".join(map(str, numbers[::-1]))
    assert comm.reduce(rank, root=size - 1) == (sum(numbers) if rank == size - 1 else None)
    assert comm.scan(rank + 1) == sum(range(rank + 2))
    assert comm.exscan(rank + 1) == (None if rank == 0 else sum(range(rank + 1)))
    assert comm.reduce_scatter([10 * r for r in range(size)]) == 10 * rank * size


def messages_in_flight():
    """Receives that are begun before, for messages of any length, in the order sent."""
    comm, size, rank = core_ranks.comm(), core_ranks.comm().size, core_ranks.comm().rank
    sent = ["x" * (1 << 20), "small", "y" * 100_000, None]
    requests = [comm.irecv(source=(rank - 1) % size) for _ in sent]
    out = [comm.isend(each, (rank + 1) % size, n) for n, each in enumerate(sent)]
    assert ccl.Request.waitall(requests) == sent
    ccl.Request.Waitall(out)
    assert all(request.test() == (True, each) for request, each in zip(requests, sent))
    requests = [comm.irecv(source=(rank - 1) % size, tag=n) for n in range(3)]
    for n in (2, 0, 1):
        comm.send(n, (rank + 1) % size, n)
    found = [ccl.Request.waitany(requests) for _ in requests]
    assert sorted(found) == [(0, 0), (1, 1), (2, 2)]
    assert ccl.Request.Waitany(requests) < 0  # nobody is left
    assert comm.sendrecv("none", ccl.PROC_NULL, source=ccl.PROC_NULL) is None


def unusual_arrays():
    comm, size, rank = core_ranks.comm(), core_ranks.comm().size, core_ranks.comm().rank
    masked = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, rank == 0, False])
    total = comm.allreduce(masked)
    assert total.mask.tolist() == [False, True, False] and total.compressed().tolist() == [
        size, 3 * size]
    largest = comm.allreduce(masked * (rank + 1), ccl.MAX)
    assert largest.mask.tolist() == [False, True, False] and largest[2] == 3 * size
    for gathered in comm.allgather(masked):
        assert isinstance(gathered, np.ma.MaskedArray)
    assert isinstance(comm.bcast(np.matrix([[1, 2]])), np.matrix)
    fields = np.array([(rank, 0.5)], [("a", "i4"), ("b", "f8")])
    assert [x["a"][0] for x in comm.allgather(fields)] == list(range(size))
    days = np.array(["2026-01-01", "NaT"], "M8[D]")
    assert np.isnat(comm.allreduce(days, ccl.MAX)).tolist() == [False, True]
    for dtype in (">f8", "c16", "m8[s]"):
        ones = np.ones(2, dtype)
        found = comm.allreduce(ones)
        assert found.dtype == ones.dtype.newbyteorder("=") and (found == ones * size).all()
    assert (comm.allreduce(np.arange(4.0)[::-1]) == np.arange(4.0)[::-1] * size).all()
    assert comm.allreduce(np.array([{rank}]), ccl.BOR)[0] == set(range(size))
    assert comm.allreduce(np.array([rank > 0, True])).tolist() == [True, True]


def failures():
    comm, rank = core_ranks.comm(), core_ranks.comm().rank
    calls = {
        "bcast": lambda x: comm.bcast(x, 1), "allgather": comm.allgather,
        "gather": lambda x: comm.gather(x, 0), "allreduce": comm.allreduce,
        "scatter": lambda x: comm.scatter([x] * comm.size, 1),
        "alltoall": lambda x: comm.alltoall([x] * comm.size),
    }
    for name, call in calls.items():
        told = rank == 1 or name != "gather" or rank == 0
        try:
            call((lambda: 0) if rank == 1 else 0)
        except (TypeError, ValueError) as error:
            wanted = "which cannot be pickled" if rank == 1 else "rank 1 could not send"
            assert str(error).startswith(f"{name}: ") and wanted in str(error), error
        else:
            assert not told, name
    try:
        comm.alltoall([1] * (comm.size + rank))
    except ValueError as error:
        assert "expected one for each of the" in str(error)
    assert comm.allreduce(1) == comm.size  # all are still in step


CASES = [objects, reductions, messages_in_flight, unusual_arrays, failures]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_objects_arrive_as_they_were_sent(ranks, case):
    ranks.run(case)


class WithUnit(np.ndarray):
    def __array_ufunc__(self, *arguments, **named):
        return NotImplemented


MORE_THAN_MEMORY = [np.ma.masked_array([1.0, 2.0], mask=[0, 1]), np.ones(2).view(WithUnit)]
UPPER = {
    "Allreduce": (1, 1), "Iallreduce": (1, 1), "Bcast": (1, 0), "Reduce": (1, 1),
    "Allgather": (1, 1), "Gather": (1, 1), "Scatter": (1, 1), "Alltoall": (1, 1),
    "Reduce_scatter_block": (1, 1), "Allgatherv": (1, 1), "Gatherv": (1, 1), "Scatterv": (1, 1),
    "Alltoallv": (1, 1), "Reduce_scatter": (1, 1), "Isend": (1, 0), "Irecv": (1, 0),
}


@pytest.mark.parametrize("given", MORE_THAN_MEMORY, ids=["masked", "unit"])
@pytest.mark.parametrize("name", UPPER)
def test_upper_case_calls_refuse_arrays_that_are_more_than_their_memory(alone, name, given):
    plain = np.ones(2)
    for place in range(sum(UPPER[name])):
        buffers = [given if n == place else plain for n in range(sum(UPPER[name]))]
        if name in ("Isend", "Irecv"):
            buffers.append(0)
        with pytest.raises(TypeError, match=f"^{name}: .* is more than its memory"):
            getattr(alone, name)(*buffers)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_subclasses_that_are_nothing_but_memory_are_taken(alone, tmp_path):
    class Plain(np.ndarray):
        pass

    kept = np.memmap(tmp_path / "kept", "f8", "w+", shape=2)
    for given in (np.matrix([[1.0, 2.0]]), np.ones(2).view(Plain), kept):
        alone.Allreduce(given, np.zeros(2))


def test_tensors_whose_values_are_not_in_their_memory_are_refused(alone):
    import torch

    numbers = torch.ones(2, dtype=torch.complex64)
    for given in (numbers.conj().imag, numbers.conj(), torch.eye(2).to_sparse(),
                  torch.ones(1).expand(2), torch.ones(2, requires_grad=True)):
        with pytest.raises((TypeError, ValueError), match="Allreduce: send is .*torch.*Tensor"):
            alone.Allreduce(given, torch.zeros(2))
    alone.Allreduce(torch.nn.Parameter(torch.ones(2), requires_grad=False), torch.zeros(2))


def test_errors_name_the_function_that_the_program_called(alone):
    ones = np.ones(2)
    for name, call in {
        "allreduce": lambda: alone.allreduce(ones, "sum"), "bcast": lambda: alone.bcast(ones, 4),
        "reduce": lambda: alone.reduce(ones, root="a"), "gather": lambda: alone.gather(ones, 1),
        "scatter": lambda: alone.scatter(np.ones(3)), "recv": lambda: alone.recv(source=5),
        "send": lambda: alone.send(1, 5), "alltoall": lambda: alone.alltoall([1, 2]),
    }.items():
        with pytest.raises((TypeError, ValueError), match=f"^{name}: "):
            call()
    with ccl.Communicator.create(ccl.unique_id(), 0, 1) as gone:
        gone.destroy()
        with pytest.raises(ValueError, match="^allreduce: this communicator has been destroyed"):
            gone.allreduce(ones)
    with pytest.raises(ccl.InvalidArgument) as caught:
        alone.allreduce(np.ones(2), ccl.BAND)
    assert caught.value.operation == "allreduce"


def test_an_object_in_a_group_is_refused(alone):
    with ccl.group(), pytest.raises(ValueError, match="bcast: not possible in a group"):
        alone.bcast({})


def test_bytes_that_are_no_object_are_not_unpickled(alone):
    alone.Isend(b"cos\nsystem\n", 0)
    with pytest.raises(ValueError, match="recv: the 11 bytes from rank 0 are no object"):
        alone.recv()
