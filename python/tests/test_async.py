# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Handles and futures: waited for in any order, by any thread, or not at all."""

import datetime
import threading

import pytest
import torch
import torch.distributed as dist
from reference import same


def total(salt=0):
    size = dist.get_world_size()
    return float(sum(range(1, size + 1)) + size * salt)


def mine(length, salt=0):
    return torch.full((length,), float(dist.get_rank() + 1 + salt))


def waits_in_odd_order():
    lengths = [1, 70001, 3, 1 << 20, 0, 17, 4096]
    for order in ([6, 0, 5, 1, 4, 2, 3], list(range(7))):
        tensors = [mine(length, salt) for salt, length in enumerate(lengths)]
        works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
        for i in order:
            works[i].wait()
            same(tensors[i], torch.full((lengths[i],), total(i)))
        for i in order:
            assert works[i].wait() and works[i].is_completed() and works[i].is_success()
            same(works[i].result()[0], tensors[i])


def test_handles_may_be_waited_for_in_any_order_and_again(ranks):
    ranks.run(waits_in_odd_order)


def blocking_calls_between():
    big, small = mine(1 << 20), mine(2)
    work = dist.all_reduce(big, async_op=True)
    dist.all_reduce(small)
    dist.barrier()
    work.wait()
    assert big[0] == total() and small[0] == total()


def test_blocking_calls_between_asynchronous_ones(ranks):
    ranks.run(blocking_calls_between)


def dropped_handles():
    rank, size = dist.get_rank(), dist.get_world_size()
    tensors = [mine(1000) for _ in range(20)]
    strided = torch.zeros(500, 2).t()
    strided.fill_(rank + 1)
    for tensor in [*tensors, strided]:
        dist.all_reduce(tensor, async_op=True)  # the only reference to the handle is dropped
    dist.isend(torch.full((3,), float(rank)), (rank + 1) % size)
    received = torch.zeros(3)
    dist.recv(received, (rank - 1) % size)
    dist.all_reduce(torch.zeros(1), async_op=True).wait()
    for tensor in tensors:
        same(tensor, torch.full((1000,), total()))
    assert received[0] == (rank - 1) % size


def test_operations_complete_without_their_handles(ranks):
    ranks.run(dropped_handles)


def polling():
    tensor = mine(100000)
    work = dist.all_reduce(tensor, async_op=True)
    while not work.is_completed():
        pass
    assert tensor[-1] == total()


def test_is_completed_becomes_true_without_wait(ranks):
    ranks.run(polling)


def several_waiters():
    for _ in range(20):
        tensor = mine(50000)
        work = dist.all_reduce(tensor, async_op=True)
        results = []

        def waiter():
            work.wait()
            results.append(tensor[0].item())

        threads = [threading.Thread(target=waiter) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [total()] * 4


def test_several_threads_may_wait_for_one_handle(two_ranks):
    two_ranks.run(several_waiters)


def future_values():
    size = dist.get_world_size()
    tensor = mine(5)
    value = dist.all_reduce(tensor, async_op=True).get_future().wait()
    assert isinstance(value, list)
    same(value[0], torch.full((5,), total()))
    outputs = [torch.zeros(2) for _ in range(size)]
    value = dist.all_gather(outputs, mine(2), async_op=True).get_future().wait()
    assert [float(t[0]) for t in value[0]] == [peer + 1.0 for peer in range(size)]
    assert dist.barrier(async_op=True).get_future().wait() == []
    work = dist.all_reduce(tensor, async_op=True)
    work.wait()
    assert work.get_future().done() or work.get_future().wait()
    assert work.get_future().wait()[0].data_ptr() == tensor.data_ptr()


def test_futures_hold_the_output_tensors(ranks):
    ranks.run(future_values)


def callbacks_that_communicate(depth, count):
    def chain(tensor, left):
        future = dist.all_reduce(tensor, async_op=True).get_future()
        if left == 0:
            return future
        # Starts the next operation and waits for it, in the callback.
        return future.then(lambda done: chain(done.value()[0], left - 1).wait())

    # One after the other: the callbacks' operations must come in the same order on all ranks.
    for _ in range(count):
        value = chain(torch.ones(3), depth).wait()
        same(value[0], torch.full((3,), float(dist.get_world_size() ** (depth + 1))))


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_callbacks_may_start_operations_and_wait_for_them(ranks, depth):
    ranks.run(callbacks_that_communicate, depth, 10)


def callbacks_in_order():
    """Whatever completes first, and however late callbacks are attached."""
    rank, size = dist.get_rank(), dist.get_world_size()
    order, chained = [], []

    def follow(i):
        def callback(done):
            order.append(i)
            tensor = torch.full((3,), float(i))
            dist.all_reduce(tensor)  # blocking, of equal size whichever callback makes it
            return tensor[0].item()
        return callback

    for i in range(30):
        future = dist.all_reduce(torch.ones(1 + 4000 * (i % 3)), async_op=True).get_future()
        if i % 4 == rank:
            future.wait()  # now it is complete when the callback comes, on this rank only
        chained.append(future.then(follow(i)).then(lambda done: done.value() / size))
    assert [future.wait() for future in chained] == [float(i) for i in range(30)]
    assert order == list(range(30))


def test_callbacks_run_in_the_order_in_which_they_were_attached(ranks):
    ranks.run(callbacks_in_order)


def callback_errors():
    future = dist.all_reduce(torch.ones(1), async_op=True).get_future()
    seen = []
    bad = future.then(lambda done: 1 / 0)
    bad.add_done_callback(lambda done: seen.append("called"))
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        bad.wait()
    dist.all_reduce(torch.ones(1), async_op=True).get_future().then(lambda done: None).wait()
    assert seen == ["called"]


def test_an_error_in_a_callback_is_that_of_its_future(two_ranks):
    two_ranks.run(callback_errors)


def threads_on_groups_of_their_own():
    groups = [dist.new_group() for _ in range(4)]
    failures = []

    def work(group, salt):
        for step in range(30):
            tensor = mine(1 + 1000 * salt, salt + step)
            dist.all_reduce(tensor, group=group)
            if tensor[0] != total(salt + step):
                failures.append((salt, step, tensor[0].item()))

    threads = [threading.Thread(target=work, args=pair) for pair in zip(groups, range(4))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for group in groups:
        dist.destroy_process_group(group)


def test_groups_may_be_used_by_different_threads_at_once(ranks):
    ranks.run(threads_on_groups_of_their_own)


def wait_too_short():
    tensor = torch.zeros(1)
    if dist.get_rank() == 0:
        work = dist.irecv(tensor, 1)
        with pytest.raises(RuntimeError) as error:
            work.wait(datetime.timedelta(milliseconds=20))
        dist.send(tensor, 1)
        work.wait()
        assert tensor[0] == 7
        return str(error.value)
    dist.recv(tensor, 0)
    dist.send(torch.tensor([7.0]), 0)
    return None


def test_a_wait_that_times_out_does_not_end_the_operation(two_ranks):
    text, _ = two_ranks.run(wait_too_short)
    assert "Timed out waiting 20ms" in text
