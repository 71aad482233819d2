#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Checks the table of tuned constants: `constants.py ROOT`.

Each constant of src/core/tuned.inc is used in the file that its row names.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import tuned  # noqa: E402

FOLDERS = ["src", "env", "kernels", "transports", "algorithms", "tools", "compat"]
USE = re.compile(r"\btuned::(k\w+)")


def uses(root):
    """[(file, name)] of all uses."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp", ".h"):
                for name in USE.findall(path.read_text(encoding="utf-8")):
                    yield path.relative_to(root).as_posix(), name


def complaints(text, used):
    rows = tuned.constants(text)
    if len(rows) != text.count("\nTUTTI_TUNED("):
        yield "src/core/tuned.inc: a row is not NAME, TYPE, VALUE and four texts"
    names = [row.name for row in rows]
    yield from (f"src/core/tuned.inc: {name} stands there twice"
                for name in sorted({n for n in names if names.count(n) > 1}))
    for row in rows:
        places = [file for file, name in used if name == row.name]
        if row.file not in places:
            yield (f"src/core/tuned.inc: {row.name} is used in {', '.join(places) or 'no file'}; "
                   f"expected in {row.file}")


def main():
    root = Path(sys.argv[1])
    text = (root / "src/core/tuned.inc").read_text(encoding="utf-8")
    found = list(complaints(text, list(uses(root))))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
