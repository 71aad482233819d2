# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Tutti: collective communication between the processes of a job.

``import tutti_ccl.torch`` makes the backend ``ccl`` of torch.distributed.
"""
