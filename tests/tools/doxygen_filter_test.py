# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What Doxygen gets to read of a header."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from doxygen_filter import filtered  # noqa: E402


class Filter(unittest.TestCase):
    def test_the_first_comment_is_that_of_the_file(self):
        self.assertEqual(filtered("/* A file. */\n"), "/** @file\n * A file. */\n")
        self.assertEqual(filtered("// A file.\n"), "/// @file\n/// A file.\n")

    def test_comments_belong_to_what_follows_or_to_their_line(self):
        text = filtered("/* F. */\n/* A. */\nint a; /* of a */\n  // B.\n  int b;  // of b\n")
        for part in ("/** A. */\nint a; /**< of a */", "/// B.\n  int b;  ///< of b"):
            self.assertIn(part, text)

    def test_all_forms_of_a_function_have_its_comment(self):
        text = filtered("/* F. */\n/* Sums. */\nTUTTI_API s tutti_sum(int a,\n  int b);\n"
                        "TUTTI_API s tutti_isum(int a);\nTUTTI_API s tutti_sum_init(int a);\n"
                        "TUTTI_API s tutti_other(int a);\n")
        for name in ("tutti_sum(", "tutti_isum(", "tutti_sum_init("):
            self.assertIn(f"/** Sums. */\nTUTTI_API s {name}", text)
        self.assertNotIn("/** Sums. */\nTUTTI_API s tutti_other", text)


class Header(unittest.TestCase):
    def test_says_what_each_function_does(self):
        text = filtered((ROOT / "include/tutti/tutti.h").read_text(encoding="utf-8"))
        functions = re.findall(r"^(.*)\nTUTTI_API [^(;]*?(\w+)\(", text, re.MULTILINE)
        self.assertGreater(len(functions), 80)
        silent = [name for line, name in functions if not line.endswith("*/")]
        self.assertEqual(silent, [])


if __name__ == "__main__":
    unittest.main()
