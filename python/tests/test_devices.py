# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Tensors on devices go through host memory, on a device that imitates one (fake_device.cpp)."""

import os
import pathlib
import shutil
import subprocess
import types
import warnings

import pytest
import torch
import torch.distributed as dist
from ranks import Ranks, answer_all

SOURCE = pathlib.Path(__file__).with_name("fake_device.cpp")
DEVICE = "fake"
LIBRARY = "TUTTI_TEST_FAKE_DEVICE"


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two ranks that have the device."""
    compiler = os.environ.get("CXX") or shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler to make a device with")
    root = pathlib.Path(torch.__file__).parent
    library = tmp_path_factory.mktemp("device") / "fake_device.so"
    done = subprocess.run(
        [*compiler.split(), "-std=c++20", "-O0", "-shared", "-fPIC", f"-I{root}/include", SOURCE,
         f"-L{root}/lib", "-ltorch_cpu", "-lc10", "-o", library],
        text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
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
    torch.set_num_threads(1)
    dist.init_process_group(backend, init_method=f"file://{store}", rank=rank, world_size=size,
                            timeout=timeout)
    answer_all(pipe)
    dist.destroy_process_group()


def on_device(*values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype).to(DEVICE)


def values(tensors):
    return [tensor.cpu().tolist() for tensor in tensors]


def equal_parts():
    mine = dist.get_rank() + 1.0
    summed, sent, lists = on_device(mine, 2 * mine), on_device(mine), [on_device(0, 0), on_device(0, 0)]
    dist.all_reduce(summed)
    dist.broadcast(sent, 1)
    dist.all_gather(lists, on_device(mine, -mine))
    gathered, block = on_device(0, 0, 0, 0), on_device(0)
    dist.all_gather_into_tensor(gathered, on_device(mine, 10))
    dist.reduce_scatter_tensor(block, on_device(mine, 3 * mine), dist.ReduceOp.AVG)
    scattered = on_device(0)
    dist.reduce_scatter(scattered, [on_device(mine), on_device(5 * mine)])
    return values([summed, sent, *lists, gathered, block, scattered])


def test_all_ranks_have_equal_parts(pair):
    for rank, found in enumerate(pair.run(equal_parts)):
        assert found == [[3, 6], [2], [1, -1], [2, -2], [1, 10, 2, 10], [[1.5], [4.5]][rank],
                         [[3], [15]][rank]]


def rooted_and_exchanged():
    rank = dist.get_rank()
    reduced, gathered = on_device(rank + 1.0), [on_device(0), on_device(0)]
    dist.reduce(reduced, 0)
    dist.gather(on_device(rank + 4.0), gathered if rank == 1 else None, 1)
    scattered = on_device(0)
    dist.scatter(scattered, [on_device(7), on_device(8)] if rank == 0 else None, 0)
    received = on_device(*[0] * 3)
    dist.all_to_all_single(received, on_device(*[rank] * 3), [1, 2] if rank == 0 else [2, 1],
                           [1, 2] if rank == 0 else [2, 1])
    lists = [on_device(0), on_device(0)]
    dist.all_to_all(lists, [on_device(10 + rank), on_device(20 + rank)])
    return values([reduced, *gathered, scattered, received, *lists])


def test_roots_and_exchanges(pair):
    zero, one = pair.run(rooted_and_exchanged)
    assert zero == [[3], [0], [0], [7], [0, 1, 1], [10], [11]]
    assert one == [[2], [4], [5], [8], [0, 0, 1], [20], [21]]


def without_waiting():
    rank = dist.get_rank()
    columns = torch.zeros(4, 2).to(DEVICE)
    column = columns[:, 1]
    column.copy_(torch.tensor([1.0, 2, 3, 4]))
    works = [dist.all_reduce(column, async_op=True)]
    flags = torch.tensor([rank == 0, False]).to(DEVICE)
    works.append(dist.all_reduce(flags, async_op=True))
    imaginary = torch.tensor([1 + 2j], dtype=torch.complex64).to(DEVICE)
    works.append(dist.all_reduce(imaginary, async_op=True))
    output = on_device(0, 0)
    future = dist.all_gather_into_tensor(output, on_device(rank), async_op=True).get_future()
    doubled = future.then(lambda done: done.value()[0].cpu() * 2).wait()
    for work in works:
        work.wait()
    return [columns.cpu().tolist(), flags.cpu().tolist(), imaginary.cpu().tolist(),
            doubled.tolist()]


def test_calls_that_are_not_waited_for_and_odd_tensors(pair):
    expected = [[[0, 2], [0, 4], [0, 6], [0, 8]], [True, False], [2 + 4j], [0, 2]]
    assert pair.run(without_waiting) == [expected, expected]


def messages():
    rank = dist.get_rank()
    received, other = on_device(0, 0), on_device(0)
    for work in dist.batch_isend_irecv([
            dist.P2POp(dist.isend, on_device(rank, 5), 1 - rank),
            dist.P2POp(dist.irecv, received, 1 - rank)]):
        work.wait()
    if rank == 0:
        dist.send(on_device(9), 1)
    else:
        assert dist.recv(other) == 0
    some = [on_device(1), on_device(2)]
    with dist._coalescing_manager(device=torch.device(DEVICE)):
        for tensor in some:
            dist.all_reduce(tensor)
    return values([received, other, *some])


def test_messages_and_coalesced_calls(pair):
    assert pair.run(messages) == [[[1, 5], [0], [2], [4]], [[0, 5], [9], [2], [4]]]


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
