# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Frameworks that decide by a backend's name, or by the modules that they find.

Each needs a change to take ``ccl`` as it is, made when the framework's module is imported and
never before; docs/frameworks.md says what and why. TUTTI_TORCH_SHIMS=0 leaves them as they are.

Imported by `import torch`: cheap, and nothing here needs torch or a framework.
"""

import importlib.machinery
import os
import sys

SWITCH = "TUTTI_TORCH_SHIMS"


def _deepspeed(builder):
    # If DeepSpeed finds oneccl_bindings_for_pytorch, it builds a helper against oneCCL, for every
    # backend, and fails if CCL_ROOT has none. Without the helper it goes on through
    # torch.distributed, and with the backend that was asked for, as if the helper had been loaded.
    if os.path.exists(os.path.join(os.environ.get("CCL_ROOT", ""), "lib", "libccl.so")):
        return
    builder.OpBuilder._loaded_ops.setdefault("deepspeed_ccl_comm", None)


def _deepspeed_helper(ccl):
    # The helper's backend asks for the global ranks of a group until there is an error, which never
    # comes for the group of all ranks. None means that group, too.
    original = ccl.CCLBackend.get_all_ranks_from_group

    def get_all_ranks_from_group(self, group):
        import torch.distributed as dist

        return original(self, None if group is dist.group.WORLD else group)

    ccl.CCLBackend.get_all_ranks_from_group = get_all_ranks_from_group


def _accelerate(state):
    # accelerate takes gloo for processes without accelerators, and refuses other names. Until 1.12
    # it took ccl by this name, and if none was given where CCL_WORKER_COUNT was set.
    original = state.PartialState._prepare_backend

    def _prepare_backend(self, cpu=False, sagemaker_dp=False, backend=None):
        chosen, kind = original(self, cpu, sagemaker_dp, backend)
        by_habit = backend is None and os.environ.get("CCL_WORKER_COUNT", "0") != "0"
        if chosen == "gloo" and (backend == "ccl" or by_habit):
            chosen = "ccl"
        return chosen, kind

    state.PartialState._prepare_backend = _prepare_backend


SHIMS = {
    "deepspeed.ops.op_builder.builder": _deepspeed,
    "deepspeed.comm.ccl": _deepspeed_helper,
    "accelerate.state": _accelerate,
}


class _Finder:
    """Lets a shim follow the import of its module."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        shim = SHIMS.get(name)
        if shim is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            _follow(spec.loader, shim)
        return spec


def _follow(loader, shim):
    execute = loader.exec_module

    def exec_module(module):
        execute(module)
        _apply(shim, module)

    loader.exec_module = exec_module


def _apply(shim, module):
    try:
        shim(module)
    except (AttributeError, TypeError):
        pass  # another version, which may not need it


def register():
    if os.environ.get(SWITCH, "").lower() in ("0", "off", "no", "false"):
        return
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
    for name, shim in SHIMS.items():
        if name in sys.modules:
            _apply(shim, sys.modules[name])
