# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The exceptions of tutti_ccl's calls. A wrong buffer is a TypeError or ValueError of Python's
own."""

from __future__ import annotations


class TuttiError(RuntimeError):
    """A call that did not succeed.

    code: the name of the status, such as "TUTTI_ERR_TIMEOUT".
    text: what was given, what was expected and where; names the rank that is the cause.
    rank: the caller's rank; -1 if it had none yet.
    operation: the call, such as "Allreduce".
    """

    def __init__(self, text: str, code: str = "", rank: int = -1, operation: str = "") -> None:
        super().__init__(text)
        self.text, self.code, self.rank, self.operation = text, code, rank, operation

    def __reduce__(self) -> tuple[type[TuttiError], tuple[str, str, int, str]]:
        return type(self), (self.text, self.code, self.rank, self.operation)


class InvalidArgument(TuttiError, ValueError):
    """An argument or an environment variable is wrong."""


class InvalidUsage(TuttiError):
    """The call is not allowed in this state or order."""


class Unsupported(TuttiError, NotImplementedError):
    """This build or this release cannot do that."""


class OutOfMemory(TuttiError, MemoryError):
    """There was not enough memory."""


class SystemFailed(TuttiError):
    """The operating system refused something; the text says what."""


class Mismatch(TuttiError):
    """Ranks made different calls; the text has both."""


class PeerFailed(TuttiError):
    """A peer died or left; the text says which."""


class Timeout(TuttiError, TimeoutError):
    """The longest wait is over."""


class Aborted(TuttiError):
    """The communicator was aborted, here or by another rank; the text has the reason."""


class Truncated(TuttiError):
    """A message was longer than the buffer to receive it."""


class InternalError(TuttiError):
    """A bug in Tutti: please report it with the text."""


class Interrupted(TuttiError):
    """A signal ended the wait."""


BY_CODE = {
    "TUTTI_ERR_INVALID_ARGUMENT": InvalidArgument,
    "TUTTI_ERR_INVALID_USAGE": InvalidUsage,
    "TUTTI_ERR_UNSUPPORTED": Unsupported,
    "TUTTI_ERR_OUT_OF_MEMORY": OutOfMemory,
    "TUTTI_ERR_SYSTEM": SystemFailed,
    "TUTTI_ERR_MISMATCH": Mismatch,
    "TUTTI_ERR_PEER_FAILED": PeerFailed,
    "TUTTI_ERR_TIMEOUT": Timeout,
    "TUTTI_ERR_ABORTED": Aborted,
    "TUTTI_ERR_TRUNCATED": Truncated,
    "TUTTI_ERR_INTERNAL": InternalError,
    "TUTTI_ERR_INTERRUPTED": Interrupted,
}


def from_status(code: str, text: str, operation: str, rank: int) -> TuttiError:
    """The exception for a status of the library."""
    return BY_CODE.get(code, TuttiError)(text, code, rank, operation)
