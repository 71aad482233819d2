# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Inputs that every rank can work out for every other, and results got without communication."""

import numpy
import torch
from torch.distributed import ReduceOp

INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.uint16,
            torch.uint32, torch.uint64]
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fn,
          torch.float8_e5m2]
COMPLEX = [torch.complex64, torch.complex128]
ALL_TYPES = INTEGERS + FLOATS + COMPLEX + [torch.bool]

# The unit in the last place, times a few: sums of three numbers round more than once.
TOLERANCE = {torch.float64: 1e-14, torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2,
             torch.float8_e4m3fn: 0.13, torch.float8_e5m2: 0.26, torch.complex64: 1e-6,
             torch.complex128: 1e-14}

SHAPES = [(), (0,), (1,), (3, 5), (1023,), (70001,)]


def data(shape, dtype, rank, salt=0):
    """Small numbers that differ from rank to rank and exist in every type."""
    generator = torch.Generator().manual_seed(1000 * salt + rank)
    if dtype.is_complex:
        return torch.randn(shape, dtype=dtype, generator=generator)
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=generator).to(dtype)
    if dtype.is_floating_point:
        return torch.randn(shape, dtype=torch.float64, generator=generator).to(dtype)
    lowest = -9 if dtype.is_signed else 0
    return torch.randint(lowest, 10, shape, generator=generator).to(dtype)


def strided_copies(tensor):
    """Tensors with the same values whose memory is laid out otherwise."""
    spaced = torch.zeros((*tensor.shape, 2), dtype=tensor.dtype)[..., 0]
    spaced.copy_(tensor)
    yield spaced
    if tensor.dim() == 2:
        transposed = torch.zeros(tensor.shape[::-1], dtype=tensor.dtype).t()
        transposed.copy_(tensor)
        yield transposed


def wide(tensor):
    """As numpy numbers that hold sums and products of the type."""
    if tensor.dtype.is_floating_point:
        return tensor.double().numpy()
    return tensor.numpy()


def reduced(tensors, op):
    """op over the tensors, in their order."""
    stack = numpy.stack([wide(tensor) for tensor in tensors])
    kind = stack.dtype
    if kind == bool:
        functions = {ReduceOp.SUM: numpy.any, ReduceOp.MAX: numpy.any, ReduceOp.BOR: numpy.any,
                     ReduceOp.PRODUCT: numpy.all, ReduceOp.MIN: numpy.all,
                     ReduceOp.BAND: numpy.all, ReduceOp.BXOR: numpy.logical_xor.reduce}
        result = functions[op](stack, axis=0)
    elif op == ReduceOp.AVG:
        total = stack.sum(axis=0, dtype=kind if kind.kind in "fc" else numpy.int64)
        result = total / len(tensors)
        if kind.kind not in "fc":
            result = numpy.trunc(result).astype(kind)
    else:
        functions = {ReduceOp.SUM: numpy.add, ReduceOp.PRODUCT: numpy.multiply,
                     ReduceOp.MIN: numpy.minimum, ReduceOp.MAX: numpy.maximum,
                     ReduceOp.BAND: numpy.bitwise_and, ReduceOp.BOR: numpy.bitwise_or,
                     ReduceOp.BXOR: numpy.bitwise_xor}
        result = functions[op].reduce(stack, axis=0, dtype=kind)
    return numpy.asarray(result)


def check(tensor, expected):
    """tensor holds the expected numbers, as well as its type can."""
    assert tuple(tensor.shape) == expected.shape, (tensor.shape, expected.shape)
    actual = wide(tensor.contiguous())
    if tensor.dtype in TOLERANCE:
        bound = TOLERANCE[tensor.dtype]
        numpy.testing.assert_allclose(actual, expected, rtol=bound, atol=bound)
    else:
        numpy.testing.assert_array_equal(actual, expected)


def same(tensor, expected):
    """Two tensors hold the same bits. torch.equal does not know every type."""
    assert tensor.shape == expected.shape and tensor.dtype == expected.dtype
    a, b = (torch.empty(t.numel(), dtype=t.dtype).copy_(t.reshape(-1)).view(torch.uint8)
            for t in (tensor, expected))
    assert torch.equal(a, b), (tensor, expected)
