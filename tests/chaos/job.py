# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""A job of rank.c's processes, driven from outside: what each says, and when."""

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time

from ports import free_port

TIMEOUT_S = 2.0  # of a call
INIT_TIMEOUT_S = 3.0


class Late(Exception):
    """What a job was expected to say did not come."""


class Rank:
    """A process, whose lines a thread reads."""

    def __init__(self, process):
        self.process = process
        self.lines = queue.Queue()
        self.end = None  # (time, status, text)
        self.wrong = False  # a result was
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            when, word, *rest = line.rstrip().split(" ", 2)
            if word == "wrong":
                self.wrong = True
            self.lines.put((float(when), word, rest[0] if rest else ""))
        self.lines.put((time.monotonic(), "gone", ""))

    def expect(self, word, seconds):
        """The rest of its next line that begins with `word`; its end instead is kept."""
        until = time.monotonic() + seconds
        while True:
            try:
                line = self.lines.get(timeout=max(0, until - time.monotonic()))
            except queue.Empty:
                raise Late(f"no '{word}' within {seconds} s") from None
            when, found, rest = line
            if found == "end":
                status, _, text = rest.partition(" ")
                self.end = (when, status, text.strip())
            if found == word:
                return rest
            if found in ("end", "gone"):
                self.lines.put((when, "gone", ""))
                raise Late(f"'{found} {rest}' instead of '{word}'")

    def tell(self, line=""):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()


class Job:
    """Ranks of one communicator; the last one is the victim. As a context, ended with it."""

    def __init__(self, program, cell, hosts=None, wrap=None, port=None):
        self.cell = cell
        self.hosts = hosts
        self.wrap = wrap or (lambda rank, command, environment: command)
        self.program = program
        self.port = port or free_port()  # its ranks meet at the next one
        self.ranks = []
        self.newcomer = None

    def __enter__(self):
        self.ranks = [self._start(rank) for rank in range(self.cell.ranks)]
        if self.cell.phase == "grow":
            self.newcomer = self._start(0, "newcomer")
        return self

    def __exit__(self, *_):
        for rank in self.everybody:
            with contextlib.suppress(ProcessLookupError):
                os.kill(rank.process.pid, signal.SIGCONT)
            rank.process.kill()
            rank.process.wait()
            rank.reader.join()
            for end in (rank.process.stdin, rank.process.stdout):
                with contextlib.suppress(BrokenPipeError):
                    end.close()

    @property
    def victim(self):
        return self.ranks[-1]

    @property
    def peers(self):
        return self.ranks[:-1]

    @property
    def everybody(self):
        return self.ranks + ([self.newcomer] if self.newcomer else [])

    def _start(self, rank, *more):
        cell = self.cell
        command = [self.program, cell.phase, cell.collective, str(cell.count), *more]
        on_hosts = cell.transport != "shm"
        environment = {
            "RANK": str(rank),
            "WORLD_SIZE": str(cell.ranks),
            "LOCAL_RANK": "0" if on_hosts else str(rank),
            "LOCAL_WORLD_SIZE": "1" if on_hosts else str(cell.ranks),
            "MASTER_ADDR": self.hosts.addresses[0] if self.hosts else "127.0.0.1",
            "MASTER_PORT": str(self.port),
            "TUTTI_TIMEOUT_MS": str(int(1000 * (cell.patience_s or TIMEOUT_S))),
            "TUTTI_INIT_TIMEOUT_MS": str(int(1000 * (cell.patience_s or INIT_TIMEOUT_S))),
            "CCL_LOG_LEVEL": "error",
            "TUTTI_TUNING_FILE": "none",
        }
        if on_hosts and not self.hosts:
            environment["TUTTI_HOST_ID"] = f"host{rank}"
        if cell.fault.endswith("-encrypted"):
            environment["TUTTI_NET_ENCRYPT"] = "1"
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "errors": "replace"}
        command = self.wrap(rank, command, environment)
        if self.hosts:
            return Rank(self.hosts.popen(rank, command, environment, **pipes))
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("TUTTI_", "CCL_", "SLURM"))}
        return Rank(subprocess.Popen(command, env={**kept, **environment}, **pipes))

    def reach(self, seconds=60):
        """All ranks have come to the phase."""
        if self.newcomer:
            self.newcomer.tell(self.ranks[0].expect("id", seconds))
        for rank in self.ranks:
            rank.expect("at", seconds)

    def wait(self, ranks, seconds):
        """Until these have ended, or this is over. Returns those who have not."""
        until = time.monotonic() + seconds
        late = []
        for rank in ranks:
            try:
                while rank.end is None:
                    rank.expect("end", max(0.01, until - time.monotonic()))
            except Late:
                pass
            try:
                rank.process.wait(max(0.01, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                late.append(rank)
        return late
