# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The libraries that versus.py compares, and how it builds, starts and asks them."""
