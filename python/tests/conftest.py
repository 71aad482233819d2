# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Fixtures: process groups of real processes, kept for all tests that leave them intact."""

import pytest
import torch.distributed as dist
import tutti_ccl
from ranks import Ranks

pytest.register_assert_rewrite("device_calls")


@pytest.fixture(scope="session")
def kept_ranks():
    kept = {}
    yield kept
    for ranks in kept.values():
        ranks.close()


@pytest.fixture(params=[2, 3], ids=["2ranks", "3ranks"])
def ranks(request, kept_ranks):
    yield from intact(kept_ranks, request.param)


@pytest.fixture
def two_ranks(kept_ranks):
    yield from intact(kept_ranks, 2)


@pytest.fixture
def three_ranks(kept_ranks):
    yield from intact(kept_ranks, 3)


def intact(kept_ranks, size, start=Ranks):
    """The kept group of that size; made anew if a test before broke it."""
    if size in kept_ranks and kept_ranks[size].broken:
        kept_ranks.pop(size).kill()
    if size not in kept_ranks:
        kept_ranks[size] = start(size)
    yield kept_ranks[size]


@pytest.fixture
def fresh_three():
    yield from fresh(3)


@pytest.fixture
def fresh_four():
    yield from fresh(4)


def fresh(size):
    """A group that has met, for a test that breaks it."""
    ranks = Ranks(size)
    ranks.run(dist.barrier)
    yield ranks
    ranks.kill()


@pytest.fixture
def alone():
    """A communicator of this process, for calls on arrays that need no others."""
    with tutti_ccl.Communicator.create(tutti_ccl.unique_id(), 0, 1) as comm:
        yield comm
