# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The C++ side of the backend; use it through tutti_ccl.torch."""

import datetime

import torch.distributed as dist

def create_backend(
    store: dist.Store, rank: int, size: int, timeout: datetime.timedelta, name: str
) -> dist.ProcessGroup: ...
def stop(patience: datetime.timedelta) -> None: ...
