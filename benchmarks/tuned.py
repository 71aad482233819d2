#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The tuned constants of src/core/tuned.inc: lists them, or tries half and twice one's value.

tuned.py [NAME [OPTION ...]]. Half and twice are builds of their own, in build/tuned. They are timed
beside build/release in one interleaved run of versus.py, by the options that the table gives for
the constant; further OPTIONs of versus.py are added. A ratio above 1 is slower than the value.
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
    """{(job, bytes): {label: time beside that of the value}}."""
    found = {}
    for job in results["jobs"]:
        for size in job["sizes"]:
            us = {c["peer"]: c["us"] for c in size["contestants"]}
            if "Tutti" in us:
                key = (f"{job['collective']} {job['type']}", size["bytes"])
                found[key] = {label: us[label] / us["Tutti"] for label in TRIALS if label in us}
    return found


def report(found):
    """Lines of a table, and the geometric means below it."""
    yield f"{'':32}{'bytes':>12}" + "".join(f"{label:>8}" for label in TRIALS)
    for (job, size), row in found.items():
        yield f"{job:32}{size:>12}" + "".join(f"{row.get(label, math.nan):8.2f}" for label in TRIALS)
    means = [[row[label] for row in found.values() if label in row] for label in TRIALS]
    yield f"{'geometric mean':44}" + "".join(
        f"{statistics.geometric_mean(m) if m else math.nan:8.2f}" for m in means)


def attempt(row, options):
    variants = []
    for label in TRIALS:
        folder = built(row.name, label)
        variants += ["--variant", f"{label}=LD_LIBRARY_PATH={folder}"]
    result = FOLDER / f"{row.name}.json"
    subprocess.run(
        [sys.executable, "-B", ROOT / "benchmarks/versus.py", "--peers", "tutti", "--rounds", "5",
         *row.measure.split(), *variants, "--json", result, *options],
        check=True, stdout=subprocess.DEVNULL)
    print(f"{row.name} = {row.value} {row.unit}; above 1: slower than that")
    print("\n".join(report(ratios(json.loads(result.read_text())))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], add_help=True)
    parser.add_argument("name", nargs="?", help="one of the constants; without it all are listed")
    parser.add_argument("options", nargs=argparse.REMAINDER, help="options of versus.py")
    wanted = parser.parse_args()
    rows = constants()
    if wanted.name is None:
        return show(rows)
    chosen = [row for row in rows if row.name == wanted.name]
    if not chosen:
        parser.error(f"no constant '{wanted.name}' in {TABLE.relative_to(ROOT)}; tuned.py lists them")
    return attempt(chosen[0], wanted.options)


if __name__ == "__main__":
    sys.exit(main())
