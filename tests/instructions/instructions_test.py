# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Tests what instructions.py makes of counts."""

import unittest

from instructions import compare

RECORDED = {"barrier": 1000, "send": 500}


class Compare(unittest.TestCase):
    def test_equal_and_nearly_equal_counts_are_accepted(self):
        self.assertEqual(compare(RECORDED, RECORDED), [])
        self.assertEqual(compare({"barrier": 1029, "send": 450}, RECORDED), [])

    def test_more_instructions_are_named_with_both_counts(self):
        wrong = compare({"barrier": 1040, "send": 500}, RECORDED)
        self.assertEqual(len(wrong), 1)
        self.assertRegex(wrong[0], "barrier: 1040 .* 1000 by 4.0%")

    def test_far_fewer_instructions_ask_for_a_new_record(self):
        wrong = compare({"barrier": 1000, "send": 400}, RECORDED)
        self.assertEqual(len(wrong), 1)
        self.assertRegex(wrong[0], "send: 400 .* 500")

    def test_calls_must_be_the_same(self):
        self.assertEqual(compare({"barrier": 1000, "recv": 5}, RECORDED),
                         ["recv: counted only", "send: recorded only"])


if __name__ == "__main__":
    unittest.main()
