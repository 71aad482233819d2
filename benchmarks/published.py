#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What `tutti simulate` predicts beside times that others have published.

    benchmarks/published.py build/release/bin/tutti [--only Lassen]

published.json has the times, where they are from, and the figures of each machine, which are its own
exchanges of two processes or of two nodes, never the times that are compared. Each line of a table
is a collective on so many ranks and hosts, its block, the algorithm that is simulated, the published
time, the simulated one, and the second over the first. Who published them used other libraries;
docs/scale.md says what that means.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).with_suffix(".json")
ALONE = {"TUTTI_TUNING_FILE": "none"}


def simulated(tutti, options, row):
    command = [tutti, "simulate", row["collective"], "--ranks", row["ranks"], "--hosts", row["hosts"],
               "--bytes", row["bytes"], "--json", *options]
    if "algorithm" in row:
        command += ["--algorithm", row["algorithm"]]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=600, check=False, env=ALONE)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()[-400:]}")
    return json.loads(done.stdout)


def compare(tutti, machine):
    print(f"### {machine['name']}\n\n{machine['source']}\n\n"
          "| ranks | hosts | bytes | simulated | published us | simulated us | ratio |\n"
          "|---:|---:|---:|---|---:|---:|---:|")
    ratios = []
    for row in machine["rows"]:
        found = simulated(tutti, machine["options"], row)
        us = found["seconds"] * 1e6
        ratios.append(us / row["us"])
        print(f"| {row['ranks']} | {row['hosts']} | {row['bytes']} | {row['collective']} "
              f"{found['algorithm']} | {row['us']:.4g} | {us:.4g} | {ratios[-1]:.2f} |", flush=True)
    near = sum(0.8 <= ratio <= 1.25 for ratio in ratios)
    print(f"\n{near} of {len(ratios)} within a fifth; the median ratio is "
          f"{sorted(ratios)[len(ratios) // 2]:.2f}\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tutti")
    parser.add_argument("--only", default="", help="part of a machine's name")
    given = parser.parse_args()
    for machine in json.loads(DATA.read_text(encoding="utf-8")):
        if given.only in machine["name"]:
            compare(given.tutti, machine)


if __name__ == "__main__":
    main()
