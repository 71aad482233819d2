# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""That the table of tuned constants is checked, and that what it says can be measured."""

import argparse
import contextlib
import io
import unittest

import constants  # and by it benchmarks/, where versus.py lies


import tuned  # noqa: E402
import versus  # noqa: E402

ROW = '''
TUTTI_TUNED(kA, uint32_t, 4 << 10, "bytes", "src/a.cpp",
            "Smaller is one thing; larger another.",
            "--collective allreduce --sizes 8")
'''


class Table(unittest.TestCase):
    def complaints(self, text, used):
        return list(constants.complaints(text, used))

    def test_a_constant_that_is_used_where_its_row_says_is_right(self):
        self.assertEqual(self.complaints(ROW, [("src/a.cpp", "kA")]), [])

    def test_one_that_is_used_elsewhere_is_found(self):
        for used, places in (([], "no file"), ([("src/b.cpp", "kA")], "src/b.cpp"),
                             ([("src/a.cpp", "kA"), ("src/b.cpp", "kA")], "src/a.cpp, src/b.cpp")):
            self.assertEqual(self.complaints(ROW, used), [
                f"src/core/tuned.inc: kA is used in {places}; expected once in src/a.cpp"])

    def test_one_that_stands_there_twice_is_found(self):
        self.assertEqual(self.complaints(ROW + ROW, [("src/a.cpp", "kA")]),
                         ["src/core/tuned.inc: kA stands there twice"])

    def test_a_row_that_cannot_be_read_is_found(self):
        self.assertEqual(len(self.complaints(ROW.replace(', "bytes"', ""), [])), 1)

    def test_every_constant_can_be_measured(self):
        parser = argparse.ArgumentParser()
        versus.add_arguments(parser)
        rows = tuned.constants()
        self.assertGreater(len(rows), 50)
        for row in rows:
            with self.subTest(row.name), contextlib.redirect_stderr(io.StringIO()) as errors:
                try:
                    options = parser.parse_args(row.measure.split())
                except SystemExit:
                    self.fail(errors.getvalue())
                self.assertEqual(options.ranks % options.hosts, 0)


class Trial(unittest.TestCase):
    def test_half_and_twice_stand_beside_the_value(self):
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


if __name__ == "__main__":
    unittest.main()
