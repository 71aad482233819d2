# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Runs a program in several ranks, as torchrun does, without importing torch anew in each."""

import multiprocessing
import os
import pathlib
import runpy
import socket
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 60  # a hang is a failure

# Ranks are forked from a process that has imported what takes seconds, and started nothing.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["torch.distributed.fsdp", "torch.distributed.tensor.parallel",
                                "torch.distributed.checkpoint.state_dict", "torch._dynamo"])


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serve_store():
    """A store that outlives groups, as that of torchrun's agent, and what programs are to know.

    One that rank 0 serves ends with its group, and another rank may have come to it for the next.
    """
    from torch.distributed import TCPStore

    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    return store, {"MASTER_PORT": str(store.port), "TORCHELASTIC_USE_AGENT_STORE": "True"}


def run(program, *arguments, ranks=2, environment=None):
    """(exit statuses by rank, what all wrote). The status of a rank that had to be killed: -9."""
    port = str(free_port())
    with tempfile.TemporaryFile() as output:
        processes = []
        for rank in range(ranks):
            place = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks),
                     "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1",
                     "MASTER_PORT": port, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"}
            processes.append(CONTEXT.Process(
                target=serve, args=(str(program), [str(a) for a in arguments],
                                    place | (environment or {}), output_name(output))))
            processes[-1].start()
        for process in processes:
            process.join(SECONDS)
        for process in processes:
            if process.is_alive():
                process.kill()
                process.join()
        output.seek(0)
        return [process.exitcode for process in processes], output.read().decode()


def output_name(file):
    """One that another process can open to append to."""
    return f"/proc/{os.getpid()}/fd/{file.fileno()}"


def serve(program, arguments, environment, output):
    file = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    # multiprocessing has its own pipes; prints must reach the file line by line.
    sys.stdout, sys.stderr = os.fdopen(1, "w", buffering=1), os.fdopen(2, "w", buffering=1)
    os.environ.update(environment)
    sys.argv = [program, *arguments]
    import torch

    torch.set_num_threads(1)
    runpy.run_path(program, run_name="__main__")
