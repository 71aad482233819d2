#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Checks what no compiler checks about the shape of the tree: `layering.py ROOT`.

- A folder of the library includes only itself and what stands before it in LAYERS.
- Threads sleep and poll in the files of WAITS alone: a wait elsewhere would miss aborts, deaths and
  interrupts, which wait_until() and wait_for() see to.
- The planner, which chooses algorithms and makes plans, reaches no header by which a process looks
  at itself: what it depends on all ranks have agreed on (src/select/plan_inputs.hpp).
- The library, the tools and the bindings read the environment in env/env.cpp alone.
- The library puts every descriptor that it makes into an Fd (core/fd.hpp) at once, which keeps it
  off the numbers of the standard streams. Streams that only read for a moment need none.
- Every source file opens with the project's copyright line: nothing of others is in the tree.
- No file names the host of a package registry: users choose their own mirrors.
"""

import re
import subprocess
import sys
from pathlib import Path

# Folders of one layer do not include one another.
LAYERS = [
    ["core"],
    ["adapt"],
    ["env"],
    ["kernels"],
    ["transports", "sched", "devices"],
    ["algorithms"],
    ["select", "exec"],
    ["bootstrap", "inspect"],
    ["comm"],
    ["views"],
    ["api"],
]
LEVEL = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}
OUTSIDE_SRC = {"env", "kernels", "transports", "algorithms"}
# Who chooses algorithms and makes plans: what it sees must be the same on all ranks, so it sees only
# what they have agreed on.
PLANNER = re.compile(r"^(?:algorithms/|src/sched/|src/select/|src/exec/plan)")
# What a process sees by itself, and how: headers that the planner may not reach by any way ...
OWN_VIEW = {
    "core/affinity.hpp": "cores of this process",
    "core/cache_domain.hpp": "caches of this process",
    "core/interfaces.hpp": "network interfaces of this host",
    "core/network.hpp": "the network of this host",
    "core/process_state.hpp": "processes",
    "core/topology.hpp": "cores, quotas and caches of this process",
    "env/env.hpp": "variables of this process, of which ranks may have different ones",
    "env/values.hpp": "variables of this process, of which ranks may have different ones",
}
# ... and headers of the system that it may not include.
OWN_VIEW_OF_SYSTEM = re.compile(
    r"^(?:chrono|cstdlib|ctime|filesystem|fstream|random|thread|stdlib\.h|time\.h|unistd\.h|sched\.h"
    r"|fcntl\.h|dirent\.h|sys/.*|linux/.*|hwloc.*|cpuid\.h)$"
)
# Where a thread of the library may wait for the system, and for what.
WAITS = {
    "src/core/wait.cpp": "wait_until(), by which all waits for peers go",
    "src/core/socket.cpp": "wait_for(), by which all waits for sockets go",
    "src/core/log.cpp": "looks whether standard error takes a line, without waiting",
    "src/core/shared_pidfd.cpp": "looks whether a process lives, without waiting",
    "src/comm/monitor.cpp": "the monitor's thread, which waits for deaths",
    "src/comm/regroup.cpp": "survivors that agree on who is left",
    "src/bootstrap/service.cpp": "the thread of the meeting service",
    "src/bootstrap/couriers/pmix.cpp": "the answers of PMIx's own thread",
    "transports/tcp/port.cpp": "looks at its sockets, without waiting",
    "transports/mpi/port.cpp": "gives way to the MPI library's threads",
    "compat/oneccl/communicator.cpp": "calls of other threads, where a communicator is aborted",
    "compat/mpi/pause.hpp": "requests of several communicators, of which any ends the wait",
    "compat/oneccl/matcher.cpp": "other match_ids, where the ranks have told different ones",
}
CODE = {".c", ".h", ".cpp", ".hpp", ".inc"}
NEEDS_COPYRIGHT = {".c", ".h", ".cpp", ".hpp", ".py"}

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
SENTENCE = re.compile(r'"[^"\n]* [^"\n]*"')
READS_ENVIRONMENT = re.compile(r"\b(?:secure_)?getenv\s*\(")
WAITING = re.compile(
    r"\b(?:nanosleep|usleep|sched_yield|epoll_p?wait2?|ppoll|select)\s*\(|this_thread::(?:sleep|yield)"
    r"|(?<![\w.>:])poll\s*\([^,;{}]+,|\bFUTEX_WAIT|\.wait_(?:for|until)\s*\("
)
MAKES_DESCRIPTOR = re.compile(
    r"(?<![\w.>])(?:::)?(?:socket|accept4?(?=\s*\(\s*listen)|epoll_create1?|eventfd|memfd_create|mkostemp|timerfd_create"
    r"|signalfd|inotify_init1|dup2?|openat)\s*\((?!\s*\))|(?<![\w.>:])(?:::)?open\s*\((?:[^()]|\([^()]*\))*"
    r"\bO_|\bSYS_pidfd_(?:open|getfd)\b|fopen\s*\([^;]*\"[wa]"
)
KEEPS_DESCRIPTOR = re.compile(r"\bFd\b|\breset\(|\babove_standard\(")
COPYRIGHT = re.compile(r"Copyright 2026 The Tutti authors\. SPDX-License-Identifier: Apache-2\.0")
REGISTRY_HOST = re.compile(
    r"\b(?:pypi\.org|pythonhosted\.org|download\.pytorch\.org|conda\.anaconda\.org|registry\.npmjs\.org"
    r"|(?:deb|security|snapshot)\.debian\.org|crates\.io|proxy\.golang\.org|repo\.maven\.apache\.org)\b"
)


def folder_of(path):
    """The layer's folder that a file of the library belongs to, or None."""
    parts = path.parts
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    return parts[0] if parts[0] in OUTSIDE_SRC else None


def layering(path, text):
    own = folder_of(path)
    if own is None:
        return
    if own not in LEVEL:
        yield f"{path}: folder {own} stands in no layer (LAYERS in tests/layering/layering.py)"
        return
    for included in INCLUDE.findall(text):
        other = included.split("/")[0]
        if other not in LEVEL or other == own:
            continue
        if LEVEL[other] >= LEVEL[own]:
            yield f"{path}: includes {included}, but {other} does not stand before {own}"


def own_file(root, including, included):
    """The file of the library that is meant, relative to root, or None."""
    for folder in (Path("src"), Path(), including.parent):
        if (root / folder / included).is_file():
            return folder / included
    return None


def planning(root, path, text):
    if not PLANNER.match(path.as_posix()):
        return
    for included in INCLUDE.findall(text):
        if OWN_VIEW_OF_SYSTEM.match(included):
            yield (f"{path}: includes <{included}>; the planner sees only what all ranks have agreed on "
                   "(src/select/plan_inputs.hpp)")
    ways = {path: str(path)}
    rest = [(path, text)]
    while rest:
        including, text = rest.pop()
        for included in INCLUDE.findall(text):
            way = f"{ways[including]} -> {included}"
            if included in OWN_VIEW:
                yield (f"{way}: shows {OWN_VIEW[included]}; the planner sees only what all ranks have "
                       "agreed on (src/select/plan_inputs.hpp)")
                continue
            found = own_file(root, including, included)
            if found is None or found in ways:
                continue
            ways[found] = way
            rest.append((found, (root / found).read_text(encoding="utf-8")))


def environment(path, text):
    if path.parts[0] in ("tests", "benchmarks") or path == Path("env/env.cpp"):
        return
    if READS_ENVIRONMENT.search(COMMENT.sub("", text)):
        yield f"{path}: reads the environment; only env/env.cpp may"


def waiting(path, text):
    if path.parts[0] not in ("src", "env", "kernels", "transports", "algorithms", "compat"):
        return
    waits = WAITING.search(COMMENT.sub("", text)) is not None
    listed = path.as_posix() in WAITS
    if waits and not listed:
        yield (f"{path}: waits by itself; wait by wait_until() (core/wait.hpp) or wait_for() "
               "(core/socket.hpp), or say why in WAITS (tests/layering/layering.py)")
    if listed and not waits:
        yield f"{path}: waits no longer; strike it from WAITS (tests/layering/layering.py)"


def descriptors(path, text):
    if folder_of(path) is None or path == Path("src/core/fd.hpp"):
        return
    code = SENTENCE.sub('""', COMMENT.sub("", text))
    for statement in re.split(r"[;{}]", code):
        made = MAKES_DESCRIPTOR.search(statement)
        if made and not KEEPS_DESCRIPTOR.search(statement):
            yield (f"{path}: {made.group(0).strip()} makes a descriptor that may take the number of a "
                   "standard stream; put it into an Fd (core/fd.hpp) in the same statement")


def copyright_line(path, text):
    if path.suffix in NEEDS_COPYRIGHT and not COPYRIGHT.search("\n".join(text.split("\n")[:3])):
        yield f"{path}: lacks the copyright line in its first three lines"


def registry_hosts(path, text):
    found = REGISTRY_HOST.search(text)
    if found:
        yield f"{path}: names the registry host {found.group(0)}"


def complaints(root, paths):
    """All complaints about the files `paths` (relative to root), in order."""
    for path in paths:
        try:
            text = (root / path).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue  # a picture, or deleted and not yet committed
        if path.suffix in CODE:
            yield from layering(path, text)
            yield from planning(root, path, text)
            yield from environment(path, text)
            yield from waiting(path, text)
            yield from descriptors(path, text)
        yield from copyright_line(path, text)
        yield from registry_hosts(path, text)


def files_of(root):
    command = ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return [Path(line) for line in listing.splitlines()]
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive
        top = [p for p in root.iterdir() if p.name not in ("build", ".venv", ".git")]
        inside = [q for p in top for q in ([p] if p.is_file() else p.rglob("*"))]
        return [p.relative_to(root) for p in inside if p.is_file()]


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = list(complaints(root, files_of(root)))
    print("\n".join(found) or "layering: nothing to complain about")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
