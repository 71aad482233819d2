# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Frameworks take ccl, or at least go on as they did; imitated, as none needs to be installed."""

import os
import subprocess
import sys
import textwrap

# What DeepSpeed does where it finds oneccl_bindings_for_pytorch: a helper is loaded, or built.
DEEPSPEED = {
    "__init__.py": "",
    "ops/__init__.py": "",
    "ops/op_builder/__init__.py": "",
    "ops/op_builder/builder.py": """
        import os
        class OpBuilder:
            _loaded_ops = {}
            def load(self):
                if self.name in OpBuilder._loaded_ops:
                    return OpBuilder._loaded_ops[self.name]
                if "CCL_ROOT" in os.environ:
                    return "built"
                raise ValueError("Didn't find CCL_ROOT")
        class CCLCommBuilder(OpBuilder):
            name = "deepspeed_ccl_comm"
        class Other(OpBuilder):
            name = "other"
    """,
}

# How accelerate chooses a backend for processes without accelerators.
ACCELERATE = {
    "__init__.py": "",
    "state.py": """
        class PartialState:
            def _prepare_backend(self, cpu=False, sagemaker_dp=False, backend=None):
                if backend == "mpi":
                    return "mpi", "MULTI_CPU"
                return ("gloo", "MULTI_CPU") if cpu else ("nccl", "MULTI_GPU")
    """,
}


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))


def run(folder, program, **variables):
    # The modules of the imitation come first, whatever is installed.
    program = f"import sys; sys.path.insert(0, {str(folder)!r})\n" + textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, **variables},
                          text=True, capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


LOAD = """
import {first}, {second}
from deepspeed.ops.op_builder.builder import CCLCommBuilder
print("helper", CCLCommBuilder().load())
"""


def test_deepspeed_builds_nothing_whatever_is_imported_first(tmp_path):
    write(tmp_path / "deepspeed", DEEPSPEED)
    for first, second in (("torch", "deepspeed.ops.op_builder.builder"),
                          ("oneccl_bindings_for_pytorch", "deepspeed.ops.op_builder.builder"),
                          ("deepspeed.ops.op_builder.builder", "oneccl_bindings_for_pytorch")):
        status, text = run(tmp_path, LOAD.format(first=first, second=second))
        assert status == 0 and "helper None" in text, text


def test_deepspeed_builds_its_helper_where_ccl_root_has_a_oneccl(tmp_path):
    write(tmp_path / "deepspeed", DEEPSPEED)
    write(tmp_path / "oneccl", {"lib/libccl.so": ""})
    for root, helper in ((tmp_path / "oneccl", "built"), (tmp_path, "None")):
        status, text = run(tmp_path, LOAD.format(first="torch", second="torch"),
                           CCL_ROOT=str(root))
        assert status == 0 and f"helper {helper}" in text, text


# Its helper's backend, which never comes to an end with the group of all ranks.
ENDLESS = """
    class CCLBackend:
        def get_all_ranks_from_group(self, group):
            if group is None:
                return [0]
            assert group != "world", "without end"
            return [1]
"""


def test_deepspeeds_helper_is_given_the_group_of_all_ranks_as_none(tmp_path):
    write(tmp_path / "deepspeed", DEEPSPEED | {"comm/__init__.py": "", "comm/ccl.py": ENDLESS})
    status, text = run(tmp_path, """
        import torch
        from deepspeed.comm.ccl import CCLBackend
        torch.distributed.group.__class__.WORLD = "world"
        ranks = CCLBackend().get_all_ranks_from_group
        assert ranks("world") == ranks(None) == [0] and ranks("other") == [1]
    """)
    assert status == 0, text


def test_deepspeeds_other_helpers_are_its_own_affair(tmp_path):
    write(tmp_path / "deepspeed", DEEPSPEED)
    status, text = run(tmp_path, LOAD.format(first="torch", second="torch").replace(
        "CCLCommBuilder", "Other"))
    assert status != 0 and "Didn't find CCL_ROOT" in text, text


def test_shims_can_be_switched_off(tmp_path):
    write(tmp_path / "deepspeed", DEEPSPEED)
    status, text = run(tmp_path, LOAD.format(first="torch", second="torch"), TUTTI_TORCH_SHIMS="0")
    assert status != 0 and "Didn't find CCL_ROOT" in text, text


def test_accelerate_takes_ccl_by_name_and_by_habit_alone(tmp_path):
    write(tmp_path / "accelerate", ACCELERATE)
    program = """
        import os, torch
        from accelerate.state import PartialState
        state = PartialState()
        def chosen(*arguments, **named):
            return state._prepare_backend(*arguments, **named)[0]
        os.environ.pop("CCL_WORKER_COUNT", None)
        assert chosen(cpu=True, backend="ccl") == "ccl"
        assert chosen(cpu=True) == chosen(True, False, "gloo") == "gloo"
        assert chosen(cpu=True, backend="mpi") == "mpi"
        assert chosen() == chosen(backend="ccl") == "nccl"
        os.environ["CCL_WORKER_COUNT"] = "1"
        assert chosen(cpu=True) == "ccl" and chosen(cpu=True, backend="gloo") == "gloo"
    """
    status, text = run(tmp_path, program)
    assert status == 0, text


def test_a_framework_of_another_shape_is_left_alone(tmp_path):
    write(tmp_path / "accelerate", {"__init__.py": "", "state.py": "there = True"})
    status, text = run(tmp_path, "import torch, accelerate.state as s; assert s.there")
    assert status == 0, text
