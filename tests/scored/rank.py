#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Ranks of PyTorch that hang or are slow: the counterpart of rank.cpp for what happens in Python.

Started without arguments it imports PyTorch once. For each line of JSON on its standard input it
then forks a rank, and says its pid: {"env": ..., "words": [TRAFFIC, FAULT, WHO, ARGUMENT],
"output": FILE}. So a rank starts in a moment. All end with this process.
"""

import asyncio
import ctypes
import datetime
import gc
import json
import os
import queue
import select
import signal
import socket
import subprocess
import sys
import threading
import time

import torch
import torch.distributed as dist

PR_SET_PDEATHSIG = 1
ROUNDS_BEFORE = 5
NEVER_S = 1000
model = None
tensors = []


def compute_for_ever():
    while True:
        sum(range(1000))


def computes_in_torch():
    one = torch.ones(64, 64)
    while True:
        one = torch.mm(one, one) * 0


def sleeps_with_gil():
    """A function in C that waits and does not release the interpreter's lock."""
    ctypes.PyDLL(None).sleep(NEVER_S)


def computes_with_gil_in_thread():
    threading.Thread(target=lambda: [i for i in iter(int, 1)], daemon=True).start()
    sys.setswitchinterval(NEVER_S)
    time.sleep(0.05)
    while True:
        pass


def another_thread_keeps_gil():
    threading.Thread(target=sleeps_with_gil, daemon=True).start()
    time.sleep(0.05)


def lock_of_another_thread():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def deadlock():
    one, other = threading.Lock(), threading.Lock()

    def takes_other_first():
        with other:
            time.sleep(0.1)
            one.acquire()

    threading.Thread(target=takes_other_first, daemon=True).start()
    with one:
        time.sleep(0.2)
        other.acquire()


def empty_queue():
    queue.Queue().get()


def joins_thread():
    thread = threading.Thread(target=threading.Event().wait, daemon=True)
    thread.start()
    thread.join()


def fifo():
    path = f"{os.environ['SCORED_FOLDER']}/fifo{os.getpid()}"
    os.mkfifo(path)
    with open(path, "rb") as file:
        file.read()


def pipe():
    os.read(os.pipe()[0], 1)


def server():
    ends = socket.socketpair()
    ends[0].recv(1)


def store_key():
    """A key that nobody sets, over the connection to the store of rank 0."""
    store = dist.TCPStore("127.0.0.1", int(os.environ["STORE_PORT"]), is_master=True,
                          wait_for_workers=False)
    store.get("never")


def child():
    subprocess.run(["sleep", str(NEVER_S)], check=False)


def in_handler():
    """A handler that runs Python: as soon as the interpreter gets on."""
    signal.signal(signal.SIGUSR1, lambda *_: time.sleep(NEVER_S))
    os.kill(os.getpid(), signal.SIGUSR1)
    time.sleep(0.01)


class StuckAtCollection:
    def __del__(self):
        time.sleep(NEVER_S)


def in_garbage_collection():
    circle = [StuckAtCollection()]
    circle.append(circle)
    del circle
    gc.collect()


def raises():
    sys.exit("an error of the program")


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


def raise_stop():
    os.kill(os.getpid(), signal.SIGSTOP)


def in_backward():
    """In a hook of autograd, which runs in a thread of PyTorch's own for devices, here in this."""
    tensor = torch.ones(2, requires_grad=True)
    tensor.register_hook(lambda grad: time.sleep(NEVER_S))
    tensor.sum().backward()


def other_count():
    dist.all_reduce(torch.ones(7))


def barrier_instead():
    dist.barrier()


class Stuck(torch.utils.data.Dataset):
    """Data of which a part never comes."""

    def __len__(self):
        return 1000

    def __getitem__(self, index):
        if index == 40:
            time.sleep(NEVER_S)
        return torch.ones(2)


def loader():
    for _ in torch.utils.data.DataLoader(Stuck(), batch_size=16, num_workers=1):
        pass


def terminal():
    """As input() and pdb do."""
    select.select([os.openpty()[1]], [], [])


def event_loop():
    asyncio.run(asyncio.Event().wait())


def destroy():
    dist.destroy_process_group()
    time.sleep(NEVER_S)


def slow_compute(ms):
    end = time.monotonic() + ms / 1000
    while time.monotonic() < end:
        sum(range(1000))


def slow_sleep(ms):
    time.sleep(ms / 1000)


ONCE = {
    "none": lambda: None, "compute": compute_for_ever, "torch": computes_in_torch,
    "sleep": lambda: time.sleep(NEVER_S), "gil-sleep": sleeps_with_gil,
    "gil-compute": computes_with_gil_in_thread, "gil-thread": another_thread_keeps_gil,
    "lock": lock_of_another_thread, "deadlock": deadlock, "queue": empty_queue,
    "join": joins_thread, "fifo": fifo, "read-pipe": pipe, "read-socket": server,
    "store": store_key, "child": child, "handler": in_handler, "collection": in_garbage_collection,
    "exit": raises, "kill": killed, "raise-stop": raise_stop, "backward": in_backward,
    "loader": loader, "terminal": terminal, "event-loop": event_loop,
    "other-count": other_count, "other-call": barrier_instead, "destroy": destroy,
}
AGAIN = {"slow-compute": slow_compute, "slow-sleep": slow_sleep}


def small():
    dist.all_reduce(torch.ones(2))
    time.sleep(0.001)


def ddp():
    global model
    if model is None:
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
    model(torch.ones(8, 64)).sum().backward()


def jam():
    """A short call behind one that takes long."""
    global tensors
    tensors = tensors or [torch.ones(1 << 24), torch.ones(2)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    for work in reversed(works):
        work.wait()


def started():
    work = dist.all_reduce(torch.ones(64), async_op=True)
    work.wait()
    time.sleep(0.001)


TRAFFIC = {"small": small, "ddp": ddp, "started": started, "jam": jam}


def tell_and_stay(error):
    print("told", error, flush=True)
    while True:
        signal.pause()


def run(traffic, fault, who, argument="0"):
    torch.set_num_threads(1)
    hour = datetime.timedelta(hours=1)
    if "SCORED_RECORDER" in os.environ:  # for baseline.py
        path = f"{os.environ['SCORED_FOLDER']}/recorder{os.environ['RANK']}"
        recorder = torch._C._distributed_c10d._WorkerServer(path)  # noqa: F841
    dist.init_process_group(os.environ.get("SCORED_BACKEND", "ccl"), timeout=hour)
    chosen = str(dist.get_rank()) in who.split(",")
    once = TRAFFIC[traffic]
    for _ in range(ROUNDS_BEFORE):
        once()
    print("ready", flush=True)
    try:
        if chosen and fault in ONCE:
            ONCE[fault]()
        while True:
            if chosen and fault in AGAIN:
                AGAIN[fault](float(argument))
            once()
    except RuntimeError as error:
        tell_and_stay(error)


def start_rank(order):
    pid = os.fork()
    if pid != 0:
        return pid
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    output = os.open(order["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.update(order["env"])
    try:
        run(*order["words"])
    finally:
        sys.stdout.flush()
        os._exit(1)


def main():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("serves", flush=True)
    for line in iter(sys.stdin.readline, ""):
        print(start_rank(json.loads(line)), flush=True)


if __name__ == "__main__":
    main()
