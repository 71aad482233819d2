#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What other tools tell of the jobs of faults.csv, read by a rule and marked as score.py does.

    baseline.py stacks             ps, gdb and py-spy on every rank of every 12th row
    baseline.py recorder           PyTorch's flight recorder, over Gloo, of all rows of PyTorch

The rule of `stacks` is what a person does who knows the program: look at the state of each process,
then at the stack of its main thread.

  1. A rank without a process, or whose process is stopped, traced, frozen or another program, is
     the cause; else one of which no stack can be had.
  2. Else each rank whose main thread is in no call of the library is, and the function of the
     system that it is in says why, with `ls -l /proc/PID/fd` for what it reads. In none it
     computes.
  3. Else each rank whose call runs a signal handler or a function of the program is.
  4. Else, where ranks are in different calls, those in the rarer one are. Where all wait for
     messages, they wait for one another.

Slow jobs are looked at five times; a rank counts as outside that was so three times. Where one fault
is the truth and the rule gives several ranks, the answer is right if any of them is, and wrong if
these are more than half of all.

The rule of `recorder`: ranks that do not answer are the cause, and ps says why; else those whose
call of a number differs from that of the most are in another call; else those with the fewest calls
are late, for which it knows no cause. Ranks are asked by PyTorch's worker server, which answers
without Python.
"""

import argparse
import collections
import http.client
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

import inject
import score

EVERY = 12
SLOW_LOOKS, SLOW_OUTSIDE = 5, 3
TOOL_S = 30  # ends a tool that does not come back
ANSWER_S = 3
RECORDED_CALLS = "2000"
# The first that the stack has, the innermost frame first.
CAUSES = [
    (r"nanosleep|time\.sleep|usleep", "sleeps"),
    (r"flock|futex|pthread_mutex|pthread_cond|sem_wait|sem_(clock|timed)wait|pthread_clockjoin|"
     r"pthread_join|lll_lock|lock_PyThread|acquire_timed|threading\.py|queue\.py", "lock"),
    (r"wait4|waitpid|waitid|vfork|subprocess\.py", "child"),
    (r"recv|accept|connect|poll|select|socket\.py|TCPStore", "socket"),
    (r"\b(__)?(libc_)?(read|write|open|openat)(64)?(_nocancel)?\b", "file"),
    (r"\bpause\b|sigsuspend|sigwait|sigtimedwait", "signal"),
]
STATES = {"T": "stopped", "t": "debugged", "Z": "dead", "X": "dead"}
MESSAGES = re.compile("tutti_(send|recv)")
Stack = collections.namedtuple("Stack", "cause call frames", defaults=("", ()))


def run(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=TOOL_S,
                              stdin=subprocess.DEVNULL).stdout
    except subprocess.TimeoutExpired:
        return ""


def cause_of_state(pid, program):
    """What ps tells; empty if the process is there and runs."""
    told = run(["ps", "-o", "stat=,wchan:32=,args=", "-p", str(pid)]).split(maxsplit=2)
    if len(told) < 3:
        return "dead"
    state, waits_in, command = told
    if state[0] in STATES:
        return STATES[state[0]]
    if "freez" in waits_in or "refrigerator" in waits_in:
        return "frozen"
    return "" if program in command else "replaced"


def frames_of_gdb(pid):
    """Of the main thread, the innermost first."""
    told = run(["gdb", "-nx", "-batch", "-p", str(pid), "-ex", "thread apply 1 bt"])
    return re.findall(r"^#\d+\s+(.*)$", told, re.MULTILINE)


def frames_of_py_spy(py_spy, pid):
    told = run([py_spy, "dump", "--native", "--pid", str(pid)])
    threads = re.split(r"^Thread ", told, flags=re.MULTILINE)
    main = [thread for thread in threads if "MainThread" in thread.splitlines()[0]] if told else []
    return [line.strip() for line in main[0].splitlines()[1:]] if main else []


def call_in(frame, program):
    """The call of the library that the frame is, if it is one."""
    if program == "c":
        found = re.search(r"\b(tutti_(?!request)\w+|tutti_request_wait) \(", frame)
        return found.group(1) if found else ""
    found = re.match(r"(\w+) \(torch/distributed/distributed_c10d\.py", frame)
    return found.group(1) if found else ""


def cause_of_frames(frames):
    for frame in frames:
        for pattern, cause in CAUSES:
            if re.search(pattern, frame):
                return cause
    return "computes" if frames else "quiet"


def look_at(rank, job, py_spy):
    row, pid = job.row, job.pids[rank]
    state = cause_of_state(pid, "rank.py" if row.program == "torch" else "scored_rank")
    if state:
        return Stack(state)
    frames = frames_of_gdb(pid) if row.program == "c" else frames_of_py_spy(py_spy, pid)
    for depth, frame in enumerate(frames):
        call = call_in(frame, row.program)
        if not call:
            continue
        inner = frames[:depth]
        if any("<signal handler called>" in one for one in inner):
            return Stack("inside", call, frames)
        if any("rank.cpp" in one for one in inner):
            return Stack("function", call, frames)
        return Stack("", call, frames)
    cause = cause_of_frames(frames)
    return Stack("socket" if cause == "file" and reads_socket(pid) else cause, "", frames)


def reads_socket(pid):
    try:
        told = Path(f"/proc/{pid}/syscall").read_text(encoding="ascii").split()
        return "socket:" in os.readlink(f"/proc/{pid}/fd/{int(told[1], 16)}")
    except (OSError, IndexError, ValueError):
        return False


def verdict_on(stacks):
    """[(cause, {rank}), ...] by the rule above; `stacks` by rank."""
    without = [(one.cause, {rank}) for rank, one in stacks.items() if one.cause and not one.frames]
    gone = [(cause, ranks) for cause, ranks in without if cause != "quiet"]
    if without:
        return gone or without
    outside = [(one.cause, {rank}) for rank, one in stacks.items() if one.cause and not one.call]
    if outside:
        return outside
    inside = [(one.cause, {rank}) for rank, one in stacks.items() if one.cause]
    if inside:
        return inside
    calls = collections.defaultdict(set)
    for rank, one in stacks.items():
        calls[one.call].add(rank)
    if len(calls) > 1 and not all(map(MESSAGES.match, calls)):
        most = max(calls, key=lambda call: len(calls[call]))
        odd = [ranks for call, ranks in calls.items() if call != most or len(ranks) == 1]
        return [("mismatch", set().union(*odd))]
    return [("circle", set(stacks))] if all(map(MESSAGES.match, calls)) else []


def slow_verdict_on(looks):
    outside = []
    for rank in looks[0]:
        causes = collections.Counter(look[rank].cause for look in looks if look[rank].cause)
        if sum(causes.values()) >= SLOW_OUTSIDE:
            outside.append((causes.most_common(1)[0][0], {rank}))
    return outside


def ask_stacks(job, py_spy):
    slow = job.row.name.startswith("slow")
    time.sleep(score.SLOW_SETTLES_S if slow else score.SETTLES_S)
    begun = time.monotonic()
    looks = [{rank: look_at(rank, job, py_spy) for rank in range(job.row.ranks)}
             for _ in range(SLOW_LOOKS if slow else 1)]
    ms = (time.monotonic() - begun) * 1000
    found = slow_verdict_on(looks) if slow else verdict_on(looks[0])
    text = "; ".join(f"{rank}: {one.call or one.cause}" for rank, one in looks[-1].items())
    return score.Answer(job.row, found, text, ms)


# ---- the flight recorder -------------------------------------------------------------------------


class OverUnix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=ANSWER_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(ANSWER_S)
        self.sock.connect(self.path)


def record_of(path):
    """The calls of a rank; None if it does not answer."""
    connection = OverUnix(str(path))
    try:
        connection.request("POST", "/handler/fr_trace_json")
        entries = json.loads(connection.getresponse().read())["entries"]
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return {entry["op_id"]: (entry["profiling_name"], str(entry["input_sizes"]),
                             str(entry["input_dtypes"])) for entry in entries}


def verdict_on_records(records, pids):
    silent = [rank for rank, record in records.items() if record is None]
    if silent:
        return [(cause_of_state(pids[rank], "rank.py") or "silent", {rank}) for rank in silent]
    for number in sorted(set.intersection(*(set(record) for record in records.values()))):
        calls = collections.Counter(record[number] for record in records.values())
        if len(calls) > 1:
            most = calls.most_common(1)[0][0]
            return [("mismatch", {rank for rank, record in records.items() if record[number] != most})]
    ends = {rank: max(record, default=0) for rank, record in records.items()}
    late = {rank for rank, end in ends.items() if end == min(ends.values())}
    return [("late", late)] if len(late) < len(ends) else []


def ask_recorder(job):
    time.sleep(score.SETTLES_S)
    begun = time.monotonic()
    found = verdict_on_records({rank: record_of(job.folder / f"recorder{rank}")
                                for rank in range(job.row.ranks)}, job.pids)
    return score.Answer(job.row, found, "", (time.monotonic() - begun) * 1000)


# ---- all rows ------------------------------------------------------------------------------------


def right(answer):
    """Whether cause and rank are right of any that is found; of several truths, of all."""
    marks = [score.marks(answer)]
    if len(score.truths_of(answer.row)) == 1:
        marks = [score.marks(answer._replace(found=[one])) for one in answer.found]
        if 2 * len(marks) > answer.row.ranks:
            return False, False
    return any(cause for cause, _ in marks), any(rank for _, rank in marks)


def run_row(tools, row, ask):
    try:
        with score.Job(tools, row) as job, score.injected(job):
            return ask(job)
    except inject.CannotInject as reason:
        return str(reason)
    except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as error:
        return score.Answer(row, [], f"{type(error).__name__}: {error}", 0.0)


def report_one(answer):
    cause, rank = right(answer)
    told = ", ".join(f"{cause}@{'|'.join(map(str, sorted(ranks)))}" for cause, ranks in answer.found)
    print(f"| {answer.row.name} | {answer.row.truth} | {told or '-'} | {'yes' if cause else 'no'} | "
          f"{'yes' if rank else 'no'} | {answer.ms / 1000:.1f} |", flush=True)
    if not rank:
        print(f"    {answer.text}", file=sys.stderr)


def report_all(answers):
    causes, ranks = (sum(marks) for marks in zip(*map(right, answers)))
    times = [answer.ms / 1000 for answer in answers]
    print(f"\nof {len(answers)} faults: right cause {score.percent(causes, len(answers))}, right rank "
          f"{score.percent(ranks, len(answers))}; answer after {statistics.median(times):.1f} s (median), "
          f"{max(times):.1f} s (most)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", choices=["stacks", "recorder"])
    parser.add_argument("--build", default="build/release", help="a build folder")
    parser.add_argument("--python", default=sys.executable, help="has PyTorch and the backend")
    parser.add_argument("--py-spy", default="py-spy", help="the command")
    parser.add_argument("--only", help="a regular expression of names, instead of the sample")
    given = parser.parse_args()
    rows = score.read_rows()
    if given.tool == "recorder":
        os.environ.update(SCORED_BACKEND="gloo", SCORED_RECORDER="1", TORCH_FR_BUFFER_SIZE=RECORDED_CALLS)
        rows = [row for row in rows if row.program == "torch" and not row.name.startswith("slow")]
    elif not given.only:
        rows = rows[::EVERY]
    if given.only:
        rows = [row for row in rows if re.search(given.only, row.name)]
    tools = score.Tools(argparse.Namespace(build=Path(given.build).resolve(), tutti=None, rank=None,
                                           python=given.python, sample=False))
    ask = ask_recorder if given.tool == "recorder" else lambda job: ask_stacks(job, given.py_spy)
    answers = []
    print("| fault | truth | told | cause | rank | s |\n|---|---|---|---|---|---|")
    try:
        for row in rows:
            answer = run_row(tools, row, ask)
            if isinstance(answer, str):
                print(f"left out: {row.name}: {answer}", file=sys.stderr)
            else:
                answers.append(answer)
                report_one(answer)
    finally:
        tools.close()
    report_all(answers)


if __name__ == "__main__":
    main()
