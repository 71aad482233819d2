#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The transport over MPI, in jobs of its launchers: `mpi_test.py BUILD [NAME ...]`.

Each MPI for which the build has a module is tested; what is not installed, or cannot be made here,
is skipped with a word; if that is everything, the exit status is 77.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]

import hosts  # noqa: E402
import launched  # noqa: E402

BUILD = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build/release"
PROGRAMS = BUILD / "tests"
ALLREDUCE = str(PROGRAMS / "launchers_allreduce")
WITH_MPI = str(PROGRAMS / "launchers_with_mpi")
AGENT = f"#!/bin/sh\nexec {sys.executable} {HERE.parent}/support/hosts.py --agent \"$@\"\n"
# Gives ranks hosts of their own, two on each.
APART = 'TUTTI_HOST_ID=$((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} / 2)) exec "$@"'
# A rank on a host of its own, that writes to files.
ALONE = """r=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; echo $$ >pid.$r
TUTTI_HOST_ID=$r exec "$@" >out.$r"""
OVER_MPI = {"CCL_ATL_TRANSPORT": "mpi", "CCL_LOG_LEVEL": "info"}
TIMEOUT_S = 120


class Family:
    """An MPI: its module, its libraries and its launcher."""

    def __init__(self, name, library, launcher, options, goes_on):
        self.name = name
        self.module = BUILD / f"tutti/libtutti_mpi_{name}.so"
        self.library = library
        self.launcher = launcher
        self.options = options
        self.goes_on = goes_on  # the option by which a job outlives a process; None if there is none

    def missing(self):
        if not self.module.exists():
            return f"the build has no module for {self.name}: its mpicc was not found"
        if shutil.which(self.launcher) is None:
            return f"not installed: {self.launcher}"
        return None

    def job(self, ranks, command):
        return [self.launcher, *self.options, "-n", str(ranks), *command]


AS_ROOT = ["--allow-run-as-root", "--oversubscribe"]
OPEN_MPI = Family("openmpi", "libmpi.so.40", "mpirun.openmpi", AS_ROOT, "--enable-recovery")
MPICH = Family("mpich", "libmpich.so.12", "mpiexec.hydra", [], None)


class OverMpi(launched.ExpectsRanks):
    """The tests; a subclass for each family."""

    family = None

    def setUp(self):
        if self.family.missing():
            self.skipTest(self.family.missing())

    def run_job(self, ranks, command, env=None, enter=()):
        command = [*enter, *self.family.job(ranks, command)]
        return launched.run(command, {**OVER_MPI, **(env or {})}, TIMEOUT_S)

    def expect_module(self, result):
        self.assertIn(self.family.module.name, result[2])

    def apart(self, *command):
        return ["sh", "-c", APART, "sh", *command]

    # ---- messages

    def test_the_conformance_suite(self):
        tests = [str(PROGRAMS / "test_transports"), "--gtest_filter=Transports/*/mpi"]
        job = f"{self.family.name} {os.getpid()}"
        status, out, err = self.run_job(5, tests, {"TUTTI_TEST_LAUNCHED": job})
        self.assertEqual(status, 0, out[-5000:] + err[-5000:])
        self.assertIn("Messages.OfEverySizeArriveWhole/mpi", out)
        self.assertIn("PASSED", out)

    def test_hosts_that_share_no_memory(self):
        result = self.run_job(4, self.apart(ALLREDUCE))
        self.expect_ranks(4, result)
        self.expect_module(result)

    def test_hosts_with_several_workers(self):
        self.expect_ranks(4, self.run_job(4, self.apart(ALLREDUCE), {"CCL_WORKER_COUNT": "2"}))

    def test_hosts_made_of_namespaces(self):
        reason = hosts.unavailable()
        if self.family is MPICH:
            # Of Debian's MPICH 4.0.2 over UCX, with programs of nothing but MPI as well.
            reason = "MPI_Finalize of MPICH hangs between such hosts, whoever calls it"
        if reason:
            self.skipTest(reason)
        made = self.enterContext(hosts.Hosts(2))
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        agent, listed = folder / "agent", folder / "hosts"
        agent.write_text(AGENT)
        agent.chmod(0o755)
        listed.write_text("host0 slots=2\nhost1 slots=2\n")
        options = ["--hostfile", str(listed), "--mca", "plm_rsh_agent", str(agent)]
        options += [word for name in OVER_MPI for word in ("-x", name)]
        command = [self.family.launcher, *self.family.options, *options, "-n", "4", ALLREDUCE]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = made.popen(0, command, OVER_MPI, **pipes)
        out, err = process.communicate(timeout=TIMEOUT_S)
        self.expect_ranks(4, (process.returncode, out, err))
        self.expect_module((process.returncode, out, err))

    def test_a_rank_that_dies_is_named_where_the_launcher_lets_the_others_live(self):
        if self.family.goes_on is None:
            self.skipTest("this launcher ends the other processes, whatever it is told")
        command = ["sh", "-c", ALONE, "sh", ALLREDUCE, "--until-error"]
        family = self.family
        job = [family.launcher, *family.options, family.goes_on, "-n", "3", *command]
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        env = {**os.environ, **OVER_MPI}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(job, env=env, cwd=folder, **quiet)
        self.addCleanup(process.kill)
        outs = [folder / f"out.{rank}" for rank in range(3)]
        until = time.monotonic() + TIMEOUT_S
        while not all(out.exists() and " of 3" in out.read_text() for out in outs):
            self.assertLess(time.monotonic(), until, "the job does not begin")
            time.sleep(0.01)
        pid = int((folder / "pid.1").read_text())
        os.kill(pid, signal.SIGKILL)
        process.wait(timeout=TIMEOUT_S)
        # The first to end without MPI_Finalize may take the other with it.
        told = outs[0].read_text() + outs[2].read_text()
        self.assertIn(f"rank 1 (pid {pid} on ", told)

    # ---- programs that use MPI

    def with_mpi(self, level):
        return self.run_job(4, self.apart(WITH_MPI, self.family.library, str(level)))

    def test_a_program_that_has_initialised_mpi_for_many_threads(self):
        for level in (2, 3):
            with self.subTest(level=level):
                self.expect_ranks(4, self.with_mpi(level))

    def test_a_program_that_has_initialised_mpi_for_too_few_threads(self):
        for level, name in ((0, "MPI_THREAD_SINGLE"), (1, "MPI_THREAD_FUNNELED")):
            with self.subTest(level=name):
                status, out, err = self.with_mpi(level)
                self.assertEqual(status, 0, out + err)
                self.assertEqual(out.count(f"the program has initialised MPI with {name}"), 4, out)
                self.assertIn("MPI_THREAD_MULTIPLE", out)

    # ---- what is not there

    def test_a_library_that_is_named(self):
        named = {"CCL_MPI_LIBRARY_PATH": self.family.library}
        self.expect_ranks(4, self.run_job(4, self.apart(ALLREDUCE), named))

    def test_a_named_library_that_is_not_there(self):
        named = {"CCL_MPI_LIBRARY_PATH": "/nowhere/libmpi.so"}
        status, out, err = self.run_job(4, self.apart(ALLREDUCE), named)
        self.assertNotEqual(status, 0, out)
        self.assertIn("CCL_MPI_LIBRARY_PATH: /nowhere/libmpi.so", err)

    def test_no_module(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for file in BUILD.glob("libtutti.so*"):
            shutil.copy(file, folder, follow_symlinks=True)
        status, out, err = self.run_job(4, self.apart(ALLREDUCE), {"LD_LIBRARY_PATH": str(folder)})
        self.assertNotEqual(status, 0, out)
        self.assertIn(f"{self.family.module.name} was looked for in {folder}/tutti", err)
        self.assertIn("libopenmpi-dev", err)


class OverOpenMpi(OverMpi, unittest.TestCase):
    family = OPEN_MPI


class OverMpich(OverMpi, unittest.TestCase):
    family = MPICH


class WithoutALauncher(unittest.TestCase):
    def test_processes_that_no_mpiexec_started(self):
        present = [family for family in (OPEN_MPI, MPICH) if not family.missing()]
        if not present:
            self.skipTest("the build has no module for an MPI")
        place = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1", "LOCAL_RANK": "0"}
        place.update({"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(20000 + os.getpid() % 9000)})
        place.update(OVER_MPI)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        ranks = []
        for rank in range(2):
            env = {**os.environ, **place, "RANK": str(rank), "TUTTI_HOST_ID": str(rank)}
            ranks.append(subprocess.Popen([ALLREDUCE], env=env, **pipes))
        for process in ranks:
            _, err = process.communicate(timeout=TIMEOUT_S)
            self.assertNotEqual(process.returncode, 0)
            self.assertIn("was not started by a launcher of MPI", err)


if __name__ == "__main__":
    run = unittest.main(argv=[sys.argv[0], *sys.argv[2:]], exit=False, verbosity=2).result
    for test, reason in run.skipped:
        print(f"skipped: {test.id()}: {reason}")
    if run.testsRun == len(run.skipped):
        sys.exit(77)
    sys.exit(not run.wasSuccessful())
