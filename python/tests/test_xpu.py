# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Programs that ask for ccl on XPUs: what test_devices.py shows of devices, or a sentence."""

import pytest
import torch
import torch.distributed as dist

import tutti_ccl.torch  # noqa: F401
from tutti_ccl import xpu


@pytest.mark.parametrize("backend", ["xpu:ccl", "cpu:ccl,xpu:ccl"])
def test_where_pytorch_has_no_xpus_such_a_group_is_refused(backend, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.xpu, "_is_compiled", lambda: False)
    with pytest.raises(ValueError, match="this PyTorch has no XPU.*'ccl'") as error:
        dist.init_process_group(backend, init_method=f"file://{tmp_path}/store", rank=0,
                                world_size=1)
    assert str(error.value).startswith(backend)
    assert not dist.is_initialized()


@pytest.mark.parametrize("has_xpu,devices", [(True, ["cpu", "xpu"]), (False, ["cpu"])])
def test_the_backend_is_for_the_devices_that_pytorch_has(has_xpu, devices, monkeypatch):
    monkeypatch.setattr(torch.xpu, "_is_compiled", lambda: has_xpu)
    assert xpu.devices() == devices
    monkeypatch.setitem(dist.Backend.backend_capability, "ccl", xpu.devices())
    config = dist.distributed_c10d.BackendConfig("ccl").device_backend_map
    assert config == dict.fromkeys(devices, "ccl")


def test_other_backends_of_xpus_are_left_alone():
    devices = dist.distributed_c10d.BackendConfig("cpu:ccl,xpu:xccl").device_backend_map
    assert (devices["cpu"], devices["xpu"]) == ("ccl", "xccl")
