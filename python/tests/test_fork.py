# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""A forked child inherits process groups that are not its own: it cannot use or harm them."""

import multiprocessing
import os
import time

import pytest
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset

from ranks import TIMEOUT

CHILD_S = 60


def in_child(function):
    """What function() says in a forked child; the child ends as a Python program does."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            said = str(function())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writer, said.encode())
        # Leaves through atexit, which multiprocessing's children would not.
        import atexit

        atexit._run_exitfuncs()
        os._exit(0)
    os.close(writer)
    ends = time.monotonic() + CHILD_S
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        assert time.monotonic() < ends, "the child hangs"
        time.sleep(0.01)
    with os.fdopen(reader) as pipe:
        return pipe.read()


def go_on():
    tensor = torch.ones(3)
    dist.all_reduce(tensor)
    assert tensor.eq(dist.get_world_size()).all()


def pids_are_in(text):
    return text.count("pid") == 2 and str(os.getpid()) in text


CALLS = {
    "a blocking call": lambda: dist.all_reduce(torch.ones(1)),
    "an asynchronous call": lambda: dist.all_reduce(torch.ones(1), async_op=True),
    "a message": lambda: dist.send(torch.ones(1), 1 - dist.get_rank()),
    "a barrier": dist.barrier,
    "a new group": dist.new_group,
}


def call_in_child(name):
    go_on()
    said = in_child(CALLS[name])
    go_on()
    return said, pids_are_in(said)


@pytest.mark.parametrize("name", CALLS)
def test_calls_in_a_child_are_refused_and_name_both_processes(two_ranks, name):
    for said, named in two_ranks.run(call_in_child, name):
        assert named and "forked" in said, said


def leave_in_child(way):
    child = {"by exit": lambda: None,
             "by destroy": dist.destroy_process_group,
             "by abort": dist.distributed_c10d._abort_process_group}[way]
    go_on()
    said = in_child(child)
    go_on()
    # The store is still there.
    dist.destroy_process_group(dist.new_group(timeout=TIMEOUT))
    return said


@pytest.mark.parametrize("way", ["by exit", "by destroy", "by abort"])
def test_a_child_leaves_without_a_trace(two_ranks, way):
    assert two_ranks.run(leave_in_child, way) == ["None", "None"]


def fork_with_work_pending():
    rank = dist.get_rank()
    waits = torch.zeros(1)
    receive = dist.irecv(waits, 1 - rank)
    with_future = dist.all_reduce(torch.ones(1 << 20), async_op=True)
    future = with_future.get_future().then(lambda f: f.value()[0].sum().item())
    said = [in_child(receive.wait), in_child(receive.is_completed), in_child(with_future.wait),
            in_child(dist.destroy_process_group)]
    assert future.wait() == 2 * (1 << 20)
    dist.send(torch.ones(1), 1 - rank)
    receive.wait()
    assert waits.item() == 1
    go_on()
    return said


def test_work_that_is_pending_stays_the_parents(two_ranks):
    for *refused, destroyed in two_ranks.run(fork_with_work_pending):
        assert all("forked" in said for said in refused), refused
        assert destroyed == "None"


def load_data():
    go_on()
    multiprocessing.current_process()._config["daemon"] = False  # as programs of users are
    data = TensorDataset(torch.arange(32.))
    loader = DataLoader(data, batch_size=4, num_workers=2, multiprocessing_context="fork")
    total = sum(batch.sum() for batch, in loader)
    dist.all_reduce(total)
    go_on()
    return total.item()


def test_forked_workers_load_data(two_ranks):
    assert two_ranks.run(load_data) == [992, 992]


def make_a_world_in_child(path):
    def make():
        rank = dist.get_rank()
        dist.destroy_process_group()
        dist.init_process_group("ccl", init_method=f"file://{path}", rank=rank, world_size=2)

    go_on()
    said = in_child(make)
    go_on()
    return said


def test_children_cannot_make_groups_and_are_told_to_be_spawned(two_ranks, tmp_path):
    for said in two_ranks.run(make_a_world_in_child, str(tmp_path / "store")):
        assert "forked from process" in said, said
