# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""DeepSpeed's shared-memory allreduce as a contestant of versus.py; server.py says how it is asked.

`deepspeed_shm.py build SOURCES FOLDER` compiles it as DeepSpeed does (its ShareMemCommBuilder) from
the sources in its package; the rest of DeepSpeed is not needed. It offers an allreduce in place and
nothing else; barriers between measurements are Gloo's.
"""

import os
import sys
from pathlib import Path

MODULE = "deepspeed_shm_comm"
MEMORY = "deepspeed_allreduce_buffer"


def build(sources, folder):
    from torch.utils import cpp_extension

    comm = Path(sources) / "ops/csrc/cpu/comm"
    Path(folder).mkdir(exist_ok=True)
    (Path(folder) / "lock").unlink(missing_ok=True)  # of a build that was interrupted
    cpp_extension.load(
        MODULE,
        [str(comm / "shm_interface.cpp"), str(comm / "shm.cpp")],
        extra_include_paths=[str(comm.parent / "includes")],
        extra_cflags=["-O2", "-fopenmp"],
        build_directory=str(folder),
    )


class DeepSpeed:
    def __init__(self, torch, dist, version):
        self.all_reduce = torch.ops.deepspeed.inference_all_reduce_
        self.dist = dist
        self.version = f"DeepSpeed {version}'s shared-memory allreduce"

    def refusal(self, collective, _type_name, _in_place, form):
        if form != "blocking":
            return "DeepSpeed's shared memory blocks"
        return None if collective == "allreduce" else "DeepSpeed's shared memory has an allreduce only"

    def barrier(self):
        self.dist.barrier()

    def call(self, _collective, _send, recv, _blocks, _form):
        self.all_reduce(recv)


def forget_names():
    """Its shared memory stays in the file system unless somebody removes it."""
    address, port = os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"]
    for path in Path("/dev/shm").glob(f"{MEMORY}_{os.getuid()}_{address}_{port}_*"):
        path.unlink(missing_ok=True)


def main(folder):
    import server  # first: it pins this process
    import torch
    import torch.distributed as dist

    sys.path.insert(0, folder)
    library = __import__(MODULE)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    library.initialize(server.RANKS, server.RANK)
    dist.barrier()
    if server.RANK == 0:
        forget_names()
    server.serve(DeepSpeed(torch, dist, os.environ["VERSUS_DEEPSPEED"]))
    dist.destroy_process_group()


if __name__ == "__main__":
    if sys.argv[1] == "build":
        build(*sys.argv[2:])
    else:
        main(sys.argv[1])
