#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Measures Tutti and other communication libraries side by side, in one run.

Each contestant is a group of processes that sleep until they are asked for a batch of back-to-back
calls; at every size the contestants take turns, round after round, so that whatever the machine does
besides meets them all alike. README.md beside this file describes the method.
"""

import argparse
import json
import os
import platform
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from peers import report
from peers.contestants import DEBIAN_PACKAGES, PEERS, ROOT, Unavailable, Workshop, floor
from peers.session import Refused, Session

COLLECTIVES = ["allreduce", "broadcast", "reduce", "allgather", "reduce_scatter", "alltoall",
               "barrier"]
ELEMENT = 4  # bytes of a float32
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
MOST_CALLS = 20000


def parse_bytes(text):
    match = re.fullmatch(r"(\d+)\s*([KMG]?)i?B?", text.strip(), re.IGNORECASE)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size such as 4, 16K or 64M")
    return int(match[1]) * UNITS[match[2].upper()]


def parse_sizes(text):
    """"4,64,1K" or "4-64M" (every fourth power) or "4-64M*2" (factor 2)."""
    sizes = []
    for part in text.split(","):
        first, dash, rest = part.partition("-")
        last, _, factor = rest.partition("*")
        size = parse_bytes(first)
        end = parse_bytes(last) if dash else size
        step = int(factor or 4)
        if step < 2 or size < ELEMENT:
            raise argparse.ArgumentTypeError(f"'{part}': sizes start at {ELEMENT}, factors at 2")
        while size <= end:
            sizes.append(size // ELEMENT * ELEMENT)
            size *= step
    return sorted(set(sizes))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--collective", default="allreduce", choices=COLLECTIVES)
    add("--ranks", type=int, default=2)
    add("--sizes", type=parse_sizes, metavar="LIST",
        help="bytes: 4,64,1K or 4-64M (every fourth power) or 4-64M*2; the whole buffer for "
        "allreduce, broadcast and reduce, a rank's block for the others (default: 4-64M)")
    add("--peers", default="all", help=f"all, or some of: {','.join(PEERS)}; tutti always takes part")
    add("--rounds", type=int, help="turns of each contestant at each size (default: 11)")
    add("--batch-ms", type=float, default=20, help="aim of the length of one turn")
    add("--statistic", choices=report.STATISTICS, default="median",
        help="over the rounds; min, with a small --batch-ms, sees past a busy machine")
    add("--quick", action="store_true", help="few sizes and rounds")
    add("--cores", help="cores to pin ranks to, e.g. 0,1 (default: the first allowed ones; ranks "
        "are not pinned if there are fewer cores than ranks)")
    add("--json", type=Path, metavar="FILE", help="everything that was measured")
    add("--markdown", type=Path, metavar="FILE", help="the table and the description of the run")
    add("--svg", type=Path, metavar="FILE", help="a plot, microseconds over bytes")
    add("--build", type=Path, default=ROOT / "build/release", help="where Tutti was built")
    add("--python", default="", help="an interpreter that has PyTorch, for Gloo (default: found "
        "in .venv, or installed)")
    add("--install", action="store_true", help="first install the peers' Debian packages (as root)")
    add("--seed", type=int, default=1, help="of the order of turns")
    options = parser.parse_args()
    options.sizes = options.sizes or parse_sizes("4-64M*64" if options.quick else "4-64M")
    options.rounds = options.rounds or (5 if options.quick else 11)
    if options.collective == "barrier":
        options.sizes = [0]
    names = list(PEERS) if options.peers == "all" else options.peers.split(",")
    for name in names:
        if name not in PEERS:
            parser.error(f"--peers: '{name}' is not one of {', '.join(PEERS)}")
    options.peers = [n for n in PEERS if n in names or n == "tutti"]
    if options.ranks < 2:
        parser.error("--ranks: at least 2")
    return options


def choose_cores(options):
    allowed = sorted(os.sched_getaffinity(0))
    if options.cores:
        allowed = [int(core) for core in options.cores.split(",")]
    return allowed[:options.ranks] if len(allowed) >= options.ranks else []


def machine(cores):
    text = Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", text)
    return {
        "cpu": model[1] if model else platform.machine(),
        "logical_cpus": os.cpu_count(),
        "ranks_pinned_to": cores or None,
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", platform.system()),
        "date": time.strftime("%Y-%m-%d"),
        "load_before": os.getloadavg()[0],
    }


class Match:
    """All sessions, and what was measured."""

    def __init__(self, options, shop):
        self.options, self.shop = options, shop
        self.sessions = {}  # (peer, variant) -> Session
        self.failures = []  # {"peer", "variant", "bytes", "error"}
        self.random = random.Random(options.seed)
        self.entries = []  # description of every contestant that started
        self.floor = None
        self.over_rounds = report.STATISTICS[options.statistic]

    def fail(self, key, error, size=None):
        self.failures.append({"peer": key[0], "variant": key[1], "bytes": size,
                              "error": str(error)})
        where = "" if size is None else f" at {report.size_text(size)}"
        report.note(f"{report.contestant_text(*key)}{where}: {error}")

    def open(self):
        for name in self.options.peers:
            try:
                entries = list(PEERS[name](self.shop))
            except Unavailable as error:
                self.fail((report.PEER_NAMES[name], ""), error)
                continue
            for entry in entries:
                self.open_one(entry)
        try:
            self.floor = Session(floor(self.shop), self.shop)
        except Unavailable as error:
            self.fail(("floor", ""), error)

    def open_one(self, entry):
        key = (entry.peer, entry.variant)
        report.progress(f"starting {report.contestant_text(*key)}")
        try:
            session = Session(entry, self.shop)
        except Unavailable as error:
            return self.fail(key, error)
        self.sessions[key] = session
        self.entries.append({"peer": entry.peer, "variant": entry.variant,
                             "version": session.version, "settings": entry.settings})

    def close(self):
        for session in [*self.sessions.values(), self.floor]:
            if session:
                session.close()

    def drop(self, key, error, size):
        """A refusal concerns one size; anything else ends the contestant."""
        self.fail(key, error, size)
        if not isinstance(error, Refused):
            self.sessions.pop(key).close()

    def ask(self, key, line, size):
        try:
            return self.sessions[key].request(line)
        except Unavailable as error:
            self.drop(key, error, size)
            return None

    def batch(self, key, calls, size):
        """Microseconds per call, of the slowest rank."""
        answers = self.ask(key, f"run {calls} {max(2, calls // 10)}", size)
        return answers and max(map(float, answers)) / calls * 1e6

    def calls_per_batch(self, key, size):
        """From two trials, the first of which only tells how long the second may be."""
        calls = 3
        for _ in range(2):
            us = self.batch(key, calls, size)
            if us is None:
                return None
            calls = int(min(MOST_CALLS, max(3, self.options.batch_ms * 1e3 / max(us, 1e-3))))
        return calls

    def measure(self, size):
        """{"bytes", "contestants": {key: {...}}, "floor": {...}} for one size."""
        count = size // ELEMENT
        calls = {}
        for key in list(self.sessions):
            report.progress(f"{report.size_text(size)}: {report.contestant_text(*key)}")
            if self.ask(key, f"setup {self.options.collective} {count}", size) is None:
                continue
            if (n := self.calls_per_batch(key, size)) is not None:
                calls[key] = n
        times = {key: [] for key in calls}
        floors = {"handover": [], "ordinary": [], "streamed": []}
        for done in range(self.options.rounds):
            report.progress(f"{report.size_text(size)}: round {done + 1} of {self.options.rounds}")
            turns = [key for key in calls if key in self.sessions]
            self.random.shuffle(turns)
            for key in turns:
                if (us := self.batch(key, calls[key], size)) is not None:
                    times[key].append(us)
            self.measure_floor(size, floors)
        for key in list(times):
            if key not in self.sessions or self.ask(key, "check", size) is None:
                del times[key]
        return self.summary(size, calls, times, floors)

    def measure_floor(self, size, floors):
        if not self.floor:
            return
        try:
            answers = self.floor.request("handover 500")
            floors["handover"].append(max(map(float, answers)) * 1e6)
            moved = size * (self.shop.ranks if self.options.collective == "allgather" else 1)
            repetitions = max(2, min(2000, int(self.options.batch_ms * 2e6 / (moved + 1000))))
            answers = [a.split() for a in self.floor.request(f"copy {moved} {repetitions}")]
            floors["ordinary"].append(max(float(a[0]) for a in answers) * 1e6)
            floors["streamed"].append(max(float(a[1]) for a in answers) * 1e6)
        except Unavailable as error:
            self.fail(("floor", ""), error, size)
            self.floor.close()
            self.floor = None

    def summary(self, size, calls, times, floors):
        result = {"bytes": size, "contestants": [], "floor": None}
        for (peer, variant), values in times.items():
            if values:
                result["contestants"].append({
                    "peer": peer, "variant": variant, "us": self.over_rounds(values),
                    "rounds_us": values, "calls_per_round": calls[(peer, variant)]})
        if floors["handover"]:
            handover, ordinary, streamed = map(self.over_rounds, floors.values())
            result["floor"] = {"us": max(handover, min(ordinary, streamed)),
                               "handover_us": handover, "copy_us": ordinary,
                               "copy_streamed_us": streamed}
        return result


def idle_shares(match):
    shares = {}
    for key, session in match.sessions.items():
        shares[report.contestant_text(*key)] = session.idle_share
        if session.idle_share > 0.02:
            report.note(f"{report.contestant_text(*key)} kept {session.idle_share:.2f} cores busy "
                        "while others measured: their figures are worse than they could be")
    return shares


def run(options, shop):
    match = Match(options, shop)
    if os.getloadavg()[0] > 0.5:
        report.note(f"The load is {os.getloadavg()[0]:.1f}: something else runs on this machine, so "
                    "figures are worse and less certain than they could be.")
    results = {"collective": options.collective, "ranks": options.ranks, "type": "float32",
               "operation": "sum", "rounds": options.rounds, "statistic": options.statistic, "machine": machine(shop.cores),
               "sizes": []}
    try:
        match.open()
        results["contestants"] = match.entries
        table = report.Table(options.collective, [e["peer"] for e in match.entries])
        print(table.header())
        for size in options.sizes:
            results["sizes"].append(match.measure(size))
            report.progress("")
            print(table.row(results["sizes"][-1]), flush=True)
        results["idle_cores"] = idle_shares(match)
    finally:
        match.close()
    results["failures"] = match.failures
    return results


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that contestants are ended too
    if options.install:
        subprocess.run(["apt-get", "install", "-y", "-qq", *DEBIAN_PACKAGES], check=True)
    work = ROOT / "build/versus"
    work.mkdir(parents=True, exist_ok=True)
    shop = Workshop(options.ranks, choose_cores(options), options.build.resolve(), work,
                    options.python)
    results = run(options, shop)
    text = report.markdown(results)
    print("\n" + report.verdict(results))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(text)
    if options.svg:
        options.svg.write_text(report.svg(results))
    return 0 if any(s["contestants"] for s in results["sizes"]) else 1


if __name__ == "__main__":
    sys.exit(main())
