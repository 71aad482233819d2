# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The backend ``ccl`` of torch.distributed. Importing this module is enough to use it.

::

    import torch.distributed as dist
    import tutti_ccl.torch

    dist.init_process_group("ccl")
"""

import atexit
import datetime
import os

import torch
import torch.distributed as dist

from . import _C, autoload, ending, launcher, torch_gaps

# torch.ops.tutti; the import shortens the way from Python to the operators.
from . import operators  # noqa: E402, F401

# How long a program that ends without destroy_process_group() waits for operations that are not
# complete, before it ends them with an error on all ranks.
EXIT_PATIENCE = datetime.timedelta(seconds=2)


# The process that made the default group; a forked child inherits the group, and its store.
_world_pid = None


def _note_world(options):
    global _world_pid
    if dist.is_initialized():
        if _world_pid not in (None, os.getpid()):
            raise RuntimeError(
                f"ccl: this process (pid {os.getpid()}) was forked from the one (pid {_world_pid}) "
                "that made the process groups. Start processes that are to use groups by spawn "
                "instead of fork"
            )
        return
    _world_pid = os.getpid()
    if options.group_size == 1:
        launcher.warn_if_alone()


def create(options):
    """Makes the backend of one process group from torch.distributed's options."""
    _note_world(options)
    return _C.create_backend(
        options.store,
        options.group_rank,
        options.group_size,
        options.timeout,
        options.group_id or "world",
        global_ranks=list(options.global_ranks_in_group),
        is_default=not options.global_ranks_in_group,
        reconfigurable=getattr(options, "enable_reconfigure", False),  # of PyTorch 2.14
    )


def empty(*size, dtype=None, group=None):
    """A tensor of zeros in memory that the group's ranks on this host read where it lies.

    Collectives of `group` (default: the default group) on such tensors copy less, where all ranks
    use them. All ranks make the same ones in the same order. A tensor stays valid after its group.
    """
    sizes = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    name = "" if group is None else group if isinstance(group, str) else group.group_name
    return _C.empty(list(sizes), dtype or torch.get_default_dtype(), name)


def dump_flight_recorder():
    """Writes the last operations of this process, as PyTorch's flight recorder does; torchfrtrace
    reads the files of all ranks. Returns the file's name: TORCH_FR_DUMP_TEMP_FILE and the rank.

    Needs TORCH_FR_BUFFER_SIZE, the number of operations to keep, in the environment."""
    return _C.dump_flight_recorder()


autoload.register()
launcher.fill()
torch_gaps.install()
# Threads that complete futures need the interpreter, so they end before it does.
atexit.register(lambda: _C.stop(EXIT_PATIENCE, ending.why() or ""))
