# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Tests benchmarks/versus.py with contestants that are made up."""

import argparse
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import versus  # noqa: E402
from peers import report  # noqa: E402
from peers.contestants import Contestant, Unavailable, Workshop, plain_environment  # noqa: E402
from peers.session import Refused, Session  # noqa: E402

FAKE = textwrap.dedent("""
    import os, socket, sys, time
    rank, ranks = os.environ["RANK"], os.environ["WORLD_SIZE"]
    if sys.argv[1] == "refuses to start":
        sys.exit("no such device")
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(os.environ["VERSUS_SOCKET"])
    stream.sendall(f"hello {rank} {ranks} {os.getpid()} Fake 1.0\\n".encode())
    for line in stream.makefile("r"):
        if line == "quit\\n":
            break
        if sys.argv[1] == "dies" and rank == "1":
            sys.exit("out of luck")
        if sys.argv[1] == "lies" and rank == "1" and line.startswith("setup"):
            stream.sendall(b"error wrong result: rank 1, index 7, got 3, expected 5\\n")
        elif line.startswith("run"):
            stream.sendall(f"ok {0.001 * (1 + int(rank)):.6f}\\n".encode())
        else:
            stream.sendall(b"ok\\n")
""")


def entry(size, peer, us, rounds=None):
    return {"peer": peer, "variant": "", "us": us,
            "rounds_us": rounds or [us] * 5, "calls_per_round": 1}


class SizesTest(unittest.TestCase):
    def test_range_steps_by_four_unless_told(self):
        self.assertEqual(versus.parse_sizes("4-1K"), [4, 16, 64, 256, 1024])
        self.assertEqual(versus.parse_sizes("64K-256K*2"), [65536, 131072, 262144])

    def test_list_is_sorted_and_made_of_whole_elements(self):
        self.assertEqual(versus.parse_sizes("1M,10,4"), [4, 8, 1 << 20])

    def test_nonsense_is_refused(self):
        for text in ("", "4-", "x", "4-1K*1", "2"):
            with self.assertRaises(argparse.ArgumentTypeError, msg=text):
                versus.parse_sizes(text)


class VerdictTest(unittest.TestCase):
    def compare(self, ours, theirs):
        middle = sorted(ours)[len(ours) // 2], sorted(theirs)[len(theirs) // 2]
        return report.compare(entry(4, "Tutti", middle[0], ours), entry(4, "x", middle[1], theirs))

    def test_win_and_loss_need_three_rounds_of_four(self):
        self.assertEqual(self.compare([1, 1, 1, 1, 9], [2, 2, 2, 2, 2]), (0.5, "win"))
        self.assertEqual(self.compare([2, 2, 2, 2, 2], [1, 1, 1, 1, 9]), (2, "loss"))
        self.assertEqual(self.compare([1, 1, 1, 9, 9], [2, 2, 2, 2, 2])[1], "even")

    def test_peers_figure_is_that_of_its_fastest_variant(self):
        size = {"bytes": 4, "floor": None,
                "contestants": [entry(4, "a", 3), entry(4, "a", 1), entry(4, "b", 2)]}
        self.assertEqual(report.best_peer(size)["us"], 1)

    def test_losses_are_said(self):
        results = {"collective": "allreduce", "ranks": 2, "sizes": [
            {"bytes": 4, "floor": None, "contestants": [entry(4, "Tutti", 2), entry(4, "a", 1)]}]}
        self.assertIn("SLOWER at: 4 B (a 2.00)", report.verdict(results))


class SessionTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.program = Path(self.folder.name) / "fake.py"
        self.program.write_text(FAKE)
        self.shop = Workshop(2, [], Path("."), Path(self.folder.name))

    def start(self, behaviour):
        command = [sys.executable, str(self.program), behaviour]
        fake = Contestant("Fake", "", command, plain_environment(), "none", one_by_one=True)
        session = Session(fake, self.shop)
        self.addCleanup(session.close)
        return session

    def test_answers_come_in_rank_order(self):
        self.assertEqual(self.start("well").request("run 1 1"), ["0.001000", "0.002000"])

    def test_wrong_result_names_the_element_and_leaves_the_session_usable(self):
        session = self.start("lies")
        with self.assertRaisesRegex(Refused, "rank 1, index 7, got 3, expected 5"):
            session.request("setup allreduce 16")
        self.assertEqual(len(session.request("run 1 1")), 2)

    def test_dead_rank_is_reported_with_its_last_words(self):
        session = self.start("dies")
        with self.assertRaisesRegex(Unavailable, "died: out of luck"):
            session.request("run 1 1")

    def test_contestant_that_does_not_start_is_reported_with_its_last_words(self):
        with self.assertRaisesRegex(Unavailable, "no such device"):
            self.start("refuses to start")


if __name__ == "__main__":
    unittest.main()
