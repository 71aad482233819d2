# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""TorchFT's process groups over ``ccl``, in the place of its ProcessGroupGloo.

::

    from tutti_ccl.torchft import ProcessGroupCCL

    manager = torchft.Manager(pg=ProcessGroupCCL(timeout=timedelta(seconds=30)), ...)
"""

from __future__ import annotations

import torch
from torch.distributed import ProcessGroup, Store
from torchft.process_group import ProcessGroupWrapper

from . import torch as backend

__all__ = ["ProcessGroupCCL"]


class ProcessGroupCCL(ProcessGroupWrapper):
    """Groups of CPU tensors whose ranks change: `configure` makes another over `ccl`.

    A rank that waits for one that has died gets its error at once, not at the end of the timeout.
    """

    def getBackendName(self) -> str:
        return "torchft-ccl"

    def set_timeout(self, timeout) -> None:
        super().set_timeout(timeout)
        if self._pg is not None:
            self._pg.set_timeout(timeout)

    def _create_pg(self, store: Store, rank: int, world_size: int) -> ProcessGroup:
        ours = backend._C.create_backend(
            store, rank, world_size, self._timeout, self._own_name(),
            global_ranks=self._ranks_in_job(world_size), apart=True)
        group = ProcessGroup(store, rank, world_size)
        group._set_default_backend(ProcessGroup.BackendType.CUSTOM)
        group._register_backend(torch.device("cpu"), ProcessGroup.BackendType.CUSTOM, ours)
        return group

    def _own_name(self) -> str:
        """The name that errors use."""
        return "torchft" if self._uuid is None else f"torchft_{self._uuid}"

    def _ranks_in_job(self, world_size: int) -> list[int]:
        """For texts of errors. TorchFT takes them from names of replicas, which may be any."""
        ranks = self._global_ranks or []
        distinct = len(ranks) == len(set(ranks)) == world_size
        return list(ranks) if distinct else list(range(world_size))
