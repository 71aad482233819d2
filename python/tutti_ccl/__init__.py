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

# Where each name is; type checkers read __init__.pyi. The library is loaded with the first name that
# needs it, because the command and PyTorch's autoload import this package, too.
_PLACES = {
    "communicator": "Communicator",
    "_core": "Message Request unique_id",
    "constants": "ANY_SOURCE ANY_TAG AVG BAND BOR BXOR IN_PLACE MAX MIN PROD SUM",
    "errors": "Aborted InternalError Interrupted InvalidArgument InvalidUsage Mismatch OutOfMemory "
              "PeerFailed SystemFailed Timeout Truncated TuttiError Unsupported",
}
_HOMES = {name: module for module, names in _PLACES.items() for name in names.split()}

__all__ = ["cwd", "group", *_HOMES]  # noqa: PLE0604


def __getattr__(name):
    home, there = ("_core", "Group") if name == "group" else (_HOMES.get(name), name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{home}", __name__), there)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
