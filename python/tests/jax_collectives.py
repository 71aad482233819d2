# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What test_jax.py runs in each rank: JAX's own collectives, each against numpy."""

import os

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
jax.config.update("jax_enable_x64", True)
jax.distributed.initialize(f"127.0.0.1:{os.environ['MASTER_PORT']}", RANKS, RANK)
assert jax.device_count() == RANKS
MESH = jax.make_mesh((RANKS,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
SPLIT = PartitionSpec("i")


def numbers(dtype, rank):
    random = np.random.default_rng(rank)
    whole = random.integers(1, 4, size=(2 * RANKS, 5))
    if np.issubdtype(dtype, np.complexfloating):
        return (whole + 1j * random.integers(-2, 3, size=whole.shape)).astype(dtype)
    return whole.astype(dtype)


def of(function, mine):
    given = jax.make_array_from_process_local_data(NamedSharding(MESH, SPLIT), mine)
    mapped = jax.shard_map(function, mesh=MESH, in_specs=SPLIT, out_specs=SPLIT, check_vma=False)
    return np.asarray(jax.jit(mapped)(given).addressable_shards[0].data)


def check(dtype):
    all_of_them = [numbers(dtype, rank) for rank in range(RANKS)]
    mine, total = all_of_them[RANK], sum(all_of_them).astype(dtype)
    lax = jax.lax
    ahead = [(rank, (rank + 1) % RANKS) for rank in range(RANKS)]
    cases = {
        "psum": (lambda x: lax.psum(x, "i"), total),
        "all_gather": (lambda x: lax.all_gather(x, "i", tiled=True), np.concatenate(all_of_them)),
        "psum_scatter": (lambda x: lax.psum_scatter(x, "i", tiled=True),
                         np.split(total, RANKS)[RANK]),
        "ppermute": (lambda x: lax.ppermute(x, "i", ahead), all_of_them[RANK - 1]),
        "all_to_all": (lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True),
                       np.concatenate([np.split(each, RANKS)[RANK] for each in all_of_them])),
    }
    if not np.issubdtype(dtype, np.complexfloating):
        cases["pmax"] = (lambda x: lax.pmax(x, "i"), np.max(all_of_them, 0))
        cases["pmin"] = (lambda x: lax.pmin(x, "i"), np.min(all_of_them, 0))
    for name, (function, expected) in cases.items():
        np.testing.assert_array_equal(of(function, mine), expected, f"{name} of {dtype.__name__}")


for each in (np.float32, np.float64, np.int8, np.int32, np.uint16, np.int64, np.complex64,
             np.complex128):
    check(each)
print("ok", RANK, flush=True)
