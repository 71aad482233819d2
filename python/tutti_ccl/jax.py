# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Tutti in JAX programs (docs/jax.md).

``use()`` before ``import jax``, or what ``python -m tutti_ccl.jax`` prints, makes Tutti carry
JAX's own collectives on CPUs: ``psum``, ``all_gather``, shardings. ``allreduce`` and the other
calls of this module are collectives between processes, inside ``jit`` or not.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

_CALLS = ("allgather", "allreduce", "alltoall", "barrier", "broadcast", "default_communicator",
          "recv", "reduce_scatter", "send", "sendrecv")

__all__ = ["library", "settings", "use", *_CALLS]  # noqa: PLE0604


def library() -> str:
    """The file that JAX is to open for its collectives."""
    from . import cwd

    for folder in ("lib", "lib64"):
        found = os.path.join(cwd, folder, "tutti", "mpi", "libtutti_mpitrampoline.so")
        if os.path.exists(found):
            return found
    raise RuntimeError(f"this installation of Tutti, {cwd}, has no libtutti_mpitrampoline.so; it "
                       "was built without its doors for MPI programs")


def settings() -> dict[str, str]:
    """The variables that make JAX use it."""
    return {"JAX_CPU_COLLECTIVES_IMPLEMENTATION": "mpi", "MPITRAMPOLINE_LIB": library()}


def use() -> None:
    """Makes JAX, imported afterwards, use Tutti for its collectives on CPUs."""
    if "jax" in sys.modules:
        raise RuntimeError("tutti_ccl.jax.use() comes too late: jax is imported already, and has "
                           "read its variables; call it before `import jax`")
    os.environ.update(settings())


def __getattr__(name: str) -> Any:
    if name not in _CALLS:
        raise AttributeError(f"tutti_ccl.jax has no {name!r}; expected one of "
                             + ", ".join(sorted(__all__)))
    return getattr(importlib.import_module("tutti_ccl.jax_calls"), name)


if __name__ == "__main__":
    for variable, value in settings().items():
        print(f"export {variable}={value}")
