# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""That prose.py finds long lines, and only where they can be broken."""

import unittest

import prose

LONG = "word " * 20 + "end"  # 103 columns


class Prose(unittest.TestCase):
    def complaints(self, text):
        return list(prose.complaints("page.md", text))

    def test_a_line_of_100_columns_is_allowed(self):
        self.assertEqual(self.complaints("a" * 100 + "\n"), [])

    def test_a_longer_line_is_found_and_named(self):
        self.assertEqual(self.complaints("short\n" + "a" * 101 + "\n"),
                         ["page.md:2: 101 columns, more than 100"])

    def test_columns_are_characters_not_bytes(self):
        self.assertEqual(self.complaints("µ" * 100 + "\n"), [])

    def test_tables_and_code_blocks_may_be_wide(self):
        self.assertEqual(self.complaints(f"| {LONG} |\n\n```sh\n{LONG}\n```\n"), [])

    def test_what_follows_a_code_block_is_checked(self):
        self.assertEqual(len(self.complaints(f"```\n{LONG}\n```\n{LONG}\n")), 1)

    def test_a_list_is_checked(self):
        self.assertEqual(len(self.complaints(f"- {LONG}\n")), 1)

    def test_the_address_of_a_link_does_not_count(self):
        address = "docs/" + "folder/" * 15 + "page.md"
        self.assertEqual(self.complaints(f"see [the page]({address}).\n"), [])
        self.assertEqual(self.complaints(f"see https://example.org/{address}\n"), [])
        self.assertEqual(len(self.complaints(f"[{LONG}]({address})\n")), 1)


if __name__ == "__main__":
    unittest.main()
