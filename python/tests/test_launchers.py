# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Jobs under Open MPI, MPICH and Slurm, whose processes PyTorch was told nothing of."""

import contextlib
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tutti_ccl import launcher, meeting

sys.path += [str(Path(__file__).parents[2] / "tests" / name) for name in ("launchers", "support")]
import hosts  # noqa: E402
import slurm  # noqa: E402

OPEN_MPI = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"]
HYDRA = ["mpiexec.hydra"]
NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")

# Prints what is set after the import, and the sum of all ranks.
PROGRAM = f"""
import os, sys, torch, torch.distributed as dist
for module in sys.argv[1:]:
    __import__(module)
told = [os.environ.get(name, "-") for name in {NAMES}]
for method in ("env://", "tutti://", "env://"):
    dist.init_process_group("ccl", init_method=method)
    total = torch.ones(1)
    dist.all_reduce(total)
    words = ["sum", int(total), "rank", dist.get_rank(), "of", dist.get_world_size(), *told]
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())  # at once, as ranks share the pipe
    dist.destroy_process_group()
"""


def clean_environment():
    """Without what a launcher, or a test before this one, may have set."""
    foreign = ("OMPI_", "PMI", "SLURM_", "MPI_LOCAL", "TORCHELASTIC_")
    return {name: value for name, value in os.environ.items()
            if name not in NAMES and not name.startswith(foreign)}


def run(command, env=None):
    done = subprocess.run(command, env={**clean_environment(), **(env or {})}, text=True,
                          capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def program(*modules):
    return [sys.executable, "-c", PROGRAM, *modules]


@pytest.fixture(params=["openmpi", "hydra"])
def mpirun(request):
    command = {"openmpi": OPEN_MPI, "hydra": HYDRA}[request.param]
    if shutil.which(command[0]) is None:
        pytest.skip(f"not installed: {command[0]}")
    return [*command, "-n", "2"]


def expect_two_ranks(text):
    for rank in range(2):
        assert text.count(f"sum 2 rank {rank} of 2") == 3, text


@pytest.mark.parametrize("modules", [[], ["oneccl_bindings_for_pytorch"]], ids=["bare", "imported"])
def test_a_job_needs_no_variables(mpirun, modules):
    expect_two_ranks(run([*mpirun, *program(*modules)]))


def test_importing_the_package_tells_scripts_where_they_are(mpirun):
    text = run([*mpirun, *program("oneccl_bindings_for_pytorch")])
    ports = {line.split()[-1] for line in text.splitlines() if line.startswith("sum")}
    assert len(ports) == 1, text
    for rank in range(2):
        assert f"of 2 {rank} 2 {rank} 2 127.0.0.1 " in text, text


def test_a_job_whose_ranks_have_shells_of_their_own(mpirun):
    shell = ["sh", "-c", '"$@"; exit $?', "sh"]
    expect_two_ranks(run([*mpirun, *shell, *program("torch_ccl")]))


def test_a_taken_port_is_no_obstacle():
    """Two jobs at once, at the port that would be filled in for either."""
    if shutil.which(OPEN_MPI[0]) is None:
        pytest.skip(f"not installed: {OPEN_MPI[0]}")
    taken = """
import os, socket
from tutti_ccl import launcher
if os.environ["OMPI_COMM_WORLD_RANK"] == "0":
    hold = socket.create_server(("127.0.0.1", launcher.port_of(launcher.place())))
"""
    command = program("oneccl_bindings_for_pytorch")
    command[2] = taken + command[2]
    expect_two_ranks(run([*OPEN_MPI, "-n", "2", *command]))


# What the import does is the same under each.
IMPORTS = {
    "what is set stays": ({"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "4711"}, ["port=4711"]),
    "it can be switched off": ({"TUTTI_TORCH_LAUNCHER_ENV": "0"}, ["rank=None"]),
    "it is logged": ({"CCL_LOG_LEVEL": "info"}, [" WORLD_SIZE=2", "TUTTI_TORCH_LAUNCHER_ENV=0"]),
}


@pytest.mark.parametrize("what", IMPORTS)
def test_of_what_the_import_does(what):
    if shutil.which(HYDRA[0]) is None:
        pytest.skip(f"not installed: {HYDRA[0]}")
    program = ("import os, tutti_ccl.torch\n"
               "said = 'rank={RANK} port={MASTER_PORT}'.format_map({'RANK': None, **os.environ})\n"
               "os.write(1, (said + chr(10)).encode())")
    variables, expected = IMPORTS[what]
    text = run([*HYDRA, "-n", "2", sys.executable, "-c", program],
               {"MASTER_PORT": "1", **variables})
    assert all(text.count(words) == 2 for words in expected), text


def srun(cluster, *arguments):
    status, out, err = cluster.run(*arguments, *program("tutti_ccl.torch"), timeout=120)
    assert status == 0, out + err
    expect_two_ranks(out)


@pytest.fixture
def start_slurm():
    if os.geteuid() != 0:
        pytest.skip("slurmd needs root")
    if slurm.missing():
        pytest.skip(f"not installed: {', '.join(slurm.missing())}")
    with contextlib.ExitStack() as stack:
        def start(*on):
            try:
                return stack.enter_context(slurm.Slurm(*on))
            except slurm.Unavailable as reason:
                pytest.skip(str(reason))

        yield start


def test_srun_on_one_node(start_slurm):
    cluster = start_slurm()
    for served in ("none", "pmi2", "pmix"):
        srun(cluster, "-n2", f"--mpi={served}")


def test_srun_on_two_nodes(start_slurm):
    reason = hosts.unavailable()
    if reason:
        pytest.skip(reason)
    with hosts.Hosts(2) as machines:
        cluster = start_slurm(machines)
        for served in ("none", "pmix"):
            srun(cluster, "-N2", "-n2", f"--mpi={served}")


OMPI = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4",
        "OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
SRUN = {"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "7", "SLURM_LOCALID": "1",
        "SLURM_NODEID": "2", "SLURM_STEP_TASKS_PER_NODE": "2(x3),1", "SLURM_JOB_ID": "3"}


@pytest.fixture
def untouched():
    before = dict(launcher.filled)
    yield
    launcher.filled.clear()
    launcher.filled.update(before)


@pytest.mark.parametrize("variables, expected", [
    (OMPI, ("1", "4", "1", "2")),
    (SRUN, ("5", "7", "1", "2")),
    ({"PMI_RANK": "0", "PMI_SIZE": "3"}, ("0", "3", None, None)),
    # srun --mpi=pmi2, which knows more than what looks like MPICH.
    ({**SRUN, "PMI_RANK": "5", "PMI_SIZE": "7", "PMI_JOBID": "3.0"}, ("5", "7", "1", "2")),
])
def test_places_by_variables_of_several_hosts(untouched, variables, expected):
    env = dict(variables)
    launcher.fill(env)
    assert tuple(env.get(name) for name in NAMES[:4]) == expected
    assert "MASTER_ADDR" not in env


@pytest.mark.parametrize("variables", [
    {}, {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"}, {**OMPI, "WORLD_SIZE": "1"},
    {**OMPI, "RANK": "0"}, {**OMPI, "OMPI_COMM_WORLD_RANK": "one"}, {**OMPI, launcher.SWITCH: "0"},
])
def test_nothing_is_filled_in_where_the_program_knows_better(untouched, variables):
    env = dict(variables)
    launcher.fill(env)
    assert env == variables


@pytest.mark.parametrize("variables, texts", [
    ({**OMPI, "WORLD_SIZE": "1"}, ["WORLD_SIZE=1", "OMPI_COMM_WORLD_SIZE=4"]),
    ({"PMI_RANK": "0", "PMI_SIZE": "2", "WORLD_SIZE": "1"}, ["WORLD_SIZE=1", "PMI_SIZE=2"]),
])
def test_a_world_of_one_in_a_job_of_several_is_warned_of(variables, texts):
    with pytest.warns(UserWarning) as caught:
        launcher.warn_if_alone(variables)
    assert all(text in str(caught[0].message) for text in texts)


def test_a_world_of_one_that_is_meant_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        launcher.warn_if_alone({})
        launcher.warn_if_alone({**OMPI, "OMPI_COMM_WORLD_SIZE": "1"})


@pytest.mark.parametrize("variables, place", [
    ({"SLURM_PROCID": "1", "SLURM_NTASKS": "2"}, (1, 2)),
    ({"SLURM_PROCID": "0", "SLURM_NTASKS": "2"}, (0, 2)),
    ({"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "SLURM_JOB_ID": "7"}, None),  # a batch script
    ({"SLURM_NTASKS": "2", "SLURM_JOB_ID": "7"}, None),  # a shell of salloc
])
def test_what_slurm_says_of_the_job_counts_where_the_step_is_missing(variables, place):
    found = launcher.place(variables)
    assert (found and (found.rank, found.size)) == place


@pytest.mark.parametrize("text, wanted, unwanted", [
    ("", [], []), ("eth1", ["10.91.0.1"], []), ("eth", ["10.91.0.1", "10.92.0.1"], []),
    ("10.91.0.0/16", ["10.91.0.1"], []), ("192.0.2.9", ["192.0.2.9"], []),
    ("^lo,eth10", [], ["127.0.0.1", "10.92.0.1"]),
])
def test_a_list_of_interfaces_takes_all_forms(text, wanted, unwanted):
    here = {"lo": "127.0.0.1", "eth1": "10.91.0.1", "eth10": "10.92.0.1"}
    assert meeting._meant(text, here) == (wanted, unwanted)


def test_two_jobs_of_one_rank_under_mpirun_are_warned_of(mpirun):
    alone = ("import torch.distributed as dist, tutti_ccl.torch\n"
             "dist.init_process_group('ccl', init_method='tcp://127.0.0.1:0', rank=0, world_size=1)")
    text = run([*mpirun, sys.executable, "-c", alone])
    assert text.count("this process group has 1 rank") == 2, text
