#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Compares include/oneapi/ccl.h with the header of a package `oneccl-devel`.

Prints every function whose parameters differ or that we lack, and every enumerator and struct size
whose value differs; exits with 1 if there is any. Without --wheel the newest package is fetched by
pip. Nothing of it is kept.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROTOTYPE = re.compile(r"\b(oneccl[A-Z]\w*)\s*\(([^()]*)\)\s*;")
ENUMERATOR = re.compile(r"\b(oneccl[A-Z]\w*|ONECCL_[A-Z_]+)\s*(?==|,|\})")
STRUCTS = ["onecclUniqueId", "onecclConfig_t", "onecclDevComm_t", "onecclDevCommRequirements_t"]


def preprocessed(include):
    return subprocess.run(["g++", "-E", "-P", "-x", "c++", "-I", include, "-"], text=True, check=True,
                          input="#include <oneapi/ccl.h>\n", capture_output=True).stdout


def types_of(parameters):
    """The parameters' types: names, spaces and `void` for none go."""
    types = []
    for parameter in parameters.split(","):
        parameter = re.sub(r"\s+", " ", parameter).strip()
        named = re.match(r"^(.*?[\s*])([A-Za-z_]\w*)$", parameter)
        if named and named.group(2) not in ("int", "void", "size_t"):
            parameter = named.group(1)
        types.append(parameter.replace(" ", ""))
    return [] if types in ([""], ["void"]) else types


def functions(text):
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)+", "", text)
    return {name: types_of(parameters) for name, parameters in PROTOTYPE.findall(text)}


def enumerators(text):
    found = set()
    for body in re.findall(r"enum\s*\w*(?:\s*:\s*\w+)?\s*\{([^}]*)\}", text):
        found.update(ENUMERATOR.findall(body + "}"))
    return found - {"onecclNumOps_dummy"}


def values(include, names, folder):
    """What a program that is compiled with this header sees."""
    program = "#include <oneapi/ccl.h>\n#include <cstdio>\nint main() {\n"
    for name in names:
        program += f'std::printf("{name} %lld\\n", (long long){name});\n'
    for name in STRUCTS:
        program += f'std::printf("sizeof({name}) %zu\\n", sizeof({name}));\n'
    source, binary = Path(folder) / "values.cpp", Path(folder) / "values"
    source.write_text(program + "}\n")
    subprocess.run(["g++", "-w", "-I", include, source, "-o", binary], check=True)
    lines = subprocess.run([binary], text=True, check=True, capture_output=True).stdout.splitlines()
    return dict(line.rsplit(" ", 1) for line in lines)


def differences(theirs, ours, folder):
    their_text, our_text = preprocessed(theirs), preprocessed(ours)
    their_functions, our_functions = functions(their_text), functions(our_text)
    for name, types in sorted(their_functions.items()):
        if name not in our_functions:
            yield f"{name}({', '.join(types)}) is missing"
        elif our_functions[name] != types:
            yield f"{name}: theirs ({', '.join(types)}), ours ({', '.join(our_functions[name])})"
    names = sorted(enumerators(their_text))
    missing = [name for name in names if not re.search(rf"\b{name}\b", our_text)]
    yield from (f"{name} is missing" for name in missing)
    shared = [name for name in names if name not in missing]
    their_values, our_values = values(theirs, shared, folder), values(ours, shared, folder)
    for name, value in their_values.items():
        if our_values[name] != value:
            yield f"{name}: theirs {value}, ours {our_values[name]}"
    if len(their_functions) < 10 or len(shared) < 10:
        yield f"only {len(their_functions)} functions and {len(shared)} enumerators were found"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", help="a file oneccl_devel-*.whl; default: the newest, by pip")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheel = options.wheel
        if wheel is None:
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps",
                            "--only-binary", ":all:", "-d", folder, "oneccl-devel"], check=True)
            wheel = next(Path(folder).glob("oneccl_devel-*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            headers = [name for name in archive.namelist() if "/include/" in name]
            archive.extractall(folder, headers)
        theirs = next(Path(folder).rglob("oneapi/ccl.h")).parents[1]
        found = list(differences(str(theirs), str(ROOT / "include"), folder))
    print("\n".join(found) or f"{Path(wheel).name}: the same functions, values and sizes")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
