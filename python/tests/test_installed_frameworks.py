# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""docs/frameworks.md's programs run, where the framework is installed."""

import importlib.util
import os
import subprocess
import sys

import pytest
from programs import ROOT

FOLDER = ROOT / "examples" / "frameworks"
TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]


@pytest.mark.parametrize("framework,launcher,program,arguments", [
    ("lightning", [], "lightning_ccl.py", []),
    ("lightning", TORCHRUN, "lightning_ccl.py", []),
    ("ray", [], "ray_train_ccl.py", []),
    ("transformers", TORCHRUN, "transformers_ccl.py", []),
    ("deepspeed", TORCHRUN, "deepspeed_zero.py", ["1"]),
])
def test_a_framework_trains_over_ccl(framework, launcher, program, arguments):
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    # DeepSpeed compiles a helper at its first start.
    done = subprocess.run([sys.executable, *launcher, FOLDER / program, *arguments], text=True,
                          env=os.environ | {"OMP_NUM_THREADS": "1", "DS_ACCELERATOR": "cpu"},
                          capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "over ccl: loss" in done.stdout + done.stderr, done.stdout + done.stderr
