# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Mends what torch.distributed does only for the backends that it brings along.

Both functions are replaced when the backend is loaded; for groups of other backends they do what
they did before.
"""

import contextlib

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d


def survive_errors(original):
    """An exception inside ``_coalescing_manager`` leaves torch's record of the group behind. Later
    all_reduces on that group are written down there and never made: wrong results in silence. Here
    the record is dropped, and later calls are calls of their own again."""

    @contextlib.contextmanager
    def manager(group=None, device=None, async_ops=False):
        group = group or c10d._get_default_group()
        begun = group not in c10d._world.pg_coalesce_state
        try:
            with original(group, device, async_ops) as handle:
                yield handle
        except BaseException:
            if begun:
                c10d._world.pg_coalesce_state.pop(group, None)
                if device:
                    with contextlib.suppress(Exception):
                        group._end_coalescing(device)
            raise

    return manager


def set_timeout_of_ours(original):
    """``_set_pg_timeout`` knows Gloo and NCCL by their classes, and warns that it did nothing."""

    def set_pg_timeout(timeout, group=None):
        group = group or c10d._get_default_group()
        if not c10d._rank_not_in_group(group):
            backends = [group._get_backend(device) for device in group._device_types]
            if backends and all(backend.name() == "ccl" for backend in backends):
                for backend in backends:
                    backend.set_timeout(timeout)
                return
        original(timeout, group)

    return set_pg_timeout


def install():
    c10d._coalescing_manager = survive_errors(c10d._coalescing_manager)
    dist._coalescing_manager = c10d._coalescing_manager
    c10d._set_pg_timeout = set_timeout_of_ours(c10d._set_pg_timeout)
