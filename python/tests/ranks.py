# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Runs functions in the ranks of a process group, each a process of its own."""

import datetime
import multiprocessing
import os
import tempfile
import traceback

import programs

# Importing torch takes seconds; the ranks do it once and then wait for functions. Those that import
# it first of all are forked from a process that has done it.
SPAWN = multiprocessing.get_context("spawn")
# No test waits for longer: a hang is a failure.
TIMEOUT = datetime.timedelta(seconds=60)


class Failure(AssertionError):
    """What went wrong in the ranks, with their tracebacks."""


class Ranks:
    """A process group over `backend`. `run` calls a function of a test module in every rank."""

    def __init__(self, size, backend="ccl", timeout=TIMEOUT, serve=None):
        self.size = size
        self.broken = False
        self.folder = tempfile.TemporaryDirectory()
        store = os.path.join(self.folder.name, "store")
        self.pipes, self.processes = [], []
        context = SPAWN if serve else programs.CONTEXT
        for rank in range(size):
            ours, theirs = context.Pipe()
            arguments = (theirs, backend, store, rank, size, timeout)
            if serve is None:
                arguments += (dict(os.environ),)
            process = context.Process(target=serve or serve_torch, args=arguments, daemon=True)
            process.start()
            theirs.close()
            self.pipes.append(ours)
            self.processes.append(process)

    def run(self, function, *arguments):
        """The results of function(*arguments) by rank. Raises Failure if it raised in any."""
        self.start(function, *arguments)
        answers = [self.answer(rank) for rank in range(self.size)]
        failures = [f"rank {rank}:\n{text}"
                    for rank, (good, text) in enumerate(answers) if not good]
        if failures:
            self.broken = True
            raise Failure("\n".join(failures))
        return [result for _, result in answers]

    def start(self, function, *arguments):
        for pipe in self.pipes:
            try:
                pipe.send((function, arguments))
            except BrokenPipeError:
                pass  # answer() tells how the rank ended

    def answer(self, rank):
        try:
            if not self.pipes[rank].poll(2 * TIMEOUT.total_seconds()):
                return False, "no answer"
            return self.pipes[rank].recv()
        except (EOFError, ConnectionResetError):
            self.processes[rank].join()
            return False, f"ended with status {self.processes[rank].exitcode}"

    def kill(self):
        for process in self.processes:
            process.kill()
        self.close()

    def close(self):
        """Lets the ranks end as a program does; returns their exit statuses."""
        for pipe in self.pipes:
            pipe.close()
        for process in self.processes:
            process.join(TIMEOUT.total_seconds())
            if process.is_alive():
                process.kill()
                process.join()
        self.folder.cleanup()
        return [process.exitcode for process in self.processes]


def serve_torch(pipe, backend, store, rank, size, timeout, environment=None):
    if environment is not None:  # not that of the process that this one is forked from
        os.environ.clear()
        os.environ.update(environment)
    import torch
    import torch.distributed as dist

    import tutti_ccl.torch  # noqa: F401  (makes the backend known)

    dist.set_debug_level_from_env()
    torch.set_num_threads(1)
    dist.init_process_group(backend, init_method=f"file://{store}", rank=rank, world_size=size,
                            timeout=timeout)
    answer_all(pipe)
    dist.destroy_process_group()


def answer_all(pipe):
    """Calls the functions that come through the pipe until it is closed."""
    while True:
        try:
            function, arguments = pipe.recv()
        except EOFError:
            break
        try:
            answer = True, function(*arguments)
        except Exception:
            answer = False, traceback.format_exc()
        pipe.send(answer)
