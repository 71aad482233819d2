# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""How versus.py writes names, sizes and times, and what it says while it runs."""

import sys

PEER_NAMES = {"tutti": "Tutti", "openmpi": "Open MPI", "openmpi5": "Open MPI 5", "mpich": "MPICH",
              "mpich5": "MPICH 5", "intelmpi": "Intel MPI", "oneccl": "oneCCL", "gloo": "Gloo",
              "deepspeed": "DeepSpeed", "tuttimpi": "Tutti's MPI", "mpichabi": "MPICH 5 (ABI)"}
NOT_OFFERED = "not offered: "  # begins an error that concerns a whole collective and type


def size(count):
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if count >= unit and count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count} B"


def time(us):
    if us is None:
        return "–"
    if us < 100:
        return f"{us:.2f}"
    return f"{us:.0f}"


def rate(bits):
    """As tc writes it, too."""
    for unit, name in ((10**9, "gbit"), (10**6, "mbit"), (10**3, "kbit")):
        if bits % unit == 0:
            return f"{bits // unit}{name}"
    return f"{bits}bit"


def minutes(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def contestant(peer, variant):
    return f"{peer} ({variant})" if variant else peer


def failure(entry):
    where = ", ".join(filter(None, (entry["job"], "" if entry["bytes"] is None
                                    else size(entry["bytes"]))))
    return f"{contestant(entry['peer'], entry['variant'])}{where and f' at {where}'}: {entry['error']}"


def note(line):
    progress("")
    print(line, file=sys.stderr)


def progress(line):
    """Rewrites the last line of a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
