# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Tutti: collective communication between the processes of a job.

``Communicator.from_env()`` gives the calls on numpy arrays and other buffers (docs/python.md);
``import tutti_ccl.torch`` makes the backend ``ccl`` of torch.distributed.
"""

import importlib
import os

# The prefix of the installation that is in this package: bin, env, include, lib. It is what
# ``find_package(tutti)`` takes as CMAKE_PREFIX_PATH, and where scripts look for env/setvars.sh.
cwd = os.path.dirname(os.path.abspath(__file__))

# The module of each name; type checkers read __init__.pyi. The library is loaded with the first
# name that needs it, because the command and PyTorch's autoload import this package, too.
_PLACES = {
    "communicator": "Communicator",
    "_core": "Message release_id unique_id",
    "requests": "Request Status",
    "constants": "ANY_SOURCE ANY_TAG AVG BAND BOR BXOR IN_PLACE LAND LOR LXOR MAX MAXLOC MIN "
                 "MINLOC PROC_NULL PROD SUM",
    "errors": "Aborted InternalError Interrupted InvalidArgument InvalidUsage Mismatch OutOfMemory "
              "PeerFailed SystemFailed Timeout Truncated TuttiError Unsupported",
}
_HOMES = {name: module for module, names in _PLACES.items() for name in names.split()}
# Made when they are asked for, by all ranks, and kept in one place alone.
_WORLDS = ("COMM_SELF", "COMM_WORLD")

__all__ = ["MPI", "cwd", "group", *_HOMES, *_WORLDS]  # noqa: PLE0604


def __getattr__(name):
    if name in _WORLDS:
        return getattr(importlib.import_module(".world", __name__), name)()
    if name == "__version__":
        return importlib.import_module("._core", __name__).version()
    if name == "MPI":
        return importlib.import_module(".MPI", __name__)
    home, there = ("_core", "Group") if name == "group" else (_HOMES.get(name), name)
    if home is None:
        # Tools ask for names with an underscore, and are not to load the library by that.
        if name[:1] != "_" and name in dir(__getattr__("Communicator")):
            raise AttributeError(f"tutti_ccl has no {name!r}: it is a call of communicators, such "
                                 f"as COMM_WORLD.{name}")
        raise importlib.import_module(".forms", __name__).absent("tutti_ccl", name, __all__)
    value = getattr(importlib.import_module(f".{home}", __name__), there)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
