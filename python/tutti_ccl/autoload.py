# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Makes the name ``ccl`` known to torch.distributed.

PyTorch calls ``register`` at the end of ``import torch`` (entry point "torch.backends"), in
programs that may never use us. So nothing here may fail or cost much: the extension is loaded by
the first process group.
"""


def _create(options, _backend_options):
    from . import torch as backend

    return backend.create(options)


def register():
    import torch.distributed as dist

    from . import frameworks, meeting, xpu

    if dist.is_available() and "CCL" not in dist.Backend._plugins:
        dist.Backend.register_backend("ccl", _create, extended_api=True, devices=xpu.devices())
        meeting.register()
        frameworks.register()
        xpu.register()
