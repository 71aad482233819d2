# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Faults that come to a rank from outside: each takes its process and gives what ends it again."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

PTRACE_CONT, PTRACE_SEIZE, PTRACE_INTERRUPT = 7, 0x4206, 0x4207
WALL = 0x40000000  # of waitpid
BUSY = [sys.executable, "-c", "while True: pass"]
# Shares of 100 ms; and of a second, for how long a rank is stopped.
QUOTA_US, STOPPED_S, GOES_ON_S = 5_000, 0.15, 0.1
MEMORY_BYTES, RATE, LOSS = 24 << 20, "50mbit", 0.05


class CannotInject(Exception):
    """This machine does not allow it: no failure of what is scored."""


@contextlib.contextmanager
def control_group(controller, pid):
    """A control group of the process, as a folder; of version 1 or 2."""
    root = Path("/sys/fs/cgroup")
    parent = root / controller if (root / controller).is_dir() else root
    own = parent / f"scored-{os.getpid()}-{pid}"
    try:
        own.mkdir()
    except OSError as error:
        raise CannotInject(f"no control group can be made: {error}") from error
    try:
        (own / "cgroup.procs").write_text(str(pid))
        yield own
    except OSError as error:
        raise CannotInject(f"{own}: {error}") from error
    finally:
        for name, value in (("freezer.state", "THAWED"), ("cgroup.freeze", "0")):
            if (own / name).exists():
                (own / name).write_text(value)
        for left in (own / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                os.kill(int(left), signal.SIGKILL)
        for _ in range(200):
            with contextlib.suppress(OSError):
                own.rmdir()
                break
            time.sleep(0.01)


@contextlib.contextmanager
def kill(pid, _hosts, _host):
    os.kill(pid, signal.SIGKILL)
    yield


@contextlib.contextmanager
def stop(pid, _hosts, _host):
    os.kill(pid, signal.SIGSTOP)
    yield


@contextlib.contextmanager
def freeze(pid, _hosts, _host):
    with control_group("freezer", pid) as group:
        old = group / "freezer.state"
        (old if old.exists() else group / "cgroup.freeze").write_text("FROZEN" if old.exists() else "1")
        yield


@contextlib.contextmanager
def quota(pid, _hosts, _host):
    with control_group("cpu", pid) as group:
        old = group / "cpu.cfs_quota_us"
        (old if old.exists() else group / "cpu.max").write_text(
            str(QUOTA_US) if old.exists() else f"{QUOTA_US} 100000")
        yield


@contextlib.contextmanager
def memory(pid, _hosts, _host):
    """Less than what it uses again and again: what it maps has to be read anew."""
    with control_group("memory", pid) as group:
        old = group / "memory.limit_in_bytes"
        (old if old.exists() else group / "memory.max").write_text(str(MEMORY_BYTES))
        yield


@contextlib.contextmanager
def no_memory(pid, _hosts, _host):
    """So little that it waits for some, where the system does not end it instead."""
    with control_group("memory", pid) as group:
        if not (group / "memory.oom_control").exists():
            raise CannotInject("control groups of version 2 end who has no memory")
        (group / "memory.limit_in_bytes").write_text(str(MEMORY_BYTES))
        (group / "memory.oom_control").write_text("1")
        yield
        (group / "memory.oom_control").write_text("0")


@contextlib.contextmanager
def in_thread(drive, end):
    """A thread that does drive() until `end` is set, which it is when the context is left."""
    thread = threading.Thread(target=drive)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


@contextlib.contextmanager
def ptrace(pid, _hosts, _host):
    """What a debugger does; the thread that does it has to live."""
    libc, done, end = ctypes.CDLL(None, use_errno=True), threading.Event(), threading.Event()
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    results = []

    def hold():
        results.append(libc.ptrace(PTRACE_SEIZE, pid, None, None))
        results.append(libc.ptrace(PTRACE_INTERRUPT, pid, None, None))
        done.set()
        end.wait()

    with in_thread(hold, end):
        done.wait()
        if any(results):
            raise CannotInject("ptrace is not allowed")
        yield


@contextlib.contextmanager
def duty(pid, _hosts, _host):
    """Stopped and let go on, again and again."""
    end = threading.Event()

    def drive():
        with contextlib.suppress(ProcessLookupError):
            while not end.is_set():
                os.kill(pid, signal.SIGSTOP)
                end.wait(STOPPED_S)
                os.kill(pid, signal.SIGCONT)
                end.wait(GOES_ON_S)

    with in_thread(drive, end):
        yield


@contextlib.contextmanager
def trace(pid, _hosts, _host):
    """Held and let go on by a tracer, again and again; the thread that traces has to be one."""
    libc, end, results = ctypes.CDLL(None, use_errno=True), threading.Event(), []
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

    def drive():
        results.append(libc.ptrace(PTRACE_SEIZE, pid, None, None))
        while not results[0] and not end.is_set():
            libc.ptrace(PTRACE_INTERRUPT, pid, None, None)
            os.waitpid(pid, WALL)
            end.wait(STOPPED_S)
            libc.ptrace(PTRACE_CONT, pid, None, None)
            end.wait(GOES_ON_S)

    with in_thread(drive, end):
        time.sleep(GOES_ON_S)
        if any(results):
            raise CannotInject("ptrace is not allowed")
        yield


def pin(pid, cores):
    for task in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(task), cores)


@contextlib.contextmanager
def share_core(pid, count, niceness=0):
    core = max(os.sched_getaffinity(0))
    pin(pid, {core})
    # Sessions of their own, as other users' have: the system shares cores out by session.
    others = [subprocess.Popen(BUSY, start_new_session=True) for _ in range(count)]
    try:
        for other in others:
            os.sched_setaffinity(other.pid, {core})
            if niceness:
                os.setpriority(os.PRIO_PROCESS, other.pid, niceness)
                with contextlib.suppress(OSError):
                    Path(f"/proc/{other.pid}/autogroup").write_text(str(niceness))
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def hog(pid, _hosts, _host):
    """Other programs compute on its core."""
    return share_core(pid, 6)


@contextlib.contextmanager
def same_core(pid, _hosts, _host):
    """It may run where the first core is, and nowhere else."""
    pin(pid, {min(os.sched_getaffinity(0))})
    yield


def nice_hog(pid, _hosts, _host):
    """A program that the system prefers computes on its core."""
    return share_core(pid, 1, -10)


@contextlib.contextmanager
def cut(_pid, hosts, host):
    hosts.cut(host)
    try:
        yield
    finally:
        hosts.mend(host)


@contextlib.contextmanager
def rate(_pid, hosts, _host):
    """All lines are slow."""
    hosts.shape(rate=RATE)
    try:
        yield
    finally:
        hosts.shape()


@contextlib.contextmanager
def lossy(_pid, hosts, _host):
    hosts.disturb(loss=LOSS)
    try:
        yield
    finally:
        hosts.disturb(loss=0.0)


# Those that need a line which passes through a process.
THROUGH_WIRE = {"lossy"}
ALL = {"kill": kill, "stop": stop, "freeze": freeze, "quota": quota, "ptrace": ptrace, "duty": duty,
       "hog": hog, "nice-hog": nice_hog, "same-core": same_core, "cut": cut,
       "memory": memory, "no-memory": no_memory, "trace": trace, "rate": rate, "lossy": lossy}
