# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What a build says where something that it needs is missing."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def refusal(*command, **environment):
    """What it says, in one line, about what is missing."""
    clean = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **environment}
    ended = subprocess.run(command, env=clean, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode != 0
    assert "Traceback" not in ended.stderr, ended.stderr
    return " ".join(ended.stderr.split())


def test_all_libraries_that_are_missing_are_named_at_once(tmp_path):
    absent = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("fmt", "CLI11", "nlohmann_json")]
    said = refusal("cmake", "-S", ROOT, "-B", tmp_path, *absent, PKG_CONFIG_LIBDIR=str(tmp_path))
    assert ("type: apt-get install libhwloc-dev libhwy-dev libsodium-dev libfmt-dev libcli11-dev "
            "nlohmann-json3-dev" in said), said


def torch_facts(interpreter):
    return refusal(interpreter, ROOT / "python/build_backend/tutti_torch.py")


def test_pytorch_is_asked_for_in_the_environment_that_is_installed_to(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    said = torch_facts(tmp_path / "bare/bin/python")
    assert said == ("PyTorch 2.12 or later is missing in the environment of "
                    f"{tmp_path}/bare/bin/python. Type: pip install 'torch>=2.12'")


def test_a_pytorch_that_is_too_old_is_named(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "old"], check=True)
    site = next((tmp_path / "old").glob("lib/python*/site-packages"))
    (site / "torch").mkdir()
    (site / "torch/__init__.py").touch()
    (site / "torch/version.py").write_text("__version__ = '2.11.0+cpu'\n")
    assert f"(found 2.11.0+cpu in {site}/torch). Type: pip" in torch_facts(tmp_path / "old/bin/python")


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
