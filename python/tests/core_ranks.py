# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Ranks that use tutti_ccl without torch. Their communicator is core_ranks.comm()."""

import os
import sys
import time

from ranks import Ranks, answer_all

kept = []


def comm():
    return kept[0]


def start(size):
    return Ranks(size, serve=serve)


def serve(pipe, _backend, path, rank, size, timeout):
    import tutti_ccl

    if rank == 0:
        with open(path + ".new", "wb") as file:
            file.write(tutti_ccl.unique_id())
        os.rename(path + ".new", path)
    while not os.path.exists(path):
        time.sleep(0.01)
    with open(path, "rb") as file:
        identity = file.read()
    kept.append(tutti_ccl.Communicator.create(identity, rank, size, timeout.total_seconds(),
                                              name="core"))
    answer_all(pipe)
    assert "torch" not in sys.modules or "tutti_ccl._C" not in sys.modules
    kept.pop().destroy()
