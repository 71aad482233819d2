# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""How each fault is done to a job."""

import contextlib
import os
import random
import resource
import shutil
import signal
import socket
import threading
import time


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


def nothing(_):
    pass


def without_disk(_, command, __):
    """On a machine whose /dev/shm is full."""
    full = "mount -t tmpfs -o size=4k tmpfs /dev/shm && { yes >/dev/shm/full 2>&- || true; }"
    return ["unshare", "--mount", "sh", "-c", full + '; exec "$@"', "sh", *command]


def can_unshare():
    return os.geteuid() == 0 and shutil.which("unshare") is not None


DO = {
    "kill": kill,
    "stop": stop,
    "cut": cut,
    "full-shm": nothing,  # from the start
    "no-descriptors": no_descriptors,
    "no-memory": no_memory,
    "corrupt": corrupt,
    "hostile": hostile,
    "restarts": nothing,  # before
}
