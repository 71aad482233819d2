# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Data-parallel training, as PyTorch offers it, gives the numbers that one process would get."""

import copy

import pytest
import torch
import torch.distributed as dist
from ranks import Ranks
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook, quantization_hooks
from torch.nn.parallel import DistributedDataParallel


def network():
    torch.manual_seed(3)
    return nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Flatten(),
                         nn.Linear(4 * 36, 300), nn.Tanh(), nn.Linear(300, 5)).double()


def batch(rank, step):
    generator = torch.Generator().manual_seed(100 * step + rank)
    images = torch.randn(8, 1, 6, 6, generator=generator, dtype=torch.float64)
    return images, torch.randint(0, 5, (8,), generator=generator)


def loss_of(model, images, labels):
    return nn.functional.cross_entropy(model(images), labels)


def alone(steps, size):
    """The parameters after as many steps over the batches of all ranks."""
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(steps):
        optimizer.zero_grad()
        batches = [batch(rank, step) for rank in range(size)]
        loss_of(model, *(torch.cat(parts) for parts in zip(*batches))).backward()
        optimizer.step()
    return [parameter.detach().clone() for parameter in model.parameters()]


def together(model, steps, optimizer=None):
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(steps):
        optimizer.zero_grad()
        loss_of(model, *batch(dist.get_rank(), step)).backward()
        optimizer.step()
    return [parameter.detach().clone() for parameter in model.parameters()]


def ddp(**arguments):
    # Buckets of a few kilobytes: several reductions overlap with the backward pass.
    return DistributedDataParallel(network(), bucket_cap_mb=0.02, **arguments)


def train_ddp(steps, arguments):
    return together(ddp(**arguments), steps)


@pytest.mark.parametrize("arguments", [{}, {"static_graph": True}, {"find_unused_parameters": True},
                                       {"gradient_as_bucket_view": True}], ids=str)
def test_ddp_trains_as_one_process(ranks, arguments):
    expected = alone(4, ranks.size)
    for parameters in ranks.run(train_ddp, 4, arguments):
        for mine, reference in zip(parameters, expected):
            torch.testing.assert_close(mine, reference, rtol=1e-9, atol=1e-11)


def gradients():
    model = ddp()
    loss_of(model, *batch(dist.get_rank(), 0)).backward()
    return [parameter.grad for parameter in model.parameters()]


def test_gradients_equal_those_over_gloo(two_ranks):
    gloo = Ranks(2, backend="gloo")
    expected = gloo.run(gradients)
    gloo.close()
    for mine, theirs in zip(two_ranks.run(gradients), expected):
        for a, b in zip(mine, theirs):
            # Two numbers have one sum, whoever adds them.
            torch.testing.assert_close(a, b, rtol=0, atol=0)


def bfloat16_hook(state, bucket):
    # By its own name PyTorch admits it on accelerators only.
    return default_hooks.bf16_compress_hook(state, bucket)


def with_hook(name):
    if name in dir(default_hooks) or name == "bfloat16_hook":
        model = ddp()
        model.register_comm_hook(None, globals().get(name) or getattr(default_hooks, name))
        return model
    model = ddp()
    if "powerSGD" in name:
        state = powerSGD_hook.PowerSGDState(process_group=None, matrix_approximation_rank=2,
                                            start_powerSGD_iter=2, min_compression_rate=0.5)
        model.register_comm_hook(state, getattr(powerSGD_hook, name))
    else:
        model.register_comm_hook(dist.group.WORLD, getattr(quantization_hooks, name))
    return model


def train_with_hook(name, steps):
    model = with_hook(name)
    losses = []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model, *batch(dist.get_rank(), 0))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [parameter.detach().clone() for parameter in model.parameters()]


@pytest.mark.parametrize("name", ["allreduce_hook", "fp16_compress_hook", "bfloat16_hook",
                                  "quantization_pertensor_hook", "powerSGD_hook"])
def test_communication_hooks(ranks, name):
    results = ranks.run(train_with_hook, name, 8)
    for losses, parameters in results:
        assert losses[-1] < losses[0]
        for mine, first in zip(parameters, results[0][1]):
            torch.testing.assert_close(mine, first, rtol=0, atol=0)  # the same model everywhere


def train_by_powersgd(steps, layers):
    """Several buckets, with biases; their hooks' callbacks start further operations."""
    rank = dist.get_rank()
    torch.manual_seed(1)
    model = nn.Sequential(*[part for _ in range(layers) for part in (nn.Linear(64, 64), nn.Tanh())])
    model = DistributedDataParallel(model, bucket_cap_mb=0.02)
    state = powerSGD_hook.PowerSGDState(process_group=None, matrix_approximation_rank=2,
                                        start_powerSGD_iter=2, min_compression_rate=0.5)
    model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    gradients = []
    for step in range(steps):
        optimizer.zero_grad()
        torch.manual_seed(100 * step + rank)
        model(torch.randn(8, 64)).square().sum().backward()
        gradients.append(torch.cat([p.grad.reshape(-1) for p in model.parameters()]))
        optimizer.step()
    return gradients


def test_powersgd_of_several_buckets_gives_all_ranks_the_same_gradients(ranks):
    results = ranks.run(train_by_powersgd, 40, 6)
    for gradients in results:
        for mine, first in zip(gradients, results[0]):
            torch.testing.assert_close(mine, first, rtol=0, atol=0)


def train_zero(steps):
    from torch.distributed.optim import ZeroRedundancyOptimizer

    model = ddp()
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
    return together(model, steps, optimizer)


def test_zero_redundancy_optimizer_trains_as_one_process(ranks):
    expected = alone(3, ranks.size)
    for parameters in ranks.run(train_zero, 3):
        for mine, reference in zip(parameters, expected):
            torch.testing.assert_close(mine, reference, rtol=1e-9, atol=1e-11)


def train_fsdp(steps, factor):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    model = network()
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    if factor is not None:
        for module in model.modules():
            if hasattr(module, "set_gradient_divide_factor"):
                module.set_gradient_divide_factor(factor)
    parameters = together(model, steps)
    return [parameter.full_tensor() for parameter in parameters]


@pytest.mark.parametrize("custom_factor", [False, True], ids=["average", "premultiplied"])
def test_fully_sharded_training_is_that_of_one_process(ranks, custom_factor):
    factor = float(ranks.size) if custom_factor else None
    expected = alone(3, ranks.size)
    for parameters in ranks.run(train_fsdp, 3, factor):
        for mine, reference in zip(parameters, expected):
            torch.testing.assert_close(mine, reference, rtol=1e-9, atol=1e-11)


def late_replica():
    """Ranks start from different parameters; the wrapper broadcasts those of rank 0."""
    torch.manual_seed(dist.get_rank())
    model = nn.Linear(7, 7)
    model.register_buffer("mask", torch.rand(7) > 0.5)
    before = copy.deepcopy(model.state_dict())
    DistributedDataParallel(model)
    return before, model.state_dict()


def test_ddp_starts_from_the_parameters_of_rank_0(ranks):
    results = ranks.run(late_replica)
    for _, after in results:
        for name, value in after.items():
            torch.testing.assert_close(value, results[0][0][name], rtol=0, atol=0)
