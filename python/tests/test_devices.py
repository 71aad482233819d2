# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Tensors on devices go through host memory, on a device that imitates one (fake_device.cpp)."""

import os
import types
import warnings

import pytest
import torch
import torch.distributed as dist
from device_calls import DeviceCalls, compiled, on, values
from ranks import Ranks, serve_torch

DEVICE = "fake"
LIBRARY = "TUTTI_TEST_FAKE_DEVICE"


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two ranks that have the device."""
    library = compiled("fake_device.cpp", tmp_path_factory.mktemp("device") / "fake_device.so")
    os.environ[LIBRARY] = str(library)
    ranks = Ranks(2, f"cpu:ccl,{DEVICE}:ccl", serve=serve)
    yield ranks
    ranks.close()
    del os.environ[LIBRARY]


def serve(pipe, backend, store, rank, size, timeout):
    import tutti_ccl.torch  # noqa: F401  (makes the backend known)

    torch.ops.load_library(os.environ[LIBRARY])
    torch.utils.rename_privateuse1_backend(DEVICE)
    torch._register_device_module(DEVICE, types.SimpleNamespace(_lazy_init=lambda: None))
    serve_torch(pipe, backend, store, rank, size, timeout)


class TestFakeDevice(DeviceCalls):
    device = DEVICE


def on_device(*values):
    return on(DEVICE, *values)


def operators():
    own = on_device(dist.get_rank() + 1.0)
    summed, gathered = torch.ops.tutti.all_reduce(own), torch.ops.tutti.all_gather(own)
    return str(summed.device.type), values([summed, gathered])


def test_operators_give_tensors_on_the_device(pair):
    assert pair.run(operators) == 2 * [(DEVICE, [[3], [1, 2]])]


def outputs_are_awaited():
    before = torch.ops.fake_device.synchronized()
    dist.all_gather_into_tensor(on_device(0, 0), on_device(1))
    return torch.ops.fake_device.synchronized() - before


def test_what_the_device_was_given_before_is_done_before_outputs_are_written(pair):
    assert all(times >= 1 for times in pair.run(outputs_are_awaited))


def train(device):
    torch.manual_seed(dist.get_rank())
    inputs, wanted = torch.randn(6, 5).to(device), torch.randn(6, 2).to(device)
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    model = torch.nn.parallel.DistributedDataParallel(model.to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        optimizer.zero_grad()
        (model(inputs) - wanted).square().mean().backward()
        optimizer.step()
    return [parameter.detach().cpu() for parameter in model.parameters()]


def test_a_model_on_the_device_is_trained_as_on_the_cpu(pair):
    for there, here in zip(pair.run(train, DEVICE), pair.run(train, "cpu")):
        for a, b in zip(there, here):
            torch.testing.assert_close(a, b)


def once_warned():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            dist.all_reduce(on_device(1))
    return [str(each.message) for each in caught]


def test_it_is_said_once_by_whoever_calls_first(pair):
    assert all(len(told) <= 1 for told in pair.run(once_warned))
