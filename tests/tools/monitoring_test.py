#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""That what packaging/monitoring/ names is there: monitoring_test.py COMMAND."""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
FOLDER = TOP / "packaging/monitoring"
COMMAND = sys.argv.pop()
METRIC = re.compile(r"\btutti_(?!job\b)[a-z_]+")


def written():
    """The names of all metrics."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "metrics"
        subprocess.run([COMMAND, "watch", "--once", "--here", "--job", "no-such-job",
                        "--prometheus", file], stderr=subprocess.DEVNULL, check=False)
        return set(re.findall(r"^# TYPE (\S+) ", file.read_text(), re.MULTILINE))


def labels():
    """Those that docs/watch.md names, and that of Prometheus for the host."""
    cells = re.findall(r"^\| [^|]*tutti[^|]* \| (\w+(?:, \w+)*) \|", (TOP / "docs/watch.md").read_text(),
                       re.MULTILINE)
    return {label for cell in cells for label in cell.split(", ")} | {"instance"}


def rules():
    return re.findall(r"^ +expr: (.*)$", (FOLDER / "alerts.yml").read_text(), re.MULTILINE)


def panels():
    return json.loads((FOLDER / "grafana.json").read_text())["panels"]


class Monitoring(unittest.TestCase):
    def test_every_rule_asks_for_metrics_that_are_written(self):
        self.assertGreaterEqual(len(rules()), 4)
        for expression in rules():
            named = set(METRIC.findall(expression))
            self.assertTrue(named, expression)
            self.assertLessEqual(named, written(), expression)

    def test_every_panel_shows_metrics_that_are_written(self):
        self.assertGreaterEqual(len(panels()), 8)
        for panel in panels():
            for target in panel["targets"]:
                named = set(METRIC.findall(target["expr"]))
                self.assertTrue(named, target["expr"])
                self.assertLessEqual(named, written(), target["expr"])

    def test_they_use_labels_that_there_are(self):
        named = set()
        for file in FOLDER.glob("*.[yj]*"):
            text = file.read_text()
            named |= set(re.findall(r"\$labels\.(\w+)|\{\{(\w+)\}\}|(\w+)=~", text))
            for group in re.findall(r"\bby \(([^)]*)\)", text):
                named |= {(label,) for label in group.split(", ")}
        named = {label for found in named for label in found if label}
        self.assertIn("tutti_job", named)
        self.assertLessEqual(named, labels())

    def test_panels_have_numbers_of_their_own(self):
        numbers = [panel["id"] for panel in panels()]
        self.assertEqual(len(numbers), len(set(numbers)))

    def test_the_unit_starts_the_command_with_options_that_it_has(self):
        line, = re.findall(r"^ExecStart=\S+/tutti (.*)$", (FOLDER / "tutti-watch.service").read_text(),
                           re.MULTILINE)
        command, *options = line.split()
        known = subprocess.run([COMMAND, command, "--help"], capture_output=True, text=True, check=True)
        for option in options:
            if option.startswith("--"):
                self.assertRegex(known.stdout, rf"{option}\b")


if __name__ == "__main__":
    unittest.main()
