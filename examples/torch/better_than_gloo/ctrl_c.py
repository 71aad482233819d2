#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while ranks wait for one another.

    torchrun --nproc_per_node=2 examples/torch/better_than_gloo/ctrl_c.py

Rank 0 waits for a message that never comes and interrupts itself, as Ctrl-C would, after half a
second. Over ccl it gets KeyboardInterrupt at once, and the ranks that wait for it an error that
names it. With --backend gloo both wait until the timeout of 10 seconds is over.
"""

import argparse
import datetime
import os
import signal
import threading
import time

import torch
import torch.distributed as dist


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    arguments = parser.parse_args()
    dist.init_process_group(arguments.backend, timeout=datetime.timedelta(seconds=10))
    rank = dist.get_rank()
    dist.barrier()
    if rank == 0:
        # A shell starts programs in the background with SIGINT ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    began, caught = time.perf_counter(), None
    try:
        dist.recv(torch.zeros(1), src=1 if rank == 0 else 0)
    except (KeyboardInterrupt, RuntimeError) as error:
        caught = error
    print(f"rank {rank}, after {time.perf_counter() - began:.1f} s: "
          f"{type(caught).__name__}: {caught}", flush=True)
    if rank == 0:
        assert isinstance(caught, KeyboardInterrupt), "the interrupt came as something else"
        print("ok: interrupted")
    else:
        assert "rank 0" in str(caught), "the rank that was interrupted is not named"


if __name__ == "__main__":
    main()
