# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The lower-case calls. They take any Python object and return new ones.

Plain arrays of numpy travel as memory, and come back as arrays: what `is_array` says. Everything
else is pickled, as mpi4py does, and reduced by Python's operators. That includes numbers, lists and
dicts, and arrays that are more than numbers in memory (masked ones, matrices, those with units or
fields).
"""

from __future__ import annotations

import functools
import json
import sys
from array import array
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Optional, TypeVar

from . import _core, constants, objects
from .constants import ANY_SOURCE, ANY_TAG, AVG, PROC_NULL, PROD, SUM, Op
from .errors import TuttiError
from .requests import ObjectRequest, Status
from .vectors import VectorCalls

if TYPE_CHECKING:
    import numpy

HEADER = 1024  # bytes in which a root tells what comes; a short object is among them
# The first bytes of a header, besides those of objects.py. The type and shape of an array comes
# next; the length of an object comes next; an object for each rank comes next.
ARRAY, LATER, EACH = 11, 12, 13
OWN_TYPES = ("bfloat16", "float8_e4m3fn", "float8_e5m2")  # of ml_dtypes
OPS = {int(op): op for op in vars(constants).values() if isinstance(op, Op)}
UPPER = frozenset(("Allgather", "Allgatherv", "Allreduce", "Alltoall", "Alltoallv", "Barrier",
                   "Bcast", "Gather", "Gatherv", "Irecv", "Isend", "Recv", "Reduce",
                   "Reduce_scatter_block", "Scatter", "Scatterv", "Send", "Sendrecv"))

Function = TypeVar("Function", bound=Callable[..., Any])


def is_array(x: Any) -> bool:
    """Whether x is memory to the library: numpy's own class, and a type that the library has."""
    numpy = sys.modules.get("numpy")
    if numpy is None or type(x) is not numpy.ndarray:
        return False
    kind = x.dtype
    plain = kind.itemsize <= (16 if kind.kind == "c" else 8)
    return (kind.kind in "biufc" and kind.isnative and plain) or kind.name in OWN_TYPES


def own_name(call: Function) -> Function:
    """Errors of the calls that this one makes tell this one's name, which the program called."""
    name = call.__name__
    takes_x = "x" in call.__code__.co_varnames  # to mpi4py it is obj or sendobj

    @functools.wraps(call)
    def named(*given: Any, **others: Any) -> Any:
        if others and takes_x:
            others = {"x" if key in ("obj", "sendobj") else key: each
                      for key, each in others.items()}
        try:
            return call(*given, **others)
        except TuttiError as error:
            error.operation = name
            raise
        except (TypeError, ValueError) as error:
            if type(error) in (TypeError, ValueError):  # others may have other arguments
                first, colon, rest = str(error).partition(": ")
                text = rest if colon and first in UPPER else str(error)
                if first != name:
                    error.args = (f"{name}: {text}",)
            raise

    return named  # type: ignore[return-value]


class LowerCalls(VectorCalls):
    """The class with these calls; Communicator adds how it is made."""

    @own_name
    def allreduce(self, x: Any, op: Any = SUM) -> Any:
        """The reduction of all ranks' x."""
        op = _checked(op)
        if not _reduces_memory(x, op):
            return _reduced(self._everyones(x), op)
        send = dense(x)
        recv = empty(send.shape, send.dtype)
        self.Allreduce(send, recv, op)
        return recv

    @own_name
    def reduce(self, x: Any, op: Any = SUM, root: int = 0) -> Any:
        """The result of allreduce at the root; None elsewhere."""
        op = _checked(op)
        if not _reduces_memory(x, op):
            gathered = self._gathered(x, root)
            return None if gathered is None else _reduced(gathered, op)
        send = dense(x)
        recv = empty(send.shape, send.dtype) if self.rank == root else None
        self.Reduce(send, recv, op, root)
        return recv

    @own_name
    def scan(self, x: Any, op: Any = SUM) -> Any:
        """The reduction of x of the ranks up to this one."""
        op = _checked(op)
        return _reduced(self._everyones(x)[:self.rank + 1], op)

    @own_name
    def exscan(self, x: Any, op: Any = SUM) -> Any:
        """The reduction of x of the ranks before this one; None on rank 0."""
        op = _checked(op)
        before = self._everyones(x)[:self.rank]
        return _reduced(before, op) if before else None

    @own_name
    def bcast(self, x: Any = None, root: int = 0) -> Any:
        """The root's x; what other ranks give is not looked at."""
        kind, told = self._from_root(root, lambda: self._told_of(x))
        if kind == ARRAY:
            recv = dense(x).copy() if self.rank == root else empty(told["shape"], told["type"])
            self.Bcast(recv, root)
            return recv
        if kind == objects.OBJECT:
            return x if self.rank == root else objects.unpack(told, root)
        data = told if self.rank == root else bytearray(int.from_bytes(told, "big"))
        self.Bcast(data, root)
        return x if self.rank == root else objects.unpack(data, root)

    @own_name
    def allgather(self, x: Any) -> Any:
        """All ranks' x, as a list; of arrays one with a first axis more: ``(size, *x.shape)``."""
        if not is_array(x):
            return self._everyones(x)
        send = dense(x)
        recv = empty((self.size, *send.shape), send.dtype)
        self.Allgather(send, recv)
        return recv

    @own_name
    def gather(self, x: Any, root: int = 0) -> Any:
        """The result of allgather at the root; None elsewhere."""
        if not is_array(x):
            return self._gathered(x, root)
        send = dense(x)
        recv = empty((self.size, *send.shape), send.dtype) if self.rank == root else None
        self.Gather(send, recv, root)
        return recv

    @own_name
    def scatter(self, x: Any = None, root: int = 0) -> Any:
        """x[rank] of the root, which has `size` entries; others' x is not looked at."""
        kind, told = self._from_root(root, lambda: self._told_of_entries(x))
        here = self.rank == root
        if kind == ARRAY:
            send = dense(x) if here else None
            recv = empty(told["shape"], told["type"])
            self.Scatter(send, recv, root)
            return recv
        count = array("q", [0])
        counts = array("q", map(len, told)) if here else None
        self.Scatter(counts, count, root)
        recv = bytearray(count[0])
        whole = b"".join(told) if here else None
        self.Scatterv(whole, counts.tolist() if counts is not None else None, recv, root=root)
        return objects.unpack(recv, root)

    @own_name
    def alltoall(self, x: Any) -> Any:
        """Entry r of x goes to rank r, entry r of the result is from it; x has `size` entries."""
        if is_array(x):
            send = dense(x)
            self._expect_entries(send)
            recv = empty(send.shape, send.dtype)
            self.Alltoall(send, recv)
            return recv
        try:
            entries = self._expect_entries(list(x))
            sent, failures = zip(*map(objects.pack, entries))
            failure = next(filter(None, failures), None)
        except (TypeError, ValueError) as error:
            failure = error
        if failure is not None:
            sent = (objects.told(str(failure)),) * self.size
        counts, others = array("q", map(len, sent)), array("q", bytes(8 * self.size))
        self.Alltoall(counts, others)
        received = bytearray(sum(others))
        self.Alltoallv(b"".join(sent), counts.tolist(), received, others.tolist())
        if failure is not None:
            raise failure
        return _all_in(received, others)

    @own_name
    def reduce_scatter(self, x: Any, op: Any = SUM) -> Any:
        """Entry `rank` of the reduction of all ranks' x, which has `size` entries."""
        op = _checked(op)
        if not _reduces_memory(x, op):
            return _reduced(self.alltoall(x), op)
        send = dense(x)
        recv = empty(self._expect_entries(send).shape[1:], send.dtype)
        self.Reduce_scatter_block(send, recv, op)
        return recv

    def barrier(self) -> None:
        """Returns when all ranks have called it."""
        self.Barrier()

    @own_name
    def send(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Returns when obj may be changed again, received or not."""
        data, failure = objects.pack(obj)
        self.Send(data, dest, tag)
        if failure is not None:
            raise failure

    @own_name
    def isend(self, obj: Any, dest: int, tag: int = 0) -> ObjectRequest:
        data, failure = objects.pack(obj)
        request = self.Isend(data, dest, tag)
        if failure is not None:
            raise failure
        return ObjectRequest(request)

    @own_name
    def recv(self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG,
             status: Optional[Status] = None) -> Any:
        """The object that another rank has sent.

        `buf` is room for its bytes, or how many they may be; None: any number.
        """
        return self._received(lambda room: self.Recv(room, source, tag, status), buf)

    @own_name
    def irecv(self, buf: Any = None, source: int = ANY_SOURCE,
              tag: int = ANY_TAG) -> ObjectRequest:
        room = objects.room() if buf is None else _room_in(buf)
        return ObjectRequest(self.Irecv(room, source, tag),
                             lambda message: _in_message(room, message))

    @own_name
    def sendrecv(self, sendobj: Any, dest: int, sendtag: int = 0, recvbuf: Any = None,
                 source: int = ANY_SOURCE, recvtag: int = ANY_TAG,
                 status: Optional[Status] = None) -> Any:
        """Both at once, neither waiting for the other."""
        data, failure = objects.pack(sendobj)
        received = self._received(lambda room: self._Sendrecv(data, dest, room, source, sendtag,
                                                              recvtag, status), recvbuf)
        if failure is not None:
            raise failure
        return received

    def _received(self, receive: Callable[[Any], Optional[_core.Message]], buf: Any) -> Any:
        if _core.in_group():
            raise ValueError("not possible in a group, where nothing is received yet; expected "
                             "irecv")
        # Another thread that calls meanwhile is refused, but takes what is there first.
        room = self.__dict__.pop("_room", None) if buf is None else _room_in(buf)
        room = objects.room() if room is None else room
        message = receive(room)
        assert message is not None
        received = _in_message(room, message)
        if buf is None:
            objects.give_back(room, message.count)
            self._room = room
        return received

    # The steps that these calls share.

    def _everyones(self, x: Any) -> list[Any]:
        _expect_no_group()
        data, failure = objects.pack(x)
        counts = array("q", bytes(8 * self.size))
        self.Allgather(array("q", [len(data)]), counts)
        received = bytearray(sum(counts))
        self.Allgatherv(data, received, counts.tolist())
        if failure is not None:
            raise failure
        return _all_in(received, counts)

    def _gathered(self, x: Any, root: int) -> Optional[list[Any]]:
        _expect_no_group()
        data, failure = objects.pack(x)
        here = self.rank == root
        counts = array("q", bytes(8 * self.size)) if here else None
        self.Gather(array("q", [len(data)]), counts, root)
        received = bytearray(sum(counts)) if counts is not None else None
        self.Gatherv(data, received, counts.tolist() if counts is not None else None, root=root)
        if failure is not None:
            raise failure
        return None if counts is None else _all_in(received, counts)

    def _expect_entries(self, x: Any) -> Any:
        shape = getattr(x, "shape", None)
        if (len(x) if shape is None else shape[0] if shape else -1) != self.size:
            given = f"has {len(x)} entries" if shape is None else f"has the shape {shape}"
            raise ValueError(f"x {given}; expected one for each of the {self.size} ranks, along "
                             "the first axis of arrays")
        return x

    def _told_of(self, x: Any) -> tuple[int, Any]:
        if is_array(x) and x.dtype.kind != "V":
            return ARRAY, {"type": x.dtype.str, "shape": x.shape}
        data, failure = objects.pack(x)
        if failure is not None:
            raise failure
        return (objects.OBJECT if len(data) <= HEADER else LATER), data

    def _told_of_entries(self, x: Any) -> tuple[int, Any]:
        if is_array(x) and x.dtype.kind != "V":
            return ARRAY, {"type": x.dtype.str, "shape": self._expect_entries(x).shape[1:]}
        sent, failures = zip(*map(objects.pack, self._expect_entries(list(x))))
        for failure in filter(None, failures):
            raise failure
        return EACH, sent

    def _from_root(self, root: int, look: Callable[[], tuple[int, Any]]) -> tuple[int, Any]:
        """The kind of thing that comes from the root, and what the root tells of it.

        A root that cannot send says so, or the others would wait for it.
        """
        _expect_no_group()
        header = bytearray(HEADER)
        if self.rank != root:
            self.Bcast(header, root)
            kind = header[0]
            if kind == objects.ERROR:
                objects.unpack(header.rstrip(b"\0"), root)
            if kind == ARRAY:
                return kind, json.loads(header[1:].rstrip(b"\0"))
            return kind, header[1:9] if kind == LATER else header
        try:
            kind, told = look()
        except Exception as error:
            text = objects.told(str(error)[:HEADER // 8])
            header[:len(text)] = text
            self.Bcast(header, root)
            raise
        header[0] = kind
        if kind == objects.OBJECT:
            header[:len(told)] = told
        elif kind == LATER:
            header[1:9] = len(told).to_bytes(8, "big")
        elif kind == ARRAY:
            text = json.dumps(told).encode()
            header[1:1 + len(text)] = text
        self.Bcast(header, root)
        return kind, told


def _expect_no_group() -> None:
    if _core.in_group():
        raise ValueError("not possible in a group for Python objects, whose sizes are exchanged "
                         "first; expected arrays, or the call after the group")


def _room_in(buf: Any) -> Any:
    return bytearray(buf) if hasattr(buf, "__index__") else buf


def _in_message(room: Any, message: _core.Message) -> Any:
    if message.source == PROC_NULL:
        return None
    return objects.unpack(memoryview(room).cast("B")[:message.count], message.source)


def _all_in(data: Any, counts: Iterable[int]) -> list[Any]:
    """The objects of all ranks. Errors of others come after all have been looked at."""
    view, begin, found = memoryview(data), 0, []
    for rank, count in enumerate(counts):
        found.append(objects.unpack(view[begin:begin + count], rank))
        begin += count
    return found


def _checked(op: Any) -> Any:
    if callable(op):
        return op
    if hasattr(op, "__index__") and int(op) in OPS:
        return OPS[int(op)]
    raise TypeError(f"op is {op!r:.60} ({type(op).__name__}); expected "
                    f"{', '.join(map(repr, OPS.values()))} or a function of two objects")


def _reduces_memory(x: Any, op: Any) -> bool:
    """Whether the library does it: the same on all ranks that give arrays of one type."""
    if not is_array(x) or not isinstance(op, Op) or op < 0:
        return False
    return x.dtype.kind != "b" or op not in (SUM, PROD, AVG)


def _reduced(values: list[Any], op: Any) -> Any:
    whole = functools.reduce(op, values)
    return whole / len(values) if op is AVG else whole


def dense(x: Any) -> numpy.ndarray:
    import numpy

    return numpy.asarray(x, order="C")


def empty(shape: Any, dtype: Any) -> numpy.ndarray:
    import numpy

    return numpy.empty(shape, dtype)
