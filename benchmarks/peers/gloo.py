# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Gloo through torch.distributed as a contestant of versus.py: server.c's protocol in Python.

Its allreduce and reduce work in place, so a batch of them sums again and again what it summed
before; the values do not change the time.
"""

import os
import socket
import sys
import time

RANK = int(os.environ["RANK"])
RANKS = int(os.environ["WORLD_SIZE"])
if os.environ.get("VERSUS_CORES"):
    os.sched_setaffinity(0, {int(os.environ["VERSUS_CORES"].split(",")[RANK])})

import torch  # noqa: E402  (pinned first, so that its threads inherit the core)
import torch.distributed as dist  # noqa: E402

# name -> (blocks in send, blocks in recv), in units of count; 0 stands for `ranks`.
SHAPES = {
    "allreduce": (1, 1),
    "broadcast": (1, 1),
    "reduce": (1, 1),
    "allgather": (1, 0),
    "reduce_scatter": (0, 1),
    "alltoall": (0, 0),
}


def sent(rank, index):
    return (index % 13 + rank + 1).float()


class Session:
    def __init__(self):
        self.name = "barrier"

    def set_up(self, name, count):
        self.name, self.count = name, count
        if name == "barrier":
            return dist.barrier()
        sends, receives = (blocks or RANKS for blocks in SHAPES[name])
        self.send = sent(RANK, torch.arange(sends * count))
        self.recv = torch.full((receives * count,), -1.0)
        self.check()

    def call(self):
        if self.name == "allreduce":
            dist.all_reduce(self.recv)
        elif self.name == "broadcast":
            dist.broadcast(self.recv, 0)
        elif self.name == "reduce":
            dist.reduce(self.recv, 0)
        elif self.name == "allgather":
            dist.all_gather_into_tensor(self.recv, self.send)
        elif self.name == "reduce_scatter":
            dist.reduce_scatter_tensor(self.recv, self.send)
        elif self.name == "alltoall":
            dist.all_to_all_single(self.recv, self.send)
        else:
            dist.barrier()

    def expected(self):
        index = torch.arange(self.recv.numel())
        if self.name == "broadcast":
            return sent(0, index)
        if self.name == "allgather":
            return torch.cat([sent(r, torch.arange(self.count)) for r in range(RANKS)])
        if self.name == "alltoall":
            mine = torch.arange(RANK * self.count, (RANK + 1) * self.count)
            return torch.cat([sent(r, mine) for r in range(RANKS)])
        if self.name == "reduce_scatter":
            index = index + RANK * self.count
        return sum(sent(r, index) for r in range(RANKS))

    def check(self):
        if self.name == "barrier":
            return
        in_place = self.name in ("allreduce", "reduce") or (self.name == "broadcast" and RANK == 0)
        self.recv.copy_(self.send) if in_place else self.recv.fill_(-1.0)
        self.call()
        if self.name == "reduce" and RANK != 0:
            return
        expected = self.expected()
        wrong = torch.nonzero(self.recv != expected)
        if len(wrong):
            i = int(wrong[0])
            raise ValueError(
                f"wrong result: rank {RANK}, index {i}, got {self.recv[i]:g}, "
                f"expected {expected[i]:g}"
            )

    def measure(self, calls, warm_up):
        for _ in range(warm_up):
            self.call()
        dist.barrier()
        begin = time.monotonic()
        for _ in range(calls):
            self.call()
        return f"{time.monotonic() - begin:.9f}"

    def answer(self, request):
        verb, *arguments = request.split()
        if verb == "setup":
            return self.set_up(arguments[0], int(arguments[1]))
        if verb == "run":
            return self.measure(int(arguments[0]), int(arguments[1]))
        if verb == "check":
            return self.check()
        raise ValueError("no such request")


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(os.environ["VERSUS_SOCKET"])

    def tell(line):
        stream.sendall(line.encode() + b"\n")

    tell(f"hello {RANK} {RANKS} {os.getpid()} Gloo in PyTorch {torch.__version__}")
    session = Session()
    for request in stream.makefile("r"):
        if request.strip() == "quit":
            break
        try:
            tell(f"ok {session.answer(request) or ''}")
        except Exception as error:  # every failure is the driver's to report
            tell("error " + (str(error).splitlines() or [repr(error)])[0])
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
