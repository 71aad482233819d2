# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""How each fault is done to a job."""

import contextlib
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time

import lines

USER = 54321  # that nobody has


def kill(job):
    os.kill(job.victim.process.pid, signal.SIGKILL)


def stop(job):
    os.kill(job.victim.process.pid, signal.SIGSTOP)


def cut(job):
    job.hosts.cut(job.cell.ranks - 1)


def no_descriptors(job):
    pid = job.victim.process.pid
    used = max((int(name) for name in os.listdir(f"/proc/{pid}/fd")), default=2) + 1
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (used, used))


def no_memory(job):
    """As much address space as there is, and 64 KiB."""
    pid = job.victim.process.pid
    with open(f"/proc/{pid}/statm") as pages:
        used = int(pages.read().split()[0]) * resource.getpagesize()
    resource.prlimit(pid, resource.RLIMIT_AS, (used + (64 << 10),) * 2)


def shared_memory(pid):
    """Where a process has mapped what the ranks of a host share."""
    with open(f"/proc/{pid}/maps") as mappings:
        for line in mappings:
            if "/memfd:tutti" in line:
                begin, end = line.split()[0].split("-")
                yield int(begin, 16), int(end, 16)


def no_threads(job):
    """It may start no more threads, as a user whom that limit binds."""
    pid = str(job.victim.process.pid)
    subprocess.run(as_user(0, ["prlimit", "--pid", pid, "--nproc=1:1"], {}), check=True)


def as_user(_, command, __):
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *command]


def why_not_as_user(program):
    """Why USER cannot run a program; None if it can."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        return "another user needs root and util-linux"
    tried = subprocess.run(as_user(0, ["test", "-x", program], {}), check=False)
    return "another user cannot read the build tree" if tried.returncode else None


def file_size(job):
    """It may write no file, and give none a size, beyond a page."""
    resource.prlimit(job.victim.process.pid, resource.RLIMIT_FSIZE, (4096, 4096))


def corrupt(job):
    """Writes over two thousand words of the first 64 KiB of each part that is mapped; control words
    lie in the first."""
    choose = random.Random(job.cell.seed)
    pid = job.victim.process.pid
    mapped = list(shared_memory(pid))
    if not mapped:
        raise RuntimeError("the ranks share no memory that is to be found")
    # It may find out, and end, before all is written.
    with contextlib.suppress(OSError), open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        for begin, end in mapped:
            for _ in range(2000):
                memory.seek(begin + choose.randrange(min(end - begin, 64 << 10) // 8) * 8)
                memory.write(choose.randbytes(8))


def hostile(job):
    """Strangers at the place where the ranks meet: silent ones, and ones that talk nonsense."""

    def visit():
        until = time.monotonic() + 2
        kept = []
        while time.monotonic() < until:
            try:
                stranger = socket.create_connection(("127.0.0.1", job.port), timeout=0.2)
                stranger.sendall(random.randbytes(random.choice([0, 1, 40, 5000])))
                kept = kept[-200:] + [stranger]
            except OSError:
                time.sleep(0.01)
        for stranger in kept:
            stranger.close()

    threading.Thread(target=visit, daemon=True).start()


def listening(process):
    """The TCP ports at which a process takes connections of this machine."""
    folder = f"/proc/{process.pid}"
    sockets = set()
    for name in os.listdir(f"{folder}/fd"):
        with contextlib.suppress(OSError):
            sockets.add(os.readlink(f"{folder}/fd/{name}"))
    ports = []
    for table in ("tcp", "tcp6"):
        with open(f"{folder}/net/{table}") as lines:
            for fields in (line.split() for line in list(lines)[1:]):
                if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                    ports.append(int(fields[1].rpartition(":")[2], 16))
    return ports


def slow_bytes(job):
    """Strangers at every port of every rank who send a byte a second, and never end."""
    ports = {port for rank in job.ranks for port in listening(rank.process)} | {job.port + 1}

    def visit(port):
        with contextlib.suppress(OSError):
            with socket.create_connection(("127.0.0.1", port), timeout=1) as stranger:
                while True:
                    stranger.sendall(b"\0")
                    time.sleep(1)

    for port in [*ports] * 8:
        threading.Thread(target=visit, args=(port,), daemon=True).start()
    time.sleep(0.1)


def two_jobs(job):
    """While the meeting waits for the victim, another job comes that is told to meet at the same
    port; each of its ranks must end with an error."""
    for rank in job.peers:
        rank.tell()
    time.sleep(0.3)
    with type(job)(job.program, job.cell, port=job.port) as second:
        for rank in second.ranks:
            rank.tell()
        late = second.wait(second.ranks, 10)
        ends = [rank.end for rank in second.ranks]
    if late or any(end is None or end[1] == "TUTTI_OK" for end in ends):
        raise RuntimeError(f"the ranks of the second job ended by {ends}")


def nothing(_):
    pass


def without_disk(_, command, __):
    """On a machine whose /dev/shm is full."""
    full = "mount -t tmpfs -o size=4k tmpfs /dev/shm && { yes >/dev/shm/full 2>&- || true; }"
    return ["unshare", "--mount", "sh", "-c", full + '; exec "$@"', "sh", *command]


def can_unshare():
    return os.geteuid() == 0 and shutil.which("unshare") is not None


# What a rank's command is changed to, for faults that are there from the start.
WRAP = {"full-shm": without_disk, "no-threads": as_user}
DO = {
    "kill": kill,
    "stop": stop,
    "cut": cut,
    "full-shm": nothing,  # from the start
    "no-descriptors": no_descriptors,
    "no-memory": no_memory,
    "corrupt": corrupt,
    "no-threads": no_threads,
    "file-size": file_size,
    "hostile": hostile,
    "slow-bytes": slow_bytes,
    "two-jobs": two_jobs,
    **lines.DO,
    "restarts": nothing,  # before
}
