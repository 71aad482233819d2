#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Does every fault to a job in every phase of its life, and compares what the ranks are told, and
when, with what the library promises.

The last of the ranks is the victim: it is killed, stopped, cut off, without descriptors or memory.
A cell is a fault in a phase, with a collective over a transport: shm within a host, tcp as if each
rank were a host, hosts in network namespaces (root). Its promise is which error the others get,
whom it names, and within how many seconds of the fault. Nobody may crash or hang.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "support"))

import faults  # noqa: E402
import hosts  # noqa: E402
import lines  # noqa: E402
from job import Job, Late  # noqa: E402
import report  # noqa: E402
from promises import all_cells, promise  # noqa: E402

LIVES = 8  # of a job that is restarted
SKIPPED = 77


def watched_ranks(job, promised):
    return [rank for rank in job.everybody if promised.victim or rank is not job.victim]


def judge(job, promised, begun, slack, late):
    """What is wrong, and when the last one had its answer."""
    wrong = []
    slowest = 0.0
    for index, rank in enumerate(job.everybody):
        if rank not in watched_ranks(job, promised):
            continue
        who = f"rank {index}" if rank is not job.newcomer else "newcomer"
        code = rank.process.returncode
        if rank in late:
            wrong.append(f"{who} hangs")
            continue
        if rank.end is None or code != 0:
            end = signal.Signals(-code).name if code is not None and code < 0 else f"status {code}"
            wrong.append(f"{who} ended by {end}")
            continue
        when, status, text = rank.end
        # It waits for the others until its deadline: who is left may take it in after a shrink.
        if rank is job.newcomer and promised.statuses != ("TUTTI_OK",):
            if status == "TUTTI_OK" and promised.statuses:
                wrong.append(f"{who} is told of nothing")
            continue
        slowest = max(slowest, when - begun)
        if rank.wrong and promised.statuses:
            wrong.append(f"{who}: a wrong result")
        if "\ufffd" in text:
            wrong.append(f"{who} is told what is no text: {text}")
        if promised.statuses and status not in promised.statuses:
            wrong.append(f"{who}: {status} {text}")
        elif promised.names and status != "TUTTI_OK" and promised.names not in text:
            wrong.append(f"{who} does not name {promised.names}: {text}")
    if slowest > promised.within_s * slack:
        wrong.append(f"took {slowest:.1f} s")
    return wrong, slowest


def told(job):
    """The first error of a peer, or its OK."""
    ends = [rank.end for rank in job.peers if rank.end is not None]
    failed = [end for end in ends if end[1] != "TUTTI_OK"]
    _, status, text = (failed or ends or [(0, "nothing", "")])[0]
    return status.removeprefix("TUTTI_ERR_").removeprefix("TUTTI_"), text


def restart_often(program, cell):
    """Lives of a job that end before they have come far, one after the other, at one port."""
    port = None
    for life in range(LIVES):
        with Job(program, cell) as job:
            job.port = port or job.port
            port = job.port
            time.sleep(0.01 * life)
    return port


def go_on(job):
    """Into the phase, or to the end of the calls, which ranks that are lost must not see."""
    lost = job.cell.fault in ("kill", "stop", "cut", "half-open")
    if lost and job.cell.phase == "call":
        return
    for rank in job.ranks:
        if rank is not job.victim or not lost:
            rank.tell()


def run_cell(program, cell, slack, given_hosts=None):
    promised = promise(cell)
    job = Job(program, cell, given_hosts, faults.WRAP.get(cell.fault))
    if cell.fault == "restarts":
        job.port = restart_often(program, cell)
    with job:
        try:
            if cell.fault == "hostile":
                faults.hostile(job)
            job.reach()
            begun = time.monotonic()
            if cell.fault != "hostile":
                faults.DO[cell.fault](job)
            go_on(job)
            late = job.wait(watched_ranks(job, promised), promised.within_s * slack + 10)
        except Late as reason:
            return {"cell": cell.name, "wrong": [f"did not come to the phase: {reason}"]}
        wrong, slowest = judge(job, promised, begun, slack, late)
        status, text = told(job)
    return {
        "cell": cell.name,
        "promise": promised.text,
        "told": status,
        "text": text,
        "seconds": round(slowest, 3),
        "wrong": wrong,
    }


def run_on_hosts(program, cell, slack):
    if cell.transport != "hosts":
        return run_cell(program, cell, slack)
    wired = lines.through_wire(cell)
    with hosts.Hosts(cell.ranks, mtu=lines.mtu(cell), through_wire=wired) as made:
        return run_cell(program, cell, slack, made)


def why_skipped(cell, program, no_hosts):
    if cell.transport == "hosts" and no_hosts:
        return no_hosts
    if lines.through_wire(cell) is not None and not os.access("/dev/net/tun", os.W_OK):
        return "a line that misbehaves needs /dev/net/tun"
    if cell.fault == "no-threads":
        return faults.why_not_as_user(program)
    if cell.fault == "full-shm" and not faults.can_unshare():
        return "a full /dev/shm needs a mount namespace, and that root"
    return None


def is_quick(cell):
    """For CI: what ends at a deadline is slow, so one cell of it is enough. Lines that misbehave for
    some calls only."""
    if cell.transport == "hosts":
        quick = ("duplicates", "reorders", "changed-bytes-encrypted", "half-open")
        return cell.fault in quick and cell.phase == "call" and cell.count == 2
    few = ("allreduce",) if cell.fault == "stop" else ("allreduce", "alltoall")
    return cell.collective in few and (cell.fault != "stop" or cell.count == 2)


def chosen(given):
    cells = [cell for cell in all_cells() if re.search(given.only, cell.name)]
    if given.in_ci:
        cells = [cell for cell in cells if is_quick(cell)]
    part, _, parts = given.part.partition("/")
    return cells[int(part) - 1 :: int(parts)]


def arguments():
    summary, details = __doc__.split("\n\n", 1)
    parser = argparse.ArgumentParser(description=summary, epilog=details)
    parser.add_argument("--program", default="build/release/tests/chaos_rank", help="built rank.c")
    parser.add_argument("--list", action="store_true", help="only print the cells and promises")
    parser.add_argument("--only", default="", metavar="REGEX", help="cells whose name has it")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="every Nth cell, from the Kth")
    parser.add_argument("--in-ci", action="store_true", help="few collectives, few lines")
    parser.add_argument("--slack", type=float, default=1, help="times the promised seconds (1)")
    parser.add_argument("--repeat", type=int, default=1, help="each cell so often (1)")
    parser.add_argument("--json", metavar="FILE", help="write the results there, too")
    return parser.parse_args()


def main():
    given = arguments()
    cells = chosen(given)
    if given.list:
        for cell in cells:
            print(f"{cell.name}: {promise(cell).text}")
        return 0
    no_hosts = hosts.unavailable() if any(c.transport == "hosts" for c in cells) else None
    results, skipped = [], {}
    print(report.HEAD)
    for cell in cells * given.repeat:
        reason = why_skipped(cell, given.program, no_hosts)
        if reason:
            skipped[reason] = skipped.get(reason, 0) + 1
            continue
        results.append(run_on_hosts(given.program, cell, given.slack))
        print(report.line(results[-1]), flush=True)
    broken = [result for result in results if result["wrong"]]
    print(f"\n{report.summary(results)}\n\n{len(results)} cells, {len(broken)} promises broken")
    for reason, count in skipped.items():
        print(f"{count} cells skipped: {reason}")
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(results, indent=1) + "\n")
    if not results:
        return SKIPPED
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
