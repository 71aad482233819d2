# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The lower-case calls: they take what numpy.asarray takes and return new arrays of numpy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Optional

from . import _core
from .constants import SUM

if TYPE_CHECKING:
    import numpy

HEADER = 1024  # bytes in which a root tells type and shape


def dense(x: Any) -> numpy.ndarray:
    import numpy

    return numpy.asarray(x, order="C")


class ArrayCalls(_core.Communicator):
    """The class with the lower-case calls; Communicator adds how it is made."""

    def allreduce(self, x: Any, op: int = SUM) -> numpy.ndarray:
        """The reduction of all ranks' x, in x's shape and type."""
        send = dense(x)
        recv = empty(send.shape, send.dtype)
        self.Allreduce(send, recv, op)
        return recv

    def reduce(self, x: Any, op: int = SUM, root: int = 0) -> Optional[numpy.ndarray]:
        """As allreduce, at the root; None elsewhere."""
        send = dense(x)
        recv = empty(send.shape, send.dtype) if self.rank == root else None
        self.Reduce(send, recv, op, root)
        return recv

    def bcast(self, x: Any = None, root: int = 0) -> numpy.ndarray:
        """A copy of the root's x; what other ranks give is not looked at."""
        send = self._from_root(x, root, lambda array: array.shape)
        recv = send.copy() if self.rank == root else send
        self.Bcast(recv, root)
        return recv

    def allgather(self, x: Any) -> numpy.ndarray:
        """All ranks' x, along a new first axis: shape (size, *x.shape)."""
        send = dense(x)
        recv = empty((self.size, *send.shape), send.dtype)
        self.Allgather(send, recv)
        return recv

    def gather(self, x: Any, root: int = 0) -> Optional[numpy.ndarray]:
        """As allgather, at the root; None elsewhere."""
        send = dense(x)
        recv = empty((self.size, *send.shape), send.dtype) if self.rank == root else None
        self.Gather(send, recv, root)
        return recv

    def scatter(self, x: Any = None, root: int = 0) -> numpy.ndarray:
        """x[rank] of the root, whose first axis has `size` entries; others' x is not looked at."""
        send = self._from_root(x, root, lambda array: self._rows("scatter", array)[1:])
        recv = send if self.rank != root else empty(send.shape[1:], send.dtype)
        self.Scatter(send if self.rank == root else None, recv, root)
        return recv

    def alltoall(self, x: Any) -> numpy.ndarray:
        """Row r of x goes to rank r, row r of the result is from it; x has `size` rows."""
        send = dense(x)
        self._rows("alltoall", send)
        recv = empty(send.shape, send.dtype)
        self.Alltoall(send, recv)
        return recv

    def reduce_scatter(self, x: Any, op: int = SUM) -> numpy.ndarray:
        """Row `rank` of the reduction of all ranks' x, whose first axis has `size` rows."""
        send = dense(x)
        recv = empty(self._rows("reduce_scatter", send)[1:], send.dtype)
        self.Reduce_scatter_block(send, recv, op)
        return recv

    def _rows(self, operation: str, array: numpy.ndarray) -> tuple[int, ...]:
        if array.ndim == 0 or array.shape[0] != self.size:
            raise ValueError(f"{operation}: x has the shape {array.shape}; expected a first axis "
                             f"with one row for each of the {self.size} ranks")
        return array.shape

    def _from_root(self, x: Any, root: int, shape_of: Any) -> numpy.ndarray:
        """The root's array itself; elsewhere an empty one of its type and the shape that is got.

        A root that cannot send says so, or the others would wait for it.
        """
        header = empty((HEADER,), "uint8")
        if self.rank != root:
            self.Bcast(header, root)
            told = json.loads(header.tobytes())
            if "error" in told:
                raise ValueError(f"rank {root}, the root, could not send: {told['error']}")
            return empty(told["shape"], told["type"])
        try:
            array = dense(x)
            told = {"type": type_name(array), "shape": shape_of(array)}
        except Exception as error:
            self._tell({"error": str(error)[:HEADER // 8]}, header, root)
            raise
        self._tell(told, header, root)
        return array

    def _tell(self, told: dict[str, Any], header: Any, root: int) -> None:
        header[:] = memoryview(json.dumps(told).encode().ljust(HEADER))
        self.Bcast(header, root)


def empty(shape: Any, dtype: Any) -> numpy.ndarray:
    import numpy

    return numpy.empty(shape, dtype)


def type_name(array: numpy.ndarray) -> str:
    if array.dtype.kind not in "biuf" or not array.dtype.isnative or array.dtype.itemsize > 8:
        raise TypeError(f"x has the type {array.dtype}; expected bool, integers or floats of at "
                        "most 8 bytes in this machine's byte order")
    return array.dtype.str
