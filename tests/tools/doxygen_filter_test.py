# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What Doxygen gets to read of a header."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from doxygen_filter import filtered  # noqa: E402


class Header(unittest.TestCase):
    def test_says_what_each_function_does(self):
        text = filtered((ROOT / "include/tutti/tutti.h").read_text(encoding="utf-8"))
        functions = re.findall(r"^(.*)\nTUTTI_API [^(;]*?(\w+)\(", text, re.MULTILINE)
        self.assertGreater(len(functions), 80)
        silent = [name for line, name in functions if not line.endswith("*/")]
        self.assertEqual(silent, [])


if __name__ == "__main__":
    unittest.main()
