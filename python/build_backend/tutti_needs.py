# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Finds out what the build needs and lacks, before anything is built, and says in one line what to type."""

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
OLDEST_NANOBIND = (3, 1)

# A header of each library, its name for pkg-config where CMake asks that, and the package of Debian
# and Ubuntu that has both.
LIBRARIES = (
    ("hwloc.h", "hwloc", "libhwloc-dev"),
    ("hwy/highway.h", "libhwy", "libhwy-dev"),
    ("sodium.h", "libsodium", "libsodium-dev"),
    ("fmt/format.h", None, "libfmt-dev"),
    ("CLI/CLI.hpp", None, "libcli11-dev"),
    ("nlohmann/json.hpp", None, "nlohmann-json3-dev"),
)
USUAL_FOLDERS = ("/usr/include", "/usr/local/include")


class Lacking:
    """What is missing, and the packages that have it."""

    def __init__(self):
        self.things, self.debian, self.python = [], [], []

    def sentence(self):
        commands = []
        if self.debian:
            commands.append("apt-get install " + " ".join(self.debian))
        if self.python:
            commands.append("pip install " + " ".join(self.python))
        where = " (apt-get: on Debian and Ubuntu)" if self.debian else ""
        return (
            f"tutti-ccl cannot be built without {', '.join(self.things)}. "
            f"Type: {' && '.join(commands)}{where}"
        )


def check(isolated=False):
    """Ends the build with one message if something is missing.

    `isolated`: cmake, ninja and scikit-build-core are still to be installed by pip.
    """
    lacking = Lacking()
    compiler = _check_compiler(lacking)
    if not os.environ.get("TUTTI_BUILD"):
        _check_libraries(compiler, lacking)
    if not Path(sysconfig.get_paths()["include"], "Python.h").is_file():
        lacking.things.append("Python.h")
        lacking.debian.append("python3-dev")
    _check_torch(lacking)
    if not isolated:
        _check_tools(lacking)
    if lacking.things:
        sys.exit(lacking.sentence())


def _check_torch(lacking):
    found = tutti_torch.find()
    oldest = "%d.%d" % tutti_torch.OLDEST
    if found is None:
        lacking.things.append(f"PyTorch {oldest} or later in the environment of {sys.executable}")
        lacking.python.append("torch")
    elif tutti_torch.numbers(found[1]) < tutti_torch.OLDEST:
        lacking.things.append(f"PyTorch {oldest} or later (found {found[1]} in {found[0]})")
        lacking.python.append(f"'torch>={oldest}'")


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


def _check_compiler(lacking):
    compiler = _compiler()
    if compiler is None:
        named = os.environ.get("CXX")
        found = f"CXX is {named}, which was not found" if named else "none was found"
        lacking.things.append(f"a compiler of C++20 ({found})")
    elif _preprocess(compiler, "#if __cplusplus < 202002L\n#error too old\n#endif\n") is None:
        lacking.things.append(f"a compiler of C++20 ({compiler[0]} is not)")
    else:
        return compiler
    lacking.debian.append("g++")
    return None


def _pkg_config(*arguments):
    if shutil.which("pkg-config") is None:
        return None
    run = subprocess.run(["pkg-config", *arguments], capture_output=True, text=True, check=False)
    return run.stdout if run.returncode == 0 else None


def _folders():
    """Where headers may be, besides where the compiler looks."""
    prefixes = re.split("[:;]", os.environ.get("CMAKE_PREFIX_PATH", ""))
    folders = [f"{prefix}/include" for prefix in prefixes if prefix]
    for _, module, _ in LIBRARIES:
        flags = _pkg_config("--cflags-only-I", module) if module else None
        folders += [flag.removeprefix("-I") for flag in (flags or "").split()]
    return folders


def _missing_headers(compiler):
    headers = [header for header, _, _ in LIBRARIES]
    if compiler is None:
        folders = [*USUAL_FOLDERS, *_folders()]
        return [h for h in headers if not any(Path(f, h).is_file() for f in folders)]
    ask = "".join(f"#if !__has_include(<{h}>)\n{i}\n#endif\n" for i, h in enumerate(headers))
    options = [f"-I{folder}" for folder in _folders()]
    return [headers[int(i)] for i in _preprocess(compiler, ask, options) or []]


def _check_libraries(compiler, lacking):
    if shutil.which("pkg-config") is None:
        lacking.things.append("pkg-config")
        lacking.debian.append("pkg-config")
    missing = _missing_headers(compiler)
    for header, module, package in LIBRARIES:
        if header in missing:
            lacking.things.append(header)
        elif module and shutil.which("pkg-config") and _pkg_config("--exists", module) is None:
            lacking.things.append(f"{module}.pc")
        else:
            continue
        lacking.debian.append(package)


def _version_of_cmake():
    if shutil.which("cmake") is None:
        return None
    run = subprocess.run(["cmake", "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"version (\d+)\.(\d+)", run.stdout)
    return tuple(map(int, found.groups())) if found else None


def _check_tools(lacking):
    cmake = _version_of_cmake()
    if cmake is None or cmake < OLDEST_CMAKE:
        found = "none was found" if cmake is None else "found %d.%d" % cmake
        lacking.things.append("CMake %d.%d or later (%s)" % (*OLDEST_CMAKE, found))
        lacking.python.append("'cmake>=%d.%d'" % OLDEST_CMAKE)
    if not any(shutil.which(name) for name in ("ninja", "ninja-build", "make")):
        lacking.things.append("ninja")
        lacking.python.append("ninja")
    _check_package("scikit-build-core", OLDEST_CORE, lacking)
    _check_package("nanobind", OLDEST_NANOBIND, lacking)


def _check_package(name, oldest, lacking):
    try:
        found = tutti_torch.numbers(importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        found = (0, 0)
    if found < oldest:
        lacking.things.append("%s %d.%d or later" % (name, *oldest))
        lacking.python.append("'%s>=%d.%d'" % (name, *oldest))
