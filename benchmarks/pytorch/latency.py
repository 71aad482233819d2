#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What calls cost PyTorch programs over ccl, over others, and over a backend that does nothing.

`./dev versus --torch` runs it. All contestants live in the same processes and take turns, round
after round in random order, so that whatever the machine does besides meets them all alike. The
floor is a backend whose calls return at once: what PyTorch itself takes. At each rank count a
turn's figure is that of the slowest rank, a contestant's the median over the rounds.
"""

import argparse
import json
import os
import random
import statistics
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for peers

EVEN = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"]
UNEVEN = ["all_gather uneven", "reduce_scatter uneven"]
OURS, OPERATORS, GLOO, DEEPSPEED, FLOOR = ("Tutti", "torch.ops.tutti", "Gloo", "DeepSpeed",
                                           "floor")
ELEMENT = {"bfloat16": 2, "float32": 4}  # bytes
WORK = HERE.parent.parent / "build/versus"


def parser():
    made = argparse.ArgumentParser(prog="versus --torch", description=__doc__.splitlines()[0])
    add = made.add_argument
    add("--ranks", type=int, nargs="+", default=[2, 4, 8], metavar="N")
    add("--collective", nargs="+", choices=EVEN + UNEVEN, default=EVEN + UNEVEN, metavar="NAME",
        help=f"some of: {', '.join(EVEN + UNEVEN)} (default: all); the uneven forms take lists of "
        "tensors whose sizes change in every step")
    add("--sizes", type=int, nargs="+", metavar="BYTES", help="of a rank's tensor or block "
        "(default: 8 512 8192 65536 1048576)", default=[8, 512, 8192, 65536, 1 << 20])
    add("--type", choices=list(ELEMENT), default="bfloat16", help="of tensors (default: %(default)s); "
        "the uneven forms are in bfloat16")
    add("--tokens", type=int, nargs="+", metavar="N", default=[1, 8, 64],
        help="the most of a rank in the uneven forms, at 4 KB each (default: 1 8 64)")
    add("--rounds", type=int, default=15)
    add("--batch-ms", type=float, default=5, help="aim of the length of one turn")
    add("--peers", nargs="*", choices=[GLOO, DEEPSPEED], default=[GLOO, DEEPSPEED], metavar="NAME")
    add("--statistic", choices=["median", "min"], default="median", help="over the rounds; min, "
        "with a small --batch-ms and many --rounds, sees past a busy machine")
    add("--realtime", action="store_true", help="measure at real-time priority (as root), in turns "
        "of a few milliseconds: steadier figures where other programs run. Only for as many ranks "
        "as cores, and not Gloo, whose threads would be left behind")
    add("--json", type=Path, metavar="FILE", help="everything that was measured")
    add("--svg", type=Path, metavar="FILE", help="a plot, microseconds over bytes; one per rank "
        "count, with the count in its name")
    add("--seed", type=int, default=1, help="of the order of turns")
    return made


# ---- in each rank ------------------------------------------------------------------------------

class Contest:
    """The contestants of one rank."""

    def __init__(self, rank, ranks, options, deepspeed):
        import torch.distributed as dist

        import calls

        self.rank, self.ranks, self.options = rank, ranks, options
        self.barrier = dist.barrier
        self.exchange = dist.all_gather_object
        ccl, floor = dist.new_group(backend="ccl"), dist.new_group(backend="nothing")
        self.ways = {OURS: (calls.through_c10d, ccl), OPERATORS: (calls.through_operators, ccl),
                     FLOOR: (calls.through_c10d, floor)}
        if GLOO in options.peers:
            self.ways[GLOO] = calls.through_c10d, dist.group.WORLD
        if deepspeed:
            self.ways[DEEPSPEED] = calls.through_deepspeed, None
        self.realtime = options.realtime and ranks <= os.cpu_count()
        self.failures = []

    def everyone(self, value):
        values = [None] * self.ranks
        self.exchange(values, value)
        return values

    def offered(self, job, size):
        """{name: a function that makes one call}, of those whose result is right on all ranks."""
        import torch

        import calls

        found = {}
        collective, _, uneven = job.partition(" ")
        for name, (way, group) in self.ways.items():
            buffers = (calls.Uneven(collective, size, self.ranks, self.rank) if uneven else
                       calls.Even(collective, size // ELEMENT[self.options.type],
                                  getattr(torch, self.options.type), self.ranks, self.rank))
            problem = None
            try:
                call = way(collective, buffers, group)
                # Some sizes suit who cannot do uneven ones.
                for _ in range(calls.LAYOUTS if uneven else 1):
                    buffers.fill()
                    call()
                    if name != FLOOR and not buffers.is_right():
                        problem = "wrong result"
            except Exception as error:  # what it has not, or cannot do
                problem = str(error).splitlines()[0]
            problems = [each for each in self.everyone(problem) if each]
            if problems:
                self.failures.append({"peer": name, "job": job, "size": size,
                                      "error": problems[0]})
            else:
                found[name] = call
        return found

    def turn(self, name, call, number):
        """Microseconds of one call."""
        for _ in range(2):
            call()
        self.barrier()
        realtime = self.realtime and name != GLOO
        if realtime:
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        call()
        began = time.perf_counter()
        for _ in range(number):
            call()
        passed = time.perf_counter() - began
        if realtime:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        return passed / number * 1e6

    def measure(self, job, size):
        """{name: microseconds by round}"""
        ways = self.offered(job, size)
        number = {}
        for name, call in ways.items():
            guess = max(self.everyone(self.turn(name, call, 3)))
            number[name] = int(min(500, max(3, self.options.batch_ms * 1000 / guess)))
        order, rounds = random.Random(self.options.seed), {name: [] for name in ways}
        for _ in range(self.options.rounds):
            names = list(ways)
            order.shuffle(names)
            for name in names:
                rounds[name].append(self.turn(name, ways[name], number[name]))
        return {name: [max(turns) for turns in zip(*self.everyone(rounds[name]))]
                for name in rounds}


def rank_main(rank, ranks, options, port, module, pipe):
    if ranks <= os.cpu_count():
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[rank]})
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo",
                      OMP_NUM_THREADS="1", LOCAL_SIZE=str(ranks))
    import warnings

    import torch
    import torch.distributed as dist

    import nothing
    import tutti_ccl.torch  # noqa: F401  (makes the backend known)

    warnings.simplefilter("ignore", FutureWarning)
    torch.set_num_threads(1)
    nothing.load(WORK / "nothing")
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    deepspeed = module and load_deepspeed(module, rank, ranks)
    contest = Contest(rank, ranks, options, deepspeed)
    for job in options.collective:
        for size in options.tokens if job in UNEVEN else options.sizes:
            found = contest.measure(job, size)
            if rank == 0:
                pipe.send((job, size, found))
    if rank == 0:
        pipe.send(contest.failures)
    dist.destroy_process_group()


def load_deepspeed(module, rank, ranks):
    import torch.distributed as dist

    from peers import deepspeed_shm

    sys.path.insert(0, str(module))
    library = __import__(deepspeed_shm.MODULE)
    library.initialize(ranks, rank)
    dist.barrier()
    if rank == 0:
        deepspeed_shm.forget_names()
    return library


# ---- the driver --------------------------------------------------------------------------------

def deepspeed_module():
    """Where its shared-memory operator was built; None, with a line that says why, if it cannot be."""
    from peers import contestants

    shop = contestants.Workshop(2, [], HERE.parent.parent / "build/release", WORK, sys.executable)
    try:
        list(contestants.deepspeed(shop))
        return WORK / "deepspeed"
    except Exception as error:
        print(f"{DEEPSPEED}: {error}", file=sys.stderr)
        return None


def figures(rounds, options):
    statistic = {"median": statistics.median, "min": min}[options.statistic]
    return {name: statistic(turns) for name, turns in rounds.items()}


def print_size(size_text, us):
    def cell(name):
        return f"{us[name]:>12.2f}" if name in us else f"{'–':>12}"
    over = us[OURS] - us[FLOOR] if OURS in us and FLOOR in us else float("nan")
    best = min((us[name] for name in (GLOO, DEEPSPEED) if name in us), default=float("nan"))
    print(f"{size_text:>10}" + "".join(map(cell, (FLOOR, OURS, OPERATORS, GLOO, DEEPSPEED))) +
          f"{over:>12.2f}{us.get(OURS, float('nan')) / best:>12.3f}", flush=True)


def run(ranks, options, module):
    """The results of one number of ranks, in the form that peers/plot.py takes."""
    import torch.multiprocessing as processes

    from peers.session import free_port

    ours, theirs = processes.get_context("spawn").Pipe()
    if module and ranks > os.cpu_count():
        module = None  # it spins without yielding
    context = processes.spawn(rank_main, (ranks, options, free_port(), module, theirs),
                              nprocs=ranks, join=False)
    results = {"ranks": ranks, "statistic": options.statistic, "rounds": options.rounds,
               "contestants": [{"peer": name} for name in (OURS, OPERATORS, GLOO, DEEPSPEED)],
               "jobs": []}
    while True:
        while not ours.poll(1):
            if context.join(0) and not ours.poll(0):
                raise SystemExit("the ranks have ended early")
        message = ours.recv()
        if isinstance(message, list):
            results["failures"] = message
            break
        note(results, *message, options)
    while not context.join():
        pass
    return results


def note(results, job, size, rounds, options):
    from peers import text

    us = figures(rounds, options)
    uneven = job in UNEVEN
    kind = "bfloat16" if uneven else options.type
    if not results["jobs"] or results["jobs"][-1]["collective"] != job:
        print(f"\n{job}, {kind}, {results['ranks']} ranks, us per call ({options.statistic})\n"
              f"{'':>10}" + "".join(f"{name:>12}" for name in
                                   ("floor", "ccl", "ops.tutti", GLOO, DEEPSPEED, "ccl - floor",
                                    "ccl / best")))
        results["jobs"].append({"collective": job, "type": kind, "sizes": []})
    print_size(f"<= {size} tok" if uneven else text.size(size), us)
    results["jobs"][-1]["sizes"].append({
        "bytes": size * 4096 if uneven else size,
        "contestants": [{"peer": name, "variant": "", "us": us[name], "rounds_us": rounds[name]}
                        for name in us if name != FLOOR],
        "floor": {"us": us[FLOOR], "rounds_us": rounds[FLOOR]} if FLOOR in us else None})


def main():
    options = parser().parse_args()
    import nothing
    from peers import plot

    nothing.load(WORK / "nothing", build=True)
    module = deepspeed_module() if DEEPSPEED in options.peers else None
    everything = []
    for ranks in options.ranks:
        everything.append(run(ranks, options, module))
        if options.svg:
            name = f"{options.svg.stem}-{ranks}{options.svg.suffix}"
            plot.write_results(options.svg.with_name(name), everything[-1])
    for failure in {(f["peer"], f["job"], f["error"]) for e in everything for f in e["failures"]}:
        print("not measured: {}, {}: {}".format(*failure))
    if options.json:
        options.json.write_text(json.dumps(everything, indent=1) + "\n")


if __name__ == "__main__":
    main()
