#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""A rank that finalises while another of its threads is in a call or waits for requests, as JAX
does after an error. And one that leaves a receive for which nobody waits.

Two ranks of `tutti run`, with libtutti_mpitrampoline.so and a folder for files by which they tell
each other how far they are. Each blocks for ever if its peer does not learn that it has left.
"""

import argparse
import ctypes
import os
import threading
import time
from pathlib import Path

from trampoline_test import Mpi


def allreduce(mpi, comm):
    """The sum of the ranks' ones, or None after an error."""
    sent, got = (ctypes.c_double * 1)(1), (ctypes.c_double * 1)()
    code = mpi.library.MPIABI_Allreduce(sent, got, 1, mpi.handle("DOUBLE"), mpi.handle("SUM"), comm)
    return got[0] if code == 0 else None


def await_file(file):
    while not file.exists():
        time.sleep(0.01)


def leaving(mpi, comm, folder):
    results = []
    call = threading.Thread(target=lambda: results.append(allreduce(mpi, comm)))
    call.start()
    time.sleep(1)
    finalize = threading.Thread(target=mpi.Finalize)
    finalize.start()
    call.join()
    assert results == [2], f"the call that had begun gave {results}"
    await_file(folder / "told")
    late = allreduce(mpi, comm)
    assert late is None, f"a call gave {late} after the communicator was closed"
    (folder / "done").touch()
    finalize.join()


def staying(mpi, comm, folder):
    time.sleep(2)
    first, second = allreduce(mpi, comm), allreduce(mpi, comm)
    assert first == 2, f"the call that both had begun gave {first}"
    assert second is None, f"a call gave {second} without its peer"
    (folder / "told").touch()
    await_file(folder / "done")
    mpi.Finalize()


def abandoning(mpi, comm, freed):
    request, place = ctypes.c_void_p(), ctypes.c_int()
    mpi.Irecv(ctypes.byref(place), 4, mpi.handle("BYTE"), 0, 7, comm, ctypes.byref(request))
    if freed:
        mpi.Request_free(ctypes.byref(request))
    mpi.Finalize()


def awaiting(mpi, comm):
    sent, got = (ctypes.c_double * 1)(1), (ctypes.c_double * 1)()
    code = mpi.library.MPIABI_Allreduce(sent, got, 1, mpi.handle("DOUBLE"), mpi.handle("SUM"), comm)
    text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
    mpi.Error_string(code, text, ctypes.byref(length))
    expected = b"rank 1 ends while MPI_Irecv that it has called is pending"
    assert code != 0 and expected in text.value, f"code {code}, {text.value}"
    mpi.Finalize()


def exchange(mpi, comm, peer, begun):
    """As XLA does it: all requests are begun, and then waited for one by one."""
    sent, got = ctypes.c_int(7), ctypes.c_int()
    requests = (ctypes.c_void_p * 2)()
    byte, at = mpi.handle("BYTE"), [ctypes.byref(requests, i * 8) for i in range(2)]
    try:
        mpi.Irecv(ctypes.byref(got), 4, byte, peer, 7, comm, at[0])
        mpi.Isend(ctypes.byref(sent), 4, byte, peer, 7, comm, at[1])
    finally:
        begun.set()
    for request in at:
        mpi.Wait(request, mpi.handle("STATUS_IGNORE"))
    assert got.value == 7, f"the peer sent {got.value}"


def exchanging(mpi, comm, rank):
    results, begun = [], threading.Event()
    if rank == 0:
        time.sleep(5)  # longer than a request may be abandoned
    call = threading.Thread(target=lambda: results.append(exchange(mpi, comm, 1 - rank, begun)))
    call.start()
    begun.wait()
    mpi.Finalize()
    call.join()
    assert results == [None], "the exchange failed"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("folder", type=Path)
    parser.add_argument("case", choices=["call", "exchange", "request", "freed"])
    given = parser.parse_args()
    mpi = Mpi(ctypes.CDLL(given.library, os.RTLD_LOCAL | os.RTLD_DEEPBIND))
    provided, rank, comm = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
    mpi.Init_thread(None, None, mpi.number("THREAD_FUNNELED"), ctypes.byref(provided))
    mpi.Comm_rank(mpi.handle("COMM_WORLD"), ctypes.byref(rank))
    mpi.Comm_split(mpi.handle("COMM_WORLD"), 0, rank.value, ctypes.byref(comm))
    if given.case == "call":
        (leaving if rank.value == 1 else staying)(mpi, comm, given.folder)
    elif given.case == "exchange":
        exchanging(mpi, comm, rank.value)
    elif rank.value == 1:
        abandoning(mpi, comm, given.case == "freed")
    else:
        awaiting(mpi, comm)
    print(f"rank {rank.value} is done", flush=True)


if __name__ == "__main__":
    main()
