#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Measures Tutti and other communication libraries side by side, in one run.

Each contestant is a group of processes that sleep until they are asked for a batch of back-to-back
calls; at every size the contestants take turns, round after round, so that whatever the machine does
besides meets them all alike. README.md beside this file describes the method.
"""

import argparse
import contextlib
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from peers import plot, report, spread, summary, text
from peers.contestants import DEBIAN_PACKAGES, PEERS, ROOT, SAME_BINARY, Workshop
from peers.match import Match
from peers.plan import COLLECTIVES, TYPES, UNEVEN, Job, Schedule, last_level_cache
from peers.session import guard

ELEMENT = 4  # sizes are multiples, so that they are whole elements of every type
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
MOST_BFLOAT16_RANKS = 13  # whose sums are exact
# Decoding with tensor parallelism: two sums of activations a layer for each token.
INFERENCE = {"collective": ["allreduce"], "type": ["bfloat16"], "hosts": 2, "ranks": 4,
             "rate": 10**10, "sizes": [8 << 10, 16 << 10, 32 << 10, 64 << 10], "in_place": True}


def parse_bytes(text):
    match = re.fullmatch(r"(\d+)\s*([KMG]?)i?B?", text.strip(), re.IGNORECASE)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size such as 4, 16K or 64M")
    return int(match[1]) * UNITS[match[2].upper()]


def parse_rate(text):
    match = re.fullmatch(r"(\d+)([kmg])bit", text.lower())
    if not match or not int(match[1]):
        raise argparse.ArgumentTypeError(f"'{text}' is not a rate such as 100mbit or 1gbit")
    return int(match[1]) * {"k": 10**3, "m": 10**6, "g": 10**9}[match[2]]


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


def some_of(known, **groups):
    """A parser of "a,b", of which each may be a group; the result is in the order of `known`."""
    groups.setdefault("all", known)

    def parse(words):
        names = [name for word in words.split(",") for name in groups.get(word, [word])]
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"'{name}' is not one of {', '.join(known)}")
        return [name for name in known if name in names]
    return parse


def parse_variant(text):
    """"NAME=SETTING,SETTING": the name and the settings."""
    name, _, settings = text.partition("=")
    pairs = dict(setting.partition("=")[::2] for setting in settings.split(","))
    if not name or not all(pairs) or not all("=" in s for s in settings.split(",")):
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VARIABLE=VALUE[,VARIABLE=VALUE]")
    return name, pairs


def add_arguments(parser):
    add = parser.add_argument
    add("--collective", type=some_of(COLLECTIVES + UNEVEN, all=COLLECTIVES, uneven=UNEVEN),
        default=["allreduce"], metavar="LIST",
        help=f"all, that is {','.join(COLLECTIVES)}; uneven, the forms for uneven blocks (with equal "
        f"ones), that is {','.join(UNEVEN)}; or some of these (default: allreduce)")
    add("--type", type=some_of(TYPES), default=["float32"], metavar="LIST",
        help=f"all, or some of: {','.join(TYPES)} (default: float32)")
    add("--all", action="store_true", help="--collective all --type all")
    add("--torch", action="store_true", help="measure what calls cost PyTorch programs instead; the "
        "other options are then those of --torch --help")
    add("--inference", action="store_true", help="what serving a model over hosts asks for: "
        f"{report.CALLS_PER_TOKEN} allreduces of 8 to 64 KB bfloat16 for each token, 2 hosts with 2 "
        "ranks each, 10gbit; the other options change that")
    add("--ranks", type=int, default=2, help="in all (default: 2)")
    add("--hosts", type=int, default=1, metavar="N", help="spread the ranks in blocks over so many "
        "hosts, which are made of network namespaces (as root)")
    add("--rate", type=parse_rate, help="of each host's line, both ways, e.g. 1gbit (default: what "
        "the machine gives)")
    add("--sizes", type=parse_sizes, metavar="LIST",
        help="bytes: 4,64,1K or 4-64M (every fourth power) or 4-64M*2; the whole buffer for "
        "allreduce, broadcast, reduce and sendrecv, a rank's block for the others (default: 4-64M)")
    add("--peers", type=some_of([*PEERS, *SAME_BINARY], all=list(PEERS)), default=list(PEERS),
        metavar="LIST", help=f"all, or some of: {','.join(PEERS)}; tutti always takes part. And "
        f"{','.join(SAME_BINARY)}: one program for MPI's standard ABI over two libraries")
    add("--before", type=Path, metavar="FOLDER", help="another build's folder with libtutti.so, "
        "which takes part as a peer: what a change has brought (one host)")
    add("--variant", action="append", default=[], type=parse_variant, metavar="NAME=SETTINGS",
        help="Tutti once more, with variables of the environment, such as off=TUTTI_ADAPT=0 or "
        "old=LD_LIBRARY_PATH=FOLDER; several settings by commas; may be repeated")
    add("--minutes", type=float, metavar="N", help="what measuring may take altogether: fewer "
        "rounds, but at least 3, and shorter turns; starting the contestants comes on top")
    add("--rounds", type=int, help="turns of each contestant at each size (default: 11)")
    add("--batch-ms", type=float, default=20, help="aim of the length of one turn")
    add("--statistic", choices=summary.STATISTICS, default="median",
        help="over the rounds; min, with a small --batch-ms, sees past a busy machine")
    add("--quick", action="store_true", help="few sizes and rounds")
    add("--buffers", choices=["hot", "rotating"], default="hot", help="the same buffers in every "
        "call, or in turn so many that no cache holds them")
    add("--in-place", action="store_true", help="send and receive buffers coincide")
    add("--form", choices=["blocking", "nonblocking"], default="blocking", help="nonblocking: calls "
        "are started, and waited for at once")
    add("--skew", type=int, default=0, metavar="US", help="each rank comes to each call late by a "
        "random 0 to US microseconds; timed from the last one's arrival")
    add("--tails", action=argparse.BooleanOptionalAction, help="time calls one by one, too, for "
        "p99 and p99.9 (default: with more ranks than cores)")
    add("--cores", help="cores to pin ranks to, e.g. 0,1 (default: the first allowed ones; ranks "
        "are not pinned if there are fewer cores than ranks, unless each host can have some of its "
        "own)")
    add("--json", type=Path, metavar="FILE", help="everything that was measured")
    add("--markdown", type=Path, metavar="FILE", help="the tables and the description of the run")
    add("--svg", type=Path, metavar="FILE", help="a plot, microseconds over bytes")
    add("--build", type=Path, default=ROOT / "build/release", help="where Tutti was built")
    add("--python", default="", help="an interpreter that has PyTorch, for Gloo and DeepSpeed "
        "(default: found in .venv, or installed)")
    add("--install", action="store_true", help="first install the peers' Debian packages (as root)")
    add("--seed", type=int, default=1, help="of the order of turns")


def through_torch(words):
    """Becomes pytorch/latency.py, which has options of its own."""
    program = Path(__file__).with_name("pytorch") / "latency.py"
    os.execv(sys.executable, [sys.executable, str(program), *words])


def arguments():
    if "--torch" in sys.argv:
        through_torch([word for word in sys.argv[1:] if word != "--torch"])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_arguments(parser)
    if "--inference" in sys.argv:
        parser.set_defaults(**INFERENCE)
    options = parser.parse_args()
    options.sizes = options.sizes or parse_sizes("4-64M*64" if options.quick else "4-64M")
    options.rounds = options.rounds or (5 if options.quick else 11)
    if options.all:
        options.collective, options.type = list(COLLECTIVES), list(TYPES)
    options.peers = [n for n in [*PEERS, *SAME_BINARY] if n in options.peers or n == "tutti"]
    if options.svg and plot.LACKING:
        parser.error(plot.LACKING)
    if options.ranks < 2:
        parser.error("--ranks: at least 2")
    if options.hosts < 1 or options.ranks % options.hosts:
        parser.error(f"--hosts: one of the numbers that divide --ranks, {options.ranks}")
    if options.before and options.hosts > 1:
        parser.error("--before: on one host only")
    if options.rate and options.hosts == 1:
        parser.error("--rate: there is no line within one host; see --hosts")
    if options.ranks > MOST_BFLOAT16_RANKS and "bfloat16" in options.type:
        parser.error(f"--ranks: at most {MOST_BFLOAT16_RANKS} with bfloat16, whose sums are to be "
                     "exact")
    if options.tails is None:
        options.tails = len(set(choose_cores(options))) < options.ranks
    return options


def jobs_of(options):
    """Collectives in turn, each with all types; a barrier has no type and no size."""
    for collective in options.collective:
        if collective == "barrier":
            yield Job(collective, "float32", (0,))
            continue
        for name in options.type:
            yield Job(collective, name, tuple(options.sizes))


def choose_cores(options):
    allowed = sorted(os.sched_getaffinity(0))
    if options.cores:
        allowed = [int(core) for core in options.cores.split(",")]
    if len(allowed) < options.ranks and len(allowed) >= options.hosts > 1:
        return spread.shares_of_cores(allowed, options.ranks, options.hosts)
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
        "last_level_cache": last_level_cache(),
        "load_before": os.getloadavg()[0],
    }


def idle_shares(match):
    shares = {}
    for key, session in match.sessions.items():
        shares[text.contestant(*key)] = session.idle_share
        if session.idle_share > 0.02:
            text.note(f"{text.contestant(*key)} kept {session.idle_share:.2f} cores busy "
                        "while others measured: their figures are worse than they could be")
    return shares


def measure_jobs(match, jobs, results):
    peers = [e["peer"] for e in match.entries]
    for job in jobs:
        match.start_job(job)
        if not sys.stderr.isatty():
            text.note(f"{job.name} ({match.schedule.text()})")
        table = report.Table(job.name, peers)
        print(table.header())
        found = {"collective": job.collective, "type": job.type, "sizes": [], "waits": []}
        results["jobs"].append(found)
        for size in job.sizes:
            match.schedule.start_next()
            found["sizes"].append(match.measure(size))
            match.schedule.end()
            text.progress("")
            print(table.row(found["sizes"][-1]), flush=True)
        found["waits"] = match.measure_waits(job.sizes[0])
        text.progress("")
        print(report.waits(found) + "\n", flush=True)


def several_hosts(options):
    reason = spread.namespaces.unavailable()
    if reason:
        raise spread.namespaces.Unavailable(reason)
    return spread.namespaces.Hosts(options.hosts, text.rate(options.rate) if options.rate else None)


def run(options, shop):
    match = Match(options, shop)
    jobs = list(jobs_of(options))
    if os.getloadavg()[0] > 0.5:
        text.note(f"The load is {os.getloadavg()[0]:.1f}: something else runs on this machine, so "
                  "figures are worse and less certain than they could be.")
    results = {"ranks": options.ranks, "hosts": options.hosts, "rate": options.rate,
               "operation": "sum", "rounds": options.rounds, "statistic": options.statistic,
               "skew_us": options.skew, "in_place": options.in_place, "form": options.form,
               "machine": machine(shop.cores), "jobs": []}
    try:
        match.open()
        results["contestants"] = match.entries
        results["rotating_bytes_per_rank"] = (match.rotating_bytes() if options.buffers == "rotating"
                                              else None)
        match.schedule = Schedule(jobs, options.ranks, options.minutes)
        measure_jobs(match, jobs, results)
        results["idle_cores"] = idle_shares(match)
    finally:
        match.close()
    results["failures"] = match.failures
    results["summary"] = summary.of(results["jobs"])
    return results


def print_conclusions(jobs):
    for job in jobs:
        print(report.verdict(job))
    print()
    for job in jobs if len(jobs) > 1 else []:
        print(report.conclusion(report.job_name(job), [job]))
    print(report.conclusion("All", jobs))


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that contestants are ended too
    if options.install:
        subprocess.run(["apt-get", "install", "-y", "-qq", *DEBIAN_PACKAGES], check=True)
    work = ROOT / "build/versus"
    work.mkdir(parents=True, exist_ok=True)
    guard()
    with contextlib.ExitStack() as stack:
        try:
            hosts = stack.enter_context(several_hosts(options)) if options.hosts > 1 else None
        except spread.namespaces.Unavailable as reason:
            text.note(f"--hosts: {reason}")
            return 1
        shop = Workshop(options.ranks, choose_cores(options), options.build.resolve(), work,
                        options.python, hosts)
        results = run(options, shop)
    print_conclusions(results["jobs"])
    if options.inference:
        results["calls_per_token"] = report.CALLS_PER_TOKEN
        print("\n" + "\n".join(report.tokens(results, report.terminal_table)))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(report.markdown(results))
    if options.svg:
        plot.write_results(options.svg, results)
    return 0 if any(s["contestants"] for j in results["jobs"] for s in j["sizes"]) else 1


if __name__ == "__main__":
    sys.exit(main())
