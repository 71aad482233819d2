# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""That classes.py finds classes that are too large, and counts right."""

import tempfile
import unittest
from pathlib import Path

import classes


def header(members, functions):
    lines = ["class Big {", " public:", "  Big();", "  explicit Big(int);", "  ~Big();"]
    lines += [f"  void prototype_{i}(int a);" for i in range(functions // 2)]
    lines += [f"  int inline_{i}() const {{ return a_{i}_; }}"
              for i in range(functions - functions // 2)]
    lines += [" private:"] + [f"  int a_{i}_ = 0;" for i in range(members)]
    return "\n".join(["namespace tutti {", *lines, "};", "}"])


class Classes(unittest.TestCase):
    def complaints(self, text, name="big.hpp"):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "src").mkdir()
            (Path(folder) / "src" / name).write_text(text)
            return list(classes.complaints(classes.tags(Path(folder))))

    def test_a_class_at_the_bounds_is_allowed(self):
        self.assertEqual(self.complaints(header(classes.MOST_MEMBERS, classes.MOST_FUNCTIONS)), [])

    def test_too_many_members_are_found(self):
        self.assertEqual(self.complaints(header(classes.MOST_MEMBERS + 1, 2)),
                         ["src/big.hpp: tutti::Big has 25 data members, more than 24"])

    def test_too_many_functions_are_found(self):
        self.assertEqual(self.complaints(header(2, classes.MOST_FUNCTIONS + 1)),
                         ["src/big.hpp: tutti::Big has 41 functions, more than 40"])

    def test_definitions_of_functions_do_not_count_twice(self):
        text = header(2, classes.MOST_FUNCTIONS)
        text += "\n".join(f"inline void tutti::Big::prototype_{i}(int) {{}}" for i in range(20))
        self.assertEqual(len(self.complaints(text)), 0)


if __name__ == "__main__":
    unittest.main()
