#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What `tutti simulate` predicts beside what hosts made of namespaces measure; needs root.

    benchmarks/predicted.py build/release/bin/tutti --rate 1gbit

First the figures of the model are measured, by exchanges of two ranks (`tutti bench sendrecv`) on
two hosts: alpha and the line's rate on lines as they are shaped, and on free lines and one core what
a rank needs of a processor for a message and for each byte, and with two ranks for each core what it
needs to take its turn. Then each line of the table is a
shape of a job (HOSTSxRANKS_PER_HOST), a collective and a size: the average time of a call in a loop,
of the least disturbed of some runs, and the time that is simulated. No figure is taken from the
cells. The error is of the prediction: +20 % is one fifth too long.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHORT, LONG, LONGER = 8, 1 << 20, 4 << 20
# What hosts.py lets a shaped line pass at once.
BURST = "128kb"


def bench(given, shape, collective, sizes, rate, before=()):
    """The averages in us by size in bytes, each of the quickest of some runs."""
    hosts, per_host = shape
    command = [ROOT / "tests/support/hosts.py", "--hosts", hosts, "--ranks", per_host]
    command += ["--rate", rate] if rate else []
    command += ["--", *before, "env", "TUTTI_TUNING_FILE=none", given.tutti, "bench", collective,
                "--sizes", ",".join(map(str, sizes)), "--seconds", given.seconds]
    averages = {}
    for _ in range(given.runs):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              timeout=300, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()[-400:]}")
        for line in done.stdout.splitlines():
            words = line.split()
            if len(words) >= 6 and words[0].isdigit():
                size, average = int(words[0]), float(words[4])
                averages[size] = min(average, averages.get(size, average))
    return averages


def measured_figures(given):
    """Options of tutti simulate."""
    line = bench(given, (2, 1), "sendrecv", (SHORT, LONG, LONGER), given.rate)
    one_core = bench(given, (2, 1), "sendrecv", (SHORT, LONG, LONGER), None, ("taskset", "-c", "0"))
    alpha_us = line[SHORT]
    byte_us = (line[LONGER] - line[LONG]) / (LONGER - LONG)
    # On one core, both ranks send and receive one after the other.
    message_cpu_us = min(alpha_us, one_core[SHORT] / 2)
    # With two ranks for each core, each waits once per call.
    crowded = bench(given, (2 * given.cores, 1), "sendrecv", (SHORT,), None)
    turn_us = max(0, crowded[SHORT] / 2 - message_cpu_us)
    byte_cpu_ns = 1e3 * (one_core[LONGER] - one_core[LONG]) / (LONGER - LONG) / 4
    figures = {"--latency": alpha_us, "--rate": 8e-3 / byte_us, "--shared-cores": given.cores,
               "--message-cpu": message_cpu_us, "--turn": turn_us, "--byte-cpu": byte_cpu_ns}
    if given.rate:
        figures["--burst"] = BURST
    return {name: f"{value:.4g}" if isinstance(value, float) else str(value)
            for name, value in figures.items()}


def simulated(given, figures, shape, collective, size, calls):
    hosts, per_host = shape
    command = [given.tutti, "simulate", collective, "--ranks", hosts * per_host, "--hosts", hosts,
               "--bytes", size, "--calls", calls, "--json"]
    command += [word for option in figures.items() for word in option]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=300, check=True, env={"TUTTI_TUNING_FILE": "none"})
    return json.loads(done.stdout)


def sizes_of(text):
    units = {"K": 1 << 10, "M": 1 << 20}
    return [int(word[:-1]) * units[word[-1]] if word[-1] in units else int(word)
            for word in text.split(",")]


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tutti", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--shapes", default="2x1,4x1,8x1,2x2,4x2,2x4")
    parser.add_argument("--collectives", default="allreduce,allgather,alltoall,broadcast")
    parser.add_argument("--sizes", default="8,16K,256K,1M", type=sizes_of)
    parser.add_argument("--rate", help="of each host's line, as tests/support/hosts.py takes it")
    parser.add_argument("--seconds", default="0.3", help="per size and run")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2, help="of this machine, for all hosts")
    return parser.parse_args()


def main():
    given = arguments()
    figures = measured_figures(given)
    print(" ".join(word for option in figures.items() for word in option), end="\n\n")
    errors = []
    print("| hosts x ranks | collective | bytes | measured us | simulated us | error |")
    print("|---|---|---:|---:|---:|---:|")
    for text in given.shapes.split(","):
        hosts, per_host = map(int, text.split("x"))
        for collective in given.collectives.split(","):
            averages = bench(given, (hosts, per_host), collective, given.sizes, given.rate)
            for size, average_us in averages.items():
                # The calls are as many as the measured loop had, or enough to forget a burst.
                calls = int(min(1000, max(10, float(given.seconds) * 1e6 / average_us)))
                found = simulated(given, figures, (hosts, per_host), collective, size, calls)
                predicted_us = found["seconds"] * 1e6
                errors.append(predicted_us / average_us - 1)
                print(f"| {text} | {collective} {found['algorithm']} | {size} | {average_us:.0f} "
                      f"| {predicted_us:.0f} | {errors[-1] * 100:+.0f} % |", flush=True)
    within = sum(abs(error) <= 0.15 for error in errors)
    middle = sorted(abs(error) for error in errors)[len(errors) // 2]
    print(f"\n{within} of {len(errors)} within 15 %; the median error is {middle * 100:.0f} %")


if __name__ == "__main__":
    main()
