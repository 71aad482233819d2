#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Runs a command again and again while stopping its processes, one at a time, at random.

A stopped process is one that its machine does not let run for a while: orders of events come up
that hours of undisturbed runs do not show. Each round stops for times around another length, from
some milliseconds to a fifth of a second. The first round that fails, or that does not end, is
shown with its output; the seed repeats the choices, though not the machine's.
"""
import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

LENGTHS = (0.002, 0.01, 0.05, 0.2)  # seconds


def descendants(pid):
    found = []
    try:
        tasks = list(pathlib.Path(f"/proc/{pid}/task").glob("*/children"))
    except OSError:
        return found  # the process has just ended
    for task in tasks:
        try:
            children = [int(child) for child in task.read_text().split()]
        except OSError:
            continue  # it has just ended
        for child in children:
            found += [child, *descendants(child)]
    return found


def signal_to(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def one_round(command, length, limit, choose, output):
    """None if all went well, else what did not."""
    process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    end = time.monotonic() + limit
    while process.poll() is None:
        if time.monotonic() > end:
            for pid in [*descendants(process.pid), process.pid]:
                signal_to(pid, signal.SIGKILL)
            process.wait()
            return f"still running after {limit} s"
        processes = descendants(process.pid)
        if processes:
            stopped = choose.choice(processes)
            signal_to(stopped, signal.SIGSTOP)
            time.sleep(choose.random() * length)
            signal_to(stopped, signal.SIGCONT)
        time.sleep(choose.random() * length)
    return None if process.returncode == 0 else f"exit status {process.returncode}"


def main():
    summary, details = __doc__.split("\n\n")
    parser = argparse.ArgumentParser(description=summary, epilog=details)
    parser.add_argument("--seconds", type=float, default=60, help="begin no round after these (60)")
    parser.add_argument("--limit", type=float, default=300, help="longest round in seconds (300)")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("command", nargs=argparse.REMAINDER, help="whose processes are stopped, not itself")
    given = parser.parse_args()
    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    if not command:
        parser.error("expected a command")
    choose = random.Random(given.seed)
    begin = time.monotonic()
    rounds = 0
    while rounds == 0 or time.monotonic() < begin + given.seconds:
        rounds += 1
        length = choose.choice(LENGTHS)
        with tempfile.TemporaryFile() as output:
            wrong = one_round(command, length, given.limit, choose, output)
            if wrong is None:
                continue
            output.seek(0)
            sys.stdout.write(output.read().decode(errors="replace"))
        print(f"round {rounds}, stops of up to {length} s, seed {given.seed}: {wrong}")
        return 1
    print(f"{rounds} rounds, seed {given.seed}: all ended well")
    return 0


if __name__ == "__main__":
    sys.exit(main())
