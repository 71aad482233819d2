# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The extensions of the backend ``ccl``, a folder for each series of PyTorch that they were built for.

``tutti_ccl._C`` is the one for the PyTorch that runs.
"""
