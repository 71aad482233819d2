# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""A running contestant: its processes, one socket to each rank, and requests over them."""

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from .contestants import Unavailable


class Refused(Unavailable):
    """A rank answered with an error; the session can go on with another request."""


START_SECONDS = 60
TICK = 1 / os.sysconf("SC_CLK_TCK")


def processor_seconds(pid):
    """User and system time that all threads of a process have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK


class Rank:
    def __init__(self, connection):
        self.connection = connection
        self.lines = connection.makefile("r")
        hello = self.lines.readline().rstrip("\n").split(" ", 4)
        self.rank, self.ranks, self.pid = map(int, hello[1:4])
        self.version = " ".join(hello[4].split())

    def tell(self, line):
        self.connection.sendall(line.encode() + b"\n")


class Session:
    """Starts a contestant and keeps it until closed. Raises Unavailable when it cannot be used."""

    def __init__(self, contestant, shop):
        self.contestant = contestant
        self.shop = shop
        self.folder = tempfile.TemporaryDirectory(prefix="versus")
        self.log = open(Path(self.folder.name) / "log", "w+", errors="replace")
        self.processes = []
        self.ranks = []
        self.idle_cpu = 0.0  # processor seconds used between requests
        self.idle_wall = 0.0
        self.mark = None
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self):
        path = f"{self.folder.name}/socket"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen(self.shop.ranks)
            listener.settimeout(0.2)
            env = dict(self.contestant.env, VERSUS_SOCKET=path, VERSUS_RUN=str(os.getpid()),
                       VERSUS_RENDEZVOUS=f"{self.folder.name}/rendezvous",
                       VERSUS_CORES=",".join(map(str, self.shop.cores)))
            self.launch(env)
            self.accept(listener)
        self.ranks.sort(key=lambda r: r.rank)
        if [r.rank for r in self.ranks] != list(range(self.shop.ranks)):
            raise Unavailable(f"ranks are {[r.rank for r in self.ranks]}")
        self.version = self.ranks[0].version
        self.leave()

    def launch(self, env):
        if not self.contestant.one_by_one:
            self.spawn(env)
            return
        port, per_host = free_port(), self.shop.per_host
        hosts = self.shop.hosts
        master = hosts.addresses[0] if hosts else "127.0.0.1"
        shared = os.memfd_create("versus")
        os.set_inheritable(shared, True)
        os.ftruncate(shared, 4096)
        for rank in range(self.shop.ranks):
            self.spawn(dict(env, RANK=str(rank), WORLD_SIZE=str(self.shop.ranks),
                            LOCAL_RANK=str(rank % per_host), LOCAL_WORLD_SIZE=str(per_host),
                            MASTER_ADDR=master, MASTER_PORT=str(port),
                            VERSUS_SHARED_FD=str(shared)), (shared,), rank // per_host)
        os.close(shared)

    def spawn(self, env, descriptors=(), host=0):
        command = self.contestant.command
        if self.shop.hosts:
            command = self.shop.hosts.enter(host) + command
            env = {**env, **self.shop.hosts.environment(host)}
        # A group each, but all of one session, as Open MPI's launcher has them: Linux shares cores
        # out by session first, so that yielding to another's processes does little.
        self.processes.append(subprocess.Popen(
            command, env=env, stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log, preexec_fn=os.setpgrp, pass_fds=descriptors))

    def accept(self, listener):
        deadline = time.monotonic() + START_SECONDS
        while len(self.ranks) < self.shop.ranks:
            if any(p.poll() is not None for p in self.processes):
                raise Unavailable(f"ended at its start: {self.last_words()}")
            if time.monotonic() > deadline:
                raise Unavailable(f"not ready in {START_SECONDS} s: {self.last_words()}")
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            connection.setblocking(True)
            self.ranks.append(Rank(connection))

    def last_words(self):
        self.log.flush()
        self.log.seek(0)
        lines = [line.strip() for line in self.log if line.strip(" -=\n")]
        return " / ".join(lines[-3:])[:300] or "no message"

    def request(self, line, seconds=60):
        """The answers of all ranks, in rank order; Unavailable if one failed or none came in time."""
        self.enter()
        for rank in self.ranks:
            rank.tell(line)
        answers = {}
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            for rank in self.ranks:
                selector.register(rank.connection, selectors.EVENT_READ, rank)
            while len(answers) < len(self.ranks):
                events = selector.select(max(0.0, deadline - time.monotonic()))
                if not events:
                    raise Unavailable(f"no answer to '{line}' in {seconds} s")
                for key, _ in events:
                    answers[key.data.rank] = key.data.lines.readline().rstrip("\n")
                    selector.unregister(key.fileobj)
        for rank in sorted(answers):
            if not answers[rank]:
                raise Unavailable(f"rank {rank} died: {self.last_words()}")
            if not answers[rank].startswith("ok"):
                self.leave()
                raise Refused(answers[rank].removeprefix("error "))
        self.leave()
        return [answers[rank][3:] for rank in sorted(answers)]

    def enter(self):
        now, used = self.clocks()
        self.idle_wall += now - self.mark[0]
        self.idle_cpu += used - self.mark[1]

    def leave(self):
        self.mark = self.clocks()

    def clocks(self):
        try:
            return time.monotonic(), sum(processor_seconds(r.pid) for r in self.ranks)
        except OSError:
            raise Unavailable(f"a rank died: {self.last_words()}") from None

    @property
    def idle_share(self):
        """Cores that this contestant kept busy while another one measured."""
        return self.idle_cpu / self.idle_wall if self.idle_wall else 0.0

    def close(self):
        for rank in self.ranks:
            try:
                rank.tell("quit")
            except OSError:
                pass
        deadline = time.monotonic() + 3
        for process in self.processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
        self.kill()
        for rank in self.ranks:
            rank.connection.close()
        self.log.close()
        self.folder.cleanup()

    def kill(self):
        """Ends what is left: the groups of what was started here, and whatever a launcher, or its
        agent on another host, moved to groups of their own; the environment of all names the
        socket, which no other contestant has."""
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        kill_all_with(f"VERSUS_SOCKET={self.folder.name}/socket")


def guard():
    """Starts a process that, when this one has ended in whatever way, ends what is left of all
    contestants: ranks that spin in a call would never see that nobody waits for them."""
    run = f"VERSUS_RUN={os.getpid()}"
    reading, writing = os.pipe()  # whose second end closes with this process
    if os.fork() == 0:
        os.close(writing)
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.read(reading, 1)
        kill_all_with(run)
        os._exit(0)
    os.close(reading)


def kill_all_with(assignment):
    while left := processes_with(assignment):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def processes_with(assignment):
    """Processes that were started with a variable, other than those that only wait to be reaped."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if assignment.encode() in (place / "environ").read_bytes().split(b"\0"):
                found.append(int(place.name))
        except OSError:  # somebody else's, or gone
            pass
    return found


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
