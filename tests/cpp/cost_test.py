#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""cost_test.py COMPILER INCLUDE: that calls through tutti.hpp need no more instructions than in C.

Compiles cost.cpp with -O2 and counts the instructions that each function may run unless it fails:
those that are not moved to a cold section.
"""

import re
import subprocess
import sys
from pathlib import Path

# Instructions more than in C at most: an error that is thrown is of two words, where a compiler does
# not move that away; and what starts a call hands a request over in a result.
PAIRS = {"allreduce": 0, "broadcast": 1, "start": 16}


def assembly(compiler, include):
    source = Path(__file__).with_name("cost.cpp")
    command = [compiler, "-std=c++20", "-O2", "-fno-asynchronous-unwind-tables", f"-I{include}",
               "-S", "-o", "-", source]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def instructions(text, function):
    """The instructions of a function between its label and its end, without its cold part."""
    body = re.search(rf"^{function}:.*?\n(.*?)^\s*\.size\s+{function},", text, re.S | re.M).group(1)
    body = re.split(r"^\s*\.section\s+\.text\.unlikely", body, maxsplit=1, flags=re.M)[0]
    return [line.strip() for line in body.splitlines() if re.match(r"\t[a-z]", line)]


def main():
    text = assembly(sys.argv[1], sys.argv[2])
    worse = False
    for name, more in PAIRS.items():
        in_c = instructions(text, f"{name}_in_c")
        in_cpp = instructions(text, f"{name}_in_cpp")
        print(f"{name}: {len(in_c)} instructions in C, {len(in_cpp)} in C++")
        if not in_c or len(in_cpp) > len(in_c) + more:
            worse = True
            print("\n".join(["C:", *in_c, "C++:", *in_cpp]))
    sys.exit(worse)


if __name__ == "__main__":
    main()
