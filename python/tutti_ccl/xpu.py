# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""ccl on XPUs: where PyTorch has them, the backend takes their tensors, through host memory.

If it has none, programs that ask for ``xpu:ccl`` are told so. Without this PyTorch would make such
a group, and fail at the first call with a text that says nothing of the cause.

Imported by `import torch`: cheap, and no driver is started.
"""

import functools


def devices():
    """The devices that the backend is registered for."""
    import torch

    return ["cpu", "xpu"] if torch.xpu._is_compiled() else ["cpu"]


def register():
    import torch
    from torch.distributed import distributed_c10d as c10d

    original = c10d.BackendConfig.__init__
    if hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    def __init__(self, backend):
        original(self, backend)
        if self.device_backend_map.get("xpu") == "ccl" and not torch.xpu._is_compiled():
            raise ValueError(
                f"{backend}: this PyTorch has no XPU. For tensors on the CPU give 'ccl'; for XPUs "
                "install PyTorch's build for them (pytorch.org says how)"
            )

    c10d.BackendConfig.__init__ = __init__
