# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Data-parallel training in JAX: tutti run -n 2 python data_parallel.py

Tutti's calls stand inside jit. Each process has a part of the data, and gradients are averaged over
all by one call.
"""

import jax
import jax.numpy as jnp
import numpy as np

import tutti_ccl.jax as tutti

comm = tutti.default_communicator()
wanted = np.array([1.0, -2.0, 3.0], np.float32)
inputs = np.random.default_rng(comm.rank).normal(size=(64, 3)).astype(np.float32)
outputs = inputs @ wanted


@jax.jit
def step(weights):
    def loss(weights):
        return jnp.mean((inputs @ weights - outputs) ** 2)

    return weights - 0.2 * tutti.allreduce(jax.grad(loss)(weights), "avg")


weights = tutti.broadcast(jnp.zeros(3), root=0)
for _ in range(100):
    weights = step(weights)
same = tutti.allgather(weights)
assert jnp.array_equal(same, jnp.broadcast_to(weights, same.shape)), same
assert jnp.allclose(weights, wanted, atol=1e-3), weights
print(f"ok: rank {comm.rank} of {comm.size} has {np.round(weights, 3)}")
