#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Gives every variable values that nobody should give, to jobs of two ranks.

Each job must come right, or both ranks must end with an error that names the variable; none may
crash, or last longer than its time limits.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "support"))

from ports import free_port  # noqa: E402

RANKS = 2
LIMIT_S = 60
VALUES = {
    "empty": "",
    "blank": "  ",
    "negative": "-7",
    "huge": "9" * 30,
    "letters": "qwerty",
    "long": "a" * 100_000,
    "control": "\x1b[31m\n\x7f",
    "format": "%s%n{}{0}",
    "list": ",;:^,-0-,",
}


def variables(command):
    done = subprocess.run([command, "info", "--env", "--json"], capture_output=True, check=True)
    return [variable["name"] for variable in json.loads(done.stdout)["variables"]]


def start(program, folder, changed, port, rank):
    kept = {k: v for k, v in os.environ.items() if not re.match("TUTTI_|CCL_|SLURM|PMI|FI_", k)}
    place = {
        "RANK": rank,
        "WORLD_SIZE": RANKS,
        "LOCAL_RANK": rank,
        "LOCAL_WORLD_SIZE": RANKS,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
        "TUTTI_TIMEOUT_MS": 10_000,
        "TUTTI_INIT_TIMEOUT_MS": 5_000,
        "TUTTI_TUNING_FILE": "none",
    }
    environment = {**kept, **{name: str(value) for name, value in place.items()}, **changed}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    command = [program, "none", "allreduce", "1000"]
    return subprocess.Popen(command, env=environment, cwd=folder, text=True, errors="replace", **pipes)


def fault(program, folder, name, value):
    """What is wrong with the job, or None."""
    port = free_port()
    ranks = [start(program, folder, {name: value}, port, rank) for rank in range(RANKS)]
    ends = []
    for rank in ranks:
        try:
            said, _ = rank.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            for each in ranks:
                each.kill()
            return f"rank {ranks.index(rank)} hangs"
        found = re.search(r"^\S+ end (\w+) ?(.*)", said, re.MULTILINE)
        if rank.returncode != 0 or not found:
            return f"rank {ranks.index(rank)} ended by {rank.returncode}: {said[-300:]}"
        ends.append(found.groups())
    failed = [text for status, text in ends if status != "TUTTI_OK"]
    if failed and len(failed) < RANKS:
        return f"one rank goes on: {ends}"
    if failed and not any(name in text for text in failed):
        return f"no error names the variable: {failed}"
    if failed and max(len(text) for text in failed) > 3_000:
        return f"an error of {max(len(text) for text in failed)} characters"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--program", default="build/release/tests/chaos_rank", help="built rank.c")
    parser.add_argument("--command", default="build/release/bin/tutti", help="the command tutti")
    parser.add_argument("--only", default="", metavar="REGEX", help="VARIABLE=KIND that has it")
    given = parser.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    cells = [
        (name, kind)
        for name in variables(given.command)
        for kind in VALUES
        if re.search(given.only, f"{name}={kind}")
    ]
    broken = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(4) as pool:
        running = [pool.submit(fault, program, folder, n, VALUES[kind]) for n, kind in cells]
        for (name, kind), result in zip(cells, running):
            wrong = result.result()
            if wrong:
                broken += 1
                print(f"{name}={kind}: {wrong}", flush=True)
    print(f"{len(cells)} values, {broken} promises broken")
    return 1 if broken or not cells else 0


if __name__ == "__main__":
    sys.exit(main())
