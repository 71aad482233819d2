# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Programs written for torch-ccl ask for ``xpu:ccl``. Without this PyTorch would make such a group,
and fail at the first call with a text that says nothing of the cause.

Imported by `import torch`: cheap.
"""

import functools


def register():
    import torch
    from torch.distributed import distributed_c10d as c10d

    original = c10d.BackendConfig.__init__
    if hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    def __init__(self, backend):
        original(self, backend)
        if self.device_backend_map.get("xpu") == "ccl":
            raise ValueError(_refusal(backend, torch.xpu._is_compiled()))

    c10d.BackendConfig.__init__ = __init__


def _refusal(backend, has_xpu):
    if has_xpu:
        return (f"{backend}: ccl does not move tensors of XPUs yet; give "
                "'cpu:ccl,xpu:xccl', and they stay on the devices")
    return (f"{backend}: this PyTorch has no XPU. For tensors on the CPU give 'ccl'; for XPUs install "
            "PyTorch's build for them (pytorch.org says how) and give 'cpu:ccl,xpu:xccl'")
