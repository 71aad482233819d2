# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Programs of mpi4py with another import, and what the names that are not there say."""

import re
import subprocess
import sys

import core_ranks
import numpy as np
import pytest
from test_core import run_ranks

import tutti_ccl as ccl
from tutti_ccl import MPI


@pytest.fixture(scope="module")
def ranks():
    made = core_ranks.start(3)
    yield made
    made.close()


PROGRAM = """
from tutti_ccl import MPI
import numpy as np

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
assert comm is MPI.COMM_WORLD and MPI.COMM_SELF.Get_size() == 1

data = comm.bcast({"a": [7, 2 + 3j]} if rank == 0 else None, root=0)
assert data == {"a": [7, 2 + 3j]}
if rank == 0:
    comm.send(data, dest=1, tag=11)
elif rank == 1:
    status = MPI.Status()
    assert comm.recv(source=MPI.ANY_SOURCE, tag=11, status=status) == data
    assert status.Get_source() == 0

a = np.arange(size, dtype="i")
comm.Bcast([a, MPI.INT], root=0)
x, whole = np.full(2, rank, "d"), np.empty(2 * size)
comm.Allgather([x, MPI.DOUBLE], [whole, 2, MPI.DOUBLE])
assert (whole == np.repeat(np.arange(size), 2)).all()
comm.Allreduce(MPI.IN_PLACE, x, op=MPI.MAX)
assert (x == size - 1).all()

counts = [r + 1 for r in range(size)]
displs = [sum(counts[:r]) for r in range(size)]
part = np.empty(rank + 1)
comm.Scatterv([np.arange(float(sum(counts))), counts, displs, MPI.DOUBLE], part, root=0)
assert (part == displs[rank] + np.arange(rank + 1)).all()
joined = np.empty(sum(counts)) if rank == 0 else None
comm.Gatherv(part, [joined, (counts, displs), "d"], root=0)
assert rank or (joined == np.arange(sum(counts))).all()

got = np.empty(1)
comm.Sendrecv(np.array([float(rank)]), (rank + 1) % size, 5, got, (rank - 1) % size, 5)
assert got[0] == (rank - 1) % size
number = np.empty(1, int)
requests = [comm.Isend(np.full(1, rank), (rank + 1) % size), comm.Irecv(number, (rank - 1) % size)]
MPI.Request.Waitall(requests)
assert number[0] == (rank - 1) % size
half = comm.Split(color=rank % 2, key=rank)
assert half.Get_size() >= 1
half.Free()
twin = comm.Dup()
twin.barrier()
twin.Free()
assert comm.Split(MPI.UNDEFINED) == MPI.COMM_NULL
assert comm.allreduce((rank, rank), op=MPI.MAXLOC) == (size - 1, size - 1)
assert MPI.Wtime() <= MPI.Wtime() and MPI.Get_processor_name()
comm.Barrier()
print("right")
"""


def test_a_program_of_mpi4py_runs_with_another_import(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    assert run_ranks(program).count("right") == 2


def test_abort_ends_the_process_and_tells_peers(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("from tutti_ccl import MPI\n"
                       "comm = MPI.COMM_WORLD\n"
                       "comm.Barrier()\n"
                       "if comm.rank == 1:\n"
                       "    comm.Abort(7)\n"
                       "try:\n"
                       "    comm.recv(source=1)\n"
                       "except MPI.Exception as error:\n"
                       "    print(error, flush=True)\n")
    command = [f"{ccl.cwd}/bin/tutti", "run", "-n", "2", sys.executable, program]
    ended = subprocess.run(command, timeout=60, text=True, capture_output=True, check=False)
    assert ended.returncode == 7, ended.stderr
    assert "exited with status 7" in ended.stderr


def blocks(form):
    comm, size, rank = core_ranks.comm(), core_ranks.comm().size, core_ranks.comm().rank
    counts, starts = [r + 1 for r in range(size)], np.cumsum([0, *range(1, size)]).tolist()
    total, mine = sum(counts), np.full(rank + 1, rank, "i4")
    joined = np.repeat(np.arange(size), counts).astype("i4")
    recv = np.zeros(total, "i4")
    comm.Allgatherv(mine, form(recv, counts, starts))
    assert (recv == joined).all()
    recv[:] = 0
    comm.Iallgatherv(sendbuf=mine, recvbuf=form(recv, counts, starts)).Wait()
    assert (recv == joined).all()
    got = np.zeros(size * (rank + 1), "i4")
    own = [rank + 1] * size
    comm.Alltoallv(form(joined, counts, starts),
                   form(got, own, [r * (rank + 1) for r in range(size)]))
    assert (got == rank).all()
    root = size - 1
    gathered = np.zeros(total, "i4") if rank == root else None
    comm.Gatherv(mine, form(gathered, counts, starts) if rank == root else None, root)
    assert rank != root or (gathered == joined).all()
    part = np.zeros(rank + 1, "i4")
    comm.Scatterv(form(joined, counts, starts) if rank == root else None, part, root)
    assert (part == mine).all()
    block = np.zeros(rank + 1, "i4")
    comm.Reduce_scatter(joined, block, recvcounts=counts, op=MPI.MAX)
    assert (block == rank).all()
    comm.Reduce_scatter(joined, block, op=MPI.SUM)  # the counts are what each rank gives room for
    assert (block == rank * size).all()


FORMS = {
    "counts": lambda buffer, counts, _: [buffer, counts],
    "counts and type": lambda buffer, counts, _: [buffer, counts, MPI.INT],
    "pair": lambda buffer, counts, displs: [buffer, (counts, displs), "i"],
    "all": lambda buffer, counts, displs: (buffer, counts, displs, MPI.INT),
    "numpy": lambda buffer, counts, displs: [buffer, np.array(counts), np.array(displs), "i4"],
    "bytes": lambda buffer, counts, displs: [memoryview(buffer).cast("B"), counts, displs, "i"],
}


@pytest.mark.parametrize("name", FORMS)
def test_blocks_are_said_in_every_form_of_mpi4py(ranks, name):
    ranks.run(blocks_in, name)


def blocks_in(name):
    blocks(FORMS[name])


PARTS = {
    "type": ([np.arange(4.0), MPI.DOUBLE], "float64[4]"),
    "count": ([np.arange(4.0), 2], "float64[2]"),
    "displacement": ([np.arange(4.0), 1, 2, "d"], "float64[1]"),
    "bytes": ([bytearray(16), 2, MPI.DOUBLE], "float64[2]"),
    "as bytes": ([np.arange(4.0), MPI.BYTE], "uint8[32]"),
    "nothing": ([None, 0, MPI.INT], "int32[0]"),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_a_buffer_is_what_it_says(alone, name):
    given, text = PARTS[name]
    with pytest.raises((TypeError, ValueError), match=re.escape(f"send is {text}")):
        alone.Allreduce(given, np.zeros(9, "u2"))


WRONG = {
    "count": (lambda c: c.Bcast([np.ones(3), 5, "d"]), "expected at least the 5 elements"),
    "negative": (lambda c: c.Bcast([np.ones(3), -1, "d"]), "the count in buffer is -1"),
    "type": (lambda c: c.Bcast([np.ones(3), MPI.INT]), "its type MPI.INT; expected its own type"),
    "name": (lambda c: c.Bcast([np.ones(3), "no"]), "has the type no; expected"),
    "whole": (lambda c: c.Bcast([bytearray(9), MPI.DOUBLE]), "expected whole elements of"),
    "list": (lambda c: c.Bcast([1.0, 2.0]), "buffer is list; expected an object with the buffer"),
    "nothing": (lambda c: c.Allreduce(), r"Allreduce\(\): expected Allreduce\(send, recv, op=0\)"),
    "keyword": (lambda c: c.Bcast(np.ones(1), rot=0), r"rot=int\): expected Bcast\(buffer, root=0"),
    "blocks": (lambda c: c.Scatterv(), r"expected Scatterv\(send, .* or Scatterv\(sendbuf"),
    "counts": (lambda c: c.Allgatherv(np.ones(1), np.ones(1), "a"), "recv_counts is 'a'"),
    "root": (lambda c: c.Bcast(np.ones(1), 0.5), r"Bcast: root is 0.5 \(float\); expected an int"),
    "op": (lambda c: c.Allreduce(np.ones(1), np.ones(1), max), "op is <built-in .*; expected SUM"),
    "pair": (lambda c: c.Allreduce(np.ones(1), np.ones(1), MPI.MAXLOC), "op is MAXLOC"),
    "timeout": (lambda c: c.set_timeout("x"), "set_timeout: seconds is 'x'"),
    "color": (lambda c: c.split("red"), "split: color is 'red'"),
    "reason": (lambda c: c.abort(5), "abort: reason is 5"),
    "id": (lambda c: ccl.Communicator.create("x", 0, 1), "create: the unique id is str"),
    "rank": (lambda c: ccl.Communicator.create(b"", "a", 1), "create: rank is 'a'"),
    "wait": (lambda c: c.Ibarrier().wait("x"), "wait: timeout is 'x'"),
    "class": (lambda c: ccl.Communicator(0, 2), r"Communicator\(int, int\): expected one of"),
    "group": (lambda c: ccl.group(1), r"group\(\): expected no arguments"),
    "unique_id": (lambda c: ccl.unique_id(1), "expected no arguments"),
    "method": (lambda c: c.check(1), r"check\(int\): expected check\(\)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_is_told_in_our_own_words(alone, name):
    call, text = WRONG[name]
    with pytest.raises((TypeError, ValueError), match=text) as caught:
        call(alone)
    assert "incompatible function arguments" not in str(caught.value)


def test_mpi4pys_names_of_arguments_are_taken(alone):
    ones, recv = np.ones(2), np.zeros(2)
    alone.Allreduce(sendbuf=ones, recvbuf=recv, op=MPI.SUM)
    alone.Bcast(buf=recv, root=0)
    assert alone.bcast(obj=3) == alone.allreduce(sendobj=3) == 3
    assert recv.tolist() == [1, 1]


ABSENT = {
    "Probe": "recv takes objects of any size", "Issend": "Isend and isend at once",
    "Create_cart": "there are no topologies", "Send_init": "no persistent requests",
    "get_rank": "did you mean Get_rank", "Alltoalw": "did you mean Alltoallv?|Alltoall",
    "nothing_like_it": "docs/python.md",
}


@pytest.mark.parametrize("name", ABSENT)
def test_a_name_that_is_not_there_names_what_is(alone, name):
    with pytest.raises(AttributeError, match=f"Communicator has no '{name}': .*{ABSENT[name]}"):
        getattr(alone, name)


def test_absent_names_of_other_things_name_what_is_there(alone):
    request = alone.Ibarrier()
    for where, name, text in ((request, "Cancel", "a request may be dropped"),
                              (MPI, "Win", "there are no windows"),
                              (MPI, "DOUBLE_INT", "lower-case ones take any object"),
                              (MPI.Status(), "Get_sorce", "did you mean Get_source"),
                              (ccl, "allreduce", "COMM_WORLD.allreduce")):
        with pytest.raises(AttributeError, match=text):
            getattr(where, name)
    request.wait()


def nobody():
    comm = core_ranks.comm()
    buffer, status = np.full(2, 5.0), MPI.Status()
    comm.Send(buffer, MPI.PROC_NULL)
    message = comm.Recv(buffer, MPI.PROC_NULL, status=status)
    assert (message.source, message.count) == (MPI.PROC_NULL, 0) == (status.source, status.count)
    requests = [comm.Isend(buffer, MPI.PROC_NULL), comm.Irecv(buffer, MPI.PROC_NULL)]
    assert MPI.Request.Testall(requests) and buffer.tolist() == [5, 5]
    # The ends of a line have no neighbour.
    left = comm.rank - 1 if comm.rank else MPI.PROC_NULL
    right = comm.rank + 1 if comm.rank + 1 < comm.size else MPI.PROC_NULL
    got = np.full(1, -1.0)
    comm.Sendrecv(np.full(1, float(comm.rank)), right, 0, got, left)
    assert got[0] == comm.rank - 1


def test_nothing_is_sent_to_nobody(ranks):
    ranks.run(nobody)
