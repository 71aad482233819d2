#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""That abi.py sees what breaks programs, and what is added, and that the loader tells a program which
calls what an older library lacks: with headers that are changed here."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import abi

SOURCE = Path(__file__).resolve().parents[2]


def changed(place, change, name="tutti"):
    """The folder in `place` that has the headers and maps, one header after `change(text)`."""
    source = Path(place, "source")
    for part in ("include", *(Path(row[2]).parent for row in abi.INTERFACES.values())):
        shutil.copytree(SOURCE / part, source / part, dirs_exist_ok=True)
    header = source / "include" / abi.INTERFACES[name][0][0]
    text = header.read_text()
    header.write_text(change(text))
    if change(text) == text and change is not same:
        raise AssertionError("the header is no longer what the test changes")
    return source


def found(change, name="tutti"):
    """What is said of a library that is built from a header after `change(text)`."""
    with tempfile.TemporaryDirectory() as place:
        source = changed(place, change, name)
        built, seen = Path(place, "built"), Path(place, "seen")
        built.mkdir()
        seen.mkdir()
        library = abi.make_probe(source, built, name)
        return "\n".join(abi.differences(source, library, name, seen))


def same(text):
    return text


@unittest.skipUnless(shutil.which("abidw"), "abidw is not installed")
class Abi(unittest.TestCase):
    def test_what_is_there_is_what_was_recorded(self):
        for name in abi.INTERFACES:
            self.assertEqual(found(same, name), "")

    def test_a_function_that_is_gone_is_found(self):
        self.assertIn("tutti_version", found(
            lambda text: text.replace("TUTTI_API int tutti_version(void);", "")))

    def test_another_type_of_a_parameter_is_found(self):
        self.assertIn("onecclGetVersion", found(
            lambda text: text.replace("onecclGetVersion(int* version)",
                                      "onecclGetVersion(long* version)"), "oneccl"))

    def test_a_field_in_the_middle_is_found(self):
        self.assertIn("tutti_comm_config", found(
            lambda text: text.replace("  int32_t timeout_ms;", "  int64_t added; int32_t timeout_ms;")))

    def test_what_is_added_is_to_be_recorded(self):
        self.assertIn("added", found(
            lambda text: text.replace("} tutti_comm_config;", "  int added;\n} tutti_comm_config;")))
        self.assertIn("TUTTI_ADDED", found(
            lambda text: text.replace("TUTTI_DEVICE_OPENCL = 1,",
                                      "TUTTI_DEVICE_OPENCL = 1, TUTTI_ADDED = 77,")))


# What the next minor version adds, as docs/versions.md has it done.
ADDED = "TUTTI_API int tutti_added(void);"
LATER = "TUTTI_1.1 {\n  global: tutti_added;\n} TUTTI_1.0;\n"


class Loading(unittest.TestCase):
    def setUp(self):
        self.place = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for version in ("older", "later"):
            folder = self.place / version
            folder.mkdir()
            source = changed(folder, same)
            if version == "later":
                with open(source / "include/tutti/tutti.h", "a") as header:
                    header.write(f'extern "C" {{\n{ADDED}\n}}\n')
                with open(source / "src/api/exports.map", "a") as exports:
                    exports.write(LATER)
            abi.make_probe(source, folder, "tutti")

    def run_over(self, version, call, built_with):
        """Runs a program that has `call` in it, which it reaches only with an argument."""
        program = self.place / "program"
        (self.place / "program.cpp").write_text(
            f"#include <tutti/tutti.h>\nint main(int argc, char**) {{ return argc > 1 ? {call} : 0; }}\n")
        abi.run("c++", f"-I{self.place / built_with}/source/include", self.place / "program.cpp", "-o", program,
                f"-L{self.place / built_with}", "-l:tutti.so")
        return subprocess.run([program], capture_output=True, text=True,
                              env={**os.environ, "LD_LIBRARY_PATH": str(self.place / version)})

    def test_an_older_program_runs_over_a_later_library(self):
        self.assertEqual(self.run_over("later", "tutti_version()", "older").returncode, 0)

    def test_a_later_program_runs_over_an_older_library_if_it_calls_nothing_new(self):
        self.assertEqual(self.run_over("older", "tutti_version()", "later").returncode, 0)

    def test_a_later_program_that_calls_what_is_new_is_told_by_the_loader(self):
        done = self.run_over("older", "tutti_added()", "later")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("version `TUTTI_1.1' not found", done.stderr)


if __name__ == "__main__":
    if shutil.which("abidw") is None:
        print("abi_test: skipped for want of abidw (Debian: abigail-tools)")
        sys.exit(abi.SKIPPED)
    unittest.main()
