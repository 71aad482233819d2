#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Compares what the libraries export, and the types of the C headers, with what was recorded:
`abi.py SOURCE BUILD`; `abi.py --record SOURCE` writes tests/abi/*.abi anew.

The types are those of a library without code that is made of a header here, so they do not depend
on how the libraries were compiled, or on debug information in them. Their names are read from the
libraries.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
HERE = Path(__file__).resolve().parent

# What is recorded: the headers that declare it, the macro before a declaration, the map, and the
# library in a build tree.
INTERFACES = {
    "tutti": (["tutti/tutti.h"], "TUTTI_API", "src/api/exports.map", "libtutti.so"),
    "oneccl": (["oneapi/ccl.h", "oneapi/ccl/detail/functions.h"], "(?:CCL_C_API|TUTTI_API)",
               "compat/oneccl/exports.map", "tutti/oneccl/lib/libccl.so"),
}
# What abidiff's exit status is made of, if it is no error.
CHANGED, INCOMPATIBLE = 4, 8


def run(*command, good=(0,)):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode not in good:
        sys.exit(f"abi: {' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
    return done


def defined(header, macro):
    """The text of a header in which every function has a body."""
    return re.sub(rf"^({macro}\b[^;{{}}#]*\));", r"\1 { __builtin_trap(); }", header, flags=re.M)


def make_probe(source, folder, name):
    """A library of nothing but what the headers declare."""
    headers, macro, exports, _ = INTERFACES[name]
    include = folder / "include"
    shutil.copytree(source / "include", include)
    for header in headers:
        path = include / header
        path.write_text(defined(path.read_text(), macro))
    # Relative, so that nothing that is written says where.
    (folder / "probe.cpp").write_text("".join(f"#include <{header}>\n" for header in headers))
    probe = folder / f"{name}.so"
    run("sh", "-c", f"cd '{folder}' && c++ -std=c++14 -w -g -O0 -shared -fPIC -Iinclude probe.cpp "
        f"-o '{probe}' -Wl,--version-script='{source / exports}'")
    return probe


def write_abi(probe, out):
    run("abidw", "--no-comp-dir-path", "--no-corpus-path", "--no-elf-needed", "--no-show-locs",
        "--no-architecture", "--no-parameter-names", "--type-id-style", "hash", probe,
        "--out-file", out)


def names_in(library):
    """The functions that a dynamic library exports, with their versions."""
    lines = run("nm", "-D", "--defined-only", library).stdout.splitlines()
    return {words[2] for words in map(str.split, lines) if words[1] == "T"}


def differences(source, library, name, folder):
    probe = make_probe(source, folder, name)
    write_abi(probe, folder / "now.abi")
    declared, exported = names_in(probe), names_in(library)
    if declared - exported:
        yield f"declared, but not in {library.name}: {', '.join(sorted(declared - exported))}"
    if exported - declared:
        yield f"in {library.name}, but not declared: {', '.join(sorted(exported - declared))}"
    compared = run("abidiff", "--harmless", HERE / f"{name}.abi", folder / "now.abi",
                   good=(0, CHANGED, CHANGED | INCOMPATIBLE))
    if compared.returncode:
        yield (f"the ABI is not that of {name}.abi. Functions, enumerators, and fields at the end of "
               "a struct that begins with its size may be added: `tests/abi/abi.py --record .` "
               "records them. All else breaks programs that exist, and takes another major version "
               f"(docs/versions.md).\n{compared.stdout}")


def main():
    record = "--record" in sys.argv
    arguments = [Path(word).resolve() for word in sys.argv[1:] if word != "--record"]
    if shutil.which("abidw") is None or shutil.which("abidiff") is None:
        print("abi: skipped for want of abidw and abidiff (Debian: abigail-tools)")
        return SKIPPED
    found = []
    for name, (_, _, _, library) in INTERFACES.items():
        with tempfile.TemporaryDirectory() as folder:
            if record:
                write_abi(make_probe(arguments[0], Path(folder), name), HERE / f"{name}.abi")
            elif (arguments[1] / library).exists():
                found += [f"{name}: {text}" for text in differences(
                    arguments[0], arguments[1] / library, name, Path(folder))]
    print("\n".join(found) or "abi: as recorded")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
