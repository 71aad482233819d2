#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Compares our mpi.h and libmpi_abi.so.1 with the header of MPI's standard interface in `mpich`.

Prints functions that ours lack or declare otherwise, constants with other values, names that the
library does not define, and what it exports besides. Exits with 1 if there are any, and with 77
(skipped) if the package cannot be had. Nothing of the package is kept.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))

from packages import SKIPPED, download  # noqa: E402

PACKAGE = "mpich==5.0.2"
# Of tools, whose functions are not there: nothing can be done with these.
ABSENT = re.compile(r"MPI_T_(VERBOSITY|BIND|SCOPE|PVAR|ENUM|CVAR)_\w+|MPI_H_ABI")
PROTOTYPE = re.compile(r"^\s*([\w ]+?[\s*]+)(P?MPIX?_\w+)\s*\(([^;{}]*)\)\s*;", re.M)
TYPES = {"int", "void", "char", "double", "const", "intptr_t", "int64_t"}


def compiled(header, source, *options):
    return subprocess.run(["gcc", "-w", "-x", "c", "-I", header.parent, *options, "-"], text=True,
                          input=f'#include "{header.name}"\n{source}', capture_output=True, check=True)


def parameter(text):
    """Its type: without a name, spaces, and the first dimension of an array."""
    text = re.sub(r"\s+", " ", text).strip()
    text, arrays = re.match(r"^(.*?)((?:\s*\[\d*\])*)$", text).groups()
    words = re.findall(r"\w+|[*]|\.\.\.", text)
    named = len(words) > 1 and re.match(r"\w", words[-1]) and words[-1] not in TYPES
    if named and not (words[-1].startswith("MPI") and words[-2] in ("const",)):
        words.pop()
    arrays = re.sub(r"\s", "", arrays)
    if arrays:
        words.append("*" + re.sub(r"^\[\d*\]", "", arrays))
    return " ".join(words)


def functions(header):
    text = re.sub(r"^#.*$", "", compiled(header, "", "-E", "-P").stdout, flags=re.M)
    return {name: (result.replace(" ", ""), [parameter(one) for one in parameters.split(",")])
            for result, name, parameters in PROTOTYPE.findall(text.replace(";", ";\n"))}


def values(header, names):
    lines = "".join(f'printf("{name} %lld\\n", (long long)({name}));\n' for name in names)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "values"
        compiled(header, f"#include <stdio.h>\nint main(void) {{ {lines} }}", "-o", program)
        printed = subprocess.run([program], text=True, capture_output=True, check=True).stdout
    return dict(line.split() for line in printed.splitlines())


def constants(header):
    """Names of macros with a value, and of enumerators."""
    macros = compiled(header, "", "-dM", "-E").stdout
    names = set(re.findall(r"^#define (MPIX?_\w+) \S", macros, re.M))
    return names | set(re.findall(r"\b(MPIX?_[A-Z][A-Z0-9_]+)\s*=", header.read_text()))


def differences(theirs, ours, library):
    their_functions, our_functions = functions(theirs), functions(ours)
    for name, declared in sorted(their_functions.items()):
        if name not in our_functions:
            yield f"{name} is missing"
        elif our_functions[name] != declared:
            yield f"{name}: theirs {declared}, ours {our_functions[name]}"
    names = {name for name in constants(theirs) if not ABSENT.fullmatch(name)}
    missing = names - constants(ours)
    yield from (f"{name} is missing" for name in sorted(missing))
    shared = sorted(names - missing)
    their_values, our_values = values(theirs, shared), values(ours, shared)
    yield from (f"{name}: theirs {their_values[name]}, ours {our_values[name]}"
                for name in shared if their_values[name] != our_values[name])
    if len(their_functions) < 1000 or len(shared) < 300:
        yield f"only {len(their_functions)} functions and {len(shared)} constants were found"
    listed = subprocess.run(["nm", "-D", "--defined-only", library], text=True, capture_output=True,
                            check=True).stdout
    defined = {line.split()[-1] for line in listed.splitlines()}
    yield from (f"{name} is not in the library" for name in sorted(set(their_functions) - defined))
    yield from (f"{name} is in the library, too" for name in sorted(defined)
                if not re.fullmatch(r"P?MPIX?_\w+", name))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("header", type=Path, help="our mpi.h")
    parser.add_argument("library", type=Path, help="our libmpi_abi.so.1")
    parser.add_argument("--theirs", type=Path, help="a file mpi_abi.h, instead of the package's")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        theirs = options.theirs
        if theirs is None:
            wheel = download(PACKAGE, folder)
            if wheel is None:
                sys.exit(SKIPPED)
            with zipfile.ZipFile(wheel) as archive:
                name = next(name for name in archive.namelist() if name.endswith("/mpi_abi.h"))
                theirs = Path(archive.extract(name, folder))
        found = list(differences(theirs, options.header, options.library))
    print("\n".join(found) or "nothing is missing or different")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
