#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Ranks on hosts with two networks, which use one or both: `rails_test.py BUILD [NAME ...]`.

The exit status is 77 where such hosts cannot be made."""

import os
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "support"))

import hosts  # noqa: E402

BUILD = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build/release"
ALLREDUCE = [str(BUILD / "tests/launchers_allreduce")]
BENCH = [str(BUILD / "bin/tutti"), "bench", "allreduce", "-f", "8M", "-t", "8M", "-i", "3"]
FRAMES = [str(BUILD / "bin/tutti"), "bench", "allreduce", "--sizes", "64K", "-i", "500"]
TIMEOUT_S = 120


class Rails(unittest.TestCase):
    def setUp(self):
        self.hosts = self.enterContext(hosts.Hosts(2, rails=2))

    def run_job(self, command, env, per_host=1, by_host=()):
        """Exit statuses in rank order, and all that was said. by_host: more variables of each."""
        return self.end_job(self.start_job(command, env, per_host, by_host))

    def end_job(self, ranks):
        text = "".join(process.communicate(timeout=TIMEOUT_S)[0] for process in ranks)
        return [process.returncode for process in ranks], text

    def start_job(self, command, env, per_host=1, by_host=()):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        ranks = []
        for rank in range(2 * per_host):
            host = rank // per_host
            place = {
                "RANK": rank,
                "WORLD_SIZE": 2 * per_host,
                "LOCAL_RANK": rank % per_host,
                "LOCAL_WORLD_SIZE": per_host,
                "MASTER_ADDR": self.hosts.addresses[0],
                "MASTER_PORT": 29500,
            }
            own = by_host[host] if by_host else {}
            variables = {name: str(value) for name, value in place.items()} | env | own
            ranks.append(self.hosts.popen(host, command, variables, **pipes))
        return ranks

    def sent(self, host, interface):
        """Bytes, since the host was made."""
        path = f"/sys/class/net/{interface}/statistics/tx_bytes"
        words = self.hosts.enter(host) + ["cat", path]
        return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)

    def expect_interfaces(self, env, expected, per_host=1):
        status, text = self.run_job(ALLREDUCE, {"CCL_LOG_LEVEL": "info", **env}, per_host)
        self.assertEqual(set(status), {0}, text)
        said = [line for line in text.splitlines() if " interface: " in line or " rails: " in line]
        self.assertGreaterEqual(len(said), 2 * 2 * per_host, text)
        for line in said:
            self.assertEqual({eth for eth in ("eth0", "eth1") if eth in line}, expected, line)

    def test_all_interfaces_are_used_where_that_is_wanted(self):
        self.expect_interfaces({"CCL_MNIC": "global"}, {"eth0", "eth1"}, per_host=2)
        self.expect_interfaces({"CCL_MNIC": "local"}, {"eth0", "eth1"})

    def expect_half_over_each(self, command):
        before = [[self.sent(host, eth) for eth in ("eth0", "eth1")] for host in range(2)]
        status, text = self.run_job(command, {"CCL_MNIC": "global", "TUTTI_NETWORK_MEASURE": "0"})
        self.assertEqual(status, [0, 0], text)
        for host in range(2):
            sent = [self.sent(host, f"eth{rail}") - before[host][rail] for rail in range(2)]
            self.assertGreater(min(sent), 8 << 20, sent)
            self.assertLess(max(sent), 1.2 * min(sent), sent)

    def test_messages_go_half_over_each(self):
        for command in (BENCH, FRAMES):
            with self.subTest(sizes=command[4]):
                self.expect_half_over_each(command)

    def test_one_interface_is_used_where_one_rank_wants_no_more(self):
        one = ({"CCL_MNIC": "global"}, {"CCL_MNIC": "global", "CCL_MNIC_COUNT": "1"})
        _, text = self.run_job(ALLREDUCE, {"CCL_LOG_LEVEL": "info"}, 1, one)
        self.assertNotIn(" rails: ", text)
        self.assertEqual(text.count(" interface: "), 4, text)

    def test_names_decide_which_interfaces_may_be_used(self):
        for names, expected in (("eth1,hfi", {"eth1"}), ("^eth1", {"eth0"}), ("^eth0", {"eth1"})):
            for mnic in ("none", "global"):
                with self.subTest(names=names, mnic=mnic):
                    self.expect_interfaces({"CCL_MNIC": mnic, "CCL_MNIC_NAME": names}, expected)

    def expect_error(self, env, *texts):
        status, text = self.run_job(ALLREDUCE, {"TUTTI_INIT_TIMEOUT_MS": "8000", **env})
        self.assertEqual(status, [1, 1], text)
        for expected in texts:
            self.assertIn(expected, text)

    def test_errors_say_what_was_given_and_what_there_is(self):
        self.expect_error(
            {"CCL_MNIC": "global", "CCL_MNIC_NAME": "wlan,^eth0"},
            'CCL_MNIC_NAME, which is "wlan,^eth0"',
            "tcp on eth1 (10.92.0.1)",
        )
        self.expect_error({"CCL_MNIC_COUNT": "0"}, "CCL_MNIC_COUNT", "from 1 to 64")
        self.expect_error({"CCL_MNIC": "both"}, "CCL_MNIC", "none, local, global")

    def test_a_rail_that_leads_nowhere_is_found_when_ranks_meet(self):
        self.hosts.cut(1, rail=1)
        self.expect_error({"CCL_MNIC": "global"}, "rail 1, tcp on eth1 (10.92.0.")

    def await_traffic(self):
        ends = time.monotonic() + TIMEOUT_S
        while self.sent(0, "eth1") < 64 << 20 and time.monotonic() < ends:
            time.sleep(0.1)

    def expect_job_to_outlive(self, what_happens, **more):
        """A job of calls without end, whose second rail breaks by `what_happens`, goes on over the
        first: much more passes there after the warning than a call has."""
        env = {"CCL_MNIC": "global", "TUTTI_NETWORK_MEASURE": "0", **more}
        ranks = self.start_job([*BENCH[:-1], "1000000"], env)
        self.await_traffic()
        what_happens()
        warning = ""
        watchdog = threading.Timer(TIMEOUT_S, lambda: [rank.kill() for rank in ranks])
        watchdog.start()
        for line in ranks[0].stdout:
            warning += line
            if "is no longer reached over" in line:
                break
        before = self.sent(0, "eth0")
        ends = time.monotonic() + TIMEOUT_S
        while self.sent(0, "eth0") < before + (128 << 20) and time.monotonic() < ends:
            self.assertEqual([rank.poll() for rank in ranks], [None, None])
            time.sleep(0.1)
        self.assertGreaterEqual(self.sent(0, "eth0"), before + (128 << 20))
        watchdog.cancel()
        for rank in ranks:
            rank.kill()
        self.end_job(ranks)
        self.assertRegex(
            warning,
            r"rank 1 \(pid \d+ on host1\) is no longer reached over rail 1, tcp on eth1 "
            r"\(10\.92\.0\.1\): (the other end has lost it|what was sent has not been acknowledged "
            r"for \d+ ms); 1 of 2 rails remain",
        )

    def test_a_rail_that_swallows_everything_costs_its_share_and_not_the_job(self):
        self.expect_job_to_outlive(lambda: self.hosts.cut(1, rail=1))

    def test_an_interface_taken_down_costs_its_share_and_not_the_job(self):
        down = self.hosts.enter(0) + ["ip", "link", "set", "eth1", "down"]
        take_down = lambda: subprocess.run(down, check=True)  # noqa: E731
        self.expect_job_to_outlive(take_down, TUTTI_NET_ENCRYPT="1")

    def test_a_rail_that_is_cut_ends_calls_at_their_deadline(self):
        env = {"CCL_MNIC": "global", "TUTTI_TIMEOUT_MS": "3000", "TUTTI_NETWORK_MEASURE": "0"}
        ranks = self.start_job([*BENCH[:-1], "1000000"], env)
        self.await_traffic()
        self.hosts.cut(1, rail=1)
        status, text = self.end_job(ranks)
        self.assertEqual(status, [1, 1], text)
        self.assertIn(" waited 3000 ms in allreduce #", text)
        self.assertRegex(text, r"rank [01] \(pid \d+ on host[01]\)")


if __name__ == "__main__":
    why = hosts.unavailable()
    if why:
        print(f"skipped: {why}")
        sys.exit(77)
    os.chdir(ROOT)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
