# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Ports for jobs of tests."""

import contextlib
import random
import socket


def free_port():
    """Below those that the system gives to connections, which might take it again meanwhile."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port
