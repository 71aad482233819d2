# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""LightGBM over Tutti and over its own sockets: the same models, and how long each takes.

    lightgbm [--ranks 2] [--rounds 3] [--only SHAPE]

Both train in turns in the same processes, each rank with one thread.
"""

import argparse
import hashlib
import multiprocessing
import os
import pathlib
import queue
import resource
import socket
import statistics
import sys
import time

PACKAGES = ["lightgbm==4.7.0", "torch==2.13.0", "numpy"]

# This file has the name of the package that it is about.
sys.path[:] = [path for path in sys.path if path != str(pathlib.Path(__file__).parent)]

# rows of all ranks, features, boosting rounds
SHAPES = {"small": (4_000, 20, 100), "long": (200_000, 50, 20), "wide": (20_000, 1_000, 10)}


def free_ports(count):
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def serve(rank, size, unique_id, tasks, answers):
    import lightgbm
    import numpy as np

    import tutti_ccl.lightgbm

    comm = tutti_ccl.Communicator.create(unique_id, rank, size)
    for network, shape, ports in iter(tasks.get, None):
        rows, features, rounds = SHAPES[shape]
        random = np.random.default_rng(5)
        x = random.standard_normal((rows, features))
        y = x @ random.standard_normal(features) + random.standard_normal(rows)
        share = slice(rank * rows // size, (rank + 1) * rows // size)
        data = lightgbm.Dataset(x[share], y[share])
        wanted = {"objective": "regression", "verbose": -1, "num_threads": 1}
        comm.barrier()
        if network == "tutti":
            wanted |= tutti_ccl.lightgbm.init(comm).params
        else:
            wanted |= {"machines": ",".join(f"127.0.0.1:{port}" for port in ports),
                       "local_listen_port": ports[rank], "num_machines": size,
                       "tree_learner": "data"}
        # Then the ranks are connected, and agree on the bins.
        booster = lightgbm.train(wanted, data, 1, keep_training_booster=True)
        began, cpu = time.monotonic(), cpu_seconds()
        for _ in range(rounds):
            booster.update()
        seconds, cpu = time.monotonic() - began, cpu_seconds() - cpu
        text = "\n".join(line for line in booster.model_to_string().splitlines()
                         if not line.startswith(("[machines:", "[local_listen_port:")))
        answers.put((seconds, cpu, hashlib.sha256(text.encode()).hexdigest()))
        booster.free_network() if network == "sockets" else tutti_ccl.lightgbm.free()


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def answer(answers, processes):
    while True:
        try:
            return answers.get(timeout=1)
        except queue.Empty:
            if any(process.exitcode is not None for process in processes):
                sys.exit("a rank has ended before its answer")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=SHAPES)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")

    import tutti_ccl

    context = multiprocessing.get_context("spawn")
    unique_id, answers = tutti_ccl.unique_id(), context.Queue()
    tasks = [context.Queue() for _ in range(options.ranks)]
    processes = [context.Process(target=serve, daemon=True, args=(
        rank, options.ranks, unique_id, tasks[rank], answers)) for rank in range(options.ranks)]
    for process in processes:
        process.start()
    failed = False
    for shape, (rows, features, rounds) in SHAPES.items():
        if options.only not in (None, shape):
            continue
        times, models = {"tutti": [], "sockets": []}, set()
        for _ in range(options.rounds):
            for network in times:
                task = network, shape, free_ports(options.ranks)
                for each in tasks:
                    each.put(task)
                told = [answer(answers, processes) for _ in tasks]
                times[network].append((max(seconds for seconds, _, _ in told),
                                       sum(cpu for _, cpu, _ in told)))
                models |= {model for _, _, model in told}
        failed |= len(models) != 1
        for network, pairs in times.items():
            seconds, cpu = (statistics.median(column) for column in zip(*pairs))
            print(f"{shape} ({rows} rows, {features} features), {options.ranks} ranks, {network}: "
                  f"{seconds / rounds * 1e3:.1f} ms a round, {cpu / rounds * 1e3:.1f} ms of cores; "
                  f"{'the same model' if len(models) == 1 else 'DIFFERENT MODELS'}", flush=True)
    for each in tasks:
        each.put(None)
    for process in processes:
        process.join(60)
    return failed


if __name__ == "__main__":
    sys.exit(main())
