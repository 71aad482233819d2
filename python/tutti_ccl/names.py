# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""mpi4py's names for what a communicator has under others."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING, Any, Optional

from . import forms
from .lower import LowerCalls
from .requests import UNDEFINED

COMM_TYPE_SHARED = 1


class MpiNames(LowerCalls):
    """The class with these names; Communicator adds how it is made."""

    if TYPE_CHECKING:
        def split(self, color: Optional[int], key: int = 0) -> Any: ...

    def Get_rank(self) -> int:
        return self.rank

    def Get_size(self) -> int:
        return self.size

    def Dup(self, info: Any = None) -> Any:
        """A communicator of the same ranks. Collective."""
        return self.split(0, self.rank)

    def Clone(self) -> Any:
        return self.Dup()

    def Split(self, color: Optional[int] = 0, key: int = 0) -> Any:
        """Calls split; UNDEFINED is None."""
        return self.split(None if color == UNDEFINED else color, key)

    def Split_type(self, split_type: int, key: int = 0, info: Any = None) -> Any:
        """COMM_TYPE_SHARED: the ranks of each host. Collective."""
        if split_type == UNDEFINED:
            return self.split(None, key)
        if split_type != COMM_TYPE_SHARED:
            raise ValueError(f"Split_type: split_type is {split_type}; expected COMM_TYPE_SHARED")
        hosts = self.allgather(socket.gethostname())
        return self.split(hosts.index(hosts[self.rank]), key)

    def Free(self) -> None:
        self.destroy()

    def Disconnect(self) -> None:
        self.destroy()

    def Abort(self, errorcode: int = 0) -> None:
        """Ends all calls, here and on the peers, and this process with this status."""
        try:
            self.abort(f"rank {self.rank} called Abort({errorcode})")
        finally:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
            os._exit(errorcode)

    def Is_inter(self) -> bool:
        return False

    def Is_intra(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        raise forms.absent("Communicator", name, dir(type(self)))
