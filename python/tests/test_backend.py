# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What torch.distributed asks of a backend besides collectives; docs/pytorch.md has the table."""

import gc
import os
import re
import signal
import subprocess
import sys
import time

import torch
import torch.distributed as dist
from programs import ROOT
from ranks import TIMEOUT
from test_failures import error_of

CPU = torch.device("cpu")


def backend_of(group):
    return group._get_backend(CPU)


def error_of_group(group):
    """None where PyTorch has no way to ask."""
    ask = getattr(backend_of(group), "get_error", None)
    return ask().name if ask else None


def go_on_without(dead):
    rank = dist.get_rank()
    if rank == dead:
        os.kill(os.getpid(), signal.SIGKILL)
    error_of(dist.all_reduce, torch.ones(1))
    error = error_of_group(dist.group.WORLD)
    smaller = dist.shrink_group([dead])
    tensor = torch.tensor([float(rank)])
    dist.all_reduce(tensor)  # the smaller group is the default one
    torch.ops.tutti.all_reduce_(tensor)
    dist.destroy_process_group(smaller)
    return error, tensor.item()


def test_the_survivors_of_a_death_go_on_in_a_smaller_group(fresh_three):
    fresh_three.start(go_on_without, 1)
    for rank in (0, 2):
        good, answer = fresh_three.answer(rank)
        assert good and answer[0] in ("REMOTE_ERROR", None) and answer[1] == 4.0, answer


def leave_out(excluded):
    group = dist.new_group()
    others = dist.new_group([rank for rank in range(dist.get_world_size()) if rank not in excluded])
    if dist.get_rank() in excluded:
        dist.barrier()
        return None
    receive = dist.irecv(torch.ones(1), 0, group=group)  # nobody sends it
    dist.barrier(others)
    aborted = dist.shrink_group(excluded, group, shrink_flags=dist.distributed_c10d.SHRINK_ABORT)
    assert "TUTTI_ERR_ABORTED" in error_of(receive.wait)[0]
    tensor = torch.tensor([1.0 + dist.get_rank()])
    dist.all_reduce(tensor, group=aborted)
    size = dist.get_world_size(aborted)
    dist.destroy_process_group(aborted)
    dist.barrier()
    return size, tensor.item()


def test_ranks_that_are_alive_are_left_out_as_well(fresh_three):
    assert fresh_three.run(leave_out, [0]) == [None, (2, 5.0), (2, 5.0)]


def state():
    group = dist.new_group()
    backend = backend_of(group)
    assert backend.supports_shrinking and backend.supports_splitting
    assert error_of_group(group) in ("SUCCESS", None)
    works = [dist.all_reduce(torch.ones(1 << 16), group=group, async_op=True) for _ in range(3)]
    group._wait_for_pending_works()
    assert all(work.is_completed() for work in works)
    tensor = backend.allocate_tensor(5, dtype=torch.bfloat16, device=CPU)
    assert backend.supports_tensor_alloc(CPU)
    assert tensor.shape == (5,) and tensor.dtype == torch.bfloat16
    dist.all_reduce(tensor.fill_(1), group=group)
    assert tensor[4] == dist.get_world_size()
    dist.destroy_process_group(group)


def test_the_state_of_a_group_can_be_asked_for(two_ranks):
    two_ranks.run(state)


def merged(path):
    rank = dist.get_rank()
    alone = [dist.new_group([each]) for each in range(2)][rank]
    store = dist.FileStore(path, 2)
    both = alone.merge_remote_group(store, 2, TIMEOUT, "both")
    tensor = torch.tensor([1.0 + rank])
    both.allreduce([tensor]).wait()
    return both.size(), tensor.item()


def test_groups_may_be_merged(two_ranks, tmp_path):
    assert two_ranks.run(merged, str(tmp_path / "store")) == [(2, 3.0)] * 2


def holdings():
    gc.collect()
    pages = int(open("/proc/self/statm", encoding="ascii").read().split()[1])
    maps = sum(1 for _ in open("/proc/self/maps", encoding="ascii"))
    return {"descriptors": len(os.listdir("/proc/self/fd")), "maps": maps,
            "threads": len(os.listdir("/proc/self/task")), "megabytes": pages >> 8}


def a_group_per_epoch(epochs):
    def epoch():
        group = dist.new_group()
        tensor = torch.ones(100)
        dist.all_reduce(tensor, group=group)
        dist.all_reduce(tensor, group=group, async_op=True).wait()
        dist.destroy_process_group(group)

    for _ in range(20):
        epoch()
    before = holdings()
    for _ in range(epochs):
        epoch()
    deadline = time.monotonic() + 10
    while (after := holdings())["threads"] > before["threads"] and time.monotonic() < deadline:
        time.sleep(0.1)
    return before, after


# A group that leaked one of anything would be seen; the allocator may round up once.
SLACK = {"descriptors": 3, "maps": 30, "threads": 1, "megabytes": 20}


def test_a_group_per_epoch_leaves_nothing(two_ranks):
    epochs = int(os.environ.get("TUTTI_TEST_EPOCHS", "300"))
    for before, after in two_ranks.run(a_group_per_epoch, epochs):
        for what, slack in SLACK.items():
            assert after[what] <= before[what] + slack, (what, before, after)


NAME_A_CPU = """
import torch, torch.distributed as dist
options = {"store": dist.HashStore(), "rank": 0, "world_size": 1}
try:
    dist.init_process_group("ccl", device_id=torch.device("cpu:0"), **options)
except ValueError as error:
    assert "device_id" in str(error), error
    dist.init_process_group("ccl", **options)
dist.all_reduce(tensor := torch.ones(1))
dist.destroy_process_group()
print("sum", tensor.item())
"""


def test_a_program_goes_on_where_pytorch_refuses_a_cpu_as_device_id():
    done = subprocess.run([sys.executable, "-c", NAME_A_CPU], text=True, capture_output=True,
                          timeout=120, check=False)
    assert done.stdout == "sum 1.0\n", done.stdout + done.stderr


def test_the_page_tells_of_every_virtual_function():
    header = os.path.join(os.path.dirname(torch.__file__), "include", "torch", "csrc",
                          "distributed", "c10d", "Backend.hpp")
    with open(header, encoding="utf-8") as file:
        names = set(re.findall(r"virtual [^;{]*?\b(\w+)\(", file.read()))
    page = (ROOT / "docs" / "pytorch.md").read_text(encoding="utf-8")
    assert len(names) > 40
    assert sorted(name for name in names if f"`{name}`" not in page) == []
