# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The calls of rank.c over torch.distributed, for rivals.py: BACKEND COUNT RANK RANKS PORT SECONDS."""

import datetime
import os
import sys

import torch
import torch.distributed as dist

backend, count, rank, ranks, port, seconds = sys.argv[1], *map(int, sys.argv[2:])
limit = datetime.timedelta(seconds=seconds)
dist.init_process_group(backend, f"tcp://127.0.0.1:{port}", limit, ranks, rank)
values = torch.zeros(count)
turn = 0
try:
    while True:
        dist.all_reduce(values)
        if turn == 10:
            print("at", rank, os.getpid(), flush=True)
        turn += 1
except RuntimeError as error:
    print("end", rank, str(error).replace("\n", " "), flush=True)
os._exit(0)
