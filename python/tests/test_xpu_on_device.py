# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Tensors on XPU are sent and reduced on the device, where the queues of SYCL are known.

What is real: the backend, Tutti, Level Zero's loader. What is not: XPU itself and libtutti_sycl.so
(fake_xpu.cpp, over Tutti's test driver for Level Zero), so no SYCL queue, and no ordered stream.
"""

import ctypes
import os
import pathlib

import pytest
import torch
import torch.distributed as dist
from device_calls import DeviceCalls, compiled, on, values
from ranks import Ranks, serve_torch

ROOT = pathlib.Path(__file__).parents[2]
DEVICE = "xpu:0"
DRIVER = ROOT / "build/release/tests/libtutti_test_ze.so"
LIBRARY = "TUTTI_TEST_FAKE_XPU"
FOLDERS = "LD_LIBRARY_PATH"
BEFORE = os.environ.get(FOLDERS, "")
BACKENDS = "cpu:ccl,xpu:ccl,privateuseone:ccl"  # the last one for c10d (fake_xpu.cpp)
SETTINGS = {"ZE_ENABLE_ALT_DRIVERS": str(DRIVER), "ZE_ENABLE_VALIDATION_LAYER": "1",
            "ZE_ENABLE_PARAMETER_VALIDATION": "1", "ZE_TEST_SHUFFLE": "3"}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if not DRIVER.exists():
        pytest.skip(f"{DRIVER} is not built")
    if not pathlib.Path("/usr/include/level_zero/ze_api.h").exists():
        pytest.skip("level_zero/ze_api.h is not there (Debian: libze-dev)")
    return compiled("fake_xpu.cpp", tmp_path_factory.mktemp("xpu") / "libtutti_sycl.so",
                    f"-I{ROOT}/include", "-lze_loader")


def ranks_with(monkeypatch, library, found):
    """Two ranks that have the device; `found`: and the library that knows its queues."""
    for name, value in {**SETTINGS, LIBRARY: str(library)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv(FOLDERS, f"{library.parent}:{BEFORE}" if found else BEFORE)
    return Ranks(2, BACKENDS, serve=serve)


@pytest.fixture(scope="module")
def pair(library):
    with pytest.MonkeyPatch.context() as patch:
        ranks = ranks_with(patch, library, found=True)
        yield ranks
        ranks.close()


def serve(pipe, backend, store, rank, size, timeout):
    torch.xpu._is_compiled = lambda: True
    torch.xpu._lazy_init = lambda: None
    import tutti_ccl.torch  # noqa: F401  (makes the backend known)

    torch.ops.load_library(os.environ[LIBRARY])
    serve_torch(pipe, backend, store, rank, size, timeout)


class TestXpu(DeviceCalls):
    device = DEVICE


def on_device(*values):
    return on(DEVICE, *values)


def calls_of_driver(function):
    driver = ctypes.CDLL(str(DRIVER), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    driver.tutti_test_ze_calls.restype = ctypes.c_long
    return driver.tutti_test_ze_calls(function)


def on_the_device():
    mine = on_device(*[dist.get_rank() + 1.0] * 100)
    before = calls_of_driver(b"zeCommandListAppendLaunchKernel")
    dist.all_reduce(mine)
    kernels = calls_of_driver(b"zeCommandListAppendLaunchKernel") - before
    return values([mine]), kernels


def test_sums_are_made_by_a_kernel_of_the_device(pair):
    assert pair.run(on_the_device) == 2 * [([[3.0] * 100], 1)]


def booleans_on_the_device():
    flags = torch.tensor([dist.get_rank() == 0, False, True]).to(DEVICE)
    before = calls_of_driver(b"zeCommandListAppendLaunchKernel")
    dist.all_reduce(flags)
    kernels = calls_of_driver(b"zeCommandListAppendLaunchKernel") - before
    return flags.cpu().tolist(), kernels


def test_booleans_are_reduced_by_a_kernel_of_the_device(pair):
    assert pair.run(booleans_on_the_device) == 2 * [([True, False, True], 1)]


def on_both():
    here, there = torch.ones(3), on_device(1, 1, 1)
    dist.all_reduce(here)
    dist.all_reduce(there)
    dist.barrier()
    part = dist.new_group([0, 1], backend=BACKENDS)
    dist.all_reduce(there, group=part)
    dist.destroy_process_group(part)
    return here.tolist(), there.cpu().tolist()


def test_host_tensors_and_other_groups_go_on_beside(pair):
    assert pair.run(on_both) == 2 * [([2, 2, 2], [4, 4, 4])]


def complaints():
    driver = ctypes.CDLL(str(DRIVER), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    return driver.tutti_test_ze_complaints()


def test_the_driver_has_no_complaints(pair):
    assert pair.run(complaints) == [0, 0]


def test_until_the_queues_are_known_tensors_go_through_host_memory(monkeypatch, library):
    ranks = ranks_with(monkeypatch, library, found=False)
    try:
        assert ranks.run(on_the_device) == 2 * [([[3.0] * 100], 0)]
    finally:
        ranks.close()
