# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What Doxygen gets to read of a header."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))

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


if __name__ == "__main__":
    unittest.main()
