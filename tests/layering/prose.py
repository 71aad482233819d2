#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Checks that the lines of documents are short: `prose.py ROOT`.

A line of a Markdown file has at most 100 columns. Tables and code blocks may be wider, for they
cannot be broken; the address of a link does not count.
"""

import re
import sys
from pathlib import Path

import layering

COLUMNS = 100
FENCE = re.compile(r"\s*(?:```|~~~)")
ADDRESS = re.compile(r"(?<=\])\([^()\s]*\)|https?://\S+")


def prose(text):
    """The numbered lines of `text` that are neither in a code block nor in a table."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            in_code = not in_code
        elif not in_code and not line.lstrip().startswith("|"):
            yield number, line


def complaints(path, text):
    for number, line in prose(text):
        columns = len(ADDRESS.sub("", line))
        if columns > COLUMNS:
            yield f"{path}:{number}: {columns} columns, more than {COLUMNS}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = []
    for path in layering.files_of(root):
        if path.suffix == ".md" and (root / path).exists():
            found += complaints(path, (root / path).read_text(encoding="utf-8"))
    print("\n".join(found) or "prose: nothing to complain about")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
