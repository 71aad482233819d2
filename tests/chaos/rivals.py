#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What becomes of the other ranks of a job over Gloo, Open MPI and MPICH, and over Tutti, when one
of three is killed or stopped in the middle of an allreduce on one host. The timeout of a call is
2 s where there is one."""

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "support"))
from ports import free_port  # noqa: E402

RANKS, TIMEOUT_S = 3, 2


class Rival:
    """Processes that print `at RANK PID` and `end RANK TEXT`, and when they said so."""

    def __init__(self, commands):
        self.said = []
        self.processes = [
            subprocess.Popen(c, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                             start_new_session=True)
            for c in commands
        ]
        for process in self.processes:
            threading.Thread(target=self._read, args=(process,), daemon=True).start()

    def _read(self, process):
        for line in process.stdout:
            word, _, rest = line.strip().partition(" ")
            if word in ("at", "end"):
                self.said.append((time.monotonic(), word, *rest.split(" ", 1)))

    def lines(self, word):
        return [line for line in list(self.said) if line[1] == word]

    def end(self):
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for _, _, _, pid in self.lines("at"):  # a launcher may have put them into other sessions
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def wait_for(condition, seconds):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.005)
    return condition()


def outcome(commands, number, patience_s):
    rival = Rival(commands)
    try:
        if not wait_for(lambda: len(rival.lines("at")) == RANKS, 60):
            return "did not start"
        time.sleep(0.3)
        victim = next(int(line[3]) for line in rival.lines("at") if line[2] == str(RANKS - 1))
        begun = time.monotonic()
        os.kill(victim, number)
        launched = len(commands) == 1

        def others_ended():
            if launched and rival.processes[0].poll() is not None:
                return True
            return len(rival.lines("end")) == RANKS - 1

        if not wait_for(others_ended, patience_s):
            told = len(rival.lines("end"))
            return f"hang: {told} of {RANKS - 1} told within {patience_s:g} s"
        ends = rival.lines("end")
        if ends:
            return f"error after {max(end[0] for end in ends) - begun:.2f} s: {ends[0][3][:110]}"
        return f"the launcher ends the job after {time.monotonic() - begun:.2f} s"
    finally:
        rival.end()


def torch_commands(python, backend, count):
    port = str(free_port())
    script = str(HERE / "rival_gloo.py")
    return [[python, script, backend, str(count), str(rank), str(RANKS), port, str(TIMEOUT_S)]
            for rank in range(RANKS)]


def mpi_command(compiler, launcher, folder, count):
    program = f"{folder}/{compiler}"
    subprocess.run([compiler, "-O2", str(HERE / "rival_mpi.c"), "-o", program], check=True)
    return [[*launcher, "-n", str(RANKS), program, str(count)]]


def rivals(given, folder):
    """Names, and a function that gives the commands; None where something is not installed."""
    if given.python:
        yield "Gloo", lambda count: torch_commands(given.python, "gloo", count)
        yield "Tutti, from PyTorch", lambda count: torch_commands(given.python, "ccl", count)
    if shutil.which("mpicc.openmpi"):
        launcher = ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root"]
        yield "Open MPI", lambda count: mpi_command("mpicc.openmpi", launcher, folder, count)
    if shutil.which("mpicc.mpich"):
        launcher = ["mpiexec.mpich"]
        yield "MPICH", lambda count: mpi_command("mpicc.mpich", launcher, folder, count)
        apart = [*launcher, "-disable-auto-cleanup"]
        yield "MPICH, -disable-auto-cleanup", lambda count: mpi_command("mpicc.mpich", apart,
                                                                         folder, count)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", help="an interpreter with torch and torch_ccl")
    parser.add_argument("--patience", type=float, default=20, help="seconds until it is a hang (20)")
    given = parser.parse_args()
    print("| library | fault | 8 B | 1 MiB |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, commands in rivals(given, folder):
            for fault, number in (("killed", signal.SIGKILL), ("stopped", signal.SIGSTOP)):
                cells = [outcome(commands(count), number, given.patience) for count in (2, 1 << 18)]
                print(f"| {name} | {fault} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
