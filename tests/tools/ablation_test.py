# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What benchmarks/ablation.py makes of results."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import ablation  # noqa: E402
import versus  # noqa: E402


def results(ranks, *cells):
    return {"ranks": ranks, "jobs": [{"sizes": [
        {"contestants": [{"peer": peer, "us": us} for peer, us in cell.items()]} for cell in cells]}]}


class Ablation(unittest.TestCase):
    def test_a_row_counts_cells_that_are_clearly_won_and_lost(self):
        name = next(iter(ablation.SWITCHES))
        found = list(ablation.rows([results(
            2, {"Tutti": 1.0, name: 2.0}, {"Tutti": 1.0, name: 1.01}, {"Tutti": 2.0, name: 1.0},
            {"Tutti": 1.0})]))
        self.assertEqual(len(found), 1)
        self.assertEqual(found[0][2:], ["2", "3", "1.00", "1", "1"])

    def test_every_switch_is_a_variable_of_the_environment(self):
        known = set(re.findall(r'^TUTTI_VARIABLE\(\w+, "(\w+)"',
                               (ROOT / "env/variables.inc").read_text(), re.MULTILINE))
        for name, switch in ablation.SWITCHES.items():
            self.assertEqual(versus.parse_variant(f"{name}={switch}")[0], name)
            self.assertIn(switch.partition("=")[0], known)


if __name__ == "__main__":
    unittest.main()
