# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Tutti: collective communication between the processes of a job.

``import tutti_ccl.torch`` makes the backend ``ccl`` of torch.distributed.
"""

import os

# The prefix of the installation that is in this package: bin, env, include, lib. It is what
# ``find_package(tutti)`` takes as CMAKE_PREFIX_PATH, and where scripts look for env/setvars.sh.
cwd = os.path.dirname(os.path.abspath(__file__))
