# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What versus.py concludes from its figures.

A size is {"bytes", "contestants": [{"peer", "variant", "us", "rounds_us", ...}], "floor": None or
{"us", ...}}; a job {"collective", "type", "sizes": [...], "waits": [...]}; results {"jobs": [...]}.
"""

import math
import statistics

OURS = "Tutti"
TUTTI_MPI = "Tutti's MPI"  # by the names of MPI
STATISTICS = {"median": statistics.median, "min": min}
# A cell, that is a size of a job, is as good as it should be in either case.
PEER_BAR, FLOOR_BAR = 0.9, 1.15


def is_peer(name):
    return name not in (OURS, TUTTI_MPI)


def best_variants(size):
    """{peer: its fastest variant's entry}"""
    best = {}
    for entry in size["contestants"]:
        if entry["peer"] not in best or entry["us"] < best[entry["peer"]]["us"]:
            best[entry["peer"]] = entry
    return best


def best_peer(size):
    """The fastest entry of another library, or None."""
    peers = [e for p, e in best_variants(size).items() if is_peer(p)]
    return min(peers, key=lambda e: e["us"], default=None)


def compare(ours, theirs):
    """(ratio of the figures, "win" | "even" | "loss"); below 1 Tutti is faster.

    Rounds are paired: it is even unless Tutti was ahead, or behind, in three rounds of four."""
    paired = [a / b for a, b in zip(ours["rounds_us"], theirs["rounds_us"])]
    verdict = "even"
    if len(paired) >= 3:
        lower, _, upper = statistics.quantiles(paired, n=4, method="inclusive")
        verdict = "win" if upper < 1 else "loss" if lower > 1 else "even"
    return ours["us"] / theirs["us"], verdict


def cell(size):
    """{"peer", "ratio", "verdict", "to_floor", "good"}, or None without figures to compare."""
    best, other, floor = best_variants(size), best_peer(size), size["floor"]
    ours = best.get(OURS)
    if not ours or not other:
        return None
    ratio, verdict = compare(ours, other)
    to_floor = ours["us"] / floor["us"] if floor else None
    good = ratio <= PEER_BAR or (to_floor is not None and to_floor <= FLOOR_BAR)
    return {"peer": other["peer"], "ratio": ratio, "verdict": verdict, "to_floor": to_floor,
            "good": good}


def of(jobs):
    """{"cells", "good", "geometric_mean", "missing"} of any jobs together."""
    sizes = [size for job in jobs for size in job["sizes"]]
    found = [c for c in map(cell, sizes) if c]
    mean = math.exp(statistics.fmean(math.log(c["ratio"]) for c in found)) if found else None
    return {"cells": len(found), "good": sum(c["good"] for c in found), "geometric_mean": mean,
            "missing": len(sizes) - len(found)}
