# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The cells of the battery, and what the library promises in each."""

from dataclasses import dataclass

from job import INIT_TIMEOUT_S, TIMEOUT_S

OK, DEAD, LATE = "TUTTI_OK", "TUTTI_ERR_PEER_FAILED", "TUTTI_ERR_TIMEOUT"
PHASES = ("create", "idle", "call", "split", "shrink", "grow", "end")
COLLECTIVES = ("allreduce", "broadcast", "allgather", "reduce_scatter", "alltoall", "barrier")
# What a line does that misbehaves, as hosts.py's disturb() takes it; TCP makes good the first kind.
MENDED_BY_TCP = {
    "loss-1%": {"loss": 0.01},
    "loss-10%": {"loss": 0.1},
    "duplicates": {"duplicate": 0.2},
    "reorders": {"reorder": 0.2},
    "small-packets": {},  # MTU 1280, the least of IPv6
    "cut-5s": {"cut": 5.0},
}
LINES = {
    **MENDED_BY_TCP,
    "changed-bytes": {"corrupt": 0.02},
    "changed-bytes-encrypted": {"corrupt": 0.02},
    "black-hole": {"largest": 1000},
    "half-open": {"cut": 0.5},
}
FAULTS = ("kill", "stop", "cut", *LINES, "full-shm", "no-descriptors", "no-memory", "no-threads",
          "file-size", "corrupt", "hostile", "slow-bytes", "replay", "two-jobs", "restarts")
PATIENT_S = 60.0  # the limit of calls where all must come right in the end
# The service says who is late a little after its deadline, and other hosts are asked first.
MARGIN_S = 2.0


@dataclass(frozen=True)
class Cell:
    fault: str
    phase: str
    collective: str
    count: int
    transport: str  # shm; tcp: as if each rank were a host; hosts: network namespaces
    ranks: int = 3
    seed: int = 1

    @property
    def patience_s(self):
        """The time limits of its calls; None: those of job.py."""
        return PATIENT_S if self.fault in (*MENDED_BY_TCP, "changed-bytes-encrypted") else None

    @property
    def name(self):
        size = f"{self.count * 4}B"
        return f"{self.fault}/{self.phase}/{self.collective}-{size}/{self.transport}"


@dataclass(frozen=True)
class Promise:
    statuses: tuple  # what the peers get; empty: anything, so long as it ends
    names: str = ""  # what the text of an error says
    within_s: float = 1.0
    victim: bool = False  # the victim goes on, and ends within the same time

    @property
    def text(self):
        what = " or ".join(s.removeprefix("TUTTI_ERR_").removeprefix("TUTTI_") for s in self.statuses)
        names = f", names {self.names}" if self.names else ""
        return f"{what or 'an end'}{names}, {self.within_s:g} s"


def promise(cell):
    """Of the peers of the last rank, to which the fault is done."""
    victim = f"rank {cell.ranks - 1}"
    if cell.fault == "kill":
        return {
            # It never arrived, so only the deadline tells.
            "create": Promise((LATE,), victim, INIT_TIMEOUT_S + MARGIN_S),
            "shrink": Promise((OK,), "", 1.0),
            "end": Promise((OK,), "", 1.0),
        }.get(cell.phase, Promise((DEAD,), victim, 1.0))
    if cell.fault == "stop":
        return {
            "create": Promise((LATE,), victim, INIT_TIMEOUT_S + MARGIN_S),
            "shrink": Promise((LATE,), victim, INIT_TIMEOUT_S + MARGIN_S),
            "end": Promise((OK,), "", 1.0),
        }.get(cell.phase, Promise((LATE,), victim, TIMEOUT_S + MARGIN_S))
    if cell.fault == "cut":
        if cell.phase == "create":
            return Promise((LATE,), victim, INIT_TIMEOUT_S + MARGIN_S)
        if cell.phase == "end":
            return Promise((OK,), "", 1.0)
        return Promise((DEAD, LATE), victim, max(TIMEOUT_S, INIT_TIMEOUT_S) + MARGIN_S)
    if cell.fault in ("full-shm", "restarts", "hostile", "slow-bytes", "replay"):
        return Promise((OK,), "", INIT_TIMEOUT_S, victim=True)
    if cell.fault == "two-jobs":
        # Both find a rank twice; the victim, who comes after that, finds nobody.
        statuses = ("TUTTI_ERR_INVALID_ARGUMENT", LATE)
        return Promise(statuses, "", 2 * INIT_TIMEOUT_S + MARGIN_S, victim=True)
    if cell.fault in MENDED_BY_TCP:
        return Promise((OK,), "", PATIENT_S, victim=True)
    if cell.fault == "black-hole":
        # Whoever waits for the victim is waited for by others, the victim among them.
        return Promise((LATE,), "", max(TIMEOUT_S, INIT_TIMEOUT_S) + MARGIN_S, victim=True)
    if cell.fault == "changed-bytes-encrypted":
        return Promise((DEAD,), "", PATIENT_S, victim=True)
    if cell.fault == "half-open":
        return Promise((DEAD, LATE), victim, max(TIMEOUT_S, INIT_TIMEOUT_S) + MARGIN_S)
    return Promise((), "", max(TIMEOUT_S, INIT_TIMEOUT_S) + MARGIN_S, victim=True)


def is_sensible(fault, phase, transport):
    if fault == "cut":
        return transport == "hosts"
    if fault in ("changed-bytes-encrypted", "black-hole"):
        return transport == "hosts" and phase == "call"
    if fault == "half-open":
        return transport == "hosts" and phase in ("idle", "call")
    if fault in LINES:
        return transport == "hosts" and phase != "grow"
    if fault == "replay":
        return phase == "create" and transport == "hosts"
    if transport == "hosts":
        return fault in ("kill", "stop")
    if fault == "corrupt":
        return transport == "shm" and phase != "create"
    if fault in ("hostile", "slow-bytes"):
        return phase in ("create", "call") and transport == "tcp"
    if fault == "two-jobs":
        return phase == "create" and transport == "tcp"
    if fault == "restarts":
        return phase == "call"
    if fault == "full-shm":
        return phase in ("create", "call", "grow")
    return True


def all_cells():
    cells = []
    for fault in FAULTS:
        for phase in PHASES:
            for transport in ("shm", "tcp", "hosts"):
                if not is_sensible(fault, phase, transport):
                    continue
                in_calls = phase == "call" and fault in ("kill", "stop", "corrupt", "no-memory")
                long_calls = in_calls or (phase == "call" and fault in LINES)
                for collective in COLLECTIVES if in_calls else ("allreduce",):
                    counts = (2, 1 << 18) if long_calls and collective != "barrier" else (2,)
                    for count in counts[1:] if fault == "black-hole" else counts:
                        cells.append(Cell(fault, phase, collective, count, transport))
    return cells
