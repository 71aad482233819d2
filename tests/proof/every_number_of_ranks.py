#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The ring allgather is right for every number of ranks, not only up to 64.

Usage: every_number_of_ranks.py TUTTI

An example of how to prove an algorithm by induction:

1. A rule says in closed form what rank r of n does. It is compared with the steps that the library
   builds, on 2 to MOST ranks.
2. The rule's claims are implications over all integers n, r, j. Z3 shows that none can be false.

The rule. A rank gives its own block to the next rank. Then it takes block after block from the rank
before, j = 1 ... n-1, and passes on each but the last. What it takes j-th is block (r - j) mod n.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from packages import need  # noqa: E402

BYTES = 64
MOST = 12
SENT_FIRST = 0


def place_of_take(j):
    """Where in a schedule a rank takes its j-th block, 1 <= j."""
    return 2 * j


def place_of_send(j):
    """Where it sends that on, 1 <= j <= n - 2; its own block is the step SENT_FIRST."""
    return 2 * j + 1


def rule(rank, ranks):
    """The steps of a rank, as `tutti explain` writes them."""
    after, before = (rank + 1) % ranks, (rank - 1) % ranks
    steps = {SENT_FIRST: f"send send+0 -> rank {after}  ({BYTES} B)",
             1: f"copy recv+{rank * BYTES} <- send+0  ({BYTES} B)"}
    for j in range(1, ranks):
        place = f"recv+{(rank - j) % ranks * BYTES}"
        steps[place_of_take(j)] = f"recv {place} <- rank {before}  ({BYTES} B)"
        if j < ranks - 1:
            steps[place_of_send(j)] = f"send {place} -> rank {after}  ({BYTES} B)"
    return [steps[place] for place in range(len(steps))]


def built(tutti, rank, ranks):
    command = [tutti, "explain", "allgather", "-a", "ring", "-n", str(ranks), "--rank", str(rank),
               "-b", str(BYTES), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["steps"]


def claims(z3):
    """By name: what holds for all n >= 2 ranks, a rank r of them, and j."""
    n, r, j, k, block = z3.Ints("n r j k block")
    ranks = z3.And(n >= 2, 0 <= r, r < n)

    def wrapped(x):  # x mod n, for -n <= x < 2n, without a product of unknowns
        return z3.If(x < 0, x + n, z3.If(x >= n, x - n, x))

    def taken(rank, number):  # which block a rank takes as its so manieth; 0: it has it
        return wrapped(rank - number)

    after = wrapped(r + 1)
    # The owner of the data that a rank took j-th. By induction over j: itself in the beginning, else
    # the owner of what the rank before took as its (j-1)-th.
    holds = z3.Function("holds", z3.IntSort(), z3.IntSort(), z3.IntSort())
    return {
        "what a rank passes on j-th is what the next one expects as its (j+1)-th":
            z3.Implies(z3.And(ranks, 0 <= j, j <= n - 2), taken(r, j) == taken(after, j + 1)),
        "each passes on as many as the next one takes: j of one is j+1 of the other":
            z3.Implies(z3.And(ranks, 0 <= j), (j <= n - 2) == z3.And(1 <= j + 1, j + 1 <= n - 1)),
        "a block's place holds the block of its owner: the beginning":
            z3.Implies(z3.And(ranks, holds(r, 0) == r), holds(r, 0) == taken(r, 0)),
        "a block's place holds the block of its owner: the step":
            z3.Implies(z3.And(ranks, 0 <= j, j <= n - 2, holds(r, j) == taken(r, j),
                              holds(after, j + 1) == holds(r, j)),
                       holds(after, j + 1) == taken(after, j + 1)),
        "no block is taken twice":
            z3.Implies(z3.And(ranks, 0 <= j, j < k, k <= n - 1), taken(r, j) != taken(r, k)),
        "every block is taken":
            z3.Implies(z3.And(ranks, 0 <= block, block < n),
                       z3.And(0 <= wrapped(r - block), wrapped(r - block) <= n - 1,
                              taken(r, wrapped(r - block)) == block)),
        # So no circle of ranks waits: go back along what is waited for, and places only fall.
        "what a rank takes j-th was sent by a step that stands before that in the other's schedule":
            z3.Implies(z3.And(ranks, 1 <= j, j <= n - 1),
                       z3.If(j == 1, SENT_FIRST, place_of_send(j - 1)) < place_of_take(j)),
    }


def main():
    z3 = need("z3", "python3-z3")
    failed = 0
    for ranks in range(2, MOST + 1):
        for rank in range(ranks):
            if built(sys.argv[1], rank, ranks) != rule(rank, ranks):
                failed += 1
                print(f"rank {rank} of {ranks}: the library builds other steps than the rule")
    for name, claim in claims(z3).items():
        solver = z3.Solver()
        solver.add(z3.Not(claim))
        result = solver.check()
        if result != z3.unsat:
            failed += 1
            print(f"not proved: {name}: {solver.model() if result == z3.sat else result}")
        else:
            print(f"proved: {name}")
    print("the ring allgather is right on every number of ranks" if failed == 0 else
          f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
