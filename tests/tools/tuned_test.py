# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""That what the table of tuned constants says can be measured, and what comes of it."""

import argparse
import contextlib
import io
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import tuned  # noqa: E402
import versus  # noqa: E402


class Table(unittest.TestCase):
    def test_every_constant_can_be_measured(self):
        parser = argparse.ArgumentParser()
        versus.add_arguments(parser)
        rows = tuned.constants()
        self.assertGreater(len(rows), 5)
        for row in rows:
            with self.subTest(row.name), contextlib.redirect_stderr(io.StringIO()) as errors:
                try:
                    options = parser.parse_args(row.measure.split())
                except SystemExit:
                    self.fail(errors.getvalue())
                self.assertEqual(options.ranks % options.hosts, 0)


class Trial(unittest.TestCase):
    def test_variants_stand_beside_tutti_with_the_interval_of_their_means(self):
        contestants = [{"peer": peer, "us": us} for peer, us in
                       (("Tutti", 2.0), ("half", 3.0), ("twice", 1.0))]
        found = tuned.ratios({"jobs": [{"collective": "allreduce", "type": "float32", "sizes": [
            {"bytes": 8, "contestants": contestants},
            {"bytes": 64, "contestants": contestants[:2]}]}]})
        self.assertEqual(found, {("allreduce float32", 8): {"half": 1.5, "twice": 0.5},
                                 ("allreduce float32", 64): {"half": 1.5}})
        lines = list(tuned.report(found))
        self.assertIn("1.50    0.50", lines[1])
        self.assertIn("nan", lines[2])
        self.assertIn("1.50    0.50", lines[3])
        self.assertIn("1.50    0.00", lines[4])  # of one cell nothing is known


if __name__ == "__main__":
    unittest.main()
