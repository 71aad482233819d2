# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Why a program ends, so that peers are told more than that it has left."""

from __future__ import annotations

import sys
from typing import Optional


def why() -> Optional[str]:
    """The exception that has ended this program, for which Python has shown a traceback. None in a
    program that came to its end, and in an interactive one."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if error is None or hasattr(sys, "ps1"):
        return None
    lines = str(error).strip().splitlines()
    return f"its program ended with {type(error).__name__}" + (f": {lines[0]:.200}" if lines else "")


def interruption() -> Optional[str]:
    """Why the program ends while Ctrl-C unwinds it, in a `finally`, say."""
    interrupted = isinstance(sys.exc_info()[1], KeyboardInterrupt)
    return "its program was interrupted (KeyboardInterrupt)" if interrupted else None
