#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Jobs under real launchers: `launchers_test.py BUILD [NAME ...]`.

On one host, as they are; with several, over hosts made of namespaces. What is not installed, or
cannot be made here, is skipped with a word; if that is everything, the exit status is 77.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]

import hosts  # noqa: E402
import launched  # noqa: E402
import slurm  # noqa: E402

BUILD = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build/release"
ALLREDUCE = str(BUILD / "tests/launchers_allreduce")
SHARE_IDS = str(BUILD / "tests/launchers_share_ids")
AGENT = f"exec {sys.executable} {HERE.parent}/support/hosts.py --agent \"$@\"\n"
# Programs that know mpi.h alone, over libmpi_abi.so.1; "threads" is left to `tutti run`.
WITH_MPI_H = [str(BUILD / f"tests/test_mpi_{name}") for name in
              ("collectives", "messages", "communicators")]
OPEN_MPI = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"]
TIMEOUT_S = 60


def find_torchrun():
    beside = [str(Path(sys.executable).parent), str(ROOT / ".venv/bin"), os.environ.get("PATH", "")]
    return shutil.which("torchrun", path=os.pathsep.join(beside))


class Launchers(launched.ExpectsRanks, unittest.TestCase):
    def need(self, *programs):
        for program in programs:
            if program is None or shutil.which(program) is None:
                self.skipTest(f"not installed: {program or 'torchrun'}")

    def run_job(self, command, env=None):
        return launched.run(command, env or {}, TIMEOUT_S)

    def expect_right(self, ranks, result):
        """That a program of tests/mpi succeeded."""
        status, out, err = result
        self.assertEqual(status, 0, out + err)
        self.assertIn(f"right on {ranks} ranks", out)


class OneHost(Launchers):
    def test_mpirun_of_open_mpi(self):
        self.need("mpirun.openmpi")
        self.expect_ranks(3, self.run_job([*OPEN_MPI, "-n", "3", ALLREDUCE]))

    def test_mpiexec_of_mpich(self):
        self.need("mpiexec.hydra")
        self.expect_ranks(3, self.run_job(["mpiexec.hydra", "-n", "3", ALLREDUCE]))

    def test_programs_for_mpi_under_mpiexec_of_mpich(self):
        self.need("mpiexec.hydra")
        for program in WITH_MPI_H:
            with self.subTest(program=program):
                self.expect_right(3, self.run_job(["mpiexec.hydra", "-n", "3", program]))

    def test_torchrun(self):
        torchrun = find_torchrun()
        self.need(torchrun)
        command = [torchrun, "--no-python", "--nproc-per-node=2", "--standalone", ALLREDUCE]
        self.expect_ranks(2, self.run_job(command))


class KeyValueSpaces(Launchers):
    """The way that ids of several hosts go, under launchers that start all processes here."""

    def test_pmi1_of_hydra(self):
        self.need("mpiexec.hydra")
        self.expect_ranks(3, self.run_job(["mpiexec.hydra", "-n", "3", SHARE_IDS]))

    def test_pmi1_of_hydra_and_an_mpi_library_that_starts_later(self):
        self.need("mpiexec.hydra")
        mpich = Path("/usr/lib/x86_64-linux-gnu/libmpich.so.12")
        if not mpich.exists():
            self.skipTest("not installed: libmpich12")
        for mode in ("pmi", "mpi"):
            with self.subTest(mode=mode):
                command = ["mpiexec.hydra", "-n", "3", SHARE_IDS, str(mpich)]
                self.expect_ranks(3, self.run_job(command, {"CCL_KVS_MODE": mode}))

    def test_pmix_of_open_mpi(self):
        self.need("mpirun.openmpi")
        self.expect_ranks(3, self.run_job([*OPEN_MPI, "-n", "3", SHARE_IDS]))

    def test_an_mpi_library_of_open_mpi(self):
        self.need("mpirun.openmpi")
        library = Path("/usr/lib/x86_64-linux-gnu/libmpi.so.40")
        if not library.exists():
            self.skipTest("not installed: libopenmpi3")
        for mode in ("pmi", "mpi"):
            with self.subTest(mode=mode):
                command = [*OPEN_MPI, "-n", "3", SHARE_IDS, str(library)]
                self.expect_ranks(3, self.run_job(command, {"CCL_KVS_MODE": mode}))


class UnderSlurm(Launchers):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("slurmd needs root")
        if slurm.missing():
            self.skipTest(f"not installed: {', '.join(slurm.missing())}")

    def start(self, on=None):
        try:
            return self.enterContext(slurm.Slurm(on))
        except slurm.Unavailable as reason:
            self.skipTest(str(reason))

    def test_srun_on_one_node(self):
        cluster = self.start()
        for served in ("pmi2", "pmix", "none"):
            with self.subTest(mpi=served):
                self.expect_ranks(3, cluster.run("-n3", f"--mpi={served}", ALLREDUCE))
                for program in WITH_MPI_H:
                    self.expect_right(3, cluster.run("-n3", f"--mpi={served}", program))

    def test_srun_on_two_nodes(self):
        reason = hosts.unavailable()
        if reason:
            self.skipTest(reason)
        cluster = self.start(self.enterContext(hosts.Hosts(2)))
        for served in ("pmi2", "pmix", "none"):
            with self.subTest(mpi=served):
                on_both = ["-N2", "-n3", f"--mpi={served}"]
                self.expect_ranks(3, cluster.run(*on_both, ALLREDUCE))
                self.expect_right(3, cluster.run(*on_both, WITH_MPI_H[1]))


class SeveralHosts(Launchers):
    def setUp(self):
        reason = hosts.unavailable()
        if reason:
            self.skipTest(reason)
        self.hosts = self.enterContext(hosts.Hosts(2))
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_on(self, jobs):
        """[(host, command, environment)], all at once; their outputs together."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        processes = [self.hosts.popen(*job, **pipes) for job in jobs]
        outs = [process.communicate(timeout=TIMEOUT_S) for process in processes]
        status = next((p.returncode for p in processes if p.returncode), 0)
        return status, "".join(o for o, _ in outs), "".join(e for _, e in outs)

    def by_hand(self, per_host, **more):
        place = [
            {
                "RANK": str(rank),
                "WORLD_SIZE": str(2 * per_host),
                "LOCAL_RANK": str(rank % per_host),
                "LOCAL_WORLD_SIZE": str(per_host),
                **more,
            }
            for rank in range(2 * per_host)
        ]
        return [(rank // per_host, [ALLREDUCE], place[rank]) for rank in range(2 * per_host)]

    def test_by_hand_at_the_masters_address(self):
        jobs = self.by_hand(2, MASTER_ADDR=self.hosts.addresses[0], MASTER_PORT="29500")
        self.expect_ranks(4, self.run_on(jobs))

    def test_a_line_that_is_cut_ends_calls_at_their_deadline(self):
        master = {"MASTER_ADDR": self.hosts.addresses[0], "MASTER_PORT": "29500"}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        ranks = [
            self.hosts.popen(host, [*command, "--until-error"], env, **pipes)
            for host, command, env in self.by_hand(1, TUTTI_TIMEOUT_MS="2000", **master)
        ]
        for rank, process in enumerate(ranks):
            self.assertEqual(process.stdout.readline(), f"rank {rank} of 2\n")
        self.hosts.cut(1)
        for rank, process in enumerate(ranks):
            out, err = process.communicate(timeout=TIMEOUT_S)
            self.assertEqual(process.returncode, 0, err)
            self.assertIn(f"rank {rank} waited 2000 ms in allreduce #", out)
            self.assertIn(f"rank {1 - rank} (pid ", out)

    def test_by_hand_with_a_file(self):
        jobs = self.by_hand(1, TUTTI_MEETING_FILE=str(self.folder / "meeting"))
        self.expect_ranks(2, self.run_on(jobs))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_mpiexec_of_mpich_with_a_host_file(self):
        self.need("mpiexec.hydra")
        (self.folder / "hosts").write_text("host0:1\nhost1:2\n")
        agent = self.folder / "agent"
        agent.write_text("#!/bin/sh\n" + AGENT)
        agent.chmod(0o755)
        command = ["mpiexec.hydra", "-f", str(self.folder / "hosts"), "-launcher", "ssh"]
        command += ["-launcher-exec", str(agent), "-n", "3", ALLREDUCE]
        self.expect_ranks(3, self.run_on([(0, command, None)]))

    def test_torchrun_on_two_nodes(self):
        torchrun = find_torchrun()
        self.need(torchrun)
        command = [torchrun, "--no-python", "--nnodes=2", "--nproc-per-node=1"]
        command += ["--master-addr=host0", "--master-port=29500"]
        jobs = [(node, [*command, f"--node-rank={node}", ALLREDUCE], None) for node in range(2)]
        self.expect_ranks(2, self.run_on(jobs))


if __name__ == "__main__":
    run = unittest.main(argv=[sys.argv[0], *sys.argv[2:]], exit=False, verbosity=2).result
    for test, reason in run.skipped:
        print(f"skipped: {test.id()}: {reason}")
    if run.testsRun == len(run.skipped):
        sys.exit(77)
    sys.exit(not run.wasSuccessful())
