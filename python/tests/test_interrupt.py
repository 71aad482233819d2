# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while a rank waits: it gets KeyboardInterrupt, whatever it waits in, and the others are
told who has left."""

import subprocess
import sys
import textwrap

import pytest

# Rank 0 is sent a SIGINT while it waits for rank 1, which never comes; rank 1 tells what it hears.
PROGRAM = textwrap.dedent("""
    import datetime, os, signal, sys, threading, time
    import torch, torch.distributed as dist
    import tutti_ccl.torch

    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored if pytest is in the background
    store, rank, wait = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    dist.init_process_group("ccl", init_method="file://" + store, rank=rank, world_size=2,
                            timeout=datetime.timedelta(seconds=60))
    x = torch.ones(1 << 18)
    dist.all_reduce(x)
    if rank == 1:
        if wait == "group":  # never heard of by rank 0's wait in the store
            time.sleep(3)
            os._exit(0)
        try:
            while True:
                time.sleep(0.1)
                dist.send(torch.ones(1), 0, tag=7)
        except RuntimeError as error:
            print("told:", error, flush=True)
        os._exit(0)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        if wait == "blocking": dist.all_reduce(x)
        elif wait == "work": dist.all_reduce(x, async_op=True).wait()
        elif wait == "recv": dist.recv(x, 1)
        elif wait == "barrier": dist.barrier()
        elif wait == "group": dist.new_group([0, 1], backend="ccl")
        print("nothing was raised", flush=True)
    except KeyboardInterrupt:
        print("KeyboardInterrupt", flush=True)
    if wait != "group":
        try:
            dist.all_reduce(x)
        except RuntimeError as error:
            print("then:", error, flush=True)
    os._exit(0)
""")


def outputs_of_two(program, folder, word):
    """What each of two ranks has written, on both streams."""
    processes = [subprocess.Popen([sys.executable, "-c", program, folder / "store", str(rank), word],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                 for rank in range(2)]
    try:
        return [process.communicate(timeout=50) for process in processes]
    finally:
        for process in processes:
            process.kill()


@pytest.mark.parametrize("wait", ["blocking", "work", "recv", "barrier", "group"])
def test_who_waits_gets_keyboard_interrupt_and_peers_are_told(wait, tmp_path):
    outputs = outputs_of_two(PROGRAM, tmp_path, wait)
    assert outputs[0][0].startswith("KeyboardInterrupt"), outputs
    if wait != "group":
        assert "interrupt" in outputs[0][0].split("then:")[1], outputs
        assert "told:" in outputs[1][0] and "rank 0" in outputs[1][0], outputs


# Rank 0 is interrupted, or fails, where it does not wait; rank 1 tells what it hears of that.
ELSEWHERE = textwrap.dedent("""
    import os, signal, sys, threading, time
    import torch, torch.distributed as dist
    import tutti_ccl.torch

    signal.signal(signal.SIGINT, signal.default_int_handler)
    store, rank, ending = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    dist.init_process_group("ccl", init_method="file://" + store, rank=rank, world_size=2)
    dist.barrier()
    if rank == 1:
        try:
            dist.barrier()
        except RuntimeError as error:
            print("told:", error, flush=True)
        os._exit(0)
    if ending == "error": raise ValueError("a shape that does not fit")
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        time.sleep(30)
    finally:
        if ending == "finally": dist.destroy_process_group()
""")


@pytest.mark.parametrize(("ending", "told"), [
    ("plain", "KeyboardInterrupt"), ("finally", "KeyboardInterrupt"),
    ("error", "ValueError: a shape that does not fit")])
def test_peers_are_told_what_has_ended_a_program_that_did_not_wait(ending, told, tmp_path):
    outputs = outputs_of_two(ELSEWHERE, tmp_path, ending)
    assert told in outputs[1][0] and "rank 0" in outputs[1][0], outputs
    assert "destroyed" not in outputs[1][0], outputs
