# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Finds out what the build needs and lacks, before anything is built, and names all of it at once."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import tutti_torch

OLDEST_CMAKE = (3, 25)
OLDEST_CORE = (0, 11)

# Headers, and the packages of Debian and Ubuntu that have them.
HEADERS = {
    "hwloc.h": "libhwloc-dev",
    "hwy/highway.h": "libhwy-dev",
    "sodium.h": "libsodium-dev",
    "fmt/format.h": "libfmt-dev",
    "CLI/CLI.hpp": "libcli11-dev",
    "nlohmann/json.hpp": "nlohmann-json3-dev",
}
PKG_CONFIG_NAMES = ("hwloc", "libhwy", "libsodium", "fmt", "CLI11", "nlohmann_json")


def check(isolated=False):
    """Ends the build with one message if something is missing.

    `isolated`: cmake, ninja and scikit-build-core are still to be installed by pip.
    """
    problems, debian, python = [], [], []
    _check_torch(problems)
    compiler = _check_compiler(problems, debian)
    if compiler and not os.environ.get("TUTTI_BUILD"):
        _check_headers(compiler, problems, debian)
    if not Path(sysconfig.get_paths()["include"], "Python.h").is_file():
        problems.append("the headers of Python (Python.h)")
        debian.append("python3-dev")
    if not isolated:
        _check_tools(problems, python)
    if not problems:
        return
    lines = ["tutti-ccl cannot be built here. It lacks:", *(f"  - {text}" for text in problems)]
    if debian:
        lines.append(f"On Debian or Ubuntu: apt-get install {' '.join(debian)}")
    if python:
        lines.append(f"From Python's registry: pip install {' '.join(python)}")
    sys.exit("\n".join(lines))


def _check_torch(problems):
    found = tutti_torch.find()
    oldest = "%d.%d" % tutti_torch.OLDEST
    if found is None:
        problems.append(
            f"PyTorch {oldest} or later for {sys.executable}: install it there first (pip install "
            "torch), then run `pip install .` again"
        )
    elif tutti_torch.numbers(found[1]) < tutti_torch.OLDEST:
        problems.append(
            f"PyTorch {oldest} or later: {found[1]} is installed in {found[0]}, whose interface "
            "for backends is another"
        )


def _compiler():
    named = os.environ.get("CXX")
    for name in [named] if named else ["c++", "g++", "clang++"]:
        if shutil.which(name.split()[0]):
            return name.split()
    return None


def _preprocess(compiler, source, options=()):
    """The words that a compiler makes of `source`; None if it refuses."""
    command = [*compiler, "-std=c++20", "-E", "-P", *options, "-x", "c++", "-"]
    run = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return run.stdout.split() if run.returncode == 0 else None


def _check_compiler(problems, debian):
    compiler = _compiler()
    if compiler is None:
        problems.append("a compiler of C++20 (GCC 12 and clang 15 are tested); none was found")
        debian.append("g++")
    elif _preprocess(compiler, "#if __cplusplus < 202002L\n#error too old\n#endif\n") is None:
        problems.append(f"a compiler of C++20 (GCC 12 and clang 15 are tested); {compiler[0]} is not")
        return None
    return compiler


def _folders():
    """Options for where headers may be, besides where the compiler looks."""
    prefixes = re.split("[:;]", os.environ.get("CMAKE_PREFIX_PATH", ""))
    options = [f"-I{prefix}/include" for prefix in prefixes if prefix]
    for name in PKG_CONFIG_NAMES:
        command = ["pkg-config", "--cflags-only-I", name]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        options += run.stdout.split()
    return options


def _check_headers(compiler, problems, debian):
    if shutil.which("pkg-config") is None:
        problems.append("pkg-config")
        debian.append("pkg-config")
        folders = []
    else:
        folders = _folders()
    ask = "".join(f"#if !__has_include(<{h}>)\n{p}\n#endif\n" for h, p in HEADERS.items())
    missing = _preprocess(compiler, ask, folders) or []
    for header, package in HEADERS.items():
        if package in missing:
            problems.append(f"the header {header}")
            debian.append(package)


def _version_of_cmake():
    if shutil.which("cmake") is None:
        return None
    run = subprocess.run(["cmake", "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"version (\d+)\.(\d+)", run.stdout)
    return tuple(map(int, found.groups())) if found else None


def _check_tools(problems, python):
    cmake = _version_of_cmake()
    if cmake is None or cmake < OLDEST_CMAKE:
        problems.append(
            "CMake %d.%d or later, %s"
            % (*OLDEST_CMAKE, "none was found" if cmake is None else "found %d.%d" % cmake)
        )
        python.append("'cmake>=%d.%d'" % OLDEST_CMAKE)
    if not any(shutil.which(name) for name in ("ninja", "ninja-build", "make")):
        problems.append("ninja")
        python.append("ninja")
    try:
        core = tutti_torch.numbers(importlib.metadata.version("scikit-build-core"))
    except importlib.metadata.PackageNotFoundError:
        core = (0, 0)
    if core < OLDEST_CORE:
        problems.append("scikit-build-core %d.%d or later in this environment" % OLDEST_CORE)
        python.append("'scikit-build-core>=%d.%d'" % OLDEST_CORE)
