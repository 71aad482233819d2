#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The probes of the library, and the scripts for them: probes_test.py LIBRARY COMMAND STUCK."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "tools/bpftrace"
LIBRARY, COMMAND, STUCK = sys.argv[1:4]
# As docs/watch.md has them: how many arguments each has.
PROBES = {"call_enter": 6, "call_leave": 3, "call_fail": 3, "wait_begin": 3, "wait_end": 3}
PATIENCE_S = 60


def notes():
    """[(name, arguments), ...] of the library."""
    text = subprocess.run(["readelf", "-n", LIBRARY], capture_output=True, text=True, check=True).stdout
    return re.findall(r"Provider: tutti\s+Name: (\w+)\s+Location: [^\n]*\n\s+Arguments: ([^\n]*)", text)


class Job:
    """Two ranks that make calls, of which the second is late."""

    def __enter__(self):
        self.ranks = subprocess.Popen(
            [COMMAND, "run", "-n", "2", STUCK, "late"], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "TUTTI_TUNING_FILE": "none",
                 "LD_LIBRARY_PATH": str(Path(LIBRARY).parent)})
        try:
            for _ in range(2):
                line = self.ranks.stdout.readline()
                if line != "ready\n":
                    raise AssertionError(f"a rank says {line!r}")
        except BaseException:
            self.__exit__()  # which is not called where this fails
            raise
        return self

    def __exit__(self, *_):
        self.ranks.kill()
        self.ranks.wait()
        self.ranks.stdout.close()


def told_by(script):
    """What a script prints of such a job; why it cannot be run here."""
    if shutil.which("bpftrace") is None or os.geteuid() != 0:
        raise unittest.SkipTest("bpftrace is not installed, or needs root")
    trial = subprocess.run(["bpftrace", "-e", "BEGIN { exit(); }"], capture_output=True, check=False)
    if trial.returncode != 0:
        raise unittest.SkipTest(f"bpftrace cannot run here: {trial.stderr.decode()}")
    with Job():
        trace = subprocess.Popen(["bpftrace", SCRIPTS / script, LIBRARY], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        try:
            assert "Attaching" in trace.stdout.readline()
            time.sleep(2)
        finally:
            trace.send_signal(signal.SIGINT)
            output, errors = trace.communicate(timeout=PATIENCE_S)
    if "Could not" in errors or "not supported" in errors:
        raise unittest.SkipTest(errors)
    return output


class Probes(unittest.TestCase):
    def test_the_library_has_all_of_them_with_their_arguments(self):
        found = {}
        for name, arguments in notes():
            found.setdefault(name, set()).add(len(arguments.split()))
        self.assertEqual(found, {name: {count} for name, count in PROBES.items()})

    def test_the_scripts_ask_for_arguments_that_there_are(self):
        scripts = list(SCRIPTS.glob("*.bt"))
        self.assertGreaterEqual(len(scripts), 2)
        for script in scripts:
            blocks = re.split(r"(?m)^usdt:\$1:tutti:", script.read_text())[1:]
            self.assertTrue(blocks)
            for block in blocks:
                name = re.match(r"\w+", block).group()
                body = block.split("\n}\n")[0]
                used = {int(number) for number in re.findall(r"\barg(\d)", body)}
                self.assertLess(max(used, default=-1), PROBES[name], f"{script}: {name}")

    def test_histograms_have_the_calls_of_a_job(self):
        told = told_by("call_latency.bt")
        self.assertRegex(told, r"@call_us\[0\]:")
        self.assertRegex(told, r"@wait_us\[0\]:")

    def test_the_late_rank_is_the_last_in_most_calls(self):
        told = told_by("late_rank.bt")
        counts = {int(rank): int(count)
                  for rank, count in re.findall(r"@last_in\[world, (\d)\]: (\d+)", told)}
        self.assertGreater(counts.get(1, 0), counts.get(0, 0), told)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
