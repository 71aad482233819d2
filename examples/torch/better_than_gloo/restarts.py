#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""init_process_group, destroy_process_group, and again, in the same processes.

    torchrun --nproc_per_node=2 examples/torch/better_than_gloo/restarts.py

The store of the job keeps what was written before. With --backend gloo some of the rounds meet
addresses of the round before and wait for five times the timeout: "Gloo connectFullMesh failed".
"""

import argparse
import datetime
import os
import time

import torch
import torch.distributed as dist


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    parser.add_argument("--rounds", type=int, default=4)
    arguments = parser.parse_args()
    failed = 0
    for number in range(arguments.rounds):
        began = time.perf_counter()
        text = "ok"
        try:
            dist.init_process_group(arguments.backend, timeout=datetime.timedelta(seconds=2))
            tensor = torch.ones(1)
            dist.all_reduce(tensor)
            assert tensor.item() == dist.get_world_size(), tensor
            dist.destroy_process_group()
        except RuntimeError as error:
            failed += 1
            text = str(error).splitlines()[0]
        if os.environ["RANK"] == "0":
            print(f"round {number + 1}: {text} ({time.perf_counter() - began:.2f} s)", flush=True)
    assert failed == 0, f"{failed} of {arguments.rounds} rounds failed"
    if os.environ["RANK"] == "0":
        print(f"ok: {arguments.rounds} rounds")


if __name__ == "__main__":
    main()
