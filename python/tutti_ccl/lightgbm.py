# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""LightGBM's distributed training over Tutti, with LightGBM as it is installed.

::

    import lightgbm
    import tutti_ccl.lightgbm

    with tutti_ccl.lightgbm.init() as network:          # tutti run -n 4 python train.py
        data = lightgbm.Dataset(x, y)                   # the rows of this rank
        model = lightgbm.train({"objective": "regression", **network.params}, data)
"""

from __future__ import annotations

import ctypes
import threading
from types import TracebackType
from typing import Any, Optional

from . import _core
from .communicator import Communicator
from .errors import TuttiError

__all__ = ["Network", "free", "init"]

_threads = threading.local()  # LightGBM has a network for each thread


class Network:
    """The network of LightGBM in the thread that has called init, until free() or the end of
    `with`. If the body of that raises, the other ranks get an error with its text.

    params: what LightGBM must be told of it, in the parameters of each training. Without them each
    rank trains a model of its own. "tree_learner" may be "voting" instead of "data".
    """

    def __init__(self, communicator: Communicator) -> None:
        self._communicator = communicator
        self.params: dict[str, Any] = {"num_machines": communicator.size}
        if communicator.size > 1:
            self.params["tree_learner"] = "data"

    def free(self) -> None:
        """Ends it, as the function free() does."""
        if self._communicator.is_destroyed:
            return
        self._leave()
        try:
            self._communicator.check()
        except TuttiError:
            told = True  # by the call of LightGBM that it has ended
        else:
            told = False
        try:
            self._communicator.destroy()
        except TuttiError:
            if not told:
                raise

    def _leave(self) -> None:
        if getattr(_threads, "network", None) is not self:
            raise ValueError("free: this network is another thread's; expected that thread, as "
                             "LightGBM has a network for each")
        _call("LGBM_NetworkFree")
        _core._lightgbm_network(None)
        _threads.network = None

    def __enter__(self) -> Network:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        if self._communicator.is_destroyed:
            return
        if kind is None:
            self.free()
            return
        self._leave()
        self._communicator.__exit__(kind, value, traceback)


def init(communicator: Optional[Communicator] = None) -> Network:
    """Lets LightGBM train over the ranks of `communicator` (default: COMM_WORLD) in this thread.

    Collective. LightGBM gets a communicator of its own, so programs may go on to use theirs. Each
    rank gives its own rows to lightgbm.Dataset, and the same parameters. All make the same calls of
    LightGBM: constructing a Dataset is one, too. An error of Tutti, such as the death of a rank, is
    a lightgbm.basic.LightGBMError with Tutti's text on every other rank.
    """
    if communicator is None:
        from .world import COMM_WORLD

        communicator = COMM_WORLD()
    free()
    own = communicator.split(0, communicator.rank, name="lightgbm")
    assert own is not None
    network = Network(own)
    reduce_scatter, allgather = _core._lightgbm_network(own)
    _threads.network = network
    _call("LGBM_NetworkInitWithFunctions", ctypes.c_int(own.size), ctypes.c_int(own.rank),
          ctypes.c_void_p(reduce_scatter), ctypes.c_void_p(allgather))
    return network


def free() -> None:
    """Ends this thread's network, if there is one. Models and data sets stay."""
    network = getattr(_threads, "network", None)
    if network is not None:
        network.free()


def _call(name: str, *arguments: Any) -> None:
    from lightgbm import basic

    basic._safe_call(getattr(basic._LIB, name)(*arguments))
