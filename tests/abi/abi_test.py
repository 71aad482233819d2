#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""That abi.py sees what breaks programs, and what is added: with headers that are changed here."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import abi

SOURCE = Path(__file__).resolve().parents[2]


def found(change, name="tutti"):
    """What is said of a library that is built from a header after `change(text)`."""
    with tempfile.TemporaryDirectory() as place:
        source, built, seen = (Path(place, part) for part in ("source", "built", "seen"))
        for part in ("include", *(Path(row[2]).parent for row in abi.INTERFACES.values())):
            shutil.copytree(SOURCE / part, source / part, dirs_exist_ok=True)
        header = source / "include" / abi.INTERFACES[name][0][0]
        text = header.read_text()
        header.write_text(change(text))
        if change(text) == text and change is not same:
            raise AssertionError("the header is no longer what the test changes")
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


if __name__ == "__main__":
    if shutil.which("abidw") is None:
        print("abi_test: skipped for want of abidw (Debian: abigail-tools)")
        sys.exit(abi.SKIPPED)
    unittest.main()
