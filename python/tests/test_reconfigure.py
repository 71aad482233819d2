# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What PyTorch 2.14 asks of backends besides: members that change, hooks, gather in one tensor."""

import datetime
import os
import signal

import pytest
import torch
import torch.distributed as dist
from ranks import Failure, Ranks, answer_all

SINCE = (2, 14)
pytestmark = pytest.mark.skipif(
    tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) < SINCE,
    reason="PyTorch 2.14 has it first")


def serve_alone(pipe, backend, _store, _rank, _size, timeout):
    """A process with a store of its own: what members share are their handles."""
    import tutti_ccl.torch  # noqa: F401  (makes the backend known)

    torch.set_num_threads(1)
    dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1,
                            timeout=timeout, enable_reconfigure=True)
    answer_all(pipe)


@pytest.fixture
def members():
    made = []

    def make(size):
        made.append(Ranks(size, serve=serve_alone))
        return made[-1]

    yield make
    for ranks in made:
        ranks.close()


def handle():
    return dist._get_reconfigure_handle()


def reconfigure(uuid, handles, seconds=None):
    limit = None if seconds is None else datetime.timedelta(seconds=seconds)
    dist._reconfigure(uuid=uuid, handles=handles, timeout=limit).wait()
    tensor = torch.tensor([dist.get_rank() + 1.0])
    dist.all_reduce(tensor)
    return dist.get_rank(), dist.get_world_size(), tensor.item()


def error_of(function, *arguments):
    try:
        function(*arguments)
    except (RuntimeError, ValueError) as error:
        return str(error)
    return ""


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def sum_of_ones():
    return error_of(dist.all_reduce, torch.ones(1 << 16))


def ask(ranks, which, function, *arguments):
    """The answers of some of the processes."""
    for rank in which:
        ranks.pipes[rank].send((function, arguments))
    answers = [ranks.answer(rank) for rank in which]
    assert all(good for good, _ in answers), answers
    return [result for _, result in answers]


def test_members_get_ranks_by_the_order_of_their_handles(members):
    ranks = members(3)
    handles = ranks.run(handle)
    assert ranks.run(reconfigure, 1, handles[::-1]) == [(2, 3, 6.0), (1, 3, 6.0), (0, 3, 6.0)]


def test_members_without_an_order_agree_on_one(members):
    ranks = members(3)
    answers = ranks.run(reconfigure, 1, set(ranks.run(handle)))
    assert sorted(answers) == [(0, 3, 6.0), (1, 3, 6.0), (2, 3, 6.0)]


def test_survivors_go_on_without_the_dead_and_with_a_newcomer(members):
    ranks = members(3)
    ranks.run(reconfigure, 1, ranks.run(handle))
    ranks.pipes[1].send((die, ()))
    left = [0, 2]
    assert all("PEER_FAILED" in text for text in ask(ranks, left, sum_of_ones))
    handles = ask(ranks, left, handle)
    assert ask(ranks, left, reconfigure, 2, handles) == [(0, 2, 3.0), (1, 2, 3.0)]
    newcomer = members(1)
    handles = ask(ranks, left, handle) + newcomer.run(handle)
    newcomer.start(reconfigure, 3, handles)
    assert ask(ranks, left, reconfigure, 3, handles) == [(0, 3, 6.0), (1, 3, 6.0)]
    assert newcomer.answer(0) == (True, (2, 3, 6.0))


def test_calls_before_the_first_reconfigure_say_what_is_missing(members):
    (text,) = members(1).run(sum_of_ones)
    assert "the process group has no members yet" in text and "reconfigure()" in text


def test_handles_that_are_wrong_are_named_and_cost_nothing(members):
    ranks = members(1)
    (own,) = ranks.run(handle)
    for handles, expected in (
            ([], "got no handles"), ([own, own], "got a handle twice"),
            (["gloo:0:1"], "not among the 1 given"),
            (["ccl:12", own], "hexadecimal digits, got 'ccl:12'")):
        (text,) = ranks.run(error_of, reconfigure, 1, handles)
        assert expected in text
    assert ranks.run(reconfigure, 1, [own]) == [(0, 1, 1.0)]


def test_a_handle_and_a_uuid_serve_once(members):
    ranks = members(1)
    (first,) = ranks.run(handle)
    ranks.run(reconfigure, 1, [first])
    assert "a handle serves once" in ranks.run(error_of, reconfigure, 2, [first])[0]
    assert "the uuid 1 was used before" in ranks.run(error_of, reconfigure, 1,
                                                      ranks.run(handle))[0]


def test_a_member_that_does_not_come_is_a_timeout_and_the_next_try_succeeds(members):
    ranks = members(2)
    handles = ranks.run(handle)
    (text,) = ask(ranks, [0], error_of, reconfigure, 1, handles, 0.3)
    assert "TIMEOUT" in text and "rank 1" in text
    assert ranks.run(reconfigure, 2, ranks.run(handle)) == [(0, 2, 3.0), (1, 2, 3.0)]


CALLED = []


def add_hooks():
    backend = dist.group.WORLD._get_backend(torch.device("cpu"))
    backend.register_abort_hook(1, lambda: CALLED.append("first"))
    backend.register_abort_hook(2, lambda: 1 / 0)
    backend.register_abort_hook(3, lambda: CALLED.append("third"))
    backend.register_abort_hook(4, lambda: CALLED.append("removed"))
    backend.unregister_abort_hook(4)
    return error_of(backend.unregister_abort_hook, 4)


def hooks_called():
    return CALLED


@pytest.mark.parametrize("form", ["blocking", "handle"])
def test_abort_hooks_run_once_before_the_error(members, form):
    ranks = members(2)
    ranks.run(reconfigure, 1, ranks.run(handle))
    assert all("no abort hook 4" in text for text in ranks.run(add_hooks))
    ranks.pipes[1].send((die, ()))
    call = sum_of_ones if form == "blocking" else wait_for_sum
    (text,) = ask(ranks, [0], call)
    assert "PEER_FAILED" in text
    assert ask(ranks, [0], hooks_called) == [["first", "third"]]
    ask(ranks, [0], sum_of_ones)
    assert ask(ranks, [0], hooks_called) == [["first", "third"]]


def wait_for_sum():
    return error_of(lambda: dist.all_reduce(torch.ones(1 << 16), async_op=True).wait())


def gather(root, size):
    """The backend's own function: PyTorch has no public one yet."""
    backend = dist.group.WORLD._get_backend(torch.device("cpu"))
    options = dist.GatherOptions()
    options.rootRank = root
    own = torch.full((2, 2), float(dist.get_rank()))
    whole = torch.empty(size, 2) if dist.get_rank() == root else torch.empty(0)
    backend.gather_single(whole, own, options).wait()
    return whole.tolist()


def test_gather_single_gives_the_root_all_blocks_in_one_tensor(members):
    ranks = members(3)
    ranks.run(reconfigure, 1, ranks.run(handle))
    blocks = [[float(rank)] * 2 for rank in range(3) for _ in range(2)]
    assert ranks.run(gather, 1, 6) == [[], blocks, []]
    with pytest.raises(Failure, match="expected 3 blocks of 4 elements, got a tensor of 10"):
        ranks.run(gather, 0, 5)
