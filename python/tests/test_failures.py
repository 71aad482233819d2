# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""When something goes wrong every rank learns who and what, and none hangs."""

import datetime
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest
import torch
import torch.distributed as dist
from ranks import Failure, Ranks

SECOND = datetime.timedelta(seconds=1)


@pytest.fixture
def fresh():
    """Makes groups that a test may break."""
    made = []

    def make(*arguments, **named):
        made.append(Ranks(*arguments, **named))
        made[-1].run(dist.barrier)  # all are there before anything is broken
        return made[-1]

    yield make
    for ranks in made:
        ranks.close()


def error_of(function, *arguments):
    """The text of the error, and the seconds until it came."""
    began = time.monotonic()
    try:
        function(*arguments)
    except RuntimeError as error:
        return str(error), time.monotonic() - began
    return "", time.monotonic() - began


def die_or_wait(kind):
    if dist.get_rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    tensor = torch.ones(1 << 18)
    if kind == "blocking":
        return error_of(dist.all_reduce, tensor)
    if kind == "handle":
        return error_of(lambda: dist.all_reduce(tensor, async_op=True).wait())
    if kind == "future":
        return error_of(lambda: dist.all_reduce(tensor, async_op=True).get_future().wait())
    return error_of(dist.recv, torch.zeros(1), 1)


@pytest.mark.parametrize("kind", ["blocking", "handle", "future", "receive"])
def test_survivors_learn_which_rank_was_killed(fresh, kind):
    ranks = fresh(3)
    ranks.start(die_or_wait, kind)
    answers = [ranks.answer(0), ranks.answer(2)]
    if kind == "receive":
        answers = answers[:1]  # rank 2 waits for the dead rank as well, whichever way it learns it
    for good, (text, seconds) in answers:
        assert good and "rank 1" in text and "Connection closed by peer" in text, text
        assert str(ranks.processes[1].pid) in text, text
        assert seconds < 5, "the death of a process was noticed by the timeout only"


def different_calls():
    if dist.get_rank() == 0:
        return error_of(dist.all_reduce, torch.ones(5))
    return error_of(dist.all_reduce, torch.ones(7))


def test_different_calls_are_an_error_on_every_rank_with_both_counts(fresh):
    for text, _ in fresh(2).run(different_calls):
        assert "5" in text and "7" in text, text


def missing_call():
    if dist.get_rank() == 0:
        return error_of(dist.all_reduce, torch.ones(5))
    time.sleep(3)
    return "", 0


def test_a_call_that_one_rank_never_makes_times_out(fresh):
    ranks = fresh(2, timeout=SECOND)
    text, seconds = ranks.run(missing_call)[0]
    assert "TUTTI_ERR_TIMEOUT" in text, text
    assert seconds < 10


def late_barrier():
    if dist.get_rank() == 0:
        return error_of(dist.barrier)
    time.sleep(3)
    return "", 0


def test_a_barrier_that_times_out_says_so_in_the_usual_words(fresh):
    text, _ = fresh(2, timeout=SECOND).run(late_barrier)[0]
    assert " Timed out waiting 1000ms" in text and "TUTTI_ERR_TIMEOUT" in text, text


def monitored_without(missing, wait_all_ranks):
    rank = dist.get_rank()
    text = ""
    if rank not in missing:
        text, _ = error_of(lambda: dist.group.WORLD.monitored_barrier(
            timeout=SECOND, wait_all_ranks=wait_all_ranks))
    time.sleep(4)
    # Unlike a collective, it leaves the group as it was.
    tensor = torch.ones(1)
    dist.all_reduce(tensor)
    assert tensor.item() == dist.get_world_size()
    return text


@pytest.mark.parametrize("wait_all_ranks", [False, True])
def test_a_monitored_barrier_names_the_ranks_that_are_missing(fresh, wait_all_ranks):
    texts = fresh(4).run(monitored_without, [1, 3], wait_all_ranks)
    named = "Ranks 1, 3" if wait_all_ranks else "Rank 1"
    assert f"{named} failed to pass monitoredBarrier in 1000 ms" in texts[0]
    assert "Rank 2 successfully reached monitoredBarrier, but received errors" in texts[2]


def test_a_monitored_barrier_without_rank_0_names_who_waited(fresh):
    texts = fresh(3).run(monitored_without, [0], False)
    for rank in (1, 2):
        assert f"Rank {rank} timed out in monitoredBarrier after 1000 ms" in texts[rank]


def monitored_without_time():
    if dist.get_rank() > 0:
        time.sleep(2)
        return ""
    text, _ = error_of(lambda: dist.group.WORLD.monitored_barrier(timeout=0 * SECOND))
    return text


def test_a_monitored_barrier_without_time_says_that_rank_0_timed_out(fresh):
    text = fresh(2).run(monitored_without_time)[0]
    assert "Rank 0 timed out in monitoredBarrier after 0 ms" in text
    assert "Rank 1 failed to pass monitoredBarrier" in text


def abort_while_waiting():
    if dist.get_rank() == 0:
        tensor = torch.zeros(1)
        future = dist.irecv(tensor, 1).get_future()
        text, _ = error_of(future.wait)
        again, _ = error_of(dist.all_reduce, tensor)
        return text, again
    time.sleep(0.2)
    began = time.monotonic()
    dist.group.WORLD._get_backend(torch.device("cpu")).abort()
    assert time.monotonic() - began < 5
    return error_of(dist.all_reduce, torch.zeros(1))


def test_abort_ends_the_operations_of_every_rank(fresh):
    (first, again), (own, _) = fresh(2).run(abort_while_waiting)
    for text in (first, again, own):
        assert "TUTTI_ERR_ABORTED" in text and "rank 1" in text, text


def use_after_shutdown():
    group = dist.new_group()
    backend = group._get_backend(torch.device("cpu"))
    backend.shutdown()
    backend.shutdown()
    return error_of(backend.allreduce, [torch.ones(1)])


def test_a_group_that_was_shut_down_says_so(two_ranks):
    for text, _ in two_ranks.run(use_after_shutdown):
        assert "shut down" in text


# What is left undone when a program ends without destroy_process_group(), on each of two ranks.
ENDINGS = {
    "nothing": "dist.barrier()",
    "handles": "works = [dist.all_reduce(torch.ones(1000), async_op=True) for _ in range(5)]",
    "futures": "futures = [dist.all_reduce(torch.ones(9), async_op=True).get_future().then("
               "lambda f: f.value()[0] + 1) for _ in range(5)]",
    "a receive that nobody answers": "work = dist.irecv(torch.zeros(1), 1 - rank)",
    "an error": "dist.barrier(); raise SystemExit(3)",
    "groups": "groups = [dist.new_group() for _ in range(3)]; dist.barrier(groups[1])",
}

PROGRAM = """
    import sys
    import torch
    import torch.distributed as dist
    import tutti_ccl.torch
    store, rank = sys.argv[1], int(sys.argv[2])
    dist.init_process_group("ccl", init_method=f"file://{store}", rank=rank, world_size=2)
"""


def start_two(body, tmp_path):
    program = textwrap.dedent(PROGRAM) + body
    return [subprocess.Popen([sys.executable, "-c", program, tmp_path / "store", str(rank)],
                             stderr=subprocess.PIPE, text=True) for rank in range(2)]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_program_ends_without_destroying_its_group(ending, tmp_path):
    expected = 3 if ending == "an error" else 0
    for process in start_two(ENDINGS[ending], tmp_path):
        _, text = process.communicate(timeout=60)
        assert process.returncode == expected, text
        assert "terminate called" not in text and "Fatal Python error" not in text


def meet_over_stale_keys(path):
    """Makes a group over a store that holds what an earlier life of the job left there."""
    from tutti_ccl import _C

    rank = dist.get_rank()
    store = dist.FileStore(path, 2)
    if rank == 0:
        nonce, token = bytes(16), bytes([1] * 16)
        store.set("tutti/hello/1", nonce)
        store.set("tutti/id/1", nonce + token + bytes([7] * 128))
        store.set("tutti/ack/1", token)
    dist.barrier()
    for _ in range(3):  # and again over the same store
        backend = _C.create_backend(store, rank, 2, 20 * SECOND, "again")
        tensor = torch.ones(1)
        backend.allreduce([tensor], dist.AllreduceOptions()).wait()
        backend.shutdown()
        assert tensor.item() == 2
    # Nothing is left that could mislead, or that is secret.
    dist.barrier()
    return [store.check([f"tutti/{key}/1"]) for key in ("hello", "id", "ack")]


def test_a_store_that_outlives_its_processes_misleads_nobody(two_ranks, tmp_path):
    assert two_ranks.run(meet_over_stale_keys, str(tmp_path / "store")) == [[False] * 3] * 2


def test_a_rank_that_never_comes_is_named(tmp_path):
    program = textwrap.dedent("""
        import datetime, sys, torch.distributed as dist, tutti_ccl.torch
        dist.init_process_group("ccl", init_method=f"file://{sys.argv[1]}", rank=0, world_size=3,
                                timeout=datetime.timedelta(seconds=1))
    """)
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "store"], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode != 0
    assert "did not come" in done.stderr and ": 1 2" in done.stderr, done.stderr
    assert "Socket Timeout (timed out after 1000ms)" in done.stderr, done.stderr


def raises_in_one():
    if dist.get_rank() == 1:
        raise ValueError("on purpose")


def test_the_harness_reports_what_a_rank_raises(fresh):
    with pytest.raises(Failure, match="on purpose"):
        fresh(2).run(raises_in_one)
