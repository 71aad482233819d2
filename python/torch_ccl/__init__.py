# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The name under which existing programs import the backend ``ccl``; it is ``tutti_ccl.torch``."""

import os

import tutti_ccl.torch  # noqa: F401

# The folder in which scripts look for env/setvars.sh.
cwd = os.path.dirname(os.path.abspath(__file__))
