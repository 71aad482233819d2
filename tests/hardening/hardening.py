#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""That what users get is hardened, as readelf sees it: `hardening.py BUILD [--fortified]`.

See cmake/hardening.cmake. With --fortified the build is optimised, and calls of the C library check
the buffers that they write to.
"""

import re
import subprocess
import sys
from pathlib import Path

FILES = ["libtutti.so", "tutti/oneccl/lib/libccl.so", "tutti/mpi/libmpi_abi.so", "bin/tutti"]
# Whose small calls have few instructions, and no more for checks.
UNCHECKED = "libtutti.so"
# Which calls what is fortified in any case.
PRINTS = "libmpi_abi.so"


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=True).stdout


def segment(headers, name):
    """The line of flags of a program header; empty if there is none."""
    found = re.search(rf"^ +{name} .*$", headers, re.M)
    return found.group() if found else ""


def complaints(file, fortified):
    headers, dynamic = run("readelf", "-lW", file), run("readelf", "-dW", file)
    if not segment(headers, "GNU_RELRO"):
        yield "no segment is made read-only after it was relocated (GNU_RELRO)"
    if not re.search(r"BIND_NOW|Flags:.*\bNOW\b", dynamic):
        yield "addresses are bound lazily, so their table stays writable (BIND_NOW)"
    if " RW " not in segment(headers, "GNU_STACK"):
        yield "the stack may be executable (GNU_STACK)"
    if re.search(r"^ +LOAD .* RWE ", headers, re.M):
        yield "memory is writable and executable"
    if "TEXTREL" in dynamic:
        yield "code is changed when it is loaded (TEXTREL)"
    if "EXEC" in re.search(r"Type: +(\w+)", run("readelf", "-hW", file)).group(1):
        yield "it is always loaded at one address"
    if file.name == UNCHECKED:
        return
    called = run("nm", "-D", "--undefined-only", file)
    if "__stack_chk_fail" not in called:
        yield "no function checks the end of its stack (-fstack-protector-strong)"
    if fortified and file.name == PRINTS and "__fprintf_chk" not in called:
        yield "no call checks the buffer that it writes to (_FORTIFY_SOURCE)"


def has_cet():
    """Whether the compiler has shadow stacks for this processor."""
    return "__CET__" in run("sh", "-c", "echo | cc -fcf-protection=return -dM -E - 2>&1 || true")


def objects_without_cet(archive):
    """The linker marks a library only if all of it is marked, also what the C library adds."""
    members = re.split(r"^File: ", run("readelf", "-nW", archive), flags=re.M)[1:]
    return [member.split("\n", 1)[0] for member in members if "SHSTK" not in member]


def main():
    build = Path(sys.argv[1])
    found = []
    for file in (build / name for name in FILES):
        if not file.exists():
            continue
        found += [f"{file.name}: {text}" for text in complaints(file, "--fortified" in sys.argv)]
    archive = build / "libtutti_inside.a"
    if archive.exists() and has_cet():
        found += [f"{name}: not marked for shadow stacks (-fcf-protection=return)"
                  for name in objects_without_cet(archive)]
    print("\n".join(found) or "hardening: nothing to complain about")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
