#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Makes jobs hang and slow in the ways of faults.csv, asks `tutti why`, and counts right answers.

    score.py                       all faults: a table by kind, and what was answered wrong
    score.py --only torch          those whose name has this, a regular expression
    score.py --sample              a few of each program, and no figures: an ordinary test

A row of faults.csv: the job (hosts, ranks, program, traffic: see rank.cpp and rank.py), the fault
(within the rank, or injected from outside: inject.py), the ranks that have it, an argument (of the
fault, or a variable that all ranks have), and the truth: cause@rank, with | between ranks of which
any is right, and + between causes that hold at once. The truth was written before the answers were
known. Cause and rank are compared with those of the first finding in the JSON of the command; where
several hold at once, with those of all findings.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import csv
import functools
import itertools
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
sys.path.insert(0, str(HERE))
import hosts as support  # noqa: E402
import inject  # noqa: E402
from ports import free_port  # noqa: E402

SKIPPED = 77
PATIENCE_S = 60  # ends a hang and nothing else
SETTLES_S = 0.7  # from the fault until it is asked for the first time, and when all have stood still
SLOW_SETTLES_S = 2.0
ASKS = 6
WELL_RANKS, WELL_S = 4, 10
WAITING = ("waits", "hung")
# Faults whose answers do not depend on how busy the machine is.
SAMPLE = ["dead-1", "replaced-1", "stopped-2", "sleeps-1", "lock-3", "file-1", "socket-1", "child-1",
          "order-1", "message-3", "destroyed-1", "function-1", "split-1", "several-2",
          "hosts-stopped-4", "hosts-frozen-2"]

Row = collections.namedtuple("Row", "name hosts ranks program traffic fault inject who argument truth")
Answer = collections.namedtuple("Answer", "row found text ms outcome", defaults=("",))


def read_rows():
    with open(HERE / "faults.csv", newline="", encoding="utf-8") as file:
        return [Row(**{**row, "hosts": int(row["hosts"]), "ranks": int(row["ranks"])})
                for row in csv.DictReader(file)]


def kind_of(row):
    return row.name.rsplit("-", 1)[0]


def truths_of(row):
    """[(cause, {rank, ...}), ...]"""
    pairs = [truth.split("@") for truth in row.truth.split("+")]
    return [(cause, {int(rank) for rank in ranks.split("|") if rank}) for cause, ranks in pairs]


class TorchRanks:
    """The process that forks ranks of PyTorch."""

    def __init__(self, python):
        self.lock = threading.Lock()
        self.server = subprocess.Popen([python, "-B", HERE / "rank.py"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        if self.server.stdout.readline() != "serves\n":
            raise inject.CannotInject("PyTorch or the backend is not installed")

    def start(self, words, env, output):
        order = {"words": words, "env": env, "output": str(output)}
        with self.lock:
            self.server.stdin.write(json.dumps(order) + "\n")
            self.server.stdin.flush()
            return int(self.server.stdout.readline())

    def close(self):
        self.server.stdin.close()
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()


class Tools:
    """What all jobs share."""

    def __init__(self, given):
        self.build = Path(given.build)
        self.tutti = given.tutti or str(self.build / "bin/tutti")
        self.rank = given.rank or str(self.build / "tests/scored_rank")
        self.python = given.python
        self.patient = given.sample
        self.lock = threading.Lock()
        self.torch_ranks = None
        self.hosts = {}  # by thread, and whether a line passes through a process

    def torch(self):
        with self.lock:
            if self.torch_ranks is None:
                self.torch_ranks = TorchRanks(self.python)
            return self.torch_ranks

    def two_hosts(self, through_wire):
        reason = _no_hosts()
        if reason:
            raise inject.CannotInject(reason)
        me = threading.get_ident(), through_wire
        if me not in self.hosts:
            made = support.Hosts(2, through_wire=1 if through_wire else None)
            made.__enter__()
            self.hosts[me] = made
        return self.hosts[me]

    def close(self):
        if self.torch_ranks:
            self.torch_ranks.close()
        for made in self.hosts.values():
            made.close()


@functools.cache
def _no_hosts():
    return support.unavailable()


class Job:
    """The ranks of a row; they end with it."""

    def __init__(self, tools, row):
        self.tools, self.row = tools, row
        self.folder = Path(tempfile.mkdtemp(prefix="scored-"))
        through_wire = row.inject in inject.THROUGH_WIRE
        self.hosts = tools.two_hosts(through_wire) if row.hosts > 1 else None
        self.children = []
        self.pids = []

    def __enter__(self):
        address, port = (self.hosts.addresses[0] if self.hosts else "127.0.0.1"), str(free_port())
        variable = self.row.argument if "=" in self.row.argument else ""
        words = [self.row.traffic, self.row.fault, self.row.who,
                 "0" if variable else self.row.argument or "0"]
        try:
            for rank in range(self.row.ranks):
                self.pids.append(self._start(rank, words, {
                    "RANK": str(rank), "WORLD_SIZE": str(self.row.ranks),
                    "LOCAL_RANK": str(rank % self._per_host()),
                    "LOCAL_WORLD_SIZE": str(self._per_host()),
                    "MASTER_ADDR": address, "MASTER_PORT": port, "STORE_PORT": str(free_port()),
                    "SCORED_FOLDER": str(self.folder), "TUTTI_TUNING_FILE": "none",
                    "OMP_NUM_THREADS": "1", **dict([variable.split("=")] if variable else [])}))
            self._await_ready()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def _per_host(self):
        return self.row.ranks // self.row.hosts

    def host_of(self, rank):
        return rank // self._per_host()

    def output(self, rank):
        return self.folder / f"rank{rank}"

    def said(self, rank):
        path = self.output(rank)  # which a rank makes itself
        return path.read_bytes() if path.exists() else b""

    def _start(self, rank, words, variables):
        if self.row.program == "torch":
            return self.tools.torch().start(words, variables, self.output(rank))
        with open(self.output(rank), "wb") as output:
            outputs = {"stdout": output, "stderr": output, "stdin": subprocess.DEVNULL}
            command = [self.tools.rank, *words]
            if self.hosts:
                child = self.hosts.popen(self.host_of(rank), command, variables, **outputs)
            else:
                child = subprocess.Popen(command, env={**os.environ, **variables},
                                         start_new_session=True, **outputs)
        self.children.append(child)
        return child.pid

    def _await_ready(self):
        end = time.monotonic() + PATIENCE_S
        # Who learns of a fault of others before it is ready tells so.
        ranks = range(self.row.ranks)
        while not all(re.search(b"^(ready|told)", self.said(rank), re.MULTILINE) for rank in ranks):
            if time.monotonic() > end:
                said = [self.said(rank) for rank in ranks]
                raise RuntimeError(f"{self.row.name}: the ranks are not ready: {said}")
            time.sleep(0.01)

    def close(self):
        for pid in self.pids:
            with contextlib.suppress(ProcessLookupError):
                # Its children are of its session.
                os.kill(pid, signal.SIGKILL)
                if self.row.program == "c":
                    os.killpg(pid, signal.SIGKILL)
        for child in self.children:
            child.wait()
            if self.hosts:
                self.hosts.children.remove(child)
        shutil.rmtree(self.folder, ignore_errors=True)

    def bystander(self):
        """A rank without the fault, or else the first: whose process a user would ask about."""
        having = {int(part.split(":")[0]) for part in self.row.who.split(",") if part}
        return next((rank for rank in range(self.row.ranks) if rank not in having), 0)

    def ask(self, command):
        rank = self.bystander()
        enter = self.hosts.enter(self.host_of(rank)) if self.hosts else []
        done = subprocess.run([*enter, self.tools.tutti, *command, str(self.pids[rank])],
                              capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        return json.loads(done.stdout) if done.stdout else {"jobs": []}


def found_in(verdict_of_job):
    return [(finding["cause"], set(finding["ranks"])) for finding in verdict_of_job["findings"]]


def ask_why(job):
    """The first answer that says that somebody waits; else the last. Of a sample the first that is
    right: an ordinary test does not judge how soon that is."""
    time.sleep(SETTLES_S)
    end = time.monotonic() + PATIENCE_S
    for asks in itertools.count(1):
        answer = asked(job, ["why", "--json"])
        if job.tools.patient:
            if all(marks(answer)) or time.monotonic() > end:
                return answer
        elif answer.outcome in WAITING or asks == ASKS:
            return answer
        time.sleep(0.2)


def asked(job, command):
    begun = time.monotonic()
    told = job.ask(command)
    ms = (time.monotonic() - begun) * 1000
    if not told["jobs"]:
        return Answer(job.row, [], "no such job", ms)
    one = told["jobs"][0]
    return Answer(job.row, found_in(one), one["verdict"]["text"], ms, one["verdict"]["outcome"])


def ask_slow(job):
    time.sleep(SLOW_SETTLES_S)
    return asked(job, ["why", "--slow", "--json"])


@contextlib.contextmanager
def injected(job):
    """The fault that comes from outside, if the row has one."""
    with contextlib.ExitStack() as stack:
        if job.row.inject:
            for rank in map(int, job.row.who.split(",")):
                stack.enter_context(inject.ALL[job.row.inject](job.pids[rank], job.hosts,
                                                               job.host_of(rank)))
        yield


def run_row(tools, row):
    """The answer; as text why it cannot be had here."""
    try:
        with Job(tools, row) as job, injected(job):
            ask = ask_slow if row.name.startswith("slow") else ask_why
            return ask(job)
    except inject.CannotInject as reason:
        return str(reason)
    except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as error:
        return Answer(row, [], f"{type(error).__name__}: {error}", 0.0)


def marks(answer):
    """Whether cause and rank are right."""
    truths = truths_of(answer.row)
    if len(truths) == 1:
        found = answer.found[:1]
    else:
        found = answer.found
    cause = all(any(t_cause == cause and ranks <= t_ranks for cause, ranks in found)
                for t_cause, t_ranks in truths)
    rank = all(any(bool(ranks) == bool(t_ranks) and ranks <= t_ranks for _, ranks in found)
               for _, t_ranks in truths)
    return cause, rank


def cost_while_well(tools):
    """What a watcher takes to look at ranks that are well, in words. They do nothing for it."""
    row = Row("well", 1, WELL_RANKS, "c", "small", "none", "", "", "", "@")
    with Job(tools, row) as job:
        watcher = subprocess.Popen([tools.tutti, "watch", "--interval", "1", str(job.pids[0])],
                                   stdout=subprocess.DEVNULL)
        time.sleep(WELL_S)
        os.kill(watcher.pid, signal.SIGTERM)
        _, status, used = os.wait4(watcher.pid, 0)
        watcher.returncode = os.waitstatus_to_exitcode(status)
    share = (used.ru_utime + used.ru_stime) / WELL_S
    return (f"while a job of {row.ranks} ranks is well, tutti watch with a look every second takes "
            f"{share:.1%} of a core")


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def report(answers, skipped):
    by_kind = collections.OrderedDict()
    wrong = []
    for answer in answers:
        by_kind.setdefault(kind_of(answer.row), []).append(answer)
        if not all(marks(answer)):
            wrong.append(answer)
    for answer in wrong:
        print(f"wrong: {answer.row.name} ({answer.row.fault or answer.row.inject} {answer.row.inject} "
              f"in {answer.row.traffic}): {answer.row.truth}, but told: "
              f"{[(cause, sorted(ranks)) for cause, ranks in answer.found]} {answer.outcome}: {answer.text}")
    print("\n| kind | faults | right cause | right rank | median ms | most ms |\n|---|---|---|---|---|---|")
    rows = [*by_kind.items(), ("all", answers)]
    for kind, some in rows:
        times = sorted(answer.ms for answer in some)
        causes = sum(marks(answer)[0] for answer in some)
        ranks = sum(marks(answer)[1] for answer in some)
        print(f"| {kind} | {len(some)} | {percent(causes, len(some))} | {percent(ranks, len(some))} | "
              f"{statistics.median(times):.0f} | {times[-1]:.0f} |")
    times = sorted(answer.ms for answer in answers)
    told_wrong = sum(bool(answer.found) and not all(marks(answer)) for answer in answers)
    print(f"\nof {len(answers)} faults: right cause {percent(sum(marks(a)[0] for a in answers), len(answers))}, "
          f"right rank {percent(sum(marks(a)[1] for a in answers), len(answers))}, "
          f"wrong {percent(told_wrong, len(answers))}; answer after {statistics.median(times):.0f} ms "
          f"(median), {times[int(len(times) * 0.95)]:.0f} ms (95 %)")
    for reason, names in skipped.items():
        print(f"left out: {', '.join(names)}: {reason}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release", help="a build folder")
    parser.add_argument("--tutti", help="the command, if it is elsewhere")
    parser.add_argument("--rank", help="the program of rank.cpp, if it is elsewhere")
    parser.add_argument("--python", default=sys.executable, help="has PyTorch and the backend")
    parser.add_argument("--only", help="a regular expression of names")
    parser.add_argument("--sample", action="store_true", help="a few; the status tells")
    parser.add_argument("--at-once", type=int, default=2, help="jobs at a time")
    given = parser.parse_args()
    rows = read_rows()
    if given.sample:
        rows = [row for row in rows if row.name in SAMPLE]
    if given.only:
        rows = [row for row in rows if re.search(given.only, row.name)]
    if not rows:
        sys.exit(f"score.py: no fault is called so: {given.only}")
    tools = Tools(given)
    answers, skipped = [], collections.defaultdict(list)
    begun = time.monotonic()
    cost = ""
    try:
        with concurrent.futures.ThreadPoolExecutor(given.at_once) as pool:
            for row, answer in zip(rows, pool.map(lambda row: run_row(tools, row), rows)):
                if isinstance(answer, str):
                    skipped[answer].append(row.name)
                else:
                    answers.append(answer)
                    print("." if all(marks(answer)) else "x", end="", file=sys.stderr, flush=True)
        if not given.sample:
            cost = cost_while_well(tools)
    finally:
        tools.close()
    print(f" {time.monotonic() - begun:.0f} s", file=sys.stderr)
    if not answers:
        print(f"score.py: nothing can be injected here: {dict(skipped)}")
        return SKIPPED
    report(answers, skipped)
    if cost:
        print(cost)
    return int(given.sample and not all(all(marks(answer)) for answer in answers))


if __name__ == "__main__":
    sys.exit(main())
