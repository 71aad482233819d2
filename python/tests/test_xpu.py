# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What is said to programs that ask for ccl on XPUs."""

import pytest
import torch
import torch.distributed as dist

import tutti_ccl.torch  # noqa: F401


@pytest.mark.parametrize("backend", ["xpu:ccl", "cpu:ccl,xpu:ccl"])
@pytest.mark.parametrize("has_xpu", [False, True])
def test_a_group_on_xpus_is_refused_with_what_to_give_instead(backend, has_xpu, tmp_path,
                                                              monkeypatch):
    monkeypatch.setattr(torch.xpu, "_is_compiled", lambda: has_xpu)
    with pytest.raises(ValueError, match="cpu:ccl,xpu:xccl") as error:
        dist.init_process_group(backend, init_method=f"file://{tmp_path}/store", rank=0,
                                world_size=1)
    assert str(error.value).startswith(backend)
    assert ("this PyTorch has no XPU" in str(error.value)) != has_xpu
    assert not dist.is_initialized()


def test_other_backends_of_xpus_are_left_alone():
    devices = dist.distributed_c10d.BackendConfig("cpu:ccl,xpu:xccl").device_backend_map
    assert (devices["cpu"], devices["xpu"]) == ("ccl", "xccl")
