# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What versus.py is to measure, on what machine, and how much of the time that may take."""

import re
import time
from dataclasses import dataclass
from pathlib import Path

from . import text

COLLECTIVES = ["allreduce", "broadcast", "reduce", "allgather", "reduce_scatter", "alltoall",
               "gather", "scatter", "sendrecv", "barrier"]
UNEVEN = ["allgatherv", "reduce_scatterv", "alltoallv", "gatherv", "scatterv"]  # with equal blocks
ON_VECTORS = ("allreduce", "broadcast", "reduce", "sendrecv")  # their size is that of the whole vector
TYPES = {"float32": 4, "bfloat16": 2}


@dataclass(frozen=True)
class Job:
    collective: str
    type: str
    sizes: tuple

    @property
    def name(self):
        return self.collective if self.collective == "barrier" else f"{self.collective} {self.type}"


def even(collective):
    """The collective that moves as much, without the v of those for uneven blocks."""
    return collective.removesuffix("v") if collective in UNEVEN else collective


def blocks(collective, ranks):
    return 1 if collective in ON_VECTORS else ranks


def buffer_blocks(collective, ranks):
    """Blocks of send and receive buffers together, on average over the ranks."""
    if even(collective) == "alltoall":
        return 2 * ranks
    return 1 + ranks if even(collective) in ("allgather", "reduce_scatter") else 2


def last_level_cache():
    """Bytes, or 0 where the system does not tell."""
    sizes = []
    for index in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        level = int((index / "level").read_text())
        match = re.fullmatch(r"(\d+)([KMG])\s*", (index / "size").read_text())
        if match:
            sizes.append((level, int(match[1]) << {"K": 10, "M": 20, "G": 30}[match[2]]))
    return max(sizes, default=(0, 0))[1]


def available_memory():
    return int(re.search(r"MemAvailable:\s*(\d+)", Path("/proc/meminfo").read_text())[1]) << 10


class Schedule:
    """How much time a size may take, and how much is left of all; large sizes cost more."""

    def __init__(self, jobs, ranks, minutes):
        self.weights = [1 + size * blocks(job.collective, ranks) / (8 << 20)
                        for job in jobs for size in job.sizes]
        self.done = 0
        self.begin = time.monotonic()
        self.seconds = minutes and minutes * 60
        self.limit = None  # seconds of the size that is being measured

    def start_next(self):
        if self.seconds:
            self.limit = self.left() * self.weights[self.done] / sum(self.weights[self.done:])

    def end(self):
        self.done += 1

    def left(self):
        """Seconds, or None before anything has been measured."""
        passed = time.monotonic() - self.begin
        if self.seconds:
            return max(0.0, self.seconds - passed)
        if not self.done:
            return None
        return passed * sum(self.weights[self.done:]) / sum(self.weights[:self.done])

    def text(self):
        left = self.left()
        place = f"{self.done + 1} of {len(self.weights)}"
        return place if left is None else f"{place}, about {text.minutes(left)} left"
