# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Gloo through torch.distributed as a contestant of versus.py; server.py says how it is asked.

PyTorch offers allreduce, reduce and broadcast in place only, and the others with separate buffers.
"""

import server  # first: it pins this process
import torch
import torch.distributed as dist

IN_PLACE = ("allreduce", "reduce", "broadcast", "barrier")


def exchange(send, recv):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    operations = [dist.P2POp(dist.isend, send, (rank + 1) % ranks),
                  dist.P2POp(dist.irecv, recv, (rank - 1) % ranks)]
    for work in dist.batch_isend_irecv(operations):
        work.wait()


class Gloo:
    version = f"Gloo in PyTorch {torch.__version__}"

    def refusal(self, collective, _type_name, in_place, _form):
        if in_place and collective not in IN_PLACE:
            return "PyTorch wants separate buffers here"
        return None

    def barrier(self):
        dist.barrier()

    def call(self, collective, send, recv, blocks, form):
        if collective == "sendrecv":
            return exchange(send, recv)
        call, arguments = {
            "allreduce": (dist.all_reduce, [recv]),
            "broadcast": (dist.broadcast, [recv, 0]),
            "reduce": (dist.reduce, [recv, 0]),
            "allgather": (dist.all_gather_into_tensor, [recv, send]),
            "reduce_scatter": (dist.reduce_scatter_tensor, [recv, send]),
            "alltoall": (dist.all_to_all_single, [recv, send]),
            "gather": (dist.gather, [send, blocks, 0]),
            "scatter": (dist.scatter, [recv, blocks, 0]),
            "barrier": (dist.barrier, []),
        }[collective]
        if form == "nonblocking":
            call(*arguments, async_op=True).wait()
        else:
            call(*arguments)


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    server.serve(Gloo())
    dist.destroy_process_group()
