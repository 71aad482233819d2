#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""A rank that is its own neighbour: what a ring of one, or a general exchange, comes to.

    torchrun --nproc_per_node=2 examples/torch/better_than_gloo/send_to_oneself.py

Start the send (isend) before the recv: a blocking send of a long message waits for its receiver.
With --backend gloo: "Pair is not connected".
"""

import argparse

import torch
import torch.distributed as dist


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["ccl", "gloo"], default="ccl")
    dist.init_process_group(parser.parse_args().backend)
    rank = dist.get_rank()
    for count in (1, 1000, 1 << 20):
        sent, received = torch.full((count,), rank + 1.0), torch.zeros(count)
        request = dist.isend(sent, dst=rank)
        dist.recv(received, src=rank)
        request.wait()
        assert torch.equal(received, sent)
        received.zero_()
        exchange = [dist.P2POp(dist.isend, sent, rank), dist.P2POp(dist.irecv, received, rank)]
        for request in dist.batch_isend_irecv(exchange):
            request.wait()
        assert torch.equal(received, sent)
    if rank == 0:
        print("ok: each rank has sent messages to itself")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
