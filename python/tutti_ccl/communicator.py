# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The communicator of processes that use arrays instead of a framework."""

from __future__ import annotations

import atexit
import weakref
from types import TracebackType
from typing import Any, Optional

from . import ending, forms
from .names import MpiNames

_made: weakref.WeakSet[Communicator] = weakref.WeakSet()


@atexit.register
def _tell_peers() -> None:
    """Tells them of an exception that ends the program."""
    reason = ending.why()
    for comm in list(_made) if reason else ():
        if comm.size > 0 and not comm.is_destroyed:
            comm.abort(reason)


class Communicator(MpiNames):
    """Ranks that call one another. Made by from_env, create, split, shrink, grow or join.

    All ranks make the same collective calls in the same order. One thread at a time calls, while
    abort, check and the waits of requests are for any thread. Calls release the interpreter lock,
    and Ctrl-C ends their waits. Upper-case forms work on the caller's buffers and return None (I...
    forms: a Request); lower-case forms take any Python object and return new ones, pickled on their
    way unless they are plain arrays of numpy. mpi4py's names are there, too.

    As a context manager it is destroyed at the end, after an abort if the body has raised.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        if given or named:
            raise TypeError(f"{forms.shown('Communicator', given, named)}: expected one of "
                            "Communicator.from_env, create and join, or a communicator's split, "
                            "shrink and grow")
        super().__init__()
        _made.add(self)

    @classmethod
    def from_env(cls, timeout: Optional[float] = None, name: Optional[str] = None, *,
                 init_timeout: Optional[float] = None) -> Communicator:
        """All processes of the job, as `tutti run`, torchrun, mpirun or srun have started it.

        One process without a launcher gets a communicator of size 1. `timeout` is the longest wait
        of one call and `init_timeout` that for all ranks to arrive, in seconds; None: as
        TUTTI_TIMEOUT_MS and TUTTI_INIT_TIMEOUT_MS say. `name` is shown in errors.
        """
        made = cls()
        made._create_from_env(timeout, init_timeout, name)
        return made

    @classmethod
    def create(cls, unique_id: bytes, rank: int, size: int, timeout: Optional[float] = None,
               name: Optional[str] = None, *,
               init_timeout: Optional[float] = None) -> Communicator:
        """The `size` processes that were handed the bytes of one process's unique_id()."""
        made = cls()
        made._create(unique_id, rank, size, timeout, init_timeout, name)
        return made

    def split(self, color: Optional[int], key: int = 0, timeout: Optional[float] = None,
              name: Optional[str] = None, *,
              init_timeout: Optional[float] = None) -> Optional[Communicator]:
        """A communicator of the ranks that give one color (>= 0), by key, then by rank.

        Collective. Color None: take part and get None.
        """
        made = type(self)()
        return made if made._split(self, color, key, timeout, init_timeout, name) else None

    def shrink(self, timeout: Optional[float] = None, name: Optional[str] = None, *,
               init_timeout: Optional[float] = None) -> Communicator:
        """A communicator of the ranks that are left, also after a failure has broken this one.

        Collective over those ranks. This communicator still has to be destroyed, afterwards.
        """
        made = type(self)()
        made._shrink(self, timeout, init_timeout, name)
        return made

    def grow(self, unique_id: Optional[bytes], newcomers: int = 1,
             timeout: Optional[float] = None, name: Optional[str] = None, *,
             init_timeout: Optional[float] = None) -> Communicator:
        """A communicator of these ranks, and after them so many newcomers, which call join.

        Collective. The id is that of one process's unique_id(), handed to the newcomers by the
        program; ranks that do not know it give None. This communicator still has to be destroyed.
        """
        made = type(self)()
        made._grow(self, unique_id, newcomers, timeout, init_timeout, name)
        return made

    @classmethod
    def join(cls, unique_id: bytes, newcomer: int = 0, newcomers: int = 1,
             timeout: Optional[float] = None, name: Optional[str] = None, *,
             init_timeout: Optional[float] = None) -> Communicator:
        """Joins, as number `newcomer` of those that do, a communicator whose ranks call grow."""
        made = cls()
        made._join(unique_id, newcomer, newcomers, timeout, init_timeout, name)
        return made

    def destroy(self) -> None:
        reason = ending.interruption()
        if reason and not self.is_destroyed:
            self.abort(reason)  # peers are told so, and not that this rank has left
            try:
                super().destroy()
            except RuntimeError:
                pass  # of the abort
            return
        super().destroy()

    def __enter__(self) -> Communicator:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        if kind is None or kind is SystemExit:
            self.destroy()
            return
        # Peers that wait for this rank get to know; the body's exception is the one that counts.
        try:
            self.abort(f"{kind.__name__}: {value}")
            self.destroy()
        except (RuntimeError, ValueError):
            pass

    def __repr__(self) -> str:
        if self.size == 0:
            return "<Communicator that was not made>"
        state = ", destroyed" if self.is_destroyed else ""
        return f"<Communicator rank {self.rank} of {self.size}{state}>"
