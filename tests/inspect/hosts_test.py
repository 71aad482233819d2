#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What `tutti why` tells of ranks on another host: `hosts_test.py STUCK TUTTI`.

The hosts are made of namespaces (support/hosts.py); the processes of the other one have no part in
what the command finds in /proc, for it is asked about a process of this one.
"""

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
import hosts as support  # noqa: E402

PATIENCE_S = 60  # ends a hang and nothing else
STUCK, TUTTI = sys.argv[1:3]


class TwoHosts(unittest.TestCase):
    def setUp(self):
        self.hosts = self.enterContext(support.Hosts(2))

    def start(self, scenario, per_host=2):
        ranks = self.hosts.run_ranks(
            per_host, [STUCK, scenario], {"TUTTI_TUNING_FILE": "none"}, stdout=subprocess.PIPE
        )
        for rank in ranks:
            self.assertEqual(rank.stdout.readline(), b"ready\n")
            self.addCleanup(rank.stdout.close)
        return ranks

    def ask(self, command, rank, host=0):
        """What is told on a host of a process there: status and JSON."""
        words = self.hosts.enter(host) + [TUTTI, *command.split(), "--json", str(rank.pid)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        return done.returncode, json.loads(done.stdout)

    def why(self, rank, wanted, host=0):
        """Asks until that stands in the verdict."""
        end = time.monotonic() + PATIENCE_S
        while True:
            status, told = self.ask("why", rank, host)
            verdict = told["jobs"][0]["verdict"]
            if wanted in verdict["text"] or time.monotonic() > end:
                self.assertIn(wanted, verdict["text"])
                self.assertEqual(status, verdict["status"])
                return told["jobs"][0]

    def test_a_rank_that_is_stopped_on_the_other_host_is_named_with_its_host(self):
        ranks = self.start("stops")
        job = self.why(ranks[0], "is stopped (state T)")
        verdict = job["verdict"]
        self.assertEqual(verdict["outcome"], "hung")
        self.assertIn(f"rank 3 (pid {ranks[3].pid} on host1) has not entered allreduce #5", verdict["text"])
        self.assertEqual(verdict["advice"], f"on host1: kill -CONT {ranks[3].pid}")
        places = [(rank["rank"], rank["host"]) for rank in job["communicators"][0]["ranks"]]
        self.assertEqual(places, [(0, "host0"), (1, "host0"), (2, "host1"), (3, "host1")])

    def test_a_rank_that_computes_on_the_other_host_is_not_taken_for_a_hang(self):
        ranks = self.start("computes")
        self.assertEqual(self.why(ranks[1], "computes outside of Tutti")["verdict"]["outcome"], "waits")

    def test_a_rank_that_has_died_on_the_other_host_is_named_by_those_that_are_left(self):
        ranks = self.start("dies")
        os.kill(ranks[3].pid, signal.SIGKILL)
        verdict = self.why(ranks[0], "has died")["verdict"]
        # Its neighbour tells of it, or the line to it.
        self.assertRegex(verdict["text"], rf"rank 3 \(pid {ranks[3].pid} on (host )?host1\) has died")
        self.assertEqual(verdict["status"], 2)

    def test_a_host_that_is_cut_off_does_not_keep_the_command_waiting(self):
        ranks = self.start("sleeps")
        self.hosts.cut(1)
        job = self.why(ranks[0], "does not answer, and has not been heard of for ")
        advice = [f"on host1: tutti why {rank.pid}" for rank in ranks[2:]]
        self.assertIn(job["verdict"]["advice"], advice)
        self.assertEqual([r["host"] for r in job["communicators"][0]["ranks"] if "silent_s" in r],
                         ["host1", "host1"])

    def test_all_ranks_may_be_stopped_on_the_other_host(self):
        ranks = self.start("sleeps")
        for rank in ranks[2:]:
            os.kill(rank.pid, signal.SIGSTOP)
        job = self.why(ranks[0], " on host1) does not answer")
        silent = [r["pid"] for r in job["communicators"][0]["ranks"] if "silent_s" in r]
        self.assertEqual(silent, [rank.pid for rank in ranks[2:]])

    def test_the_table_has_the_ranks_of_both(self):
        ranks = self.start("goes-on")
        _, told = self.ask("top --once --interval 0.5", ranks[2], host=1)
        table = told["communicators"][0]["ranks"]
        self.assertEqual(sorted(rank["rank"] for rank in table), [0, 1, 2, 3])
        self.assertTrue(all(rank["calls_per_s"] > 0 for rank in table))


if __name__ == "__main__":
    reason = support.unavailable()
    if reason:
        print(f"hosts_test.py: {reason}", file=sys.stderr)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
