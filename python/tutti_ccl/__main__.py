# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The command ``tutti``, also as ``python -m tutti_ccl``."""

import os
import sys

from . import cwd


def main(*subcommand):
    command = os.path.join(cwd, "bin", "tutti")
    try:
        os.execv(command, [command, *subcommand, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"tutti: {command}: {error.strerror}; install tutti-ccl again")


def benchmark():
    main("benchmark")


if __name__ == "__main__":
    main()
