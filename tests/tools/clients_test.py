# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What `./dev clients` knows of clients before any is installed, and how outputs are judged."""

import contextlib
import importlib.util
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "clients"))

import clients  # noqa: E402

# Not by `import`: the file has the name of what it runs.
SPEC = importlib.util.spec_from_file_location("client", ROOT / "tests" / "clients" / "vllm.py")
client = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(client)


def said(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = clients.main(list(arguments))
    return status, out.getvalue() + err.getvalue()


def result(tokens, logprobs):
    return {"tokens": [tokens], "logprobs": [logprobs]}


class Clients(unittest.TestCase):
    def test_every_client_is_listed_with_its_first_line(self):
        status, text = said()
        self.assertEqual(status, 0)
        for name in clients.clients():
            about = clients.declared(clients.HERE / f"{name}.py")["help"]
            self.assertIn(about.split("\n")[0], text)
        self.assertIn("vllm", clients.clients())
        self.assertNotIn("clients", clients.clients())

    def test_help_of_a_client_installs_nothing(self):
        status, text = said("vllm", "--help")
        self.assertEqual((status, text.strip()), (0, client.__doc__.strip()))

    def test_a_run_without_a_result_says_whether_it_ended(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for program, seconds, why in (("raise SystemExit(3)", 60, "process 0 ended with status 3"),
                                      ("import time; time.sleep(60)", 1, "not end within 1 s")):
            with (self.subTest(why=why), mock.patch.object(client, "FOLDER", folder),
                  mock.patch.object(client, "LONGEST", seconds),
                  self.assertRaisesRegex(client.Failed, why)):
                client.run([[sys.executable, "-c", program]], [{}])

    def test_an_unknown_client_is_answered_with_those_there_are(self):
        status, text = said("vlm")
        self.assertEqual(status, 2)
        self.assertIn("no 'vlm'; there are: ", text)

    def test_what_building_our_package_wants_is_installed_with_every_client_that_has_it(self):
        for name in clients.clients():
            declared = clients.declared(clients.HERE / f"{name}.py")
            packages = {package.split("==")[0] for package in declared["PACKAGES"]}
            uses = "tutti_ccl" in (clients.HERE / f"{name}.py").read_text()
            self.assertTrue(declared["TUTTI_CCL"] or not uses, name)
            if declared["TUTTI_CCL"]:
                self.assertIn("torch", packages, name)

    def test_outputs_agree_up_to_a_tie_that_goes_the_other_way(self):
        alone = result([5, 6, 7], [-1.0, -2.0, -3.0])
        with contextlib.redirect_stdout(io.StringIO()):
            client.compare("same", result([5, 6, 7], [-1.01, -2.0, -3.0]), alone)
            client.compare("tie", result([5, 9, 1], [-1.0, -2.01, -9.0]), alone)
            for wrong in (result([5, 6, 7], [-1.0, -2.2, -3.0]),  # the same tokens by luck
                          result([9, 6, 7], [-1.4, -2.0, -3.0])):
                with self.assertRaisesRegex(client.Failed, "logarithms of probability differ"):
                    client.compare("wrong", wrong, alone)


if __name__ == "__main__":
    unittest.main()
