#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Exported schedules, run by SimGrid: it agrees with `tutti simulate` where nothing contends.

Usage: simgrid_test.py TUTTI        the test
       simgrid_test.py --replay FILE ALPHA BYTE_S    seconds that one GOAL file takes

A rank is an actor on a host of its own; two links join each host to a switch. A message costs its
sender and its receiver a quarter of alpha each, and half of alpha passes on the way. One over 64 KiB
is asked for and granted first, which takes two alpha (docs/scale.md).
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from packages import need  # noqa: E402

ALPHA_US = 20
RATE_GBIT = 8
WITHIN = 0.05
UNASKED_BYTES = 64 << 10
SIZES = ["8", "1kb", "32kb"]
SHORT = ["8"]  # else several messages of a rank would share its link
CALLS = [
    ("allreduce", "recursive_doubling", SIZES),
    ("allreduce", "rabenseifner", SIZES),
    ("allreduce", "bine", SIZES),
    ("allreduce", "ring", SIZES),
    ("broadcast", "bine", SHORT),
    ("allgather", "bruck", SIZES),
    ("allgather", "bine", SIZES),
    ("reduce_scatter", "circulant", SIZES),
    ("reduce_scatter", "bine", SIZES),
    ("barrier", "dissemination", SHORT),
]
RANKS = [2, 8, 16]


def ranks_of(text):
    """By rank: operations in their order, each with the labels that have to have ended before."""
    ranks = {}
    for number, body in re.findall(r"rank (\d+) \{\n(.*?)\}", text, re.S):
        operations = {}
        for line in body.splitlines():
            if begun := re.fullmatch(r"(l\d+): (.*)", line):
                operations[begun[1]] = (begun[2].split(), [])
            elif needs := re.fullmatch(r"(l\d+) requires (l\d+)", line):
                operations[needs[1]][1].append(needs[2])
            elif not re.fullmatch(r"l\d+ irequires l\d+", line):
                raise ValueError(f"GOAL: expected an operation or what it waits for, got {line!r}")
        ranks[int(number)] = operations
    return ranks


def replay(path, alpha_s, byte_s):
    from simgrid import Actor, Engine, LinkInRoute, Mailbox, NetZone, this_actor

    settings = {"model": "CM02", "crosstraffic": 0, "bandwidth-factor": 1, "latency-factor": 1,
                "weight-S": 0}
    engine = Engine(["replay", "--log=root.thres:error"] +
                    [f"--cfg=network/{name}:{value}" for name, value in settings.items()])
    ranks = ranks_of(Path(path).read_text())
    zone = NetZone.create_full_zone("zone")
    speed = 1e9  # so that a nanosecond is a flop
    hosts, links = [], []
    for rank in ranks:
        hosts.append(zone.create_host(f"host{rank}", speed))
        links.append([zone.create_link(f"{way}{rank}", 1 / byte_s).set_latency(alpha_s / 4).seal()
                      for way in ("up", "down")])
    for a in ranks:
        for b in ranks:
            if a != b:
                way = [LinkInRoute(links[a][0]), LinkInRoute(links[b][1])]
                zone.add_route(hosts[a].netpoint, hosts[b].netpoint, None, None, way, False)
    zone.seal()

    def run(rank, operations):
        # Posted ahead, so that messages leave whether or not they are awaited; with their payload.
        arriving = {}
        for label, (words, _) in operations.items():
            if words[0] == "recv":
                arriving[label] = Mailbox.by_name(f"{words[3]}-{rank}-{words[5]}").get_async()
        sent = {}
        for label, (words, needs) in operations.items():
            for need in needs:
                if need in sent:
                    sent.pop(need).wait()
            if words[0] == "calc":
                this_actor.execute(int(words[1]))
            elif words[0] == "send":
                this_actor.execute(alpha_s / 4 * speed)
                if int(words[1].rstrip("b")) > UNASKED_BYTES:
                    this_actor.sleep_for(2 * alpha_s)
                to = Mailbox.by_name(f"{rank}-{words[3]}-{words[5]}")
                sent[label] = to.put_async(label, int(words[1].rstrip("b")))
            else:
                arriving[label][0].wait()
                this_actor.execute(alpha_s / 4 * speed)
        for comm in sent.values():
            comm.wait()

    for rank, operations in ranks.items():
        Actor.create(f"rank{rank}", hosts[rank], run, rank, operations)
    engine.run()
    print(f"{engine.clock:.12f}")


def simulated(tutti, collective, algorithm, ranks, size, path):
    command = [tutti, "simulate", collective, "-a", algorithm, "-n", str(ranks), "--hosts",
               str(ranks), "--latency", str(ALPHA_US), "--rate", str(RATE_GBIT), "--json",
               "--export", path]
    if collective != "barrier":
        command += ["-b", size]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["seconds"]


def main():
    if sys.argv[1] == "--replay":
        return replay(sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))
    need("simgrid", "python3-simgrid")
    failed = 0
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "call.goal"))
        for collective, algorithm, sizes in CALLS:
            for ranks in RANKS:
                for size in sizes:
                    ours = simulated(sys.argv[1], collective, algorithm, ranks, size, path)
                    theirs = float(subprocess.run(
                        [sys.executable, __file__, "--replay", path, str(ALPHA_US * 1e-6),
                         str(8 / (RATE_GBIT * 1e9))], check=True, stdout=subprocess.PIPE).stdout)
                    done += 1
                    if abs(ours - theirs) > WITHIN * theirs:
                        failed += 1
                        print(f"{collective} {algorithm} on {ranks} ranks, {size}: simulated "
                              f"{ours * 1e6:.2f} us, by SimGrid {theirs * 1e6:.2f} us")
    print(f"{done - failed} of {done} calls agree with SimGrid within {WITHIN:.0%}")
    return 1 if failed or done == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
