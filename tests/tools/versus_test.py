# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Tests benchmarks/versus.py with contestants that are made up."""

import argparse
import contextlib
import io
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import versus  # noqa: E402
from peers import match, plan, plot, report, spread, summary, text  # noqa: E402
from peers.contestants import Contestant, Unavailable, Workshop, plain_environment  # noqa: E402
from peers.session import Refused, Session, processes_with  # noqa: E402

FAKE = textwrap.dedent("""
    import os, socket, sys, time
    rank, ranks = os.environ["RANK"], os.environ["WORLD_SIZE"]
    behaviour = sys.argv[1]
    if behaviour == "refuses to start":
        sys.exit("no such device")
    if behaviour == "leaves a child behind" and os.fork() == 0:
        os.setsid()
        time.sleep(600)
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(os.environ["VERSUS_SOCKET"])
    stream.sendall(f"hello {rank} {ranks} {os.getpid()} Fake 1.0\\n".encode())
    for line in stream.makefile("r"):
        verb, *words = line.split()
        answer = "ok"
        if verb == "quit":
            break
        if behaviour == "dies" and rank == "1":
            sys.exit("out of luck")
        if verb == "setup" and behaviour == "lies" and rank == "1":
            answer = "error wrong result: rank 1, index 7, got 3, expected 5"
        if verb == "setup" and behaviour == "blocks" and words[-1] != "blocking":
            answer = "error not offered: it blocks"
        if verb == "setup" and behaviour == "sums only" and words[0] != "allreduce":
            answer = "error not offered: only sums"
        if verb == "run":  # a millisecond per call, and one more on each further rank
            answer = f"ok {0.001 * (1 + int(rank)) * int(words[0]):.6f}"
        if verb == "each":  # rank 1 comes 4 us late; all calls end 6 us after it came
            answer += "".join(f" {1000 * (100 * i + 4 * int(rank))} {1000 * (100 * i + 10)}"
                              for i in range(int(words[0])))
        if verb == "late":
            answer = "ok 0.01 0.02" if rank == "0" else "ok 0 0"
        if verb == "where":
            answer = f"ok {socket.gethostname()} {os.environ['LOCAL_RANK']}"
        if verb == "handover":
            answer = "ok 0.000001"
        if verb == "exchange":
            answer = "ok 0.000002"
        if verb == "copy":
            answer = "ok 0.000002 0.000003"
        stream.sendall(answer.encode() + b"\\n")
""")

# One rank in C, whose every collective is a copy; above 9 elements it forgets the last.
COPIER = """
#include <string.h>
#include "server.h"
static const char* call(const struct operation* o) {
  const size_t count = o->count > 9 ? o->count - 1 : o->count;
  if (o->collective != COLLECTIVE_BARRIER && o->collective != COLLECTIVE_BROADCAST && !o->in_place)
    memcpy(o->recv, o->send, count * type_size(o->type));
  return NULL;
}
int main(void) {
  const struct contestant contestant = {0, 1, "copier 1", call};
  return serve(&contestant);
}
"""


def entry(peer, us, rounds=None, variant="", **more):
    return {"peer": peer, "variant": variant, "us": us,
            "rounds_us": rounds or [us] * 5, "calls_per_round": 1, **more}


def size(*contestants, floor=None, count=4):
    return {"bytes": count, "buffer_sets": 1, "contestants": list(contestants),
            "floor": floor and {"us": floor}}


def job(*sizes, collective="allreduce"):
    return {"collective": collective, "type": "float32", "sizes": list(sizes), "waits": []}


class SizesTest(unittest.TestCase):
    def test_range_steps_by_four_unless_told(self):
        self.assertEqual(versus.parse_sizes("4-1K"), [4, 16, 64, 256, 1024])
        self.assertEqual(versus.parse_sizes("64K-256K*2"), [65536, 131072, 262144])

    def test_list_is_sorted_and_made_of_whole_elements(self):
        self.assertEqual(versus.parse_sizes("1M,10,4"), [4, 8, 1 << 20])

    def test_nonsense_is_refused(self):
        for nonsense in ("", "4-", "x", "4-1K*1", "2"):
            with self.assertRaises(argparse.ArgumentTypeError, msg=nonsense):
                versus.parse_sizes(nonsense)


class VerdictTest(unittest.TestCase):
    def compare(self, ours, theirs):
        middle = sorted(ours)[len(ours) // 2], sorted(theirs)[len(theirs) // 2]
        return summary.compare(entry("Tutti", middle[0], ours), entry("x", middle[1], theirs))

    def test_win_and_loss_need_three_rounds_of_four(self):
        self.assertEqual(self.compare([1, 1, 1, 1, 9], [2, 2, 2, 2, 2]), (0.5, "win"))
        self.assertEqual(self.compare([2, 2, 2, 2, 2], [1, 1, 1, 1, 9]), (2, "loss"))
        self.assertEqual(self.compare([1, 1, 1, 9, 9], [2, 2, 2, 2, 2])[1], "even")

    def test_peers_figure_is_that_of_its_fastest_variant(self):
        found = size(entry("a", 3), entry("a", 1, variant="tuned"), entry("b", 2))
        self.assertEqual(summary.best_peer(found)["us"], 1)

    def test_losses_are_said(self):
        self.assertIn("SLOWER at: 4 B (a 2.00)",
                      report.verdict(job(size(entry("Tutti", 2), entry("a", 1)))))

    def test_cell_is_good_against_the_best_peer_or_against_the_floor(self):
        for ours, floor, good in ((9, None, True), (9.1, None, False), (11, 9.6, True),
                                  (11, 9.5, False)):
            cell = summary.cell(size(entry("Tutti", ours), entry("a", 10), floor=floor))
            self.assertEqual(cell["good"], good, msg=f"{ours} of 10, floor {floor}")

    def test_mean_over_all_cells_is_geometric_and_says_what_it_leaves_out(self):
        jobs = [job(size(entry("Tutti", 1), entry("a", 4)), size(entry("a", 1))),
                job(size(entry("Tutti", 1), entry("a", 1)))]
        self.assertEqual(summary.of(jobs),
                         {"cells": 2, "good": 1, "geometric_mean": 0.5, "missing": 1})
        self.assertIn("1 of 2 cells", report.conclusion("All", jobs))


class SinglesTest(unittest.TestCase):
    def test_skewed_call_counts_from_the_last_arrival(self):
        self.assertEqual(match.after_last_arrival([[(0, 9), (20, 31)], [(5, 8), (10, 30)]]), [4, 11])

    def test_percentile_needs_enough_calls(self):
        self.assertEqual(match.tails([1] * 99), {})
        self.assertEqual(match.tails(range(100)), {"p99_us": 99})
        self.assertEqual(match.tails(range(10000)), {"p99_us": 9900, "p999_us": 9990})


class ScheduleTest(unittest.TestCase):
    def test_time_is_shared_by_size_and_what_is_left_goes_on(self):
        jobs = [plan.Job("allreduce", "float32", (4, 8 << 20))]
        schedule = plan.Schedule(jobs, 2, minutes=1)
        schedule.start_next()
        self.assertAlmostEqual(schedule.limit, 20, delta=1)
        schedule.end()
        schedule.start_next()
        self.assertAlmostEqual(schedule.limit, 60, delta=1)


class LinesTest(unittest.TestCase):
    def test_least_bytes_of_a_line_leave_what_stays_within_hosts_out(self):
        for collective, expected in (("allreduce", 1500), ("broadcast", 1000), ("reduce", 1000),
                                     ("allgather", 6000), ("reduce_scatter", 6000),
                                     ("alltoall", 12000), ("gather", 6000), ("scatter", 6000),
                                     ("sendrecv", 1000), ("barrier", 0)):
            self.assertEqual(spread.least_line_bytes(collective, 1000, hosts=4, per_host=2),
                             expected, msg=collective)

    def test_rate_is_as_tc_writes_it(self):
        self.assertEqual(versus.parse_rate("1gbit"), 10**9)
        self.assertEqual(text.rate(versus.parse_rate("2500mbit")), "2500mbit")
        for nonsense in ("1", "gbit", "0gbit", "1gbyte"):
            with self.assertRaises(argparse.ArgumentTypeError, msg=nonsense):
                versus.parse_rate(nonsense)


class OptionsTest(unittest.TestCase):
    def refusal(self, *options):
        self.addCleanup(setattr, sys, "argv", sys.argv)
        sys.argv = ["versus", *options]
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit):
            versus.arguments()
        return said.getvalue()

    def test_ranks_are_spread_evenly_or_refused(self):
        self.assertIn("--hosts: one of the numbers that divide --ranks, 4",
                      self.refusal("--hosts", "3", "--ranks", "4"))

    def test_rate_without_hosts_is_refused(self):
        self.assertIn("--rate: there is no line", self.refusal("--rate", "1gbit"))

    def test_lists_keep_the_order_of_what_is_known(self):
        parse = versus.some_of(["a", "b", "c"])
        self.assertEqual(parse("c,a"), ["a", "c"])
        self.assertEqual(parse("all"), ["a", "b", "c"])
        with self.assertRaisesRegex(argparse.ArgumentTypeError, "'x' is not one of a, b, c"):
            parse("a,x")


class FakesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.program = Path(self.folder.name) / "fake.py"
        self.program.write_text(FAKE)
        self.shop = Workshop(2, [], Path("."), Path(self.folder.name))

    def contestant(self, behaviour, peer="Fake"):
        command = [sys.executable, str(self.program), behaviour]
        return Contestant(peer, "", command, plain_environment(), "none", one_by_one=True)


    def replace(self, table, key, value):
        self.addCleanup(table.__setitem__, key, table[key])
        table[key] = value

    def run_versus(self, *options):
        self.addCleanup(setattr, match, "floor", match.floor)
        match.floor = lambda shop: self.contestant("well", "floor")
        self.addCleanup(setattr, sys, "argv", sys.argv)
        sys.argv = ["versus", "--rounds", "3", "--batch-ms", "0.1", *options]
        with contextlib.redirect_stdout(io.StringIO()) as printed, \
                contextlib.redirect_stderr(io.StringIO()):
            return versus.run(versus.arguments(), self.shop), printed.getvalue()


class SessionTest(FakesTest):
    def start(self, behaviour):
        session = Session(self.contestant(behaviour), self.shop)
        self.addCleanup(session.close)
        return session

    def test_answers_come_in_rank_order(self):
        self.assertEqual(self.start("well").request("run 1 1"), ["0.001000", "0.002000"])

    def test_wrong_result_names_the_element_and_leaves_the_session_usable(self):
        session = self.start("lies")
        with self.assertRaisesRegex(Refused, "rank 1, index 7, got 3, expected 5"):
            session.request("setup allreduce float32 16 1 separate blocking")
        self.assertEqual(len(session.request("run 1 1")), 2)

    def test_dead_rank_is_reported_with_its_last_words(self):
        session = self.start("dies")
        with self.assertRaisesRegex(Unavailable, "died: out of luck"):
            session.request("run 1 1")

    def test_contestant_that_does_not_start_is_reported_with_its_last_words(self):
        with self.assertRaisesRegex(Unavailable, "no such device"):
            self.start("refuses to start")

    def test_closing_ends_what_a_contestant_moved_to_a_session_of_its_own(self):
        session = self.start("leaves a child behind")
        mark = f"VERSUS_SOCKET={session.folder.name}/socket"
        self.assertEqual(len(processes_with(mark)), 4)
        session.close()
        self.assertEqual(processes_with(mark), [])

    def test_guard_ends_what_is_left_when_the_driver_is_killed(self):
        script = ("import os, subprocess, sys, time\nfrom peers.session import guard\nguard()\n"
                  "env = {**os.environ, 'VERSUS_RUN': str(os.getpid())}\n"
                  "subprocess.Popen(['sleep', '600'], env=env, start_new_session=True)\n"
                  "print(flush=True)\ntime.sleep(600)\n")
        driver = subprocess.Popen([sys.executable, "-c", script], cwd=BENCHMARKS,
                                  stdout=subprocess.PIPE)
        self.addCleanup(driver.stdout.close)
        self.addCleanup(driver.wait)
        self.addCleanup(driver.kill)
        driver.stdout.readline()
        mark, deadline = f"VERSUS_RUN={driver.pid}", time.monotonic() + 60
        while not processes_with(mark) and time.monotonic() < deadline:
            time.sleep(0.001)  # a program that has just begun does not show its environment yet
        self.assertEqual(len(processes_with(mark)), 1)
        driver.kill()
        driver.wait()
        driver.stdout.read()  # until the sleeper and the guard, who have it too, have ended
        self.assertEqual(processes_with(mark), [])


@unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
class ServerTest(unittest.TestCase):
    """server.c and buffers.c, under a library of one rank."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        source = Path(cls.folder.name) / "copier.c"
        source.write_text(COPIER)
        peers = BENCHMARKS / "peers"
        subprocess.run(["cc", "-std=c99", f"-I{peers}", source, peers / "server.c",
                        peers / "buffers.c", "-o", source.with_suffix("")], check=True)

    def setUp(self):
        program = str(Path(self.folder.name) / "copier")
        copier = Contestant("copier", "", [program], plain_environment(), "none", one_by_one=True)
        self.session = Session(copier, Workshop(1, [], Path("."), Path(self.folder.name)))
        self.addCleanup(self.session.close)

    def test_right_results_pass_of_every_collective_type_and_placement(self):
        for collective in plan.COLLECTIVES:
            for name in plan.TYPES:
                for sets, placement in ((1, "separate"), (3, "separate"), (3, "in-place")):
                    self.session.request(f"setup {collective} {name} 9 {sets} {placement} blocking")
                    self.session.request("run 5 2")
                    self.session.request("check")

    def test_wrong_element_is_found_in_every_collective_that_copies(self):
        for collective in plan.COLLECTIVES:
            if collective not in ("broadcast", "barrier"):
                for name in plan.TYPES:
                    with self.assertRaisesRegex(Refused, "index 9, got -?nan, expected 10"):
                        self.session.request(f"setup {collective} {name} 10 2 separate blocking")

    def test_unknown_collective_is_not_offered(self):
        with self.assertRaisesRegex(Refused, "^not offered: "):
            self.session.request("setup allgossip float32 4 1 separate blocking")

    def test_each_call_has_begin_and_end_in_order(self):
        self.session.request("setup allreduce float32 4 1 separate blocking")
        times = [int(t) for t in self.session.request("each 50 1 10 7")[0].split()]
        self.assertEqual(len(times), 100)
        self.assertEqual(times, sorted(times))

    def test_late_rank_answers_zeros(self):
        self.session.request("setup allreduce float32 4 1 separate blocking")
        used, passed = self.session.request("late 2 1")[0].split()
        self.assertEqual((float(used), float(passed)), (0, 0))


class MatchTest(FakesTest):
    """A whole run, in which the contestants' figures are made up."""

    def run_match(self, *options):
        peers = {"tutti": "well", "openmpi": "sums only", "gloo": "lies"}
        names = {"tutti": "Tutti", "openmpi": "Open MPI", "gloo": "Gloo"}
        for name, behaviour in peers.items():
            self.replace(match.PEERS, name, lambda shop, n=names[name], b=behaviour:
                         [self.contestant(b, n)])
        return self.run_versus("--peers", "openmpi,gloo", *options)

    def test_all_jobs_go_into_one_report(self):
        results, printed = self.run_match("--collective", "allreduce,gather", "--sizes", "4,1M",
                                          "--tails", "--minutes", "1")
        self.assertEqual([j["collective"] for j in results["jobs"]], ["allreduce", "gather"])
        first = results["jobs"][0]["sizes"][0]
        self.assertEqual([c["us"] for c in first["contestants"]], [2000, 2000])
        self.assertEqual(first["floor"]["us"], 2)
        self.assertEqual(results["jobs"][0]["waits"][0]["cores"], 0.5)
        self.assertEqual(results["summary"]["cells"], 2)
        self.assertEqual(results["summary"]["missing"], 2)
        written = report.markdown(results)
        self.assertIn("- Open MPI at gather float32: not offered: only sums", written)
        self.assertIn("- Gloo at allreduce float32, 4 B: wrong result: rank 1", written)
        self.assertIn("| 4 B | 2000 | 2000 |", written)
        self.assertIn("| size | allreduce | gather |\n|---:|---:|---:|\n| 4 B | 1.00 | – |", written)
        self.assertIn("allreduce float32, microseconds per call", printed)
        drawn = plot.series(results["jobs"][0], ["Tutti", "Open MPI"])
        self.assertEqual(drawn["floor"], [(4, 2), (1 << 20, 2)])

    def test_not_offered_is_said_once_for_all_sizes(self):
        results, _ = self.run_match("--collective", "gather", "--sizes", "4,16,64")
        said = [f for f in results["failures"] if f["peer"] == "Open MPI"]
        self.assertEqual(len(said), 1)
        self.assertEqual(report.not_measured(said),
                         ["Open MPI at gather float32: not offered: only sums"])

    def test_skew_is_timed_from_the_last_arrival_and_said(self):
        results, _ = self.run_match("--sizes", "4", "--skew", "50")
        self.assertAlmostEqual(results["jobs"][0]["sizes"][0]["contestants"][0]["us"], 6)
        self.assertIn("late by a random 0 to 50 µs", report.markdown(results))

    def test_form_is_asked_for_and_said(self):
        self.replace(match.PEERS, "intelmpi", lambda shop: [self.contestant("blocks", "Intel MPI")])
        for form in ("blocking", "nonblocking"):
            results, _ = self.run_match("--sizes", "4", "--peers", "openmpi,intelmpi", "--form", form)
            written = report.markdown(results)
            others = form == "nonblocking"
            self.assertEqual("started and then waited for" in written, others)
            self.assertEqual("Intel MPI at allreduce float32: not offered: it blocks" in written, others)

    def test_rotating_buffers_are_many_and_said(self):
        results, _ = self.run_match("--sizes", "4K", "--buffers", "rotating")
        self.assertGreater(results["jobs"][0]["sizes"][0]["buffer_sets"], 1)
        self.assertIn("buffers in rotation over", report.markdown(results))


class SpreadTest(FakesTest):
    def setUp(self):
        super().setUp()
        reason = spread.namespaces.unavailable()
        if reason:
            self.skipTest(reason)
        self.shop.ranks = 4
        self.shop.hosts = self.enterContext(spread.namespaces.Hosts(2))

    def test_ranks_lie_in_blocks_on_hosts_of_different_names(self):
        session = Session(self.contestant("well"), self.shop)
        self.addCleanup(session.close)
        self.assertEqual(session.request("where"), ["host0 0", "host0 1", "host1 0", "host1 1"])

    def test_contestant_whose_data_takes_no_line_gets_no_figure(self):
        for name, peer in (("tutti", "Tutti"), ("gloo", "Gloo")):
            self.replace(spread.SPREAD, name, lambda shop, p=peer: [self.contestant("well", p)])
        results, _ = self.run_versus("--hosts", "2", "--ranks", "4", "--peers", "gloo,oneccl",
                                     "--sizes", "1M", "--collective", "allreduce,barrier",
                                     "--rate", "1gbit")
        sums, barrier = results["jobs"]
        self.assertEqual(sums["sizes"][0]["contestants"], [])
        self.assertAlmostEqual(sums["sizes"][0]["floor"]["us"], 8 << 10, delta=200)
        self.assertEqual(len(barrier["sizes"][0]["contestants"]), 2)
        written = report.markdown(results)
        self.assertIn("- Gloo at allreduce float32, 1 MB: no line carried more than ", written)
        self.assertIn("- oneCCL: left out: it is started on one host only", written)
        self.assertIn("4 ranks in blocks on 2 hosts, which are network namespaces", written)
        self.assertIn("shaped to 1gbit", written)


if __name__ == "__main__":
    unittest.main()
