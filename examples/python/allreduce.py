#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Arrays of numpy without a framework: a sum, a call that goes on meanwhile, and a ring.

    tutti run -n 2 python examples/python/allreduce.py
"""

import numpy as np

import tutti_ccl as ccl


def main():
    # Rank and size come from the launcher; without one it is a job of one process.
    with ccl.Communicator.from_env(name="example") as comm:
        ranks = np.arange(comm.size, dtype="f4")

        # Lower case: a new array. Upper case: into the caller's, here in place.
        assert comm.allreduce(np.float32(comm.rank)) == ranks.sum()
        buffer = np.full(1000, comm.rank, "f4")
        comm.Allreduce(ccl.IN_PLACE, buffer)
        assert (buffer == ranks.sum()).all()

        # The request keeps its buffers; whatever is done meanwhile leaves them alone.
        largest = np.empty(1, "f4")
        request = comm.Iallreduce(ranks[comm.rank : comm.rank + 1], largest, ccl.MAX)
        work = float(np.sin(ranks).sum())
        request.wait()
        assert largest[0] == comm.size - 1 and np.isfinite(work)

        # Each rank hands its number to the next one.
        got = np.empty(1, "f4")
        comm.Sendrecv(ranks[comm.rank : comm.rank + 1], (comm.rank + 1) % comm.size, got)
        assert got[0] == (comm.rank - 1) % comm.size

        if comm.rank == 0:
            print(f"ok: the sum of {comm.size} ranks is {buffer[0]:g}")


if __name__ == "__main__":
    main()
