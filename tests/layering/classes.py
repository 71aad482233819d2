#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Checks how much one class holds: `classes.py ROOT`.

A class has at most so many data members and so many functions, constructors aside: one that has
more is several. ctags counts, in headers.
"""

import collections
import json
import re
import subprocess
import sys
from pathlib import Path

MOST_MEMBERS = 24
MOST_FUNCTIONS = 40
FOLDERS = ["src", "env", "kernels", "transports", "algorithms", "tools", "compat", "python/csrc",
           "python/core"]
# Not ours to divide.
EXCEPT = {
    "tutti::Environment": "one field for each variable of env/variables.inc",
    "tutti::JobVariables": "one field for each of these that ranks share",
    "tutti_torch::ProcessGroupTutti": "the interface that PyTorch asks of a backend",
}


def tags(root):
    folders = [folder for folder in FOLDERS if (root / folder).is_dir()]
    listed = subprocess.run(
        ["ctags", "-R", "--languages=C++", "--langmap=C++:+.hpp.h", "--kinds-C++=mpf",
         "--fields=+Zs", "--output-format=json", "-f", "-", *folders],
        cwd=root, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in listed.stdout.splitlines()]


def counted(found):
    """By class: its data members, and its functions, but not where these are defined outside."""
    members = collections.defaultdict(set)
    functions = collections.defaultdict(set)
    for tag in found:
        scope = tag.get("scope", "")
        if tag.get("scopeKind") not in ("class", "struct") or not tag["path"].endswith(("hpp", "h")):
            continue
        place, name = (scope, tag["path"]), scope.split("::")[-1]
        if tag["kind"] == "member":
            members[place].add(tag["name"])
        elif tag["name"].lstrip("~") != name and not re.search(rf"\b{name}(<.*>)?::", tag["pattern"]):
            functions[place].add((tag["name"], tag["pattern"]))
    return members, functions


def complaints(found):
    members, functions = counted(found)
    for place in sorted(set(members) | set(functions)):
        scope, path = place
        if scope in EXCEPT:
            continue
        for what, all_of, most in (("data members", members[place], MOST_MEMBERS),
                                   ("functions", functions[place], MOST_FUNCTIONS)):
            if len(all_of) > most:
                yield f"{path}: {scope} has {len(all_of)} {what}, more than {most}"


def main():
    found = tags(Path(sys.argv[1]))
    if len(found) < 1000:
        sys.exit(f"ctags found {len(found)} names only: is this the root, and ctags the universal one?")
    wrong = list(complaints(found))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
