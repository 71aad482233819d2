# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""That commands of ./dev give in every order what each gives alone.

They run in a copy of the tree's outline, where compilers and installers are a stand-in
(dev_stand_in.py) that notes what was built, with which options, and what was then run.
"""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from dev_stand_in import stand_in

ROOT = Path(__file__).resolve().parents[2]
STAND_INS = ["cmake", "ctest", "apt-get", "sudo", "dpkg-query", "dpkg", "git", "gcc", "g++", "ldd",
             "clang-format-15", "shellcheck", "renice", "doxygen"]
IN_VENV = ["python", "pip"]
COMMANDS = {
    "demo": ["demo"], "bench": ["bench", "allreduce"], "versus": ["versus", "--quick"],
    "torch": ["versus", "--torch"], "wheel": ["wheel"], "test": ["test"], "check": ["check", "core"],
    "verify": ["verify", "--quick"], "build": ["build"], "devices": ["devices", "release", "1"],
}


class Tree:
    """The outline of a tree in which nothing has been done yet."""

    def __init__(self, folder):
        self.folder = Path(folder)
        for name in ("dev", "CMakePresets.json"):
            shutil.copy(ROOT / name, self.folder / name)
        for name in ("benchmarks", "tests", "examples", "python", "include", "pyproject.toml"):
            (self.folder / name).symlink_to(ROOT / name)
        # One that is reached by its path, and goes to the root of the tree that it is in.
        (self.folder / "packaging").mkdir()
        stand_in(self.folder / "packaging/wheel.sh")
        for place, names in (("stand_ins", STAND_INS), (".venv/bin", IN_VENV)):
            (self.folder / place).mkdir(parents=True)
            for name in names:
                stand_in(self.folder / place / name)
        # The interpreter that dev itself asks, which runs no script of the tree.
        interpreter = self.folder / "interpreter"
        interpreter.write_text(
            f'#!/bin/sh\ncase $* in *.py*) ;; *) exec {sys.executable} "$@" ;; esac\n')
        interpreter.chmod(0o755)

    def do(self, words):
        """What the command builds and runs; what it only prepares is not part of that."""
        noted = self.folder / "noted"
        noted.write_text("")
        environment = {**os.environ, "PYTHON": str(self.folder / "interpreter"), "JOBS": "2",
                       "PATH": f"{self.folder}/stand_ins:/usr/bin:/bin"}
        self.ended = subprocess.run(["bash", str(self.folder / "dev"), *words], env=environment,
                                    cwd=self.folder, capture_output=True, text=True, check=False)
        lines = [json.loads(line.replace(str(self.folder), "."))
                 for line in noted.read_text().splitlines()]
        # Builds ahead of their time run beside others.
        return sorted(lines, key=lambda line: json.dumps({**line, "cache": ""}, sort_keys=True))

    def cmake(self, *words):
        subprocess.run([self.folder / "stand_ins/cmake", *words], cwd=self.folder, check=True)


class Orders(unittest.TestCase):
    def tree(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Tree(folder.name)

    @classmethod
    def setUpClass(cls):
        cls.alone = {}

    def given_alone(self, command):
        if command not in self.alone:
            tree = self.tree()
            self.alone[command] = tree.do(COMMANDS[command])
            self.assertTrue(self.alone[command], tree.ended.stdout + tree.ended.stderr)
        return self.alone[command]

    def assert_same(self, found, alone, order):
        """More packages may be there than alone, as they were on the machine all the time."""
        self.assertEqual(len(found), len(alone), order)
        for one, other in zip(found, alone):
            one, other = json.loads(json.dumps(one)), json.loads(json.dumps(other))
            here, there = (set(x.get("cache", {}).pop("PACKAGES", "").split()) for x in (one, other))
            self.assertEqual(one, other, order)
            self.assertLessEqual(there, here, order)

    def assert_order(self, order):
        tree = self.tree()
        for command in order:
            self.assert_same(tree.do(COMMANDS[command]), self.given_alone(command), order)

    def test_every_command_builds_what_it_runs(self):
        for command in COMMANDS:
            noted = self.given_alone(command)
            self.assertIn("build", [line["what"] for line in noted], command)
            for line in noted:
                self.assertTrue(line.get("cache", True), f"{command}: {line}")

    def test_two_commands_give_in_either_order_what_each_gives_alone(self):
        for order in itertools.permutations(["demo", "bench", "versus", "torch", "wheel"], 2):
            self.assert_order(order)

    def test_three_commands_of_the_readme_give_in_every_order_what_each_gives_alone(self):
        for order in itertools.permutations(["demo", "test", "wheel"]):
            self.assert_order(order)

    def test_what_is_measured_and_given_away_is_optimised_as_a_whole(self):
        for command in ("bench", "versus", "torch", "wheel"):
            for line in self.given_alone(command):
                if line["what"] in ("build", "wheel"):
                    self.assertEqual(line["cache"]["TUTTI_LTO"], "ON", command)

    def test_a_tree_that_was_configured_by_hand_becomes_what_its_preset_says(self):
        tree = self.tree()
        tree.cmake("--preset", "release", "-DTUTTI_LTO=OFF", "-DTUTTI_TOOLS=OFF")
        self.assert_same(tree.do(COMMANDS["bench"]), self.given_alone("bench"), "by hand")

    def test_packages_that_come_later_are_found(self):
        tree = self.tree()
        tree.do(COMMANDS["bench"])
        wheel, = (line for line in tree.do(COMMANDS["wheel"]) if line["what"] == "wheel")
        self.assertIn("clang-15", wheel["cache"]["PACKAGES"].split())


class Steps(unittest.TestCase):
    def test_a_step_fails_by_any_of_its_commands(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = Tree(folder)
            interpreter = tree.folder / "interpreter"
            text = interpreter.read_text().replace("in *.py*)", "in *layering.py*) exit 1 ;; *.py*)")
            interpreter.write_text(text)
            tree.do(["lint"])
            line, = (line for line in tree.ended.stdout.splitlines() if "lint: layering" in line)
            self.assertIn("FAILED", line)
            self.assertEqual(tree.ended.returncode, 1)

    def test_what_the_demo_installs_must_be_built(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = Tree(folder)
            ninja = tree.folder / "stand_ins/ninja"
            ninja.write_text("#!/bin/sh\ncase $* in *targets*) echo 'libmpi_abi.so: link' ;; "
                             "*) echo libtutti.so ;; esac\n")
            ninja.chmod(0o755)
            (tree.folder / "build/demo").mkdir(parents=True)
            (tree.folder / "build/demo/cmake_install.cmake").write_text(
                f'file(INSTALL "{tree.folder}/build/demo/libmpi_abi.so")\n')
            tree.do(["test"])
            self.assertIn("the demo installs, and does not build: libmpi_abi.so", tree.ended.stdout)


class Documents(unittest.TestCase):
    def test_the_page_on_installing_names_every_package_that_is_built_with(self):
        lists = re.findall(r"^readonly (?:build|kernel)_packages=\(([^)]*)\)",
                           (ROOT / "dev").read_text(), re.M)
        self.assertEqual(len(lists), 2)
        built_with = set(" ".join(lists).split()) - {"libgtest-dev"}  # of the tests
        page = (ROOT / "docs/install.md").read_text()
        line, = re.findall(r"^apt-get install (.*)$", page, re.M)
        named = set(line.split()) | set(re.findall(r"`([a-z0-9+-]+)`", page))
        self.assertEqual(built_with - named, set())

    def test_what_cmake_cannot_do_without_is_in_its_one_line(self):
        line, = re.findall(r"^apt-get install (.*)$", (ROOT / "docs/install.md").read_text(), re.M)
        needed = re.findall(r"\w=([a-z0-9-]+)", re.search(
            r"foreach\(need ([^)]*)\)", (ROOT / "CMakeLists.txt").read_text()).group(1))
        self.assertGreater(len(needed), 5)
        self.assertEqual(set(needed) - set(line.split()), set())

    def test_plain_cmake_builds_no_tests_and_takes_no_warning_for_an_error(self):
        text = (ROOT / "CMakeLists.txt").read_text()
        for option in ("TUTTI_TESTS", "TUTTI_WERROR"):
            self.assertRegex(text, rf"option\({option} \"[^\"]*\" OFF\)")


class Tiers(unittest.TestCase):
    def run_test(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            tree = Tree(folder)
            noted = tree.do(["test", *words])
            return noted, tree.ended.stdout.splitlines()

    def test_a_run_names_what_it_left_out_and_how_long_it_took(self):
        _, lines = self.run_test()
        left, = (line for line in lines if line.startswith("left to ./dev test --all: "))
        for name in ("wheel", "launchers", "fuzz", "intel", "AddressSanitizer"):
            self.assertIn(name, left)
        self.assertRegex("\n".join(lines), r"took \d+ min \d+ s\n(.*\n)*\d+ passed, \d+ failed$")

    def test_each_step_that_is_left_out_names_files_that_exist(self):
        table = re.search(r"readonly long_table='([^']*)'", (ROOT / "dev").read_text()).group(1)
        there = [str(path.relative_to(ROOT)) for path in ROOT.glob("[a-z]*/**/*")]
        for line in table.splitlines():
            name, files, text = line.split(";")
            self.assertTrue(name.isalpha() and text, line)
            self.assertTrue(any(re.search(files, path) for path in there), line)

    def test_all_leaves_out_nothing(self):
        noted, lines = self.run_test("--all")
        self.assertIn("left to ./dev test --all: nothing", lines)
        self.assertIn("wheel", [line["what"] for line in noted])
        for line in noted:
            if line["what"] == "ctest":
                self.assertNotIn("-LE", line["words"])
                self.assertNotIn("-I", line["words"])

    def test_other_arguments_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = Tree(folder)
            tree.do(["test", "--everything"])
            self.assertEqual(tree.ended.returncode, 1)
            self.assertIn("'--everything', expected nothing, --all", tree.ended.stderr)


if __name__ == "__main__":
    unittest.main()
