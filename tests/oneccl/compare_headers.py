#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Compares our headers for oneCCL's programs with those of the package `oneccl-devel`.

Prints what programs could use there and not here: header names, functions of the C API and their
parameters, values and sizes, names of the C++ API, macros. What is absent for a reason stands with
it in ABSENT. Exits with 1 if anything else is, and with 77 (skipped) if the package cannot be had.
Nothing of the package is kept.
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

VERSION = "2022.2.0"
PROTOTYPE = re.compile(r"\b(oneccl[A-Z]\w*)\s*\(([^()]*)\)\s*;")
ENUMERATOR = re.compile(r"\b(oneccl[A-Z]\w*|ONECCL_[A-Z_]+)\s*(?==|,|\})")
STRUCTS = ["onecclUniqueId", "onecclConfig_t", "onecclDevComm_t", "onecclDevCommRequirements_t"]
NAMESPACES = ["ccl", "ccl::v1", "ccl::preview", "ccl::detail", "ccl::info"]
KEYWORDS = {"using", "namespace", "operator", "typename", "template", "new", "delete", "throw"}

# Patterns of what is absent here, and why.
ABSENT = {
    r"oneapi/ccl/(v2/)?device_api\.hpp": "for kernels of devices: it needs <sycl/sycl.hpp>",
    r"oneapi/ccl/device_api/(coop|device_utility|lsa_barrier|lsa_reduce_sum|reduce_copy|team)\.hpp":
        "for kernels of devices: it needs <sycl/sycl.hpp>",
    r"oneapi/ccl/native_device_api/sycl/export\.hpp": "it needs <sycl/sycl.hpp>",
    r"ccl::(\w+_attr_impl(_t)?|event_impl|ccl_window_impl|base_kvs_impl|comm_interface)":
        "declared there for the library's sources, defined in no header",
    r"ccl::(v1::)?(impl_dispatch|comm_impl_dispatch_selector|get_kvs_impl_typed)":
        "declared there for the library's sources, defined in no header",
    r"ccl::(ccl_api_base_\w+|pointer_on_impl|\w+_access_policy|(v1::)?ccl_empty_attr)":
        "how their classes hold what their library makes",
    r"ccl::detail::environment": "what stands behind their functions, all of which are there",
    r"ccl::info::\w+": "empty",
    r"macro (COMMA|API_CLASS_TYPE_INFO)": "serves to write their headers",
    r"macro CCL_C_NOT_IMPLEMENTED": "marks functions that their library lacks; ours has them",
}


def compiler(include, source, *options):
    return subprocess.run(["g++", "-w", "-x", "c++", "-I", include, *options, "-"], text=True,
                          input=source, capture_output=True)


def preprocessed(include, *options):
    source = "#include <oneapi/ccl.h>\n#include <oneapi/ccl.hpp>\n"
    made = compiler(include, source, "-E", "-P", *options)
    made.check_returncode()
    return made.stdout


def headers(include):
    return sorted(path.relative_to(include).as_posix()
                  for path in Path(include, "oneapi").rglob("*.h*"))


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
    binary = Path(folder) / "values"
    compiler(include, program + "}\n", "-o", str(binary)).check_returncode()
    lines = subprocess.run([binary], text=True, check=True, capture_output=True).stdout.splitlines()
    return dict(line.rsplit(" ", 1) for line in lines)


def macros(include):
    made = preprocessed(include, "-dM")
    return set(re.findall(r"^#define (\w*(?:CCL|CL_|COMMA|API_)\w*)", made, re.MULTILINE))


def identifiers(include):
    """Every word in the headers: those that the compiler then knows are names."""
    words = set()
    for header in headers(include):
        text = Path(include, header).read_text(encoding="utf-8")
        words.update(re.findall(r"\b[A-Za-z]\w*", re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)))
    return sorted(words - KEYWORDS)


def known(include, namespace, names):
    """Those of the names that a program may use by `using namespace::name`."""
    # The preprocessor takes its own names away before.
    source = "#include <oneapi/ccl.hpp>\n"
    source += "".join(f"using {namespace}::{name};\n" for name in names)
    said = compiler(include, source, "-std=c++17", "-fsyntax-only", "-fmax-errors=0").stderr
    bad = {int(line) for line in re.findall(r"^<stdin>:(\d+):\d+: error", said, re.MULTILINE)}
    return [name for number, name in enumerate(names, start=2) if number not in bad]


def absent(theirs, ours):
    """Everything that is there and not here, reason or not."""
    present = set(headers(ours))
    yield from (name for name in headers(theirs) if name not in present)
    their_macros = macros(theirs)
    yield from (f"macro {name}" for name in sorted(their_macros - macros(ours)))
    words = [word for word in identifiers(theirs) if word not in their_macros]
    for namespace in NAMESPACES:
        names = known(theirs, namespace, words)
        here = set(known(ours, namespace, names))
        yield from (f"{namespace}::{name}" for name in names if name not in here)
        if namespace == "ccl" and len(names) < 100:
            yield f"only {len(names)} names of {namespace} were found"


def unexplained(theirs, ours):
    missing = list(absent(theirs, ours))
    for name in missing:
        if not any(re.fullmatch(pattern, name) for pattern in ABSENT):
            yield f"{name} is missing"
    for pattern in ABSENT:
        if not any(re.fullmatch(pattern, name) for name in missing):
            yield f"ABSENT explains {pattern}, of which nothing is absent"


def differences(theirs, ours, folder):
    yield from unexplained(theirs, ours)
    every = "".join(f"#include <{header}>\n" for header in headers(ours))
    for language in ("c++11", "c++20"):
        made = compiler(ours, every, f"-std={language}", "-fsyntax-only")
        if made.returncode != 0:
            yield f"our headers do not compile as {language}: {made.stderr}"
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
    parser.add_argument("include", help="our headers: include in a folder that CCL_ROOT names")
    parser.add_argument("--wheel", help="a file oneccl_devel-*.whl, instead of a download")
    parser.add_argument("--version", default=VERSION, help="of the package; default: %(default)s")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheel = options.wheel or download(f"oneccl-devel=={options.version}", folder)
        if wheel is None:
            sys.exit(SKIPPED)
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if "/include/" in name]
            archive.extractall(folder, names)
        theirs = next(Path(folder).rglob("oneapi/ccl.h")).parents[1]
        found = list(differences(str(theirs), options.include, folder))
    print("\n".join(found) or f"{Path(wheel).name}: the same headers, names, values and sizes")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
