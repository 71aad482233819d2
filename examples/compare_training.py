#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Trains over gloo and over ccl, one after the other, and puts the step times side by side."""

import argparse
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(backend, arguments, folder):
    """The results of one training by `arguments.processes` processes."""
    result = pathlib.Path(folder) / f"{backend}.json"
    port = str(free_port())
    command = [sys.executable, HERE / "train_digits.py", "--backend", backend,
               "--epochs", str(arguments.epochs), "--json", result]
    ranks = []
    for rank in range(arguments.processes):
        place = {"RANK": str(rank), "LOCAL_RANK": str(rank),
                 "WORLD_SIZE": str(arguments.processes),
                 "LOCAL_WORLD_SIZE": str(arguments.processes),
                 "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        ranks.append(subprocess.Popen(command, env=os.environ | place))
    try:
        failed = [rank.wait() for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    if any(failed):
        sys.exit(f"training over {backend} failed; exit statuses of the ranks: {failed}")
    return json.loads(result.read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", "--processes", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=40)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gloo, ccl = (run(backend, arguments, folder) for backend in ("gloo", "ccl"))
    print(f"\nhandwritten digits, {arguments.processes} processes, {ccl['steps']} steps")
    print(f"{'backend':12} {'test accuracy':>14} {'median step':>14}")
    for result in (gloo, ccl):
        print(f"{result['backend']:12} {result['accuracy']:>14.2%} "
              f"{result['median_step_ms']:>11.2f} ms")
    ratio = gloo["median_step_ms"] / ccl["median_step_ms"]
    print(f"gloo / ccl: {ratio:.2f}. A step is mostly arithmetic, which is the same in both; what "
          "differs is the\nsum of the gradients over the processes.")


if __name__ == "__main__":
    main()
