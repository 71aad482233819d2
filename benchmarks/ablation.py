#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What each adaptive mechanism brings: each is switched off in turn, beside Tutti with all of them.

ablation.py [--ranks 2,4] [--markdown FILE] [OPTION ...]. One interleaved run of versus.py for each
number of ranks; further OPTIONs go to it. A ratio above 1 says that a call takes longer without the
mechanism. A mechanism that wins 3 % on fewer than three cells may go.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# docs/notes/adaptation.md has the mechanisms and their switches.
SWITCHES = {
    "trials of routes and stores": "TUTTI_ADAPT=0",
    "reads of peers": "TUTTI_SHM_PULL=0",
    "distance of cores": "TUTTI_SHM_STAGING=cache",
    "trials of stores": "TUTTI_STREAM_BYTES=64m",
    "measured machine": "TUTTI_MACHINE_MEASURE=0",
    "spread of ranks": "TUTTI_SPREAD=0",
    "cache domains": "TUTTI_DOMAIN=none",
}
CLEARLY = 1.03
HEAD = ["without", "switch", "ranks", "cells", "geometric mean", "it wins", "it loses"]


def measure(ranks, options, result):
    variants = [word for name, switch in SWITCHES.items() for word in ("--variant", f"{name}={switch}")]
    subprocess.run(
        [sys.executable, "-B", ROOT / "benchmarks/versus.py", "--ranks", str(ranks), "--peers",
         "tutti", *variants, "--json", result, *options], check=True, stdout=subprocess.DEVNULL)
    return json.loads(result.read_text())


def ratios(results, name):
    """Of all cells, the time without the mechanism beside that with all."""
    found = []
    for job in results["jobs"]:
        for size in job["sizes"]:
            us = {c["peer"]: c["us"] for c in size["contestants"]}
            if "Tutti" in us and name in us:
                found.append(us[name] / us["Tutti"])
    return found


def rows(all_results):
    """A row for each mechanism and number of ranks."""
    for name, switch in SWITCHES.items():
        for results in all_results:
            found = ratios(results, name)
            if found:
                yield [name, f"`{switch}`", str(results["ranks"]), str(len(found)),
                       f"{statistics.geometric_mean(found):.2f}",
                       str(sum(ratio >= CLEARLY for ratio in found)),
                       str(sum(ratio <= 1 / CLEARLY for ratio in found))]


def table(all_results):
    lines = [HEAD, ["---"] * len(HEAD), *rows(all_results)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def description(results):
    machine = results["machine"]
    return (f"{machine['date']}, {machine['cpu']}, {machine['logical_cpus']} logical CPUs, "
            f"{results['rounds']} rounds, load {machine['load_before']:.1f} before.\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", default="2,4", help="numbers of ranks (default: 2,4)")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="the table, too")
    parser.add_argument("--work", type=Path, default=ROOT / "build/ablation", help="for results")
    wanted, options = parser.parse_known_args()
    wanted.work.mkdir(parents=True, exist_ok=True)
    all_results = [measure(int(ranks), options, wanted.work / f"{ranks}-ranks.json")
                   for ranks in wanted.ranks.split(",")]
    text = description(all_results[0]) + "\n" + table(all_results)
    print(text, end="")
    if wanted.markdown:
        wanted.markdown.write_text(text)


if __name__ == "__main__":
    sys.exit(main())
