#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""`ctypes_test.py LIBRARY`: oneCCL's C API as inference engines use it: a wrapper in Python that opens
libccl.so at run time, with the id carried to the other ranks by a file; or, under Open MPI's mpirun,
by MPI. A test of the PyTorch package has it carried by PyTorch's store."""

import ctypes
import functools
import multiprocessing
import os
import sys
import tempfile
import time

ID_BYTES = 4096
FLOAT32, BFLOAT16, SUM, AVG = 7, 9, 0, 4
INVALID_ARGUMENT = 4


class UniqueId(ctypes.Structure):
    _fields_ = [("data", ctypes.c_byte * ID_BYTES)]


class Communicator:
    """One rank. Every call of the library is checked. `carry` hands bytes of rank 0 to all ranks."""

    def __init__(self, library, rank, ranks, carry):
        self.library = ctypes.CDLL(library)
        self.library.onecclGetLastError.restype = ctypes.c_char_p
        self.library.onecclCommInitRank.argtypes = [
            ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t, UniqueId, ctypes.c_int]
        self.library.onecclAllReduce.argtypes = [
            ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
            ctypes.c_void_p, ctypes.c_void_p]
        self.library.onecclSend.argtypes = self.library.onecclRecv.argtypes = [
            ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_void_p,
            ctypes.c_void_p]
        self.library.onecclCommDestroy.argtypes = [ctypes.c_void_p]
        identity = UniqueId()
        if rank == 0:
            self.check(self.library.onecclGetUniqueId(ctypes.byref(identity)))
        identity = UniqueId.from_buffer_copy(carry(rank, bytes(identity)))
        self.handle = ctypes.c_void_p()
        self.check(self.library.onecclCommInitRank(ctypes.byref(self.handle), ranks, identity, rank))

    def check(self, result):
        if result != 0:
            raise RuntimeError(f"{result}: {self.library.onecclGetLastError(None).decode()}")


def by_file(path, rank, data):
    if rank == 0:
        with open(path + ".unfinished", "wb") as file:
            file.write(data)
        os.rename(path + ".unfinished", path)
        return data
    while not os.path.exists(path):
        time.sleep(0.01)
    with open(path, "rb") as file:
        return file.read()


class OpenMpi:
    """As much of MPI as carries the id."""

    def __init__(self):
        self.mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
        self.mpi.MPI_Init(None, None)
        self.world = ctypes.byref(ctypes.c_char.in_dll(self.mpi, "ompi_mpi_comm_world"))
        self.rank = self.ask(self.mpi.MPI_Comm_rank)
        self.ranks = self.ask(self.mpi.MPI_Comm_size)

    def ask(self, function):
        answer = ctypes.c_int()
        function(self.world, ctypes.byref(answer))
        return answer.value

    def carry(self, _rank, data):
        buffer = ctypes.create_string_buffer(data, len(data))
        byte = ctypes.byref(ctypes.c_char.in_dll(self.mpi, "ompi_mpi_byte"))
        self.mpi.MPI_Bcast(buffer, len(data), byte, 0, self.world)
        return buffer.raw


def rank_main(library, rank, ranks, carry):
    comm = Communicator(library, rank, ranks, carry)
    data = (ctypes.c_float * 3)(rank, 1, -rank)
    comm.check(comm.library.onecclAllReduce(data, data, 3, FLOAT32, SUM, comm.handle, None))
    assert list(data) == [1, 2, -1], list(data)
    comm.check(comm.library.onecclAllReduce(data, data, 3, FLOAT32, AVG, comm.handle, None))
    assert list(data) == [1, 2, -1], list(data)
    received = (ctypes.c_float * 3)()
    comm.check(comm.library.onecclGroupStart())
    comm.check(comm.library.onecclRecv(received, 3, FLOAT32, 1 - rank, comm.handle, None))
    comm.check(comm.library.onecclSend(data, 3, FLOAT32, 1 - rank, comm.handle, None))
    comm.check(comm.library.onecclGroupEnd())
    assert list(received) == list(data)
    wrong = comm.library.onecclAllReduce(None, data, 3, BFLOAT16, SUM, comm.handle, None)
    assert wrong == INVALID_ARGUMENT, wrong
    comm.check(comm.library.onecclCommDestroy(comm.handle))


def main():
    library, ranks = sys.argv[1], 2
    if "OMPI_COMM_WORLD_SIZE" in os.environ:
        mpi = OpenMpi()
        rank_main(library, mpi.rank, mpi.ranks, mpi.carry)
        print(f"rank {mpi.rank} of {mpi.ranks} by MPI")
        mpi.mpi.MPI_Finalize()
        return
    with tempfile.TemporaryDirectory() as folder:
        carry = functools.partial(by_file, os.path.join(folder, "id"))
        context = multiprocessing.get_context("spawn")
        processes = [context.Process(target=rank_main, args=(library, rank, ranks, carry))
                     for rank in range(ranks)]
        for process in processes:
            process.start()
        for process in processes:
            process.join(60)
    codes = [process.exitcode for process in processes]
    for process in processes:
        process.kill()
    print("exit codes", codes)
    sys.exit(codes != [0] * ranks)


if __name__ == "__main__":
    main()
