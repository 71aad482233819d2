#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of small calls and compares them with what is recorded.

    instructions.py BUILD             compare (a test of the build `release`)
    instructions.py BUILD --record    write what is counted to recorded.json

A time on a shared machine says little about so small a change as ten instructions; a count does.
Callgrind counts in one of two ranks, small_calls.cpp, during the call alone; that rank comes last, so
it never waits. Valgrind shows every program the same processor (with AVX2, without AVX-512), and a
count does not depend on the load. It does depend on the compiler: the record names its own.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RECORD = Path(__file__).with_name("recorded.json")
CALLS = 60
SKIPPED = 77  # as CMakeLists.txt has it
SECONDS = 300  # ends a hang
# What may come and go with a change elsewhere, such as another order of the code.
MORE, LESS = 1.03, 0.85

COUNTED = ["tutti_allreduce", "tutti_broadcast", "tutti_barrier", "tutti_send", "tutti_recv",
           "tutti_group_start", "tutti_group_end", "tutti_sendrecv", "tutti_gatherv",
           "tutti_iallreduce", "tutti_isend", "tutti_request_wait", "tutti_request_free"]
AFTER_CALL = "small_calls_after_call"


class CannotCount(Exception):
    """This machine cannot tell: no failure."""


def check_machine():
    if platform.machine() != "x86_64":
        raise CannotCount(f"the record is of x86_64, this is {platform.machine()}")
    if " avx2 " not in Path("/proc/cpuinfo").read_text():
        raise CannotCount("the record is of a processor with AVX2, which this one lacks")
    if shutil.which("valgrind") is None:
        raise CannotCount("valgrind is not installed")
    trial = subprocess.run(["valgrind", "--tool=none", "true"], capture_output=True, text=True)
    if trial.returncode != 0:
        raise CannotCount(f"valgrind cannot run here:\n{trial.stderr}")


def environment():
    """Without variables that would change how the library works."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("CCL_", "TUTTI_"))}
    return {**kept, "TUTTI_TUNING_FILE": "none"}


def run_ranks(build, folder):
    """Runs both ranks; returns what the counted one printed."""
    shared = folder / "shared"
    shared.write_bytes(bytes(4096))
    callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/part",
                 "--collect-atstart=no", f"--dump-before={AFTER_CALL}",
                 *(f"--toggle-collect={function}" for function in COUNTED)]
    # The other rank polls until the counted one comes: if it slept, it would have to be woken.
    other = f'shift {len(callgrind)}; CCL_SPIN_COUNT=2000000000 exec "$@"'
    command = [build / "bin/tutti", "run", "-n", "2", "--timeout", str(SECONDS),
               "sh", "-c", f'if [ "$RANK" = 1 ]; then exec "$@"; fi; {other}', "sh", *callgrind,
               build / "tests/small_calls", shared, str(CALLS)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"small_calls ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout.splitlines()


def count_of(part):
    for line in part.read_text().splitlines():
        if line.startswith("summary:"):
            return int(line.split()[1])
    sys.exit(f"callgrind wrote no summary to {part}")


def measure(build):
    """The compiler, and the instructions of one call of each kind."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compiler, *kinds = run_ranks(build, folder)
        counts = [count_of(folder / f"part.{number}")
                  for number in range(1, CALLS * len(kinds) + 1)]
    found = {}
    for place, kind in enumerate(kinds):
        # The first calls make plans; in a few the peer may have been late.
        found[kind] = int(statistics.median(counts[CALLS * place:CALLS * (place + 1)]))
    return compiler, found


def compare(found, recorded):
    """What is wrong, one line each."""
    wrong = []
    for kind in sorted(found.keys() | recorded.keys()):
        if kind not in recorded or kind not in found:
            wrong.append(f"{kind}: {'counted' if kind in found else 'recorded'} only")
        elif found[kind] > MORE * recorded[kind]:
            wrong.append(f"{kind}: {found[kind]} instructions, more than the recorded "
                         f"{recorded[kind]} by {found[kind] / recorded[kind] - 1:.1%}; "
                         f"up to {MORE - 1:.0%} is accepted")
        elif found[kind] < LESS * recorded[kind]:
            wrong.append(f"{kind}: {found[kind]} instructions, so much less than the recorded "
                         f"{recorded[kind]} that the record would hide a later loss")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, help="a build folder, such as build/release")
    parser.add_argument("--record", action="store_true", help="keep what is counted")
    arguments = parser.parse_args()
    check_machine()
    compiler, found = measure(arguments.build.resolve())
    for kind, count in found.items():
        print(f"{count:6d} instructions: {kind}")
    if arguments.record:
        RECORD.write_text(json.dumps({"compiler": compiler, "instructions": found}, indent=2) + "\n")
        return 0
    recorded = json.loads(RECORD.read_text())
    if compiler != recorded["compiler"]:
        raise CannotCount(f"the record is of {recorded['compiler']}, this is {compiler}")
    wrong = compare(found, recorded["instructions"])
    if wrong:
        print(*wrong, sep="\n")
        print("If that is intended, record it, commit the file, and say why in the commit:")
        print(f"  {sys.argv[0]} {arguments.build} --record")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CannotCount as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
