#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""A rank that finalises while another of its threads is in a call, as JAX does after an error; and
one that does with a receive that nobody waits for.

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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("folder", type=Path)
    parser.add_argument("case", choices=["call", "request", "freed"])
    given = parser.parse_args()
    mpi = Mpi(ctypes.CDLL(given.library, os.RTLD_LOCAL | os.RTLD_DEEPBIND))
    provided, rank, comm = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
    mpi.Init_thread(None, None, mpi.number("THREAD_FUNNELED"), ctypes.byref(provided))
    mpi.Comm_rank(mpi.handle("COMM_WORLD"), ctypes.byref(rank))
    mpi.Comm_split(mpi.handle("COMM_WORLD"), 0, rank.value, ctypes.byref(comm))
    if given.case == "call":
        (leaving if rank.value == 1 else staying)(mpi, comm, given.folder)
    elif rank.value == 1:
        abandoning(mpi, comm, given.case == "freed")
    else:
        awaiting(mpi, comm)
    print(f"rank {rank.value} is done", flush=True)


if __name__ == "__main__":
    main()
