# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Calls in progress: those on buffers are of _core, those on objects are here."""

from __future__ import annotations

import abc
import time
from collections.abc import Callable, Sequence
from typing import Any, Optional

from . import _core, forms
from .constants import ANY_SOURCE, ANY_TAG

UNDEFINED = -32766  # no request, no color
LONGEST_PAUSE_S = 0.001


class Status:
    """Whence a message came, its tag and its length; receives and requests fill it."""

    def __init__(self) -> None:
        self.source, self.tag, self.error, self._bytes = ANY_SOURCE, ANY_TAG, 0, 0

    def _take(self, message: _core.Message, element_bytes: int) -> None:
        self.source, self.tag = message.source, message.tag
        self._bytes = message.count * element_bytes

    @property
    def count(self) -> int:
        """In bytes."""
        return self._bytes

    def Get_source(self) -> int:
        return self.source

    def Get_tag(self) -> int:
        return self.tag

    def Get_error(self) -> int:
        return self.error

    def Get_count(self, datatype: Any = None) -> int:
        """In elements of a type of tutti_ccl.MPI; in bytes without one."""
        return self._bytes if datatype is None else self._bytes // datatype.size

    def Get_elements(self, datatype: Any) -> int:
        return self.Get_count(datatype)

    def Is_cancelled(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        raise forms.absent("Status", name, dir(Status))

    def __repr__(self) -> str:
        return f"Status(source={self.source}, tag={self.tag}, count={self.count})"


class Request(abc.ABC):
    """A call in progress. `wait` and `test` are those of its kind; these are for many at once.

    None among them stands for a request that is not there, and is passed over.
    """

    @staticmethod
    def Waitall(requests: Sequence[Any], statuses: Optional[list[Status]] = None) -> bool:
        for request, status in _with_statuses(requests, statuses):
            request.Wait(status)
        return True

    @staticmethod
    def waitall(requests: Sequence[Any], statuses: Optional[list[Status]] = None) -> list[Any]:
        Request.Waitall(requests, statuses)
        return [_result(request) for request in requests]

    @staticmethod
    def Testall(requests: Sequence[Any], statuses: Optional[list[Status]] = None) -> bool:
        done = [request.Test(status) for request, status in _with_statuses(requests, statuses)]
        return all(done)

    @staticmethod
    def testall(requests: Sequence[Any],
                statuses: Optional[list[Status]] = None) -> tuple[bool, Optional[list[Any]]]:
        if not Request.Testall(requests, statuses):
            return False, None
        return True, [_result(request) for request in requests]

    @staticmethod
    def Testany(requests: Sequence[Any], status: Optional[Status] = None) -> tuple[int, bool]:
        """The number of one that is complete and that nobody has seen so, and whether there is
        one."""
        there = [n for n, request in enumerate(requests)
                 if request is not None and not request._seen]
        for n in there:
            if requests[n].Test(status):
                return n, True
        return UNDEFINED, not there

    @staticmethod
    def testany(requests: Sequence[Any],
                status: Optional[Status] = None) -> tuple[int, bool, Any]:
        n, done = Request.Testany(requests, status)
        return n, done, None if n == UNDEFINED else _result(requests[n])

    @staticmethod
    def Waitany(requests: Sequence[Any], status: Optional[Status] = None) -> int:
        return _until(lambda: Request.Testany(requests, status))[0]

    @staticmethod
    def waitany(requests: Sequence[Any], status: Optional[Status] = None) -> tuple[int, Any]:
        n = Request.Waitany(requests, status)
        return n, None if n == UNDEFINED else _result(requests[n])

    @staticmethod
    def Testsome(requests: Sequence[Any],
                 statuses: Optional[list[Status]] = None) -> Optional[list[int]]:
        """The numbers of those found complete; None if there are none to ask."""
        found: list[int] = []
        any_there = False
        for n, request in enumerate(requests):
            if request is None or request._seen:
                continue
            any_there = True
            status = Status()
            if request.Test(status):
                if statuses is not None:
                    statuses[len(found):len(found) + 1] = [status]
                found.append(n)
        return found if any_there else None

    @staticmethod
    def testsome(requests: Sequence[Any], statuses: Optional[list[Status]] = None
                 ) -> tuple[Optional[list[int]], Optional[list[Any]]]:
        found = Request.Testsome(requests, statuses)
        return found, None if found is None else [_result(requests[n]) for n in found]

    @staticmethod
    def Waitsome(requests: Sequence[Any],
                 statuses: Optional[list[Status]] = None) -> Optional[list[int]]:
        def some() -> tuple[Optional[list[int]], bool]:
            found = Request.Testsome(requests, statuses)
            return found, found is None or bool(found)

        return _until(some)[0]

    @staticmethod
    def waitsome(requests: Sequence[Any], statuses: Optional[list[Status]] = None
                 ) -> tuple[Optional[list[int]], Optional[list[Any]]]:
        found = Request.Waitsome(requests, statuses)
        return found, None if found is None else [_result(requests[n]) for n in found]


Request.register(_core.Request)


class ObjectRequest(Request):
    """A message with an object. It may be dropped: its buffer stays until the call is complete."""

    def __init__(self, request: _core.Request,
                 unpack: Callable[[_core.Message], Any] = lambda _: None) -> None:
        self._request, self._unpack = request, unpack
        self._message: Optional[_core.Message] = None
        self._object: Any = None
        self._taken = False

    @property
    def _seen(self) -> bool:
        return self._request._seen

    def __bool__(self) -> bool:
        """Whether nobody has seen it complete."""
        return not self._seen

    def wait(self, status: Optional[Status] = None, timeout: Optional[float] = None) -> Any:
        """Waits, and gives the object that has come. After `timeout` seconds: Timeout."""
        self._take(self._request.wait(timeout), status)
        return self._object

    def test(self, status: Optional[Status] = None) -> tuple[bool, Any]:
        """Whether the call is complete, and the object that has come."""
        if not self._request.test():
            return False, None
        return True, self.wait(status)

    def Wait(self, status: Optional[Status] = None) -> bool:
        self.wait(status)
        return True

    def Test(self, status: Optional[Status] = None) -> bool:
        return self.test(status)[0]

    def _take(self, message: Optional[_core.Message], status: Optional[Status]) -> None:
        if not self._taken:
            self._taken, self._message = True, message
            unpack, self._unpack = self._unpack, lambda _: None  # lets go of the memory
            if message is not None:
                self._object = unpack(message)
        if status is not None and self._message is not None:
            status._take(self._message, 1)

    def __getattr__(self, name: str) -> Any:
        raise forms.absent("Request", name, dir(ObjectRequest))


def _with_statuses(requests: Sequence[Any], statuses: Optional[list[Status]]) -> Any:
    if statuses is not None:
        statuses.extend(Status() for _ in range(len(requests) - len(statuses)))
    return [(request, None if statuses is None else statuses[n])
            for n, request in enumerate(requests) if request is not None]


def _result(request: Any) -> Any:
    return request.wait() if isinstance(request, ObjectRequest) else None


def _until(look: Callable[[], tuple[Any, bool]]) -> tuple[Any, bool]:
    pause = 0.0
    while True:
        found = look()
        if found[1]:
            return found
        time.sleep(pause)
        pause = min(pause * 2 + 1e-6, LONGEST_PAUSE_S)
