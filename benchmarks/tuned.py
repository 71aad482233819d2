#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What a tuned constant or an adaptive mechanism brings: Tutti beside itself without.

    tuned.py                          lists the tuned constants of src/core/tuned.inc
    tuned.py NAME [OPTION ...]        half and twice its value, in builds of their own in build/tuned
    tuned.py mechanisms [OPTION ...]  each mechanism switched off (docs/notes/adaptation.md)

All are timed in one interleaved run of versus.py, for a constant by the options that the table gives;
further OPTIONs of versus.py are added. A ratio above 1 is slower than Tutti as it is. What has an
interval of the geometric mean that includes 1 shows no effect.
"""

import argparse
import json
import math
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "src/core/tuned.inc"
FOLDER = ROOT / "build/tuned"
TRIALS = {"half": 0.5, "twice": 2}
SWITCHES = ["TUTTI_ADAPT=0", "TUTTI_SHM_PULL=0", "TUTTI_SHM_STAGING=cache", "TUTTI_STREAM_BYTES=64m",
            "TUTTI_SPREAD=0", "TUTTI_DOMAIN=none"]
ROW = re.compile(r'^TUTTI_TUNED\((\w+), (\w+), ([^"]+), "(\w+)", "([^"]+)",\s+"([^"]+)",\s+"([^"]+)"\)',
                 re.MULTILINE)


@dataclass
class Constant:
    name: str
    type: str
    value: str
    unit: str
    file: str
    trades: str
    measure: str


def constants(text=None):
    """All rows of the table."""
    return [Constant(*row) for row in ROW.findall(TABLE.read_text() if text is None else text)]


def show(rows):
    for row in rows:
        print(f"{row.name} = {row.value} {row.unit}  ({row.file})")
        print(f"    {row.trades}\n    versus {row.measure}")


def built(name, label):
    """A build of the library with the constant multiplied, as the release build is optimised."""
    cache = (ROOT / "build/release/CMakeCache.txt").read_text()
    lto = re.search(r"^TUTTI_LTO:\w+=(\w+)", cache, re.MULTILINE)
    folder = FOLDER / label
    subprocess.run(
        ["cmake", "--preset", "release", "-B", folder, "--log-level=WARNING",
         f"-DTUTTI_TUNED_TRIAL={name}*{TRIALS[label]}", f"-DTUTTI_LTO={lto[1] if lto else 'ON'}",
         "-DTUTTI_TESTS=OFF", "-DTUTTI_TOOLS=OFF", "-DTUTTI_BENCHMARKS=OFF"],
        cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", "tutti"], cwd=ROOT, check=True)
    return folder


def ratios(results):
    """{(job, bytes): {variant: its time beside that of Tutti as it is}}."""
    found = {}
    for job in results["jobs"]:
        for size in job["sizes"]:
            us = {c["peer"]: c["us"] for c in size["contestants"]}
            if "Tutti" in us:
                key = (f"{job['collective']} {job['type']}", size["bytes"])
                found[key] = {name: t / us["Tutti"] for name, t in us.items() if name != "Tutti"}
    return found


def report(found):
    """A column for each variant: the cells, the geometric mean, and the 95 % interval of that."""
    names = list(dict.fromkeys(name for row in found.values() for name in row))
    widths = [max(len(name) + 2, 8) for name in names]

    def line(title, values):
        return title + "".join(f"{value:{width}.2f}" for value, width in zip(values, widths))

    yield f"{'':32}{'bytes':>12}" + "".join(f"{n:>{width}}" for n, width in zip(names, widths))
    for (job, size), row in found.items():
        yield line(f"{job:32}{size:>12}", [row.get(name, math.nan) for name in names])
    logs = [[math.log(row[name]) for row in found.values() if name in row] for name in names]
    means = [statistics.fmean(values) for values in logs]
    errors = [1.96 * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf
              for values in logs]
    yield line(f"{'geometric mean':44}", map(math.exp, means))
    yield line(f"{'  at least':44}", [math.exp(m - e) for m, e in zip(means, errors)])
    yield line(f"{'  at most':44}", [math.exp(min(m + e, 99)) for m, e in zip(means, errors)])


def attempt(name, variants, options):
    """`variants`: {label: setting}."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    result = FOLDER / f"{name}.json"
    given = [word for label, setting in variants.items() for word in ("--variant", f"{label}={setting}")]
    subprocess.run([sys.executable, "-B", ROOT / "benchmarks/versus.py", "--peers", "tutti",
                    *given, "--json", result, *options], check=True, stdout=subprocess.DEVNULL)
    print("\n".join(report(ratios(json.loads(result.read_text())))))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", help="one of the constants, or mechanisms")
    parser.add_argument("options", nargs=argparse.REMAINDER, help="options of versus.py")
    wanted = parser.parse_args()
    rows = constants()
    if wanted.name is None:
        return show(rows)
    if wanted.name == "mechanisms":
        return attempt("mechanisms", {switch.partition("=")[0]: switch for switch in SWITCHES},
                       wanted.options)
    row = next((row for row in rows if row.name == wanted.name), None)
    if row is None:
        parser.error(f"no constant '{wanted.name}' in {TABLE.relative_to(ROOT)}; tuned.py lists them")
    print(f"{row.name} = {row.value} {row.unit}; above 1: slower than that")
    variants = {label: f"LD_LIBRARY_PATH={built(row.name, label)}" for label in TRIALS}
    return attempt(row.name, variants, ["--rounds", "5", *row.measure.split(), *wanted.options])


if __name__ == "__main__":
    sys.exit(main())
