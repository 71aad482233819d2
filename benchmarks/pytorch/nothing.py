# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The backend `nothing` of torch.distributed: the floor of what a call can take."""

from pathlib import Path

import torch.distributed as dist

NAME = "nothing"


def load(folder, build=False):
    """Registers it. Compiles it first where `build`: in one process, before the others load it."""
    from torch.utils import cpp_extension

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if build:
        (folder / "lock").unlink(missing_ok=True)  # of a build that was interrupted
    # With what is there and unchanged this only loads.
    module = cpp_extension.load("tutti_nothing", [str(Path(__file__).with_name("nothing.cpp"))],
                                extra_cflags=["-O2", "-std=c++20"], build_directory=str(folder))
    dist.Backend.register_backend(NAME, module.create, devices=["cpu"])
