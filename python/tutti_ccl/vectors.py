# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The upper-case calls whose blocks differ in length, and Sendrecv.

Each has two forms. One has counts and displacements as arguments of their own. In mpi4py's they
stand with their buffer: [buffer, counts, displacements, type], of which all but the buffer may be
left out. Without counts a buffer is divided evenly.
"""

from __future__ import annotations

import operator
import re
from array import array
from collections.abc import Callable
from typing import Any, Optional

from . import _core, forms
from .constants import ANY_SOURCE, ANY_TAG, IN_PLACE, SUM

Counts = Optional[list[int]]


class _Absent:
    """An argument that was not given."""


ABSENT = _Absent()

# The parameters of the two forms, ours first; those in brackets may be left out.
FORMS = {
    "Allgatherv": ("send, recv, recv_counts[, recv_displs]", "sendbuf, recvbuf"),
    "Reduce_scatter": ("send, recv, recv_counts[, op]", "sendbuf, recvbuf[, recvcounts, op]"),
    "Alltoallv": ("send, send_counts, recv, recv_counts[, send_displs, recv_displs]",
                  "sendbuf, recvbuf"),
    "Gatherv": ("send, recv[, recv_counts, recv_displs, root]", "sendbuf, recvbuf[, root]"),
    "Scatterv": ("send, send_counts, recv[, send_displs, root]", "sendbuf, recvbuf[, root]"),
    "Sendrecv": ("send, dest, recv[, source, send_tag, recv_tag, status]",
                 "sendbuf, dest[, sendtag, recvbuf, source, recvtag, status]"),
}


def _is_number(given: Any) -> bool:
    return hasattr(given, "__index__") and getattr(given, "ndim", 0) == 0


def _is_theirs(form: str, given: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Whether a call is in mpi4py's form. Names decide; else the place of the second buffer."""
    ours, theirs = ({*re.findall(r"\w+", text)} for text in FORMS[form])
    if named.keys() & (theirs - ours):
        return True
    if named.keys() & (ours - theirs):
        return False
    if form == "Sendrecv":
        return len(given) > 2 and _is_number(given[2])
    if form in ("Gatherv", "Reduce_scatter"):
        return len(given) < 3 or (form == "Gatherv" and _is_number(given[2]))
    if form == "Scatterv":
        return len(given) < 3 or _is_number(given[2])
    return len(given) < 3


def _arguments(name: str, form: str, theirs: bool, given: tuple[Any, ...],
               named: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name; ABSENT are those that may be left out."""
    text = FORMS[form][theirs]
    names, needed = re.findall(r"\w+", text), re.findall(r"\w+", text.split("[")[0])
    found = dict.fromkeys(names, ABSENT) | dict(zip(names, given)) | named
    twice = named.keys() & set(names[:len(given)])
    lacking = any(found[key] is ABSENT for key in needed)
    if twice or lacking or len(given) > len(names) or len(found) > len(names):
        raise TypeError(f"{forms.shown(name, given, named)}: expected "
                        f"{' or '.join(f'{name}({each})' for each in FORMS[form])}")
    return found


def _given(value: Any, otherwise: Any) -> Any:
    return otherwise if value is ABSENT else value


def _counts(given: Any, name: str, parameter: str) -> Counts:
    if given is None or given is ABSENT:
        return None
    try:
        counts = [operator.index(count) for count in given]
    except TypeError:
        raise TypeError(f"{name}: {parameter} is {given!r:.60}; expected integers, one for each "
                        "rank") from None
    low = [count for count in counts if count < 0]
    if low:
        raise ValueError(f"{name}: {parameter} has {low[0]}; expected 0 or more")
    return counts


class VectorCalls(_core.Communicator):
    """The class with these calls."""

    def _blocks(self, name: str, parameter: str, spec: Any) -> tuple[Any, Counts, Counts]:
        """A buffer with its counts and displacements, from mpi4py's form."""
        buffer, counts, displs, kind = spec, None, None, None
        if isinstance(spec, (list, tuple)) and 2 <= len(spec) <= 4:
            buffer, counts, *rest = spec
            if rest:
                *displacements, kind = rest
                displs = displacements[0] if displacements else None
            elif isinstance(counts, str) or hasattr(counts, "typechar"):
                counts, kind = None, counts
            if isinstance(counts, tuple) and len(counts) == 2:
                counts, displs = counts
        if kind is not None:
            buffer = [buffer, None, kind]
        if counts is not None and _is_number(counts):
            counts = [counts] * self.size
        if displs is not None and _is_number(displs):
            displs = [displs * rank for rank in range(self.size)]
        if counts is None:
            whole = self._elements(buffer, name, parameter)
            counts = [whole // self.size + (whole % self.size > rank) for rank in range(self.size)]
        return (buffer, _counts(counts, name, f"the counts of {parameter}"),
                _counts(displs, name, f"the displacements of {parameter}"))

    def _allgatherv(self, name: str, call: Callable[..., Any], given: Any, named: Any) -> Any:
        theirs = _is_theirs("Allgatherv", given, named)
        found = _arguments(name, "Allgatherv", theirs, given, named)
        if theirs:
            recv, counts, displs = self._blocks(name, "recvbuf", found["recvbuf"])
            return call(found["sendbuf"], recv, counts, displs)
        return call(found["send"], found["recv"],
                    _counts(found["recv_counts"], name, "recv_counts"),
                    _counts(found["recv_displs"], name, "recv_displs"))

    def _reduce_scatter(self, name: str, call: Callable[..., Any], given: Any, named: Any) -> Any:
        theirs = _is_theirs("Reduce_scatter", given, named)
        found = _arguments(name, "Reduce_scatter", theirs, given, named)
        send, recv = found["sendbuf" if theirs else "send"], found["recvbuf" if theirs else "recv"]
        counts = _counts(_given(found["recvcounts" if theirs else "recv_counts"], None), name,
                         "recv_counts")
        if counts is None:  # each rank says its own
            everyones = array("q", bytes(8 * self.size))
            self.Allgather(array("q", [self._elements(recv, name, "recv")]), everyones)
            counts = everyones.tolist()
        return call(send, recv, counts, _given(found["op"], SUM))

    def _alltoallv(self, name: str, call: Callable[..., Any], given: Any, named: Any) -> Any:
        theirs = _is_theirs("Alltoallv", given, named)
        found = _arguments(name, "Alltoallv", theirs, given, named)
        if not theirs:
            return call(found["send"], _counts(found["send_counts"], name, "send_counts"),
                        found["recv"], _counts(found["recv_counts"], name, "recv_counts"),
                        _counts(found["send_displs"], name, "send_displs"),
                        _counts(found["recv_displs"], name, "recv_displs"))
        recv, recv_counts, recv_displs = self._blocks(name, "recvbuf", found["recvbuf"])
        if found["sendbuf"] is IN_PLACE:
            return call(found["sendbuf"], recv_counts, recv, recv_counts, recv_displs, recv_displs)
        send, send_counts, send_displs = self._blocks(name, "sendbuf", found["sendbuf"])
        return call(send, send_counts, recv, recv_counts, send_displs, recv_displs)

    def _gatherv(self, name: str, call: Callable[..., Any], given: Any, named: Any) -> Any:
        theirs = _is_theirs("Gatherv", given, named)
        found = _arguments(name, "Gatherv", theirs, given, named)
        root = _given(found["root"], 0)
        if not theirs:
            return call(found["send"], found["recv"],
                        _counts(found["recv_counts"], name, "recv_counts"),
                        _counts(found["recv_displs"], name, "recv_displs"), root)
        if root != self.rank:
            return call(found["sendbuf"], None, None, None, root)
        recv, counts, displs = self._blocks(name, "recvbuf", found["recvbuf"])
        return call(found["sendbuf"], recv, counts, displs, root)

    def _scatterv(self, name: str, call: Callable[..., Any], given: Any, named: Any) -> Any:
        theirs = _is_theirs("Scatterv", given, named)
        found = _arguments(name, "Scatterv", theirs, given, named)
        root = _given(found["root"], 0)
        if not theirs:
            return call(found["send"], _counts(found["send_counts"], name, "send_counts"),
                        found["recv"], _counts(found["send_displs"], name, "send_displs"), root)
        if root != self.rank:
            return call(None, None, found["recvbuf"], None, root)
        send, counts, displs = self._blocks(name, "sendbuf", found["sendbuf"])
        return call(send, counts, found["recvbuf"], displs, root)

    def Sendrecv(self, *given: Any, **named: Any) -> Optional[_core.Message]:
        """Sendrecv(send, dest, recv, source, send_tag, recv_tag), or in mpi4py's order."""
        theirs = _is_theirs("Sendrecv", given, named)
        found = _arguments("Sendrecv", "Sendrecv", theirs, given, named)
        if theirs:
            send, recv, tags = found["sendbuf"], found["recvbuf"], ("sendtag", "recvtag")
        else:
            send, recv, tags = found["send"], found["recv"], ("send_tag", "recv_tag")
        return self._Sendrecv(send, found["dest"], _given(recv, None),
                              _given(found["source"], ANY_SOURCE), _given(found[tags[0]], 0),
                              _given(found[tags[1]], ANY_TAG), _given(found.get("status"), None))

    def Allgatherv(self, *given: Any, **named: Any) -> None:
        """Allgatherv(send, recv, recv_counts, recv_displs), or (send, [recv, counts, displs])."""
        return self._allgatherv("Allgatherv", self._Allgatherv, given, named)

    def Iallgatherv(self, *given: Any, **named: Any) -> _core.Request:
        return self._allgatherv("Iallgatherv", self._Iallgatherv, given, named)

    def Reduce_scatter(self, *given: Any, **named: Any) -> None:
        """Reduce_scatter(send, recv, recv_counts, op)."""
        return self._reduce_scatter("Reduce_scatter", self._Reduce_scatter, given, named)

    def Ireduce_scatter(self, *given: Any, **named: Any) -> _core.Request:
        return self._reduce_scatter("Ireduce_scatter", self._Ireduce_scatter, given, named)

    def Alltoallv(self, *given: Any, **named: Any) -> None:
        """Alltoallv(send, send_counts, recv, recv_counts, send_displs, recv_displs), or
        ([send, counts, displs], [recv, counts, displs])."""
        return self._alltoallv("Alltoallv", self._Alltoallv, given, named)

    def Ialltoallv(self, *given: Any, **named: Any) -> _core.Request:
        return self._alltoallv("Ialltoallv", self._Ialltoallv, given, named)

    def Gatherv(self, *given: Any, **named: Any) -> None:
        """Gatherv(send, recv, recv_counts, recv_displs, root), or (send, [recv, counts], root)."""
        return self._gatherv("Gatherv", self._Gatherv, given, named)

    def Igatherv(self, *given: Any, **named: Any) -> _core.Request:
        return self._gatherv("Igatherv", self._Igatherv, given, named)

    def Scatterv(self, *given: Any, **named: Any) -> None:
        """Scatterv(send, send_counts, recv, send_displs, root), or ([send, counts], recv, root)."""
        return self._scatterv("Scatterv", self._Scatterv, given, named)

    def Iscatterv(self, *given: Any, **named: Any) -> _core.Request:
        return self._scatterv("Iscatterv", self._Iscatterv, given, named)
