# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""How lines between hosts are made to misbehave: the victim's goes through a process (wire.py)."""

import base64
import os
import signal
import subprocess
import time

from promises import LINES

AT_MOST_S = 20.0
REPLAY = """
import socket, sys
stranger = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=10)
stranger.sendall(bytes.fromhex(sys.argv[3]))
try:
    while stranger.recv(4096):
        pass
except OSError:
    pass
"""


def through_wire(cell):
    """The host whose line goes through a process in this cell, or None: the victim's, or another
    that comes to the meeting before the victim does."""
    if cell.fault == "replay":
        return 1
    return cell.ranks - 1 if cell.fault in LINES else None


def mtu(cell):
    return 1280 if cell.fault == "small-packets" else 1500


def happened(job):
    counts = job.hosts.disturb()
    return sum(counts[what] for what in ("loss", "duplicate", "reorder", "corrupt", "largest"))


def disturb(job):
    """From now on; a job in its calls makes some more until the fault has happened to them."""
    job.hosts.disturb(**LINES[job.cell.fault])
    if job.cell.phase != "call" or job.cell.fault in ("small-packets", "cut-5s"):
        return
    enough = 1 if job.cell.fault == "black-hole" else 20
    until = time.monotonic() + AT_MOST_S
    # An error, which ends the calls, ends the waiting.
    while happened(job) < enough and all(rank.process.poll() is None for rank in job.ranks):
        if time.monotonic() > until:
            raise RuntimeError(f"{job.cell.fault} did not happen {enough} times in {AT_MOST_S} s")
        time.sleep(0.05)


def half_open(job):
    """The victim dies while its line is cut, so that nobody hears its kernel say so; the line comes
    back, and with it a host that knows nothing of the connections."""
    job.hosts.disturb(**LINES[job.cell.fault])
    os.kill(job.victim.process.pid, signal.SIGKILL)


def replay(job):
    """While the meeting waits for the victim, a stranger says once more what rank 1 said there."""
    port = job.port + 1
    job.hosts.disturb(record=port)
    for rank in job.peers:
        rank.tell()
    said, before = b"", None
    while not said or said != before:
        time.sleep(0.2)
        said, before = base64.b64decode(job.hosts.disturb()["recorded"]), said
    command = ["python3", "-c", REPLAY, job.hosts.addresses[0], str(port), said.hex()]
    stranger = job.hosts.popen(1, command, stdout=subprocess.PIPE, text=True)
    stranger.communicate(timeout=30)
    if stranger.returncode:
        raise RuntimeError("the stranger did not reach the meeting")


DO = {
    **dict.fromkeys(LINES, disturb),
    "half-open": half_open,
    "replay": replay,
}
