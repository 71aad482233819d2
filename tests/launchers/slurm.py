# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""A Slurm for as long as a test needs it: munged, slurmctld and slurmd, with keys, ports and folders
of their own; needs root. `with Slurm() as slurm: slurm.run("-n2", "program")`. `Slurm(hosts)` has a
node on each of the hosts of support/hosts.py; the controller and srun are on the first."""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAMS = ["munged", "slurmctld", "slurmd", "srun", "sinfo"]
PR_SET_CHILD_SUBREAPER = 36
CPUS = 4  # that each node pretends to have
CONFIGURATION = """
ClusterName=test
SlurmctldHost={controller}
SlurmctldPort={ctld_port}
SlurmdPort={slurmd_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP
"""


class Unavailable(Exception):
    """The daemons are installed, but do not run on this machine."""


def missing():
    """The programs that are not installed."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return [name for name in PROGRAMS if shutil.which(name, path=path) is None]


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _step_daemons():
    """Those among the children of this process."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    names = {int(pid): Path(f"/proc/{pid}/comm").read_text() for pid in children}
    return [pid for pid, name in names.items() if name.startswith("slurmstepd")]


class Slurm:
    def __init__(self, hosts=None):
        self.hosts = hosts
        self.nodes = {socket.gethostname().split(".")[0]: "127.0.0.1"}
        if hosts:
            self.nodes = {f"host{h}": address for h, address in enumerate(hosts.addresses)}

    def __enter__(self):
        # The daemons of steps, which outlive slurmd, become ours.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.folder = Path(tempfile.mkdtemp(prefix="tutti-slurm-"))
        os.chmod(self.folder, 0o755)  # munged wants its socket where others may go
        self.daemons = []
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in self.daemons:
            daemon.kill()  # there is nothing to save
            daemon.wait()
        for pid in _step_daemons():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self):
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"
        self.environment = {**os.environ, "PATH": path, "SLURM_CONF": f"{self.folder}/slurm.conf"}
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        # One that looks for nothing in the system, since nothing of cgroups is used.
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        # Of each host its own: the rest of the files they share.
        own = "/dev/shm" if self.hosts else self.folder
        (self.folder / "mpi.conf").write_text(f"PMIxCliTmpDirBase={own}\n")
        lines = [f"NodeName={n} NodeAddr={a} CPUs={CPUS} State=UNKNOWN" for n, a in self.nodes.items()]
        first = next(iter(self.nodes.items()))
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                controller=f"{first[0]}({first[1]})",
                folder=self.folder,
                ctld_port=_free_port(),
                slurmd_port=_free_port(),
                nodes="\n".join(lines),
            )
        )
        files = [f"--{name}-file={self.folder}/munged.{name}" for name in ("pid", "log", "seed")]
        munge = ["munged", "-F", "-f", f"--key-file={key}", f"--socket={self.folder}/munge.socket"]
        self._daemon(0, [*munge, *files])
        self._until(lambda: (self.folder / "munge.socket").exists(), "munged")
        self._daemon(0, ["slurmctld", "-D", "-i"])
        for host in range(len(self.nodes)):
            self._daemon(host, ["slurmd", "-D"])
        self._until(self._all_idle, "slurmd")

    def _all_idle(self):
        states = self._ask("sinfo", "-h", "-N", "-o", "%T").split()
        return states == ["idle"] * len(self.nodes)

    def _on(self, host, command):
        return [*(self.hosts.enter(host) if self.hosts else []), *command]

    def _daemon(self, host, command):
        with open(self.folder / f"{command[0]}-{host}.out", "wb") as log:
            entered = self._on(host, command)
            self.daemons.append(
                subprocess.Popen(entered, env=self.environment, stdout=log, stderr=log)
            )

    def _ask(self, *command):
        return subprocess.run(
            self._on(0, command), env=self.environment, capture_output=True, text=True, check=False
        ).stdout

    def _until(self, ready, what):
        ends = time.monotonic() + 30
        while not ready():
            if time.monotonic() > ends or any(d.poll() is not None for d in self.daemons):
                logs = [f"{p.name}: {p.read_text()[-2000:]}" for p in self.folder.glob("*.[ol][uo]*")]
                raise Unavailable(f"{what} did not start:\n" + "\n".join(logs))
            time.sleep(0.1)

    def run(self, *arguments, env=None, timeout=60):
        """srun ARGUMENTS; its status, output and errors."""
        done = subprocess.run(
            self._on(0, ["srun", *arguments]),
            env={**self.environment, **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr
