# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""JAX's own collectives over Tutti: tutti run -n 2 python sharded.py

What is sharded over a mesh of processes is summed by whatever carries JAX's collectives; here
Tutti, by one line before `import jax`. The training step has no call of its own.
"""

import os

import tutti_ccl.jax

tutti_ccl.jax.use()

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import NamedSharding, PartitionSpec  # noqa: E402

rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
address = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
jax.distributed.initialize(address, ranks, rank)
mesh = jax.make_mesh((ranks,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
split = NamedSharding(mesh, PartitionSpec("data"))

wanted = np.array([1.0, -2.0, 3.0], np.float32)
mine = np.random.default_rng(rank).normal(size=(64, 3)).astype(np.float32)
inputs = jax.make_array_from_process_local_data(split, mine)
outputs = jax.make_array_from_process_local_data(split, mine @ wanted)


@jax.jit
def step(weights, inputs, outputs):
    def loss(weights):
        return jnp.mean((inputs @ weights - outputs) ** 2)

    return weights - 0.2 * jax.grad(loss)(weights)


weights = jnp.zeros(3)
for _ in range(100):
    weights = step(weights, inputs, outputs)
found = np.asarray(weights.addressable_shards[0].data)
assert np.allclose(found, wanted, atol=1e-3), found
print(f"ok: rank {rank} of {ranks} has {np.round(found, 3)}")
