# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The communicators that there are without a call: made when they are first asked for."""

from __future__ import annotations

import atexit
import sys
import threading

from . import _core
from .communicator import Communicator

_lock = threading.Lock()
_made: dict[str, Communicator] = {}


def COMM_WORLD() -> Communicator:
    """All processes of the job. The first to ask waits for all to ask."""
    with _lock:
        if "world" not in _made:
            _made["world"] = Communicator.from_env(name="world")
            atexit.register(_leave, _made["world"])
        return _made["world"]


def COMM_SELF() -> Communicator:
    """This process alone."""
    with _lock:
        if "self" not in _made:
            _made["self"] = Communicator.create(_core.unique_id(), 0, 1, name="self")
        return _made["self"]


def _leave(world: Communicator) -> None:
    """Peers that wait for this rank get to know why it ends."""
    if world.is_destroyed:
        return
    try:
        raised = getattr(sys, "last_type", None)
        if raised is not None:
            world.abort(f"{raised.__name__}: {getattr(sys, 'last_value', '')}")
        world.destroy()
    except (RuntimeError, ValueError):
        pass  # a failure, which calls have told
