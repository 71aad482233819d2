# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What `pip install` leaves behind, seen from where users look for it."""

import ast
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import tutti_ccl

PACKAGES = ("tutti_ccl", "oneccl_bindings_for_pytorch", "torch_ccl")
SERIES = ".".join(torch.__version__.split(".")[:2])
PREFIX = Path(tutti_ccl.cwd)


def run(*command, **environment):
    """What a command prints, in a clean environment, away from the sources."""
    clean = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/"), **environment}
    ended = subprocess.run(command, env=clean, cwd="/", capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{command}: status {ended.returncode}\n{ended.stdout}{ended.stderr}"
    return ended.stdout.strip()


def version_in_header():
    words = (PREFIX / "include/tutti/version.h").read_text(encoding="utf-8").split()
    return ".".join(words[words.index(f"TUTTI_VERSION_{part}") + 1] for part in ("MAJOR", "MINOR", "PATCH"))


def test_the_command_is_beside_the_interpreter_and_a_module():
    beside = Path(sys.executable).parent / "tutti"
    assert run(str(beside), "--version") == f"tutti {version_in_header()}"
    assert run(sys.executable, "-m", "tutti_ccl", "--version") == f"tutti {version_in_header()}"


def test_the_package_tells_its_version():
    assert tutti_ccl.__version__ == version_in_header()


def test_its_name_as_a_benchmark_is_beside_the_interpreter_too():
    beside = Path(sys.executable).parent
    said = run(str(beside / "tutti-benchmark"), "--help")
    assert said == run(str(beside / "tutti"), "benchmark", "--help") != ""


def test_the_command_hands_on_arguments_and_the_status_of_ranks():
    ranks = [str(Path(sys.executable).parent / "tutti"), "run", "-n", "2", sys.executable, "-c"]
    ended = subprocess.run(
        [*ranks, "import os, sys; sys.exit(7 * int(os.environ['RANK']))"],
        capture_output=True, check=False,
    )
    assert ended.returncode == 7, ended.stderr


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("script", ["setvars.sh", "vars.sh"])
def test_a_shell_that_sources_the_script_under_cwd_finds_the_command(package, shell, script):
    line = (
        f'. "$({sys.executable} -c "import {package} as torch_ccl; print(torch_ccl.cwd)")/env/{script}" '
        '&& echo "$CCL_ROOT" && command -v tutti && tutti --version'
    )
    root, command, version = run(shell, "-c", line).split("\n")
    assert Path(root) == PREFIX
    assert Path(command) == PREFIX / "bin/tutti"
    assert version == f"tutti {version_in_header()}"


def test_metadata_says_what_it_is_and_which_pytorch_it_needs():
    metadata = importlib.metadata.metadata("tutti-ccl")
    assert metadata["Version"] == version_in_header()
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Summary"] and metadata["Requires-Python"] and metadata.get_all("Classifier")
    assert importlib.metadata.requires("tutti-ccl") == [f"torch=={SERIES}.*"]
    run(sys.executable, "-m", "pip", "check")


def test_programs_that_ask_for_oneccl_bind_pt_get_the_version_of_pytorch():
    assert importlib.metadata.version("oneccl_bind_pt").startswith(f"{SERIES}.")


@pytest.mark.parametrize("group", ["torch.backends", "torch.distributed.backends"])
def test_pytorch_finds_the_backend_by_an_entry_point(group):
    ours = [e for e in importlib.metadata.entry_points(group=group) if "tutti_ccl" in e.value]
    assert [callable(entry.load()) for entry in ours] == [True]


def test_the_backend_is_known_without_an_import_of_ours():
    program = "import torch.distributed as dist; print(dist.is_backend_available('ccl'))"
    assert run(sys.executable, "-c", program) == "True"


def test_types_are_there_for_checkers():
    assert all(
        Path(importlib.util.find_spec(package).origin).with_name("py.typed").is_file()
        for package in PACKAGES
    )
    stubs = ast.parse((PREFIX / "_C.pyi").read_text(encoding="utf-8")).body
    named = {each.name for each in stubs if isinstance(each, (ast.FunctionDef, ast.ClassDef))}
    from tutti_ccl import _C

    assert named == {name for name in dir(_C) if not name.startswith("_")}


def test_a_c_program_is_built_with_the_package(tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(consumer LANGUAGES C)\n"
        "find_package(tutti REQUIRED)\nadd_executable(consumer consumer.c)\n"
        "target_link_libraries(consumer PRIVATE tutti::tutti)\n"
    )
    (tmp_path / "consumer.c").write_text(
        "#include <stdio.h>\n#include <tutti/tutti.h>\n"
        "int main(void) { puts(tutti_status_name(TUTTI_OK)); return 0; }\n"
    )
    if not shutil.which("cmake") or not shutil.which("cc"):
        pytest.skip("needs cmake and a C compiler")
    build = str(tmp_path / "build")
    run("cmake", "-S", str(tmp_path), "-B", build, f"-DCMAKE_PREFIX_PATH={PREFIX}",
        PATH=os.environ["PATH"])
    run("cmake", "--build", build, PATH=os.environ["PATH"])
    by_cmake = run(str(tmp_path / "build/consumer"))
    run("sh", "-c", f'. "{PREFIX}/env/setvars.sh" && cc "{tmp_path}/consumer.c" -ltutti '
        f'-o "{tmp_path}/by_setvars"', PATH=os.environ["PATH"])
    assert run(str(tmp_path / "by_setvars"), LD_LIBRARY_PATH=str(PREFIX / "lib")) == by_cmake


def test_every_variable_that_the_package_reads_is_in_the_librarys_table():
    """Which else warns that there is no such variable."""
    table = run(str(Path(sys.executable).parent / "tutti"), "info", "--env")
    read = {name for path in PREFIX.rglob("*.py")
            for name in re.findall(r'"(TUTTI_(?!ERR_)[A-Z_]+)"', path.read_text(encoding="utf-8"))}
    assert {"TUTTI_TORCH_SHIMS", "TUTTI_VLLM"} <= read
    assert sorted(name for name in read if name not in table) == []
