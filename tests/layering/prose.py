#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Checks that the lines of documents are short, and that the files which they name exist:
`prose.py ROOT`.

A line of a Markdown file has at most 100 columns. Tables and code blocks may be wider, for they
cannot be broken; the address of a link does not count. Notes and results are of their date, and may
name files that have left.
"""

import fnmatch
import re
import sys
from pathlib import Path

import layering

COLUMNS = 100
FENCE = re.compile(r"\s*(?:```|~~~)")
ADDRESS = re.compile(r"(?<=\])\([^()\s]*\)|https?://\S+")
# In the tree: what begins with a folder of it that no installation has, and all sources in C++.
NAMED = re.compile(r"(?<![\w./>-])((?:algorithms|cmake|compat|docs|examples|kernels|packaging|python|src|tests"
                   r"|tools|transports)/[\w./*-]+|[\w./*-]+\.(?:cpp|hpp|inc))(?![\w<{-])")
OTHERS = {"src/collective/coll.h", "examples/container/osu-ompi/README.md",
          "comms/torchcomms/TorchCommBackend.hpp"}
DATED = ("docs/notes/", "benchmarks/results/")


def prose(text):
    """The numbered lines of `text` that are neither in a code block nor in a table."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            in_code = not in_code
        elif not in_code and not line.lstrip().startswith("|"):
            yield number, line


def missing(path, text, files):
    """The numbered lines of `text` that name a file of the tree which is not among `files`."""
    for number, line in enumerate(text.splitlines(), 1):
        names = [name for code in re.findall(r"`([^`]+)`", line) for name in NAMED.findall(code)]
        for name in names:
            if name not in OTHERS and not fnmatch.filter(files, f"*/{name.rstrip('/')}"):
                yield f"{path}:{number}: there is no {name}"


def complaints(path, text):
    for number, line in prose(text):
        columns = len(ADDRESS.sub("", line))
        if columns > COLUMNS:
            yield f"{path}:{number}: {columns} columns, more than {COLUMNS}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found, paths = [], layering.files_of(root)
    files = {f"/{each}" for path in paths for each in (path, *path.parents)}
    for path in paths:
        if path.suffix == ".md" and (root / path).exists():
            text = (root / path).read_text(encoding="utf-8")
            found += complaints(path, text)
            if not str(path).startswith(DATED):
                found += missing(path, text, files)
    print("\n".join(found) or "prose: nothing to complain about")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
