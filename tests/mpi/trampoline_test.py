#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Opens libtutti_mpitrampoline.so as MPItrampoline does, and calls what XLA calls, as one rank.

Where jaxlib is installed for this interpreter, its list of names is compared, too: MPItrampoline
ends a process at the first that is missing.
"""

import argparse
import ctypes
import importlib.util
import os
import re
import sys
from pathlib import Path

NAME = re.compile(rb"\0(MPIX?ABI_\w+)(?=\0)")


def names_of_jaxlib():
    spec = importlib.util.find_spec("jaxlib")
    if spec is None:
        return None
    folder = Path(spec.origin).parent
    found = set()
    for library in folder.glob("*.so"):
        found |= {name.decode() for name in NAME.findall(library.read_bytes())}
    return found


def names_of_headers():
    """What the headers declare, found by an expression of its own."""
    folder = Path(__file__).resolve().parents[2] / "compat/mpi/include"
    text = "".join(path.read_text() for path in sorted(folder.glob("mpi*functions.h")))
    names = re.findall(r"^TUTTI_MPI_\w+\([^,(]+, *MPI_(\w+)", text, re.M)
    return {f"MPIABI_{name}" for name in names}


def missing(library, names):
    return [name for name in sorted(names) if not hasattr(library, name)]


class Mpi:
    """The functions of the library, which return 0, and its constants by their types."""

    def __init__(self, library):
        self.library = library

    def handle(self, name):
        return ctypes.c_void_p.in_dll(self.library, f"MPIABI_{name}")

    def number(self, name):
        return ctypes.c_int.in_dll(self.library, f"MPIABI_{name}").value

    def __getattr__(self, name):
        function = getattr(self.library, f"MPIABI_{name}")

        def call(*arguments):
            code = function(*arguments)
            assert code == self.number("SUCCESS"), f"MPI_{name} returns {code}"
        return call


def reductions(mpi, comm):
    for name, element in (("FLOAT", ctypes.c_float), ("DOUBLE", ctypes.c_double),
                          ("INT8_T", ctypes.c_int8), ("UINT64_T", ctypes.c_uint64)):
        for op in ("SUM", "PROD", "MIN", "MAX"):
            sent, got = (element * 3)(1, 2, 3), (element * 3)()
            mpi.Allreduce(sent, got, 3, mpi.handle(name), mpi.handle(op), comm)
            assert list(got) == [1, 2, 3], (name, op, list(got))
    for name, element in (("C_COMPLEX", ctypes.c_float), ("C_DOUBLE_COMPLEX", ctypes.c_double)):
        for op in ("SUM", "PROD"):
            sent, got = (element * 4)(1, 2, 3, 4), (element * 4)()
            mpi.Allreduce(sent, got, 2, mpi.handle(name), mpi.handle(op), comm)
            assert list(got) == [1, 2, 3, 4], (name, op, list(got))


def what_xla_calls(mpi):
    provided, rank, size, flag = (ctypes.c_int(-1) for _ in range(4))
    mpi.Init_thread(None, None, mpi.number("THREAD_FUNNELED"), ctypes.byref(provided))
    assert provided.value >= mpi.number("THREAD_FUNNELED")
    mpi.Is_thread_main(ctypes.byref(flag))
    assert flag.value == 1
    comm = ctypes.c_void_p()
    mpi.Comm_split(mpi.handle("COMM_WORLD"), 5, 0, ctypes.byref(comm))
    mpi.Comm_rank(comm, ctypes.byref(rank))
    mpi.Comm_size(comm, ctypes.byref(size))
    assert (rank.value, size.value) == (0, 1)
    reductions(mpi, comm)
    byte = mpi.handle("BYTE")
    sent, got = ctypes.create_string_buffer(b"tutti"), (ctypes.c_char * 6)()
    mpi.Allgather(sent, 6, byte, got, 6, byte, comm)
    assert got.value == b"tutti"
    one, other = (ctypes.c_double * 2)(3, 4), (ctypes.c_double * 2)()
    counts = (ctypes.c_int * 1)(2)
    mpi.Reduce_scatter(one, other, counts, mpi.handle("DOUBLE"), mpi.handle("SUM"), comm)
    assert list(other) == [3, 4]
    requests = [ctypes.c_void_p(), ctypes.c_void_p()]
    ignore = mpi.handle("STATUS_IGNORE")
    got = (ctypes.c_char * 6)()
    mpi.Irecv(got, 6, byte, 0, 0, comm, ctypes.byref(requests[0]))
    mpi.Isend(sent, 6, byte, 0, 0, comm, ctypes.byref(requests[1]))
    for request in requests:
        mpi.Wait(ctypes.byref(request), ignore)
        assert request.value == mpi.handle("REQUEST_NULL").value
    assert got.value == b"tutti"
    got = (ctypes.c_char * 6)()
    mpi.Sendrecv(sent, 6, byte, 0, 0, got, 6, byte, 0, 0, comm, ignore)
    assert got.value == b"tutti"
    # Errors are returned, as XLA expects, and have a text.
    code = mpi.library.MPIABI_Allreduce(one, other, 2, mpi.handle("C_DOUBLE_COMPLEX"),
                                        mpi.handle("MAX"), comm)
    text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
    assert code != 0
    mpi.Error_string(code, text, ctypes.byref(length))
    assert text.value
    # It finalises before it frees.
    mpi.Finalize()
    mpi.Comm_free(ctypes.byref(comm))
    assert comm.value == mpi.handle("COMM_NULL").value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    library = ctypes.CDLL(parser.parse_args().library, os.RTLD_LOCAL | os.RTLD_DEEPBIND)
    assert ctypes.c_int.in_dll(library, "mpiabi_version_major").value == 2
    library.mpiwrapper_export_fortran_constants_()
    declared = names_of_headers()
    assert len(declared) > 300, f"the headers declare {len(declared)} functions"
    lacks = missing(library, declared)
    assert not lacks, f"the headers declare {', '.join(sorted(lacks))}"
    asked = names_of_jaxlib()
    if asked is not None:
        assert len(asked) > 600, f"jaxlib has {len(asked)} names; expected some more than 600"
        lacks = missing(library, asked)
        assert not lacks, f"jaxlib asks for {', '.join(lacks)}"
    what_xla_calls(Mpi(library))
    print("jaxlib is not installed" if asked is None else f"jaxlib asks for {len(asked)} names")
    return 0


if __name__ == "__main__":
    sys.exit(main())
