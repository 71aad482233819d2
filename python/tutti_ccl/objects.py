# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Python objects as bytes: pickled, with one byte before that says what follows.

Whoever unpickles runs what the bytes say, so the ranks of a communicator trust one another.
"""

from __future__ import annotations

import io
import mmap
import pickle
from typing import Any, Optional

# The meaning of the first byte: a pickled object; the text of an error, since the rank could not
# send.
OBJECT, ERROR = 1, 2
# Room for an object of unknown size. Only what is written to takes memory.
ROOM = 1 << 32
LEAST_ROOM = 1 << 20
MAP_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)


def pack(obj: Any) -> tuple[memoryview, Optional[Exception]]:
    """The bytes, and what went wrong; the bytes then tell it to others."""
    file = io.BytesIO()
    file.write(bytes([OBJECT]))
    try:
        pickle.dump(obj, file, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        text = f"it has {type(obj).__name__}, which cannot be pickled: {error}"
        return told(text), TypeError(f"x is {text[7:]}")
    return file.getbuffer(), None


def told(text: str) -> memoryview:
    return memoryview(bytes([ERROR]) + text.encode())


def unpack(data: Any, sender: int) -> Any:
    view = memoryview(data)
    if len(view) > 0 and view[0] == OBJECT:
        return pickle.loads(view[1:])
    if len(view) > 0 and view[0] == ERROR:
        raise ValueError(f"rank {sender} could not send: {view[1:].tobytes().decode()}")
    raise ValueError(f"the {len(view)} bytes from rank {sender} are no object; expected what a "
                     "lower-case call sends (upper-case ones send the memory of buffers)")


def room() -> mmap.mmap:
    """Memory to receive an object in."""
    size = ROOM
    while True:
        try:
            made = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE)
            break
        except OSError:  # by a limit on addresses
            size //= 2
            if size < LEAST_ROOM:
                raise
    try:
        made.madvise(mmap.MADV_NOHUGEPAGE)
    except OSError:  # a kernel without huge pages
        pass
    return made


def give_back(used: mmap.mmap, count: int) -> None:
    """The memory of a large object; the addresses stay."""
    if count > LEAST_ROOM:
        used.madvise(mmap.MADV_DONTNEED)
