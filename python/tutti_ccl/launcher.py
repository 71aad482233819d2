# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The place of this process, as Open MPI, MPICH's Hydra or Slurm tell it, in PyTorch's variables.

Scripts read RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE, as torchrun sets them. fill() sets
those that are not set to what the launcher says. If all ranks are on one host, it sets MASTER_ADDR
and MASTER_PORT as well. Nothing that is set is ever changed. TUTTI_TORCH_LAUNCHER_ENV=0 turns it
off.

Imported by `import torch`: cheap, and nothing here needs torch.
"""

import datetime
import os
import sys
import warnings
from typing import NamedTuple, Optional

SWITCH = "TUTTI_TORCH_LAUNCHER_ENV"
# Below the range from which the kernel takes ports at random.
FIRST_PORT, PORTS = 20000, 10000


class JobPlace(NamedTuple):
    """This process's place in the job that `launcher` started."""

    launcher: str
    size_variable: str
    job: str  # names the job on this host
    rank: int
    size: int
    local_rank: Optional[int]
    local_size: Optional[int]

    @property
    def one_host(self):
        return self.local_size == self.size


def place(env=os.environ):
    """The place by the launcher's own variables; None if no launcher is known or they make no
    sense."""
    for launcher in (_open_mpi, _hydra, _slurm):
        try:
            found = launcher(env)
        except ValueError:  # the library says what is wrong, when a communicator is made
            return None
        if found:
            return found
    return None


def _number(env, name):
    return int(env[name]) if env.get(name) else None


def _open_mpi(env):
    if not env.get("OMPI_COMM_WORLD_RANK") or not env.get("OMPI_COMM_WORLD_SIZE"):
        return None
    job = env.get("PMIX_NAMESPACE") or env.get("OMPI_MCA_ess_base_jobid") or ""
    return JobPlace("Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", job,
                    int(env["OMPI_COMM_WORLD_RANK"]), int(env["OMPI_COMM_WORLD_SIZE"]),
                    _number(env, "OMPI_COMM_WORLD_LOCAL_RANK"),
                    _number(env, "OMPI_COMM_WORLD_LOCAL_SIZE"))


def _hydra(env):
    if not env.get("PMI_RANK") or not env.get("PMI_SIZE"):
        return None
    local_rank = _number(env, "MPI_LOCALRANKID")
    # With `srun --mpi=pmi2` Slurm sets the first two as well, and knows more.
    if local_rank is None and env.get("SLURM_STEP_NUM_TASKS"):
        return None
    return JobPlace("MPICH's mpirun", "PMI_SIZE", _launching_process("PMI_RANK"),
                    int(env["PMI_RANK"]), int(env["PMI_SIZE"]), local_rank,
                    _number(env, "MPI_LOCALNRANKS"))


def _slurm(env):
    # The job's values count if the step's are missing, but not in a batch script itself.
    in_batch_script = (env.get("SLURM_PROCID") == "0" and env.get("SLURM_JOB_ID")
                       and not env.get("SLURM_STEP_ID"))
    size = "SLURM_STEP_NUM_TASKS"
    if size not in env and not in_batch_script:
        size = "SLURM_NTASKS"
    # A step of one task is a shell more often than a job.
    if not env.get("SLURM_PROCID") or env.get(size, "1") == "1":
        return None
    step = ".".join(env.get(name, "") for name in
                    ("SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"))
    per_node = env.get("SLURM_STEP_TASKS_PER_NODE", env.get("SLURM_TASKS_PER_NODE", ""))
    tasks = _tasks_on(per_node, int(env.get("SLURM_NODEID", "0")))
    return JobPlace("Slurm's srun", size, step, int(env["SLURM_PROCID"]), int(env[size]),
                    _number(env, "SLURM_LOCALID"), tasks)


def _tasks_on(text, node):
    """The number of tasks on a node by a text like "2(x3),1"."""
    for item in filter(None, text.split(",")):
        tasks, _, times = item.partition("(x")
        node -= int(times.rstrip(")") or 1)
        if node < 0:
            return int(tasks)
    return None


def _launching_process(variable):
    """The nearest ancestor that was not itself started with `variable`, so one for all ranks."""
    pid = os.getppid()
    try:
        while f"\0{variable}=".encode() in b"\0" + _read(f"/proc/{pid}/environ"):
            pid = int(_read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[1])
    except OSError:
        pass  # another user's, so not a rank's
    return str(pid)


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def port_of(place):
    """A port that all ranks of a job agree on without a word, and other jobs seldom have."""
    number = 2166136261
    for byte in f"{place.launcher} {place.job} {os.getuid()}".encode():
        number = ((number ^ byte) * 16777619) % 2**32
    return FIRST_PORT + number % PORTS


def switched_off(env=os.environ):
    return env.get(SWITCH, "").lower() in ("0", "off", "no", "false")


def agrees(place, env=os.environ):
    """True unless RANK or WORLD_SIZE is set to something else than the launcher's."""
    given = (env.get("RANK") or place.rank, env.get("WORLD_SIZE") or place.size)
    return tuple(map(str, given)) == (str(place.rank), str(place.size))


# The values that were filled in, by name. A value that still stands means that the program has not
# said anything.
filled = {}


def fill(env=os.environ):
    """Sets what is not set. Waits for nobody: importing is not a collective call."""
    here = None if switched_off(env) else place(env)
    if here is None or not agrees(here, env):
        return
    values = {"RANK": here.rank, "WORLD_SIZE": here.size,
              "LOCAL_RANK": here.local_rank, "LOCAL_WORLD_SIZE": here.local_size}
    if here.one_host and not env.get("MASTER_ADDR"):
        values |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port_of(here)}
    new = {name: str(value) for name, value in values.items()
           if value is not None and not env.get(name)}
    if not new:
        return
    env.update(new)
    filled.update(new)
    told = " ".join(f"{name}={value}" for name, value in new.items())
    log_info(f"{told} from {here.launcher}; {SWITCH}=0 leaves them unset")


def log_info(text):
    """A line as the library logs it, at its level info."""
    if os.environ.get("CCL_LOG_LEVEL", "").lower() in ("info", "debug", "trace"):
        now = datetime.datetime.now().isoformat(" ", "milliseconds")
        print(f"tutti[{os.environ.get('RANK', '?')}] {now} info: torch: {text}", file=sys.stderr,
              flush=True)


def master_is_given(env=os.environ):
    """True if the program, or whoever started it, said where the store of rank 0 is."""
    port = env.get("MASTER_PORT")
    return bool(env.get("MASTER_ADDR") and port) and port != filled.get("MASTER_PORT")


def warn_if_alone(env=os.environ):
    """For a world of one rank: the launcher may know of more."""
    here = place(env)
    if here is None or here.size == 1:
        return
    given = f"WORLD_SIZE={env['WORLD_SIZE']}" if env.get("WORLD_SIZE") else "WORLD_SIZE is not set"
    warnings.warn(
        f"this process group has 1 rank ({given}), but {here.launcher} started {here.size} "
        f"processes ({here.size_variable}={here.size}): each of them works alone. For one group of "
        f"all, leave RANK and WORLD_SIZE unset, or set WORLD_SIZE={here.size} and the ranks.",
        stacklevel=2)
