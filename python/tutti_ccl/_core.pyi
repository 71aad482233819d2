# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""tutti.h without PyTorch; use it through tutti_ccl.

Buffers are what has the buffer protocol (numpy.ndarray, array.array, memoryview, bytearray) or
DLPack (torch.Tensor and others), in the host's memory, contiguous; received ones are writable.
Their elements count, their shapes do not. They stay the caller's: a blocking call uses them until
it returns, an I... form until its Request is complete, which also keeps them alive, and in a
group() every call until the group's end. Beforehand a TypeError or ValueError names what is wrong
with an argument; later errors are exceptions of tutti_ccl.errors.
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Optional

from .constants import InPlace

Buffer = Any
Counts = Sequence[int]

def unique_id() -> bytes:
    """128 bytes that name a communicator to be; contain a secret. Good for one create per rank."""

class Message:
    """What was received: its rank, its tag and its number of elements."""

    @property
    def source(self) -> int: ...
    @property
    def tag(self) -> int: ...
    @property
    def count(self) -> int: ...

class Request:
    """A call in progress. Any thread may wait or test.

    It may be dropped: its buffers are kept until the call is complete.
    """

    def wait(self, timeout: Optional[float] = None) -> Optional[Message]:
        """Waits; gives a Message for Irecv. After `timeout` seconds: Timeout; the call goes on."""
    def test(self) -> bool:
        """Whether the call is complete; raises its error if it has failed."""

class Group:
    """`with group():` begins the calls of the body together, at its end, and waits for the blocking
    ones. Barrier and making, splitting or destroying a communicator are not for a group."""

    def __init__(self) -> None: ...
    def __enter__(self) -> Group: ...
    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None: ...

class Communicator:
    def __init__(self) -> None: ...
    def _create(self, id: bytes, rank: int, size: int, timeout: Optional[float],
                init_timeout: Optional[float], name: Optional[str], /) -> None: ...
    def _create_from_env(self, timeout: Optional[float], init_timeout: Optional[float],
                         name: Optional[str], /) -> None: ...
    def _split(self, parent: Communicator, color: Optional[int], key: int,
               timeout: Optional[float], init_timeout: Optional[float], name: Optional[str],
               /) -> bool: ...
    def _shrink(self, parent: Communicator, timeout: Optional[float],
                init_timeout: Optional[float], name: Optional[str], /) -> None: ...
    def _grow(self, parent: Communicator, id: Optional[bytes], newcomers: int,
              timeout: Optional[float], init_timeout: Optional[float], name: Optional[str],
              /) -> None: ...
    def _join(self, id: bytes, newcomer: int, newcomers: int, timeout: Optional[float],
              init_timeout: Optional[float], name: Optional[str], /) -> None: ...
    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def is_destroyed(self) -> bool: ...
    def destroy(self) -> None:
        """Waits for requests, not for peers. Raises what broke the communicator; it is freed."""
    def abort(self, reason: Optional[str] = None) -> None:
        """Ends all calls here and on the peers with Aborted. Any thread."""
    def set_timeout(self, seconds: Optional[float]) -> None:
        """The longest wait of one call from now on; None: no limit."""
    def check(self) -> None:
        """Raises what has broken the communicator, if anything has. Any thread."""

    # recv = reduction, on every rank. IN_PLACE: recv is read, too.
    def Allreduce(self, send: Buffer | InPlace, recv: Buffer, op: int = 0) -> None: ...
    def Iallreduce(self, send: Buffer | InPlace, recv: Buffer, op: int = 0) -> Request: ...
    # recv: size * len(send) elements. IN_PLACE: block `rank` of recv is sent.
    def Allgather(self, send: Buffer | InPlace, recv: Buffer) -> None: ...
    def Iallgather(self, send: Buffer | InPlace, recv: Buffer) -> Request: ...
    # send: size * len(recv) elements. recv may be block `rank` of send.
    def Reduce_scatter_block(self, send: Buffer, recv: Buffer, op: int = 0) -> None: ...
    def Ireduce_scatter_block(self, send: Buffer, recv: Buffer, op: int = 0) -> Request: ...
    def Alltoall(self, send: Buffer, recv: Buffer) -> None: ...
    def Ialltoall(self, send: Buffer, recv: Buffer) -> Request: ...
    def Barrier(self) -> None: ...
    def Ibarrier(self) -> Request: ...

    # What only the root uses may be None elsewhere.
    def Bcast(self, buffer: Buffer, root: int = 0) -> None: ...
    def Ibcast(self, buffer: Buffer, root: int = 0) -> Request: ...
    def Reduce(
        self, send: Buffer | InPlace, recv: Optional[Buffer], op: int = 0, root: int = 0
    ) -> None: ...
    def Ireduce(
        self, send: Buffer | InPlace, recv: Optional[Buffer], op: int = 0, root: int = 0
    ) -> Request: ...
    def Gather(self, send: Buffer | InPlace, recv: Optional[Buffer], root: int = 0) -> None: ...
    def Igather(self, send: Buffer | InPlace, recv: Optional[Buffer], root: int = 0) -> Request: ...
    def Scatter(self, send: Optional[Buffer], recv: Buffer | InPlace, root: int = 0) -> None: ...
    def Iscatter(
        self, send: Optional[Buffer], recv: Buffer | InPlace, root: int = 0
    ) -> Request: ...

    # Counts and displacements are in elements; displacements None: one block after the other.
    def Allgatherv(
        self,
        send: Buffer | InPlace,
        recv: Buffer,
        recv_counts: Counts,
        recv_displs: Optional[Counts] = None,
    ) -> None: ...
    def Iallgatherv(
        self,
        send: Buffer | InPlace,
        recv: Buffer,
        recv_counts: Counts,
        recv_displs: Optional[Counts] = None,
    ) -> Request: ...
    def Reduce_scatter(
        self, send: Buffer, recv: Buffer, recv_counts: Counts, op: int = 0
    ) -> None: ...
    def Ireduce_scatter(
        self, send: Buffer, recv: Buffer, recv_counts: Counts, op: int = 0
    ) -> Request: ...
    def Alltoallv(
        self,
        send: Buffer,
        send_counts: Counts,
        recv: Buffer,
        recv_counts: Counts,
        send_displs: Optional[Counts] = None,
        recv_displs: Optional[Counts] = None,
    ) -> None: ...
    def Ialltoallv(
        self,
        send: Buffer,
        send_counts: Counts,
        recv: Buffer,
        recv_counts: Counts,
        send_displs: Optional[Counts] = None,
        recv_displs: Optional[Counts] = None,
    ) -> Request: ...
    def Gatherv(
        self,
        send: Buffer | InPlace,
        recv: Optional[Buffer],
        recv_counts: Optional[Counts] = None,
        recv_displs: Optional[Counts] = None,
        root: int = 0,
    ) -> None: ...
    def Igatherv(
        self,
        send: Buffer | InPlace,
        recv: Optional[Buffer],
        recv_counts: Optional[Counts] = None,
        recv_displs: Optional[Counts] = None,
        root: int = 0,
    ) -> Request: ...
    def Scatterv(
        self,
        send: Optional[Buffer],
        send_counts: Optional[Counts],
        recv: Buffer | InPlace,
        send_displs: Optional[Counts] = None,
        root: int = 0,
    ) -> None: ...
    def Iscatterv(
        self,
        send: Optional[Buffer],
        send_counts: Optional[Counts],
        recv: Buffer | InPlace,
        send_displs: Optional[Counts] = None,
        root: int = 0,
    ) -> Request: ...

    # Messages match by (source, tag). In a group Recv and Sendrecv return None.
    def Send(self, buffer: Buffer, dest: int, tag: int = 0) -> None: ...
    def Isend(self, buffer: Buffer, dest: int, tag: int = 0) -> Request: ...
    def Recv(self, buffer: Buffer, source: int = -1, tag: int = -1) -> Optional[Message]: ...
    def Irecv(self, buffer: Buffer, source: int = -1, tag: int = -1) -> Request: ...
    def Sendrecv(
        self,
        send: Buffer,
        dest: int,
        recv: Buffer,
        source: int = -1,
        send_tag: int = 0,
        recv_tag: int = -1,
    ) -> Optional[Message]: ...
