# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""tutti_ccl.torchft, without TorchFT unless it is installed: the class that it extends is imitated.

`./dev clients torchft` runs TorchFT's own tests over it.
"""

import datetime
import importlib.util
import os
import signal
import sys
import types

import pytest
import torch
import torch.distributed as dist

SECONDS = datetime.timedelta(seconds=30)


def group_class():
    if "torchft" not in sys.modules and importlib.util.find_spec("torchft") is None:
        imitate()
    from tutti_ccl.torchft import ProcessGroupCCL

    return ProcessGroupCCL


def imitate():
    class ProcessGroupWrapper(dist.ProcessGroup):
        def __init__(self, timeout):
            super().__init__(0, 1)
            self._timeout, self._pg, self._uuid, self._global_ranks = timeout, None, None, None

        def set_timeout(self, timeout):
            self._timeout = timeout

    module = types.ModuleType("torchft.process_group")
    module.ProcessGroupWrapper = ProcessGroupWrapper
    sys.modules["torchft"] = types.ModuleType("torchft")
    sys.modules["torchft.process_group"] = module


def made(path, members, uuid, global_ranks=None):
    """What TorchFT does for these members with each quorum."""
    group = group_class()(timeout=SECONDS)
    group._uuid, group._global_ranks = uuid, global_ranks
    rank = members.index(dist.get_rank())
    group._pg = group._create_pg(dist.FileStore(f"{path}.{uuid}", len(members)), rank, len(members))
    return group


def total(group):
    tensor = torch.ones(3)
    group._pg.allreduce([tensor]).wait()
    return tensor.tolist()


def told(call, *arguments):
    with pytest.raises(RuntimeError) as error:
        call(*arguments)
    return str(error.value)


def survive(path):
    group = made(path, [0, 1, 2], 1, [10, 20, 30])
    assert total(group) == [3] * 3
    if dist.get_rank() == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    text = told(total, group)
    told(dist.barrier)  # the default group has failed as well
    left = made(path, [0, 1], 2)
    return text, total(left)


def test_replicas_go_on_without_one_that_was_killed(fresh_three, tmp_path):
    fresh_three.start(survive, str(tmp_path / "store"))
    assert not fresh_three.answer(2)[0]
    for rank in (0, 1):
        good, answer = fresh_three.answer(rank)
        assert good, answer
        text, after = answer
        assert "Connection closed by peer" in text, text  # what TorchFT's callers look for
        assert 'rank 2 of group "torchft_1" (global rank 30, ' in text and "has died" in text, text
        assert after == [2] * 3


def impatient(path):
    group = made(path, [0, 1], 3, [7, 7])  # as of replicas whose names have no number
    assert total(group) == [2] * 3
    group.set_timeout(datetime.timedelta(milliseconds=50))
    text = told(total, group) if dist.get_rank() == 0 else None
    dist.barrier()
    return text


def test_the_timeout_of_a_group_can_be_changed(two_ranks, tmp_path):
    text, _ = two_ranks.run(impatient, str(tmp_path / "store"))
    assert "Timed out waiting 50ms" in text, text
