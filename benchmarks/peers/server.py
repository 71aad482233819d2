# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""server.c and buffers.c for contestants that are used through PyTorch.

A library is an object with `version`, `barrier()`, `refusal(collective, type_name, in_place, form)`
(None, or why it has no such operation), and `call(collective, send, recv, blocks, form)`, where
`blocks` is the list of blocks of `send` (scatter) or `recv` (gather) at the root, and `form` is
blocking or nonblocking (started, and waited for at once). Collectives that work in place
only find their input in `recv`, and sum again and again what they summed before in a batch of
calls; the values do not change the time.
"""

import os
import socket
import time

RANK = int(os.environ["RANK"])
RANKS = int(os.environ["WORLD_SIZE"])
if os.environ.get("VERSUS_CORES"):
    os.sched_setaffinity(0, {int(os.environ["VERSUS_CORES"].split(",")[RANK])})

import torch  # noqa: E402  (pinned first, so that its threads inherit the core)

ALL = RANKS
ROOT = RANKS if RANK == 0 else 0
# name -> (blocks in send, blocks in recv) of `count` elements, on this rank.
SHAPES = {
    "allreduce": (1, 1),
    "broadcast": (1, 1),
    "reduce": (1, 1),
    "allgather": (1, ALL),
    "reduce_scatter": (ALL, 1),
    "alltoall": (ALL, ALL),
    "gather": (1, ROOT),
    "scatter": (ROOT, 1),
    "sendrecv": (1, 1),
    "barrier": (0, 0),
}
TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
PERIOD = 13
LINE = 64
MOST_SETS = 1 << 14  # each is a few Python objects


def pattern(base, factor, first, count, dtype):
    """Elements base + factor * (index % PERIOD), from index `first` on; see buffers.c."""
    period = torch.tensor([base + factor * i for i in range(PERIOD)], dtype=dtype)
    phase = first % PERIOD
    return period.repeat(count // PERIOD + 2)[phase:phase + count]


def delays(seed, most_ns):
    """As in server.c, so that a rank is as late in every contestant."""
    state = seed * 1000003 + RANK
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        yield (state >> 33) * (most_ns + 1) >> 31


class Refused(Exception):
    pass


class Session:
    def __init__(self, library):
        self.library = library
        self.name = "barrier"

    def set_up(self, name, type_name, count, sets, placement, form):
        if name not in SHAPES:
            raise Refused("not offered: PyTorch has the even form of it only")
        refusal = self.library.refusal(name, type_name, placement == "in-place", form)
        if refusal:
            raise Refused(f"not offered: {refusal}")
        self.name, self.type, self.count = name, TYPES[type_name], int(count)
        self.form = form
        if name == "barrier":
            self.sets = [(None, None, None)]
        else:
            self.make_sets(min(int(sets), MOST_SETS))
        self.turn = 0
        self.check()

    def make_sets(self, sets):
        sends, receives = (blocks * self.count for blocks in SHAPES[self.name])
        line = LINE // self.type.itemsize
        stride = (max(sends, receives) + line - 1) // line * line + line
        inputs = pattern(RANK + 1, 1, 0, sends, self.type)
        send_room = torch.zeros(stride * sets, dtype=self.type)
        recv_room = torch.zeros(stride * sets, dtype=self.type)
        self.sets = []
        for i in range(sets):
            send = send_room[i * stride:i * stride + sends]
            recv = recv_room[i * stride:i * stride + receives]
            send.copy_(inputs)
            many = send if self.name == "scatter" else recv
            blocks = list(many.split(self.count)) if ROOT and self.count else None
            self.sets.append((send, recv, blocks))

    def next_set(self):
        self.turn = (self.turn + 1) % len(self.sets)
        return self.sets[self.turn]

    def call(self):
        self.library.call(self.name, *self.next_set(), self.form)

    def expected(self):
        """(base, factor, first index) of each block of the result, as in buffers.c."""
        mine = RANK * self.count
        total = (RANKS * (RANKS + 1) // 2, RANKS)
        if self.name == "broadcast":
            return [(1, 1, 0)]
        if self.name == "scatter":
            return [(1, 1, mine)]
        if self.name == "sendrecv":
            return [((RANK - 1) % RANKS + 1, 1, 0)]
        if self.name in ("allgather", "gather"):
            return [(r + 1, 1, 0) for r in range(SHAPES[self.name][1])]
        if self.name == "alltoall":
            return [(r + 1, 1, mine) for r in range(RANKS)]
        if self.name == "reduce" and RANK != 0:
            return []
        return [(*total, mine if self.name == "reduce_scatter" else 0)]

    def check(self):
        if self.name == "barrier":
            return self.library.barrier()
        send, recv, blocks = self.next_set()
        send.copy_(pattern(RANK + 1, 1, 0, send.numel(), self.type))
        recv.fill_(-1.0)
        if self.name in ("allreduce", "reduce") or (self.name == "broadcast" and RANK == 0):
            recv.copy_(send)
        self.library.call(self.name, send, recv, blocks, self.form)
        for block, part in enumerate(self.expected()):
            got = recv[block * self.count:(block + 1) * self.count]
            expected = pattern(*part, self.count, self.type)
            if not torch.equal(got, expected):
                i = int(torch.nonzero(got != expected)[0])
                raise ValueError(
                    f"wrong result: rank {RANK}, index {block * self.count + i}, got "
                    f"{got[i]:g}, expected {expected[i]:g}"
                )

    def warm_up(self, calls):
        for _ in range(calls):
            self.call()
        self.library.barrier()

    def run(self, calls):
        begin = time.monotonic()
        for _ in range(calls):
            self.call()
        return f"{time.monotonic() - begin:.9f}"

    def run_each(self, calls, skew_us, seed):
        now = time.monotonic_ns
        times = []
        for _, delay in zip(range(calls), delays(seed, skew_us * 1000)):
            start = now() + delay
            begin = now()
            while skew_us and begin < start:
                begin = now()
            self.call()
            times += [begin, now()]
        return " ".join(map(str, times))

    def wait_for_late(self, calls, ms):
        late = 0 if self.name in ("broadcast", "scatter") else RANKS - 1
        computed = passed = 0
        for _ in range(calls):
            self.library.barrier()
            if RANK == late:
                time.sleep(ms / 1000)
            begin, used = time.monotonic_ns(), time.process_time_ns()
            self.call()
            if RANK != late:
                computed += time.process_time_ns() - used
                passed += time.monotonic_ns() - begin
        return f"{computed / 1e9:.9f} {passed / 1e9:.9f}"

    def answer(self, request):
        verb, *arguments = request.split()
        if verb == "setup":
            return self.set_up(*arguments)
        if verb == "check":
            return self.check()
        numbers = [int(a) for a in arguments]
        if verb == "run":
            self.warm_up(numbers[1])
            return self.run(numbers[0])
        if verb == "each":
            self.warm_up(numbers[1])
            return self.run_each(numbers[0], *numbers[2:])
        if verb == "late":
            return self.wait_for_late(*numbers)
        raise ValueError("no such request")


def serve(library):
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(os.environ["VERSUS_SOCKET"])

    def tell(line):
        stream.sendall(line.encode() + b"\n")

    tell(f"hello {RANK} {RANKS} {os.getpid()} {library.version}")
    session = Session(library)
    for request in stream.makefile("r"):
        if request.strip() == "quit":
            break
        try:
            tell(f"ok {session.answer(request) or ''}")
        except Exception as error:  # every failure is the driver's to report
            tell("error " + (str(error).splitlines() or [repr(error)])[0])
