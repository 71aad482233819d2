# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What tests of jobs under a launcher share."""

import os
import subprocess


def run(command, env, timeout_s):
    """(exit status, standard output, standard error) of a job; `env` adds to ours."""
    done = subprocess.run(
        command,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


class ExpectsRanks:
    """Part of a TestCase."""

    def expect_ranks(self, ranks, result):
        """That allreduce.c, or a program that says the same, succeeded on every rank."""
        status, out, err = result
        self.assertEqual(status, 0, out + err)
        for rank in range(ranks):
            self.assertEqual(out.count(f"rank {rank} of {ranks}"), 1, out + err)
