# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The package's libccl.so, opened at run time by a wrapper whose id PyTorch's store carries."""

import importlib.util
import pathlib

import pytest
import torch.distributed as dist
from programs import ROOT

import tutti_ccl


def library():
    folder = pathlib.Path(tutti_ccl.__file__).parent
    return next(folder.glob("lib*/tutti/oneccl/lib/libccl.so.2"), None)


def use():
    spec = importlib.util.spec_from_file_location("wrapper", ROOT / "tests/oneccl/ctypes_test.py")
    wrapper = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(wrapper)
    store = dist.distributed_c10d._get_default_store()

    def carry(rank, data):
        if rank == 0:
            store.set("id of a wrapper", data)
        return store.get("id of a wrapper")

    wrapper.rank_main(str(library()), dist.get_rank(), dist.get_world_size(), carry)
    return True


def test_a_wrapper_opens_it_beside_the_backend(two_ranks):
    if library() is None:
        pytest.skip("the package was not installed with its libraries")
    assert two_ranks.run(use) == [True, True]
