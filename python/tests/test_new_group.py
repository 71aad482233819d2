# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Groups of some ranks know what these are in the job, and end with those that are to be in them."""

import os
import signal
import time

import pytest
import torch
import torch.distributed as dist
from test_failures import SECOND, error_of


def never_arrive(members, dead):
    rank = dist.get_rank()
    if rank == dead:
        time.sleep(1)  # the others wait for this rank by now
        os.kill(os.getpid(), signal.SIGKILL)
    if rank not in members:
        return "", 0
    return error_of(dist.new_group, members)


@pytest.mark.parametrize("dead", [0, 2, 3])
def test_a_rank_that_dies_ends_the_group_that_is_being_made(fresh_four, dead):
    members = [0, 2, 3]
    fresh_four.start(never_arrive, members, dead)
    for rank in set(members) - {dead}:
        good, answer = fresh_four.answer(rank)
        assert good, answer
        text, seconds = answer
        assert f"rank {dead}" in text and "TUTTI_ERR_PEER_FAILED" in text, text
        assert seconds < 10, "the death was noticed by the timeout only"


def late_in_a_part():
    rank = dist.get_rank()
    group = dist.new_group([1, 3], timeout=SECOND)
    if rank != 1:
        time.sleep(3 if rank == 3 else 0)
        return ""
    text, _ = error_of(dist.all_reduce, torch.ones(1), dist.ReduceOp.SUM, group)
    return text


def test_errors_give_the_numbers_of_ranks_in_the_job(fresh_four):
    text = fresh_four.run(late_in_a_part)[1]
    assert "global rank 3" in text and "TUTTI_ERR_TIMEOUT" in text, text


def part_of_a_part():
    rank = dist.get_rank()

    def part(group, name, ranks):
        return group.split_group(ranks, timeout=SECOND, opts=None, group_name=name)

    others = part(dist.group.WORLD, "others", [1, 2, 3])
    last = part(others, "last", [1, 2]) if others is not None else None  # 2 and 3 in the job
    if rank == 2:
        return error_of(lambda: last.allreduce([torch.ones(1)]).wait())[0]
    time.sleep(3 if rank == 3 else 0)
    return ""


def test_so_do_those_of_groups_that_are_split_off(fresh_four):
    text = fresh_four.run(part_of_a_part)[2]
    assert "global rank 3" in text and "TUTTI_ERR_TIMEOUT" in text, text


def go_on_after_a_timeout():
    rank = dist.get_rank()
    short = dist.new_group(timeout=SECOND)
    if rank != 1:
        assert "TUTTI_ERR" in error_of(dist.all_reduce, torch.ones(1), dist.ReduceOp.SUM, short)[0]
    dist.distributed_c10d._set_pg_timeout(SECOND)
    error_of(dist.all_reduce, torch.ones(1 + rank))  # breaks the default group
    again = dist.new_group(timeout=60 * SECOND)
    tensor = torch.ones(1)
    dist.all_reduce(tensor, group=again)
    return tensor.item()


def test_groups_may_be_made_after_a_call_has_failed(fresh_four):
    assert fresh_four.run(go_on_after_a_timeout) == [4.0] * 4
