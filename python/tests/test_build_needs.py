# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What `pip install .` says where something that the build needs is missing: one line, all of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOOK = """
import sys
sys.path.insert(0, sys.argv[1])
import tutti_build
tutti_build.get_requires_for_build_wheel()
"""


def refusal(command, **environment):
    clean = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **environment}
    ended = subprocess.run(command, env=clean, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode != 0
    assert "Traceback" not in ended.stderr, ended.stderr
    lines = [line.strip() for line in ended.stderr.splitlines() if "cannot be built without" in line]
    assert len(lines) == 1, ended.stderr
    return lines[0]


def refusal_of_pip(folder, **environment):
    wheel = ["wheel", "--no-build-isolation", "--no-deps", "-w", str(folder), str(ROOT)]
    return refusal([sys.executable, "-m", "pip", *wheel], **environment)


def refusal_of_hook(interpreter=sys.executable, **environment):
    return refusal([interpreter, "-c", HOOK, ROOT / "python/build_backend"], **environment)


@pytest.fixture
def empty(tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


def test_missing_headers_are_named_with_all_their_packages(empty):
    line = refusal_of_pip(empty, CXX=f"c++ -nostdinc -I{empty}")
    assert line.startswith("tutti-ccl cannot be built without hwloc.h, hwy/highway.h, sodium.h, ")
    assert (
        "Type: apt-get install libhwloc-dev libhwy-dev libsodium-dev libfmt-dev libcli11-dev "
        "nlohmann-json3-dev (" in line
    )


def test_libraries_that_pkg_config_does_not_know_are_named(empty):
    line = refusal_of_hook(PKG_CONFIG_LIBDIR=str(empty))
    assert "cannot be built without hwloc.pc, libhwy.pc, libsodium.pc. " in line
    assert "Type: apt-get install libhwloc-dev libhwy-dev libsodium-dev (" in line


def test_a_compiler_that_is_not_there_is_named():
    line = refusal_of_hook(CXX="no-such-compiler")
    assert "a compiler of C++20 (CXX is no-such-compiler, which was not found)" in line
    assert "Type: apt-get install g++ (" in line


def test_tools_are_named_together(empty):
    line = refusal_of_pip(empty, PATH=str(empty), CXX="")
    assert "a compiler of C++20 (none was found), pkg-config, CMake 3.25 or later" in line
    assert "Type: apt-get install g++ pkg-config && pip install 'cmake>=3.25' ninja (" in line


def test_pytorch_is_asked_for_in_the_environment_that_is_installed_to(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    line = refusal_of_hook(tmp_path / "bare/bin/python")
    assert f"PyTorch 2.12 or later in the environment of {tmp_path}/bare/bin/python. " in line
    assert line.endswith("Type: pip install torch")


def test_a_pytorch_that_is_too_old_is_named(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "old"], check=True)
    site = next((tmp_path / "old").glob("lib/python*/site-packages"))
    (site / "torch").mkdir()
    (site / "torch/__init__.py").touch()
    (site / "torch/version.py").write_text("__version__ = '2.11.0+cpu'\n")
    line = refusal_of_hook(tmp_path / "old/bin/python")
    assert f"PyTorch 2.12 or later (found 2.11.0+cpu in {site}/torch). " in line
    assert line.endswith("Type: pip install 'torch>=2.12'")


def test_nanobind_is_named_where_pip_installs_nothing_of_its_own(empty):
    hide = empty / "sitecustomize.py"
    hide.write_text(
        "import importlib.metadata as m\n"
        "real = m.version\n"
        "def version(name):\n"
        "    if name == 'nanobind': raise m.PackageNotFoundError(name)\n"
        "    return real(name)\n"
        "m.version = version\n"
    )
    call = HOOK.replace("get_requires_for_build_wheel()", "build_wheel('.')")
    line = refusal([sys.executable, "-c", call, ROOT / "python/build_backend"], PYTHONPATH=str(empty))
    assert "nanobind 3.1 or later" in line
    assert "'nanobind>=3.1'" in line


def test_a_library_for_sycl_that_does_not_compile_is_left_out(tmp_path):
    headers = tmp_path / "include"
    for name in ("sycl/sycl.hpp", "level_zero/ze_api.h"):
        (headers / name).parent.mkdir(parents=True)
        (headers / name).write_text("#error of a version that is not known here\n")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(sycl LANGUAGES CXX)\n"
        "set(library_folder lib)\n"
        f"include({ROOT}/python/sycl/sycl.cmake)\n"
    )

    def cmake(*arguments):
        command = ["cmake", *(str(argument) for argument in arguments)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout + ended.stderr

    def build_by(compiler):
        given = {"COMPILER": compiler, "HEADERS": headers, "RUNTIME": headers, "LEVEL_ZERO": headers}
        build = tmp_path / "build"
        cmake("-S", tmp_path, "-B", build, *(f"-DTUTTI_SYCL_{name}={what}" for name, what in given.items()))
        said = cmake("--build", build)
        cmake("--install", build, "--prefix", tmp_path / "prefix")
        log = (build / "libtutti_sycl.so.log").read_text()
        lines = [line for line in said.splitlines() if "libtutti_sycl.so: " in line]
        return lines, log, list(tmp_path.glob("prefix/**/*.so"))

    lines, log, installed = build_by("")
    assert len(lines) == 1 and "does not compile here" in lines[0], lines
    assert "#error" in log
    assert not installed

    works = tmp_path / "works"
    works.write_text('#!/bin/sh\nfor last; do :; done\ntouch "$last"\n')
    works.chmod(0o755)
    lines, _, installed = build_by(works)
    assert not lines and len(installed) == 1, (lines, installed)
