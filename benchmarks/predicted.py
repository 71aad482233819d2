#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What `tutti simulate` predicts beside what hosts made of namespaces measure; needs root.

    benchmarks/predicted.py build/release/bin/tutti --rate 1gbit --delay 200us

Each line is a shape of a job, a collective and a size: the median of `tutti bench`, and the time
that is simulated with the figures of the network which the library measured in the same run. The
error is of the prediction: +20 % is one fifth too long. Shapes are HOSTSxRANKS_PER_HOST.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIGURES = re.compile(r"network: ([\d.]+) us per message, ([\d.]+) MB/s per host")


def measured(tutti, given, hosts, per_host, collective):
    """The medians in us by size in bytes, and the network's latency in us and rate in MB/s."""
    command = [ROOT / "tests/support/hosts.py", "--hosts", hosts, "--ranks", per_host]
    for option in ("rate", "delay"):
        if getattr(given, option):
            command += [f"--{option}", getattr(given, option)]
    command += ["--", "env", "CCL_LOG_LEVEL=info", "TUTTI_TUNING_FILE=none", tutti, "bench",
                collective, "--sizes", ",".join(given.sizes), "--seconds", given.seconds]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=300, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()[-400:]}")
    figures = FIGURES.search(done.stdout + done.stderr)
    if figures is None:
        sys.exit(f"the log names no figures of the network: {done.stderr.strip()[-400:]}")
    medians = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) >= 6 and words[0].isdigit():
            medians[int(words[0])] = float(words[5])
    return medians, float(figures[1]), float(figures[2])


def simulated(tutti, given, hosts, per_host, collective, size, latency_us, rate_mb):
    cores = max(1, given.cores // hosts)
    command = [tutti, "simulate", collective, "--ranks", hosts * per_host, "--hosts", hosts,
               "--bytes", size, "--latency", latency_us, "--rate", rate_mb * 8e-3,
               "--cores", min(cores, per_host), "--calls", 10, "--json"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=300, check=True, env={"TUTTI_TUNING_FILE": "none"})
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tutti")
    parser.add_argument("--shapes", default="2x1,4x1,8x1,2x2,4x2,2x4,8x2")
    parser.add_argument("--collectives", default="allreduce,allgather,alltoall,broadcast")
    parser.add_argument("--sizes", default="8,16K,256K,1M", type=lambda text: text.split(","))
    parser.add_argument("--rate", help="of each host's line, as tests/support/hosts.py takes it")
    parser.add_argument("--delay")
    parser.add_argument("--seconds", default="0.5", help="per size")
    parser.add_argument("--cores", type=int, default=2, help="of this machine, for all hosts")
    given = parser.parse_args()
    tutti = str(Path(given.tutti).resolve())
    errors = []
    print("| hosts x ranks | collective | bytes | measured us | simulated us | error |")
    print("|---|---|---:|---:|---:|---:|")
    for shape in given.shapes.split(","):
        hosts, per_host = map(int, shape.split("x"))
        for collective in given.collectives.split(","):
            medians, latency_us, rate_mb = measured(tutti, given, hosts, per_host, collective)
            for size, median_us in medians.items():
                found = simulated(tutti, given, hosts, per_host, collective, size, latency_us,
                                  rate_mb)
                predicted_us = found["seconds"] * 1e6
                errors.append(predicted_us / median_us - 1)
                print(f"| {shape} | {collective} {found['algorithm']} | {size} | {median_us:.0f} "
                      f"| {predicted_us:.0f} | {errors[-1] * 100:+.0f} % |", flush=True)
    within = sum(abs(error) <= 0.15 for error in errors)
    middle = sorted(abs(error) for error in errors)[len(errors) // 2]
    print(f"\n{within} of {len(errors)} within 15 %; the median error is {middle * 100:.0f} %")


if __name__ == "__main__":
    main()
