#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""A barrier that a rank does not reach.

    torchrun --nproc_per_node=3 examples/torch/better_than_gloo/late_barrier.py

The last rank sleeps instead of calling. Over ccl an ordinary barrier names it to every rank that
waits. With --backend gloo it ends in a timeout that names nobody; its monitored_barrier names the
rank, to rank 0.
"""

import argparse
import datetime
import time

import torch.distributed as dist


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    arguments = parser.parse_args()
    dist.init_process_group(arguments.backend, timeout=datetime.timedelta(seconds=2))
    rank, last = dist.get_rank(), dist.get_world_size() - 1
    dist.barrier()
    if rank == last:
        time.sleep(4)
        return
    text = ""
    try:
        dist.barrier()
    except RuntimeError as error:
        text = str(error)
    print(f"rank {rank}: {text or 'no error'}", flush=True)
    assert f"rank {last}" in text, "the rank that is late is not named"
    if rank == 0:
        print("ok: named")


if __name__ == "__main__":
    main()
