# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""PyTorch's analyser reads what is recorded, and names the call that hangs and who is missing."""

import pickle
import subprocess
import sys
import textwrap

import programs
import pytest

PROGRAM = """
    import datetime, sys, time
    import torch
    import torch.distributed as dist
    import tutti_ccl.torch as tutti
    how = sys.argv[1]
    dist.init_process_group("ccl", timeout=datetime.timedelta(seconds=3 if how == "hang" else 60))
    rank = dist.get_rank()
    dist.barrier()
    dist.all_reduce(torch.ones(5))
    dist.broadcast(torch.ones(7), 0, async_op=True).wait()
    if rank == 0:
        dist.send(torch.ones(2), 1)
    else:
        dist.recv(torch.zeros(2), 0)
    lists = [torch.zeros(4) for _ in range(2)]
    dist.all_gather(lists, torch.ones(4))
    dist.scatter(torch.zeros(4), lists if rank == 0 else None)
    if how == "hang" and rank == 0:
        dist.reduce_scatter_tensor(torch.zeros(2), torch.zeros(4))  # rank 1 never calls
    if how == "hang":
        time.sleep(6)
    if how == "more":
        torch.ops.tutti.all_reduce(torch.ones(3))
        torch.ops.tutti.all_gather(torch.ones(2))
        if rank == 0:
            dist.send(torch.ones(2), 1)
        else:
            dist.recv(torch.zeros(2))
            dist.irecv(torch.zeros(2))  # nobody sends
    if how in ("ask", "more"):
        print("written", tutti.dump_flight_recorder())
    if how == "more":
        dist.barrier()  # once nobody else is left, that receive ends
    dist.destroy_process_group()
"""


@pytest.fixture
def dumps(tmp_path):
    """Runs two ranks; returns their statuses, what they wrote, and the dumps by file."""
    folder = tmp_path / "traces"
    folder.mkdir()
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM), encoding="utf-8")

    def run(how, entries="100"):
        statuses, text = programs.run(program, how, environment={
            "TORCH_FR_BUFFER_SIZE": entries, "TORCH_FR_DUMP_TEMP_FILE": str(folder / "trace_")})
        left = {path.name: pickle.loads(path.read_bytes()) for path in folder.iterdir()}
        return statuses, text, left

    run.folder = folder
    return run


def analyse(folder):
    done = subprocess.run([sys.executable, "-m", "torch.distributed.flight_recorder.fr_trace",
                           "--prefix", "trace_", str(folder)], text=True, capture_output=True,
                          timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_analyser_names_the_call_that_hangs_and_the_rank_that_is_missing(dumps):
    statuses, wrote, left = dumps("hang")
    assert statuses[0] != 0 and "Timed out" in wrote, wrote
    assert sorted(left) == ["trace_0", "trace_1"], wrote
    last = left["trace_0"]["entries"][-1]
    assert last["profiling_name"].endswith(":_reduce_scatter_base")
    assert last["state"] == "started" and not last["retired"]
    assert last["frames"], "no stack"
    text = analyse(dumps.folder)
    assert "missing ranks: {1}" in text.lower(), text
    assert "_reduce_scatter_base" in text, text


def test_what_is_complete_is_recorded_as_such_when_it_is_asked_for(dumps):
    statuses, wrote, left = dumps("ask")
    assert statuses == [0, 0], wrote
    for name in left:
        assert f"written {dumps.folder / name}\n" in wrote, wrote
    for dump in left.values():
        assert {entry["state"] for entry in dump["entries"]} == {"completed"}
        assert dump["pg_config"]["0"]["ranks"] == "[0, 1]"
        names = [entry["profiling_name"].split(":")[1].split(" ")[0] for entry in dump["entries"]]
        assert names[:3] + names[4:] == ["barrier", "all_reduce", "broadcast", "all_gather",
                                         "scatter"]
        gathered = dump["entries"][4]
        assert (gathered["input_sizes"], gathered["output_sizes"]) == ([[4]], [[2, 4]])
        numbers = [entry["collective_seq_id"] for entry in dump["entries"] if not entry["is_p2p"]]
        assert numbers == [1, 2, 3, 4, 5]
    analyse(dumps.folder)


def test_operators_and_receives_from_any_rank_are_recorded(dumps):
    statuses, wrote, left = dumps("more")
    assert statuses == [0, 0], wrote
    entries = {name: left[name]["entries"][6:] for name in sorted(left)}
    for recorded in entries.values():
        summed, gathered = recorded[:2]
        assert (summed["profiling_name"], gathered["profiling_name"]) == (
            "xccl:all_reduce", "xccl:_all_gather_base")
        assert (gathered["input_sizes"], gathered["output_sizes"]) == ([[2]], [[4]])
        assert [summed["collective_seq_id"], gathered["collective_seq_id"]] == [6, 7]
        assert {summed["state"], gathered["state"]} == {"completed"}
    zero, one = ([(each["profiling_name"], each["state"]) for each in recorded[2:]]
                 for recorded in entries.values())
    assert zero == [("xccl:send 0->1", "completed")]
    # It recorded once more, when the receive ended with nobody left.
    assert one == [("xccl:recv 1<-0", "completed"), ("xccl:recv 1<--1", "started"),
                   ("xccl:barrier", "completed")]


def test_only_the_last_operations_are_kept(dumps):
    _, _, left = dumps("ask", entries="2")
    for dump in left.values():
        assert [entry["collective_seq_id"] for entry in dump["entries"]] == [4, 5]


def test_a_job_that_ends_well_leaves_nothing(dumps):
    statuses, wrote, left = dumps("well")
    assert statuses == [0, 0] and not left, wrote


def test_it_is_off_unless_it_is_asked_for(dumps):
    statuses, wrote, left = dumps("ask", entries="0")
    assert 0 not in statuses and not left
    assert "TORCH_FR_BUFFER_SIZE" in wrote
