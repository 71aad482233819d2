# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Traces of torch.profiler say which group a call was on, its number, and what it moved."""

import json
import os
import subprocess
import sys
from pathlib import Path

import torch
import torch.distributed as dist

NAMES = ["all_reduce", "all_gather", "reduce_scatter_tensor", "broadcast"]


def trace(folder):
    rank = dist.get_rank()
    group = dist.new_group(group_desc="some")
    block, lists = torch.ones(2, 3), [torch.zeros(2, 3) for _ in range(2)]
    half = torch.zeros(1, 3, dtype=torch.bfloat16)
    with torch.profiler.profile(record_shapes=True) as profile:
        dist.all_reduce(block, group=group)
        dist.all_gather(lists, block, group=group)
        dist.reduce_scatter_tensor(half, half.new_ones(2, 3), group=group)
        dist.broadcast(block, 1, group=group, async_op=True).wait()
    path = f"{folder}/trace.{rank}"
    profile.export_chrome_trace(path)
    dist.destroy_process_group(group)
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    return group.group_name, [(event["name"], event["args"]) for event in events
                              if event["name"] == "record_param_comms"
                              or event["name"].startswith("ccl:")]


def trace_operators(folder):
    group = dist.new_group()
    with torch.profiler.profile(record_shapes=True) as profile:
        torch.ops.tutti.all_reduce_(torch.ones(4), "sum", group.group_name)
        torch.ops.tutti.all_gather(torch.ones(3), group.group_name)
        if dist.get_rank() == 0:
            dist.send(torch.ones(5), 1, group=group)
        else:
            dist.recv(torch.zeros(5), group=group)
    path = f"{folder}/operators.{dist.get_rank()}"
    profile.export_chrome_trace(path)
    name = group.group_name
    dist.destroy_process_group(group)
    with open(path, encoding="utf-8") as file:
        return name, [event["args"] for event in json.load(file)["traceEvents"]
                      if event["name"] == "record_param_comms"]


def test_so_are_operators_and_receives_from_any_rank(two_ranks, tmp_path):
    for rank, (group, told) in enumerate(two_ranks.run(trace_operators, str(tmp_path))):
        assert [each["Collective name"] for each in told] == [
            "all_reduce", "all_gather", ["send", "recvAnySource"][rank]]
        assert {each["Process Group Name"] for each in told} == {group}
        moved = [(each["In msg nelems"], each["Out msg nelems"]) for each in told]
        assert moved == [(4, 4), (3, 6), [(5, 0), (0, 5)][rank]]
        assert [each["Seq"] for each in told[:2]] == [1, 2]


def test_calls_are_described(two_ranks, tmp_path):
    for group, events in two_ranks.run(trace, str(tmp_path)):
        told = [facts for name, facts in events if name == "record_param_comms"]
        assert [each["Collective name"] for each in told] == NAMES
        assert {each["Process Group Name"] for each in told} == {group}
        assert {each["Process Group Description"] for each in told} == {"some"}
        assert {each["Group size"] for each in told} == {2}
        moved = [(each["In msg nelems"], each["Out msg nelems"], each["dtype"]) for each in told]
        assert moved == [(6, 6, "Float"), (6, 12, "Float"), (6, 3, "BFloat16"), (6, 6, "Float")]
        assert [each["Seq"] for each in told] == [1, 2, 3, 4]


def test_so_are_the_events_that_last_until_they_are_complete(two_ranks, tmp_path):
    for group, events in two_ranks.run(trace, str(tmp_path)):
        told = {name: facts for name, facts in events if name.startswith("ccl:")}
        assert [(name, facts["group"].strip('"'), int(facts["seq"]))
                for name, facts in told.items()] == [
                    (f"ccl:{name}", group, number) for number, name in enumerate(NAMES, start=1)]


MERGED = """
import sys, torch, torch.distributed as dist, tutti_ccl
dist.init_process_group("ccl")
with torch.profiler.profile() as profile:
    for _ in range(3):
        dist.all_reduce(torch.ones(1 << 16))
profile.export_chrome_trace(f"{sys.argv[1]}/torch.{dist.get_rank()}")
dist.destroy_process_group()
"""


def test_they_merge_with_the_traces_of_tuttis_own_calls(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(MERGED, encoding="utf-8")
    tutti = str(Path(sys.executable).parent / "tutti")
    subprocess.run([tutti, "run", "-n", "2", sys.executable, str(program), str(tmp_path)],
                   env=os.environ | {"TUTTI_TRACE": f"{tmp_path}/calls"}, check=True)
    files = [f"{tmp_path}/{name}.{rank}" for rank in range(2) for name in ("calls", "torch")]
    merged = subprocess.run([tutti, "trace", "merge", *files], check=True, stdout=subprocess.PIPE)
    events = json.loads(merged.stdout)["traceEvents"]
    lasting = [event for event in events if event["ph"] == "X"]
    pids = {event["pid"] for event in lasting if event["cat"] == "tutti"}
    assert len(pids) == 2
    for pid in pids:
        of_rank = [event for event in lasting if event["pid"] == pid]
        calls = [e for e in of_rank if e["name"].startswith("allreduce") and "65536" in e["name"]]
        seen = [e for e in of_rank if e["name"] == "ccl:all_reduce"]
        assert len(calls) == len(seen) == 3
        for call, event in zip(calls, seen):
            assert abs(call["ts"] - event["ts"]) < 1e6, "one time base"
