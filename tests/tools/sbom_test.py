#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""That packaging/sbom.py finds what a wheel has inside; with a wheel that is made up here."""

import os
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "packaging"))
import sbom  # noqa: E402

FILES = {
    "tutti_ccl-1.2.3.dist-info/METADATA": "Metadata-Version: 2.1\nName: tutti-ccl\nVersion: 1.2.3\n",
    "tutti_ccl/share/doc/libfmt9/copyright": "License: Expat\n",
    "tutti_ccl/share/doc/libsodium-dev/copyright": "License: ISC\n\nLicense: of-nobody-knows\n",
    "tutti_ccl/share/doc/tutti/copyright": "License: Apache-2.0\n",
    "tutti_ccl.libs/libfmt-0123.so.9.1.0": "",
}


class Sbom(unittest.TestCase):
    def setUp(self):
        os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.wheel = Path(folder.name, "tutti_ccl-1.2.3-py3-none-any.whl")
        with zipfile.ZipFile(self.wheel, "w") as file:
            for name, text in FILES.items():
                file.writestr(name, text)
        self.document = sbom.document(self.wheel)
        self.packages = {entry["name"]: entry for entry in self.document["packages"]}

    def test_the_wheel_and_what_is_in_it_are_named_and_nothing_else(self):
        self.assertEqual(set(self.packages), {"tutti-ccl", "libfmt9", "libsodium-dev"})
        self.assertEqual(self.packages["tutti-ccl"]["versionInfo"], "1.2.3")
        contained = {link["relatedSpdxElement"] for link in self.document["relationships"]
                     if link["relationshipType"] == "CONTAINS"}
        self.assertEqual(contained, {"SPDXRef-Package-libfmt9", "SPDXRef-Package-libsodium-dev"})

    def test_libraries_that_are_copied_are_told_from_those_that_are_linked_in(self):
        self.assertIn("libfmt-0123.so", self.packages["libfmt9"]["comment"])
        self.assertIn("linked into", self.packages["libsodium-dev"]["comment"])

    def test_a_licence_that_is_not_known_is_not_passed_over(self):
        self.assertEqual(self.packages["libfmt9"]["licenseDeclared"], "MIT")
        self.assertEqual(self.packages["libsodium-dev"]["licenseDeclared"], "NOASSERTION")

    def test_the_same_wheel_gives_the_same_bytes(self):
        self.assertEqual(sbom.document(self.wheel), self.document)
        self.assertEqual(self.document["creationInfo"]["created"], "2023-11-14T22:13:20Z")


if __name__ == "__main__":
    unittest.main()
