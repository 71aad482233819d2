# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What tutti_ccl's calls without torch refuse, and what ranks hear of others that fail."""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import core_ranks
import numpy as np
import pytest
from ranks import Failure

import tutti_ccl as ccl


@pytest.fixture
def ranks():
    made = core_ranks.start(2)
    yield made
    made.kill()


ONES = np.ones(4)
READ_ONLY = np.ones(4)
READ_ONLY.flags.writeable = False
REFUSED = {
    "strides": (lambda c: c.Allreduce(ONES, np.ones(8)[::2]), ValueError,
                "Allreduce: recv is ndarray that is not contiguous"),
    "order": (lambda c: c.Bcast(np.ones((2, 3)).T), ValueError, "buffer is .* not contiguous"),
    "read-only": (lambda c: c.Allreduce(ONES, READ_ONLY), ValueError,
                  "recv is read-only ndarray; expected one that is writable"),
    "bytes": (lambda c: c.Recv(b"abcd"), ValueError, "buffer is read-only bytes"),
    "types": (lambda c: c.Alltoall(ONES, np.ones(4, "f4")), TypeError,
              r"send is float64\[4\] and recv is float32\[4\]; expected one type"),
    "sizes": (lambda c: c.Iallreduce(ONES, np.ones(3)), ValueError,
              r"Iallreduce: recv is float64\[3\]; expected 4 elements"),
    "objects": (lambda c: c.Send([1.0], 0), TypeError, "buffer is list; expected an"),
    "byte order": (lambda c: c.Bcast(np.ones(2, ">f8")), TypeError, "of format '>d'; expected"),
    "long complex": (lambda c: c.Bcast(np.ones(2, np.clongdouble)), TypeError,
                     "of format 'Zg'; expected"),
    "bool": (lambda c: c.Allreduce(ccl.IN_PLACE, np.ones(2, bool)), TypeError, "expected BOR"),
    "root": (lambda c: c.Bcast(ONES, 1), ValueError, "root is 1; expected a rank from 0 to 0"),
    "peer": (lambda c: c.Send(ONES, -2), ValueError, "dest is -2; expected a rank from 0 to 0"),
    "tag": (lambda c: c.Send(ONES, 0, -3), ValueError, "the tag is -3"),
    "counts": (lambda c: c.Allgatherv(ONES, ONES, [4, 4]), ValueError, "recv_counts has 2 entries"),
    "outside": (lambda c: c.Allgatherv(ONES, np.ones(4), [4], [1]), ValueError,
                "expected at least the 5 elements"),
    "in place": (lambda c: c.Reduce_scatter_block(ccl.IN_PLACE, ONES), ValueError,
                 "IN_PLACE is not possible"),
    "rows": (lambda c: c.alltoall(np.ones(3)), ValueError, r"shape \(3,\); expected one for each"),
    "operation": (lambda c: c.Allreduce(ONES, np.ones(4), 99), ccl.InvalidArgument, "99"),
    "color": (lambda c: c.split(-5), ValueError, "color is -5; expected 0 or more, or None"),
    "timeout": (lambda c: c.set_timeout(-1.0), ValueError, "the timeout is -1"),
    "id": (lambda c: ccl.Communicator.create(b"x", 0, 1), ValueError, "1 bytes; expected the 128"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_argument_is_named_and_nothing_is_sent(alone, name):
    call, kind, text = REFUSED[name]
    with pytest.raises(kind, match=text):
        call(alone)
    assert alone.allreduce(2) == 2


def test_an_exception_has_fields_and_can_be_pickled(alone):
    with pytest.raises(ValueError) as caught:
        alone.Allreduce(ONES, np.ones(4), 99)
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, ccl.InvalidArgument)
    assert again.code == "TUTTI_ERR_INVALID_ARGUMENT"
    assert (again.rank, again.operation) == (0, "Allreduce")
    assert again.text == str(caught.value)


def test_a_wait_of_a_request_can_end_before_its_call(alone):
    buffer = np.zeros(1)
    request = alone.Irecv(buffer, 0, 1)
    with pytest.raises(TimeoutError):
        request.wait(0.05)
    assert not request.test()
    alone.Send(np.ones(1), 0, 1)
    assert request.wait(30).count == 1 and buffer[0] == 1


def test_a_call_in_another_thread_is_refused_and_abort_ends_the_first(alone):
    heard = []

    def receive():
        try:
            alone.Recv(np.zeros(1), 0, 1)
        except ccl.Aborted as error:
            heard.append(error.text)

    thread = threading.Thread(target=receive)
    thread.start()
    while True:
        try:
            alone.Barrier()
        except ValueError as error:
            assert "another thread is in a call" in str(error)
            break
    with pytest.raises(ValueError, match="destroy: 1 other threads are in calls"):
        alone.destroy()
    alone.abort("enough")
    thread.join(30)
    assert heard and "enough" in heard[0]
    with pytest.raises(ccl.Aborted):
        alone.destroy()
    assert alone.is_destroyed


def test_a_group_refuses_what_would_wait_and_carries_out_the_rest(alone):
    recv = np.zeros(4)
    with pytest.raises(KeyError), ccl.group():
        request = alone.Iallreduce(ONES, recv)
        with pytest.raises(ccl.InvalidUsage, match="a group that has not ended"):
            request.wait()
        with pytest.raises(ccl.InvalidUsage, match="barrier"):
            alone.Barrier()
        with pytest.raises(ValueError, match="in a group"):
            alone.destroy()
        alone.Isend(np.ones(1), 0, 2)
        raise KeyError
    request.wait()
    assert recv.tolist() == [1, 1, 1, 1]
    assert alone.Recv(np.zeros(1), 0, 2).count == 1


def differ():
    comm = core_ranks.comm()
    with pytest.raises(ccl.Mismatch) as caught:
        comm.Allreduce(ccl.IN_PLACE, np.ones(4 + comm.rank))
        comm.Barrier()
    assert caught.value.rank == comm.rank
    return caught.value.text


def test_ranks_whose_calls_differ_hear_of_both(ranks):
    for text in ranks.run(differ):
        assert "4" in text and "5" in text


def late():
    comm = core_ranks.comm()
    if comm.rank == 0:
        comm.set_timeout(0.2)
        with pytest.raises(ccl.Timeout):
            comm.Recv(np.ones(1), 1, 1)


def test_a_rank_that_waits_too_long_gets_a_timeout(ranks):
    ranks.run(late)


def outlive():
    comm = core_ranks.comm()
    if comm.rank == 1:
        os._exit(9)
    with pytest.raises(ccl.PeerFailed) as caught:
        while True:
            comm.Allreduce(ccl.IN_PLACE, np.ones(1000))
    with pytest.raises(ccl.PeerFailed):
        comm.check()
    with comm.shrink() as left:
        assert (left.rank, left.size) == (0, 1)
        assert left.allreduce(4) == 4
    return caught.value.text


def grow_by_one():
    whole = core_ranks.comm()
    with whole.split(0 if whole.rank == 0 else None) or contextlib.nullcontext() as alone:
        mine = ccl.unique_id() if alone else bytes(128)
        id = whole.bcast(mine)
        with alone.grow(id) if alone else ccl.Communicator.join(id) as grown:
            assert (grown.rank, grown.size) == (whole.rank, 2)
            assert grown.allreduce(1 + grown.rank) == 3
    with pytest.raises(ValueError, match="expected the 128 bytes"):
        ccl.Communicator.join(b"short")


def test_an_id_that_is_released_keeps_no_descriptor():
    before = set(os.listdir("/proc/self/fd"))
    id = ccl.unique_id()
    ccl.release_id(id)
    while set(os.listdir("/proc/self/fd")) - before:
        time.sleep(0.001)
    ccl.release_id(id)
    with pytest.raises(ValueError, match="expected the 128 bytes"):
        ccl.release_id(b"short")


def test_newcomers_join_a_communicator_that_grows(ranks):
    ranks.run(grow_by_one)


def test_a_dead_rank_is_named_and_the_others_go_on(ranks):
    with pytest.raises(Failure) as caught:
        ranks.run(outlive)
    assert "rank 1:\nended with status 9" in str(caught.value)
    assert "rank 0" not in str(caught.value)


def leave():
    comm = core_ranks.comm()
    if comm.rank == 1:
        with pytest.raises(KeyError), comm:
            raise KeyError("lost")
        return ""
    with pytest.raises(ccl.Aborted) as caught:
        comm.Recv(np.ones(1), 1)
    return caught.value.text


def test_peers_of_a_body_that_raises_get_its_text(ranks):
    assert "KeyError: 'lost'" in ranks.run(leave)[0]


def test_a_root_that_cannot_send_says_so(ranks):
    for text in ranks.run(broken_root):
        assert "function, which cannot be pickled" in text


def broken_root():
    comm = core_ranks.comm()
    with pytest.raises((TypeError, ValueError)) as caught:
        comm.bcast(lambda: None)
    assert comm.allreduce(1) == 2
    return str(caught.value)


def interrupt(wait):
    comm = core_ranks.comm()
    if comm.rank == 1:
        with pytest.raises(ccl.TuttiError) as caught:
            while True:
                comm.Send(np.ones(1), 0, 9)
                time.sleep(0.05)
        return caught.value.text
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored if pytest is in the background
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        wait(comm)
    return ""


def wait_blocking(comm):
    comm.Allreduce(ccl.IN_PLACE, np.ones(1 << 16))


def wait_request(comm):
    comm.Irecv(np.ones(1), 1, 1).wait()


def wait_with_limit(comm):
    comm.Irecv(np.ones(1), 1, 1).wait(30)


@pytest.mark.parametrize("wait", [wait_blocking, wait_request, wait_with_limit],
                         ids=lambda wait: wait.__name__)
def test_ctrl_c_ends_a_wait_and_peers_are_told(ranks, wait):
    assert "rank 0" in ranks.run(interrupt, wait)[1]


ENDINGS = {
    "a request in progress": "request = comm.Irecv(bytearray(1))",
    "a request dropped": "comm.Irecv(bytearray(1))",
    "a buffer of many": "for _ in range(100): comm.Isend(bytes(8), 0); comm.Irecv(bytearray(8))",
    "an error": "comm.abort()",
    "a cycle": "comm.itself = comm, comm.Irecv(bytearray(1))",
    "a waiting daemon": "import threading, time; threading.Thread(daemon=True, "
                        "target=comm.Recv, args=(bytearray(1),)).start(); time.sleep(0.3)",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_program_ends_that_has_not_destroyed_its_communicator(ending):
    program = ("import tutti_ccl\n"
               "comm = tutti_ccl.Communicator.from_env()\n" + ENDINGS[ending])
    # Without the line that says why the communicator ended.
    ended = subprocess.run([sys.executable, "-c", program], timeout=60, text=True,
                           env={**os.environ, "CCL_LOG_LEVEL": "error"},
                           stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_importing_loads_neither_torch_nor_the_library():
    program = ("import sys, tutti_ccl\n"
               "assert not {'torch', 'numpy', 'tutti_ccl._core'} & set(sys.modules)\n"
               "with tutti_ccl.Communicator.from_env() as comm:\n"
               "    comm.Allreduce(tutti_ccl.IN_PLACE, bytearray(8))\n"
               "    assert comm.bcast({1: 2}) == comm.allgather({1: 2})[0] == {1: 2}\n"
               "assert not {'torch', 'numpy', 'tutti_ccl._C'} & set(sys.modules)\n"
               "missing = [n for n in tutti_ccl.__all__ if not hasattr(tutti_ccl, n)]\n"
               "assert not missing, missing\n")
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_every_call_of_the_stub_is_there_and_no_other():
    import ast
    from pathlib import Path

    from tutti_ccl import _core

    path = Path(ccl.cwd, "_core.pyi")
    if not path.exists():
        path = Path(__file__).parents[1] / "tutti_ccl" / "_core.pyi"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in filter(lambda node: isinstance(node, ast.ClassDef), tree.body):
        told = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        there = {name for name in vars(getattr(_core, node.name)) if name[:2] != "__"}
        assert there == {name for name in told if name[:2] != "__"}, node.name
