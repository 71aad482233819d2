# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""mpi4py's names: ``from tutti_ccl import MPI`` in the place of ``from mpi4py import MPI``.

docs/python.md says what is the same and what is not there.
"""

from __future__ import annotations

import socket as _socket
import sys as _sys
import time as _time
from typing import Any

from . import _core, forms, world
from .communicator import Communicator as Communicator
from .constants import ANY_SOURCE as ANY_SOURCE
from .constants import ANY_TAG as ANY_TAG
from .constants import BAND as BAND
from .constants import BOR as BOR
from .constants import BXOR as BXOR
from .constants import IN_PLACE as IN_PLACE
from .constants import LAND as LAND
from .constants import LOR as LOR
from .constants import LXOR as LXOR
from .constants import MAX as MAX
from .constants import MAXLOC as MAXLOC
from .constants import MIN as MIN
from .constants import MINLOC as MINLOC
from .constants import NO_OP as NO_OP
from .constants import PROC_NULL as PROC_NULL
from .constants import PROD as PROD
from .constants import REPLACE as REPLACE
from .constants import SUM as SUM
from .constants import Op as Op
from .errors import TuttiError as Exception  # noqa: A004
from .names import COMM_TYPE_SHARED as COMM_TYPE_SHARED
from .requests import UNDEFINED as UNDEFINED
from .requests import Request as Request
from .requests import Status as Status

Comm = Intracomm = Communicator
COMM_NULL = REQUEST_NULL = OP_NULL = None
SUCCESS = 0
THREAD_SINGLE, THREAD_FUNNELED, THREAD_SERIALIZED, THREAD_MULTIPLE = range(4)


class Datatype:
    """A type of elements: of a buffer of bytes it says what they are."""

    def __init__(self, name: str, typechar: str, size: int) -> None:
        self.name, self.typechar, self.size = name, typechar, size

    def Get_size(self) -> int:
        return self.size

    def Get_extent(self) -> tuple[int, int]:
        return 0, self.size

    def Get_name(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"MPI.{self.name}"

    def __getattr__(self, name: str) -> Any:
        raise forms.absent("Datatype", name, dir(Datatype))


# Types by the codes of numpy's.
_TYPES = {
    "i1": "CHAR SIGNED_CHAR INT8_T SINT8_T INTEGER1",
    "u1": "BYTE PACKED UNSIGNED_CHAR UINT8_T CHARACTER",
    "i2": "SHORT SIGNED_SHORT INT16_T SINT16_T INTEGER2",
    "u2": "UNSIGNED_SHORT UINT16_T",
    "i4": "INT SIGNED_INT INT32_T SINT32_T INTEGER INTEGER4 F_INT",
    "u4": "UNSIGNED UNSIGNED_INT UINT32_T",
    "i8": "LONG SIGNED_LONG LONG_LONG SIGNED_LONG_LONG INT64_T SINT64_T INTEGER8 AINT OFFSET COUNT",
    "u8": "UNSIGNED_LONG UNSIGNED_LONG_LONG UINT64_T",
    "f2": "FLOAT16_T REAL2",
    "f4": "FLOAT FLOAT32_T REAL REAL4 F_FLOAT",
    "f8": "DOUBLE FLOAT64_T DOUBLE_PRECISION REAL8 F_DOUBLE",
    "c8": "C_COMPLEX C_FLOAT_COMPLEX CXX_FLOAT_COMPLEX COMPLEX COMPLEX8 F_COMPLEX F_FLOAT_COMPLEX",
    "c16": "C_DOUBLE_COMPLEX CXX_DOUBLE_COMPLEX DOUBLE_COMPLEX COMPLEX16 F_DOUBLE_COMPLEX",
    "b1": "C_BOOL CXX_BOOL BOOL",
}
_DATATYPES = {name: Datatype(name, code, int(code[1:]))
              for code, names in _TYPES.items() for name in names.split()}
globals().update(_DATATYPES)


def Wtime() -> float:
    """Seconds since some time in the past."""
    return _time.perf_counter()


def Wtick() -> float:
    return _time.get_clock_info("perf_counter").resolution


def Get_processor_name() -> str:
    return _socket.gethostname()


def Get_version() -> tuple[int, int]:
    """The version of MPI's standard that has these names."""
    return 3, 1


def Get_library_version() -> str:
    return f"Tutti {_core.version()}"


def Init() -> None:
    """Nothing: COMM_WORLD is made when it is first asked for."""


def Init_thread(required: int = THREAD_MULTIPLE) -> int:
    return Query_thread()


def Query_thread() -> int:
    """One thread at a time makes calls on a communicator."""
    return THREAD_SERIALIZED


def Is_initialized() -> bool:
    return True


def Is_finalized() -> bool:
    made = world._made.get("world")
    return made is not None and made.is_destroyed


def Finalize() -> None:
    made = world._made.get("world")
    if made is not None:
        made.destroy()


def __getattr__(name: str) -> Any:
    if name in ("COMM_WORLD", "COMM_SELF"):
        return getattr(world, name)()
    raise forms.absent("tutti_ccl.MPI", name, dir(_sys.modules[__name__]))


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name[0] != "_"), "COMM_WORLD", "COMM_SELF"}
                  - {"annotations", "forms", "world", "Any"})
