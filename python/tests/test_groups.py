# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Groups, names, profiles: what PyTorch's programs expect of a backend besides results."""

import datetime
import os
import subprocess
import sys
import textwrap

import pytest
import torch
import torch.distributed as dist
from ranks import TIMEOUT, Ranks


def overlapping_groups():
    rank, size = dist.get_rank(), dist.get_world_size()
    everyone = dist.new_group()
    pairs = [dist.new_group([0, peer]) for peer in range(1, size)]
    for peer, group in enumerate(pairs, start=1):
        if rank in (0, peer):
            tensor = torch.tensor([1.0 + rank])
            dist.all_reduce(tensor, group=group)
            assert tensor.item() == 2.0 + peer
            tensor = torch.tensor([float(rank)])
            dist.broadcast(tensor, peer, group=group)  # a global rank
            assert tensor.item() == peer
    first, second = torch.ones(1000), torch.ones(10)
    works = [dist.all_reduce(first, group=everyone, async_op=True),
             dist.all_reduce(second, async_op=True)]
    works.reverse()
    for work in works:
        work.wait()
    assert first[0] == second[0] == size
    for group in [everyone, *pairs]:
        if group != dist.GroupMember.NON_GROUP_MEMBER:
            dist.destroy_process_group(group)
    dist.barrier()


def test_groups_are_independent_and_may_end_in_any_order(ranks):
    ranks.run(overlapping_groups)


def again_and_again():
    for _ in range(5):
        group = dist.new_group()
        tensor = torch.ones(1)
        dist.all_reduce(tensor, group=group)
        dist.destroy_process_group(group)
        assert tensor.item() == dist.get_world_size()


def test_groups_may_be_made_again_and_again(ranks):
    ranks.run(again_and_again)


def split_in_two():
    """As split_group() does it; itself it demands an accelerator, beside whose backend ccl may be."""
    rank, size = dist.get_rank(), dist.get_world_size()

    def part(name, ranks):
        return dist.group.WORLD.split_group(ranks, timeout=TIMEOUT, opts=None, group_name=name)

    mine = part("first", [0]) if rank == 0 else part("others", list(range(1, size)))
    tensor = torch.tensor([1.0 + rank])
    mine.allreduce([tensor]).wait()
    ends = part("ends", [0, size - 1])
    if ends is not None:
        ends.broadcast(tensor, root=1).wait()
    dist.barrier()
    return mine.size(), tensor.item(), ends is not None and ends.rank()


def test_a_group_may_be_split(three_ranks):
    assert three_ranks.run(split_in_two) == [(1, 5.0, 0), (2, 5.0, False), (2, 5.0, 1)]


def names():
    group = dist.group.WORLD
    backend = group._get_backend(torch.device("cpu"))
    before = backend._get_sequence_number_for_group()
    dist.all_reduce(torch.ones(1))
    return (dist.get_backend(), backend.name(), dist.is_backend_available("ccl"),
            backend._get_sequence_number_for_group() - before)


def test_the_backend_knows_its_name_and_counts_its_calls(two_ranks):
    assert two_ranks.run(names) == [("ccl", "ccl", True, 1)] * 2


def profiled():
    rank, size = dist.get_rank(), dist.get_world_size()
    block = torch.ones(2)
    lists = [torch.zeros(2) for _ in range(size)]
    with torch.profiler.profile(record_shapes=True) as profile:
        dist.all_reduce(block)
        dist.broadcast(block, 0)
        dist.all_gather(lists, block)
        dist.reduce_scatter(block, lists)
        dist.reduce(block, 0)
        dist.gather(block, lists if rank == 0 else None)
        dist.scatter(block, lists if rank == 0 else None)
        dist.all_to_all(lists, [torch.ones(2) for _ in range(size)])
        dist.barrier()
        if rank == 0:
            dist.send(block, 1)
        elif rank == 1:
            dist.recv(block, 0)
    dist.barrier()
    events = {event.name: event for event in profile.events() if event.name.startswith("ccl:")}
    assert all(event.is_async for event in events.values())
    assert events["ccl:all_reduce"].input_shapes == [[2]]
    return set(events)


def test_profiles_show_the_operations(two_ranks):
    common = {"ccl:all_reduce", "ccl:broadcast", "ccl:all_gather", "ccl:reduce_scatter",
              "ccl:reduce", "ccl:gather", "ccl:scatter", "ccl:all_to_all", "ccl:barrier"}
    assert two_ranks.run(profiled) == [common | {"ccl:send"}, common | {"ccl:recv"}]


def monitored():
    dist.group.WORLD.monitored_barrier()
    dist.barrier(timeout=datetime.timedelta(seconds=30))


def test_monitored_barrier(two_ranks):
    two_ranks.run(monitored)


def timeouts_that_are_set():
    import warnings

    from torch.distributed import distributed_c10d as c10d

    group = dist.new_group()
    backend = group._get_backend(torch.device("cpu"))
    texts = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for change in (lambda t: c10d._set_pg_timeout(t, group), group.set_timeout,
                       backend.set_timeout):
            change(datetime.timedelta(milliseconds=100 + len(texts)))
            with pytest.raises(RuntimeError) as error:
                group.recv([torch.zeros(1)], 1 - group.rank(), 0).wait()  # nobody sends it
            texts.append(str(error.value))
    dist.barrier()  # else whoever is first leaves while the other waits
    dist.destroy_process_group(group)
    return texts


def test_the_timeout_of_a_group_may_be_changed_in_every_way(two_ranks):
    for texts in two_ranks.run(timeouts_that_are_set):
        for ms, text in enumerate(texts, start=100):
            assert f"Timed out waiting {ms}ms" in text, text


def wrapped():
    assert dist.get_debug_level() == dist.DebugLevel.DETAIL
    tensor = torch.ones(3)
    dist.all_reduce(tensor)
    return tensor[0].item()


def test_works_under_the_wrapper_that_debugging_asks_for(monkeypatch):
    monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", "DETAIL")
    ranks = Ranks(2)
    assert ranks.run(wrapped) == [2.0, 2.0]
    assert ranks.close() == [0, 0]


ALONE = """
    import torch.distributed as dist
    import {module}
    dist.init_process_group("ccl", init_method="file://{store}", rank=0, world_size=1)
    import torch
    tensor = torch.ones(2)
    dist.all_reduce(tensor)
    assert tensor.tolist() == [1.0, 1.0]
    print(getattr({module}, "cwd", ""), end="")
"""


def run_alone(program):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], text=True,
                          capture_output=True, timeout=120)


@pytest.mark.parametrize("module", ["tutti_ccl.torch", "torch_ccl", "oneccl_bindings_for_pytorch"])
def test_each_name_registers_the_backend(module, tmp_path):
    done = run_alone(ALONE.format(module=module, store=tmp_path / "store"))
    assert done.returncode == 0, done.stderr
    assert module == "tutti_ccl.torch" or os.path.isdir(done.stdout)


def test_another_pytorch_is_refused_with_its_version_and_those_that_there_are():
    series = ".".join(torch.__version__.split(".")[:2])
    done = run_alone("""
        import torch
        torch.__version__ = "2.1.2+cpu"
        import tutti_ccl.torch
    """)
    assert done.returncode != 0
    assert "ImportError" in done.stderr
    assert "2.1.2+cpu" in done.stderr and f"built for PyTorch {series}" in done.stderr


def test_a_package_without_its_part_for_pytorch_says_what_to_install():
    done = run_alone("""
        import sys, torch
        sys.modules["tutti_ccl_torch"] = None  # as if there were none
        import tutti_ccl.torch
    """)
    assert done.returncode != 0
    assert "ImportError" in done.stderr and "pip install 'tutti-ccl[torch]'" in done.stderr


def test_import_torch_alone_makes_the_backend_known_where_the_package_is_installed():
    import importlib.metadata

    try:
        importlib.metadata.distribution("tutti-ccl")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("runs from a build tree, which has no entry points")
    done = run_alone("import torch.distributed as dist; assert 'ccl' in dist.Backend.backend_list")
    assert done.returncode == 0, done.stderr
