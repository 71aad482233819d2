# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The table of calls by types in docs/pytorch.md: what each cell says is found by doing it."""

import warnings

import torch
import torch.distributed as dist

TYPES = {
    "floats": [torch.float64, torch.float32, torch.float16, torch.bfloat16],
    "float8": [torch.float8_e4m3fn, torch.float8_e5m2],
    "integers": [torch.int8, torch.int16, torch.int32, torch.int64,
                 torch.uint8, torch.uint16, torch.uint32, torch.uint64],
    "bool": [torch.bool],
    "complex": [torch.complex64, torch.complex128],
}
SHAPES = ["no elements", "strided", "uneven"]
COLUMNS = [*TYPES, *SHAPES]
HOLDS, REFUSED, SENSELESS = "✓", "refused", ""


class Maker:
    """Tensors of one cell: small numbers that every type can hold, sums and averages as well."""

    def __init__(self, dtype=torch.float32, shape=""):
        self.dtype, self.shape = dtype, shape
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.gaps = []

    def values(self, rank, salt=0, count=None):
        count = count or (0 if self.shape == "no elements" else 6)
        whole = (torch.arange(count) + salt) % 3 + 2 * (rank % 2)
        if self.dtype == torch.bool:
            whole = (torch.arange(count) + salt + rank) % 2
        return whole.to(self.dtype) * (1 + 1j) if self.dtype.is_complex else whole.to(self.dtype)

    def laid_out(self, tensor):
        """The same elements; where the shape says so, with ones between them."""
        if self.shape != "strided":
            return tensor
        wide = torch.ones(2 * len(tensor)).to(tensor.dtype)
        wide[::2].copy_(tensor)
        self.gaps.append(wide[1::2])
        return wide[::2]

    def gaps_are_intact(self):
        return all(gap.eq(1).all() for gap in self.gaps)

    def input(self, rank, salt=0):
        return self.laid_out(self.values(rank, salt, self.count(salt)))

    def output(self, salt=0):
        return self.laid_out(torch.zeros(len(self.values(0, 0, self.count(salt)))).to(self.dtype))

    def count(self, salt):
        """Block `salt` of an uneven call has a length of its own."""
        return 2 + 3 * salt if self.shape == "uneven" else None


def same(tensor, expected):
    wide = torch.complex128 if tensor.dtype.is_complex else torch.float64
    return torch.equal(tensor.to(wide), expected.to(tensor.dtype).to(wide))


def reduced(inputs, operation):
    """The operation in a wider type, element by element."""
    if inputs[0].dtype == torch.bool:
        stacked = torch.stack(inputs)
        return stacked.all(0) if operation in ("PRODUCT", "MIN", "BAND") else (
            stacked.sum(0) % 2 == 1 if operation == "BXOR" else stacked.any(0))
    wide = (torch.complex128 if inputs[0].dtype.is_complex else
            torch.float64 if inputs[0].dtype.is_floating_point else torch.int64)
    a, b = (tensor.to(wide) for tensor in inputs)
    return {"SUM": lambda: a + b, "AVG": lambda: (a + b) / 2, "PRODUCT": lambda: a * b,
            "MIN": lambda: torch.minimum(a, b), "MAX": lambda: torch.maximum(a, b),
            "BAND": lambda: a & b, "BOR": lambda: a | b, "BXOR": lambda: a ^ b,
            "PREMUL_SUM": lambda: (a + b) * 0.5}[operation]()


def operation_of(name):
    return dist._make_nccl_premul_sum(0.5) if name == "PREMUL_SUM" else getattr(dist.ReduceOp, name)


def all_reduce(*operations):
    def call(make):
        for name in operations:
            tensor = make.input(make.rank)
            dist.all_reduce(tensor, op=operation_of(name))
            if not same(tensor, reduced([make.values(r) for r in range(2)], name)):
                return False
        return True
    return call


def reduce(make):
    tensor = make.input(make.rank)
    dist.reduce(tensor, 0)
    return make.rank != 0 or same(tensor, reduced([make.values(r) for r in range(2)], "SUM"))


def reduce_scatter(make):
    output = make.output(make.rank)
    dist.reduce_scatter(output, [make.input(make.rank, block) for block in range(make.size)])
    blocks = [make.values(r, make.rank, make.count(make.rank)) for r in range(2)]
    return same(output, reduced(blocks, "SUM"))


def reduce_scatter_tensor(make):
    output = make.output()
    whole = torch.cat([make.values(make.rank, block) for block in range(make.size)])
    dist.reduce_scatter_tensor(output, make.laid_out(whole))
    return same(output, reduced([make.values(r, make.rank) for r in range(2)], "SUM"))


def broadcast(make):
    tensor = make.input(make.rank)
    dist.broadcast(tensor, 1)
    return same(tensor, make.values(1))


def received_all(make, outputs):
    return all(same(o, make.values(r, r, make.count(r))) for r, o in enumerate(outputs))


def all_gather(make):
    outputs = [make.output(r) for r in range(make.size)]
    dist.all_gather(outputs, make.input(make.rank, make.rank))
    return received_all(make, outputs)


def all_gather_into_tensor(make):
    whole = torch.cat([make.values(r) for r in range(make.size)])
    output = make.laid_out(torch.zeros(len(whole)).to(make.dtype))
    dist.all_gather_into_tensor(output, make.input(make.rank))
    return same(output, whole)


def gather(make):
    outputs = [make.output(r) for r in range(make.size)]
    dist.gather(make.input(make.rank, make.rank), outputs if make.rank == 0 else None, 0)
    return make.rank != 0 or received_all(make, outputs)


def scatter(make):
    output = make.output(make.rank)
    parts = [make.input(0, r) for r in range(make.size)]
    dist.scatter(output, parts if make.rank == 0 else None, 0)
    return same(output, make.values(0, make.rank, make.count(make.rank)))


def all_to_all(make):
    outputs = [make.output(make.rank) for _ in range(make.size)]
    dist.all_to_all(outputs, [make.input(make.rank, r) for r in range(make.size)])
    return all(same(o, make.values(r, make.rank, make.count(make.rank)))
               for r, o in enumerate(outputs))


def all_to_all_single(make):
    whole = torch.cat([make.values(make.rank, r, make.count(r)) for r in range(make.size)])
    expected = torch.cat([make.values(r, make.rank, make.count(make.rank))
                          for r in range(make.size)])
    output = make.laid_out(torch.zeros(len(expected)).to(make.dtype))
    splits = {}
    if make.shape == "uneven":
        splits = {"output_split_sizes": [make.count(make.rank)] * 2,
                  "input_split_sizes": [make.count(r) for r in range(2)]}
    dist.all_to_all_single(output, make.laid_out(whole), **splits)
    return same(output, expected)


def send_and_recv(make):
    if make.rank == 0:
        dist.send(make.input(0), 1)
        return True
    output = make.output()
    dist.recv(output, 0)
    return same(output, make.values(0))


def isend_and_irecv(make):
    peer, output = 1 - make.rank, make.output()
    for request in [dist.isend(make.input(make.rank), peer), dist.irecv(output, peer)]:
        request.wait()
    return same(output, make.values(peer))


def batch_isend_irecv(make):
    peer, output = 1 - make.rank, make.output()
    for request in dist.batch_isend_irecv([dist.P2POp(dist.irecv, output, peer),
                                           dist.P2POp(dist.isend, make.input(make.rank), peer)]):
        request.wait()
    return same(output, make.values(peer))


ROWS = {
    "`all_reduce` SUM": all_reduce("SUM"),
    "`all_reduce` AVG": all_reduce("AVG"),
    "`all_reduce` PRODUCT": all_reduce("PRODUCT"),
    "`all_reduce` MIN, MAX": all_reduce("MIN", "MAX"),
    "`all_reduce` BAND, BOR, BXOR": all_reduce("BAND", "BOR", "BXOR"),
    "`all_reduce` PREMUL_SUM": all_reduce("PREMUL_SUM"),
    "`reduce`": reduce,
    "`reduce_scatter` (lists)": reduce_scatter,
    "`reduce_scatter_tensor`": reduce_scatter_tensor,
    "`broadcast`": broadcast,
    "`all_gather` (lists)": all_gather,
    "`all_gather_into_tensor`": all_gather_into_tensor,
    "`gather`": gather,
    "`scatter`": scatter,
    "`all_to_all` (lists)": all_to_all,
    "`all_to_all_single`": all_to_all_single,
    "`send`, `recv`": send_and_recv,
    "`isend`, `irecv`": isend_and_irecv,
    "`batch_isend_irecv`": batch_isend_irecv,
}
HAVE_BLOCKS = {"`reduce_scatter` (lists)", "`all_gather` (lists)", "`all_to_all` (lists)",
               "`all_to_all_single`"}


def cell(row, column):
    """What a cell holds; runs in each of two ranks."""
    if column == "uneven" and row not in HAVE_BLOCKS:
        return SENSELESS
    shape = column if column in SHAPES else ""
    if shape and "BAND" in row:
        makers = [Maker(torch.int32, shape)]
    else:
        makers = [Maker(dtype, shape) for dtype in TYPES.get(column, [torch.float32])]
    found = set()
    for make in makers:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # names that PyTorch would change
                right = ROWS[row](make) and make.gaps_are_intact()
            assert right, (row, column, make.dtype)
            found.add(HOLDS)
        except (RuntimeError, ValueError) as error:
            found.add(REFUSED);
            assert "ccl" in str(error) or "not support" in str(error), error
    assert len(found) == 1, (row, column, found)
    return found.pop()


def row_of_cells(row):
    return [cell(row, column) for column in COLUMNS]


def table(two_ranks):
    """The lines of the table."""
    lines = ["| | " + " | ".join(COLUMNS) + " |", "|---|" + ":---:|" * len(COLUMNS)]
    for row in ROWS:
        first, second = two_ranks.run(row_of_cells, row)
        assert first == second, (row, first, second)
        lines.append(f"| {row} | " + " | ".join(first) + " |")
    return lines
