# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The backend ``ccl`` of torch.distributed. Importing this module is enough to use it::

    import torch.distributed as dist
    import tutti_ccl.torch

    dist.init_process_group("ccl")
"""

import atexit
import datetime

import torch

from . import autoload
from ._build_info import torch_version as built_against


def _check_version():
    # PyTorch's C++ interface changes from release to release: another one would crash later, in a
    # place that tells nothing. What follows "+" names the accelerator, which we do not touch.
    built, running = built_against.split("+")[0], torch.__version__.split("+")[0]
    if built != running:
        raise ImportError(
            f"tutti_ccl was built against PyTorch {built_against}, but this is PyTorch "
            f"{torch.__version__}. Build it again for this one: "
            "pip install --force-reinstall --no-deps --no-build-isolation ./python"
        )


_check_version()

from . import _C  # noqa: E402  (only after the check)

# How long a program that ends without destroy_process_group() waits for operations that are not
# complete, before it ends them with an error on all ranks.
EXIT_PATIENCE = datetime.timedelta(seconds=2)


def create(options):
    """Makes the backend of one process group from torch.distributed's options."""
    return _C.create_backend(
        options.store,
        options.group_rank,
        options.group_size,
        options.timeout,
        options.group_id or "world",
    )


autoload.register()
# Threads that complete futures need the interpreter, so they end before it does.
atexit.register(_C.stop, EXIT_PATIENCE)
