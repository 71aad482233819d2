# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What test_jax.py runs in each rank: the check that its argument names, with tutti_ccl.jax."""

import sys

import jax
import jax.numpy as jnp
import numpy as np

import tutti_ccl.jax as tutti

COMM = tutti.default_communicator()
RANK, RANKS = COMM.rank, COMM.size
AHEAD, BEHIND = (RANK + 1) % RANKS, (RANK - 1) % RANKS


def given(rank, shape=(2, 3)):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + rank


def of_all(shape=(2, 3)):
    return np.stack([given(rank, shape) for rank in range(RANKS)])


MINE = given(RANK)
BLOCKS = (RANKS, 2)


def equal(found, expected):
    np.testing.assert_array_equal(np.asarray(found), expected)


def results():
    for run in (lambda call: call, jax.jit):
        equal(run(tutti.allreduce)(MINE), of_all().sum(0))
        equal(run(lambda x: tutti.allreduce(x, "max"))(MINE), of_all().max(0))
        equal(run(tutti.allgather)(MINE), of_all())
        equal(run(tutti.reduce_scatter)(given(RANK, BLOCKS)), of_all(BLOCKS).sum(0)[RANK])
        equal(run(tutti.alltoall)(given(RANK, BLOCKS)), of_all(BLOCKS)[:, RANK])
        equal(run(lambda x: tutti.broadcast(x, 1))(MINE), given(1))
        equal(run(lambda x: tutti.sendrecv(x, AHEAD, BEHIND))(MINE), given(BEHIND))
        run(tutti.barrier)()
    equal(tutti.allreduce(np.zeros((0, 3), np.float32)), np.zeros((0, 3)))
    equal(tutti.allreduce(5), 5 * RANKS)


def messages():
    @jax.jit
    def passed(x):
        if RANK > 0:
            x = tutti.recv(x, RANK - 1, tag=4) * 2
        if RANK < RANKS - 1:
            tutti.send(x, RANK + 1, tag=4)
        return x

    equal(passed(MINE), given(0) * 2 ** RANK)


def types():
    for dtype in ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "complex64", "int8",
                  "uint16", "int32", "bool"):
        ones = jnp.ones(5, dtype)
        for found, expected in ((tutti.allreduce(ones), 1 if dtype == "bool" else RANKS),
                                (tutti.allreduce(ones, "prod"), 1), (tutti.allgather(ones), 1)):
            assert found.dtype == ones.dtype
            equal(found.astype(jnp.complex64), expected)
    numbers = jnp.full(3, 1 + 2j, jnp.complex64)
    np.testing.assert_allclose(tutti.allreduce(numbers, "prod"), (1 + 2j) ** RANKS, rtol=1e-6)


def derivatives():
    value, gradient = jax.value_and_grad(lambda x: tutti.allreduce((x * x).sum()))(MINE)
    equal(value, (of_all() ** 2).sum())
    equal(gradient, 2 * MINE)  # each rank has the whole sum's: as mpi4jax has it
    equal(jax.grad(lambda x: (tutti.allreduce(x) * tutti.allreduce(RANK)).sum())(MINE),
          np.full((2, 3), RANKS * (RANKS - 1) / 2))
    assert jax.jvp(tutti.allreduce, (jnp.arange(3),),
                   (np.zeros(3, jax.dtypes.float0),))[1].dtype == jax.dtypes.float0
    equal(jax.jvp(lambda x: tutti.allreduce(x, "avg"), (MINE,), (np.ones_like(MINE),))[1], 1)

    def transposed(x):
        return jax.linear_transpose(tutti.allreduce, MINE)(x)[0]
    equal(transposed(MINE), MINE)
    equal(jax.linear_transpose(transposed, MINE)(MINE)[0], of_all().sum(0))

    def weighted(call, shape=(2, 3)):
        return jax.jit(jax.grad(lambda x: (call(x) * (RANK + 1.0)).sum()))(given(RANK, shape))
    equal(weighted(lambda x: tutti.sendrecv(x, AHEAD, BEHIND)), np.full((2, 3), AHEAD + 1))
    equal(weighted(tutti.alltoall, BLOCKS), np.repeat(np.arange(RANKS) + 1, 2).reshape(BLOCKS))
    equal(weighted(tutti.allgather), np.full((2, 3), RANKS * (RANKS + 1) / 2))
    equal(weighted(tutti.reduce_scatter, BLOCKS),
          np.repeat(np.arange(RANKS) + 1, 2).reshape(BLOCKS))


def batches():
    equal(jax.vmap(tutti.allreduce, 1, 1)(MINE), of_all().sum(0))
    equal(jax.vmap(tutti.allgather)(MINE), of_all().swapaxes(0, 1))
    several = np.stack([given(RANK, BLOCKS), 3 * given(RANK, BLOCKS)], 1)
    equal(jax.vmap(tutti.alltoall, 1, 1)(several)[:, 1], 3 * of_all(BLOCKS)[:, RANK])
    equal(jax.vmap(tutti.reduce_scatter, 1)(several)[1], 3 * of_all(BLOCKS).sum(0)[RANK])
    equal(jax.vmap(lambda x: tutti.sendrecv(x, AHEAD, BEHIND))(MINE), given(BEHIND))


def order():
    """Many calls without data that ties them together, in loops and beside each other."""
    @jax.jit
    def beside(x):
        return sum(tutti.allreduce(x * i, ("sum", "max", "min")[i % 3]) for i in range(60))

    expected = sum((of_all() * i).sum(0) if i % 3 == 0 else
                   (of_all() * i).max(0) if i % 3 == 1 else (of_all() * i).min(0)
                   for i in range(60))
    equal(beside(MINE), expected)

    def step(carried, _):
        return tutti.allreduce(carried, "max"), tutti.allreduce(carried, "min")

    last, each = jax.jit(lambda x: jax.lax.scan(step, x, None, length=30))(MINE)
    equal(last, of_all().max(0))
    equal(each[0], of_all().min(0))


def raises(kind, words, call):
    try:
        jax.block_until_ready(call())
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"expected {kind.__name__}: {words}")


def mistakes():
    raises(TypeError, "'max' of complex64",
           lambda: tutti.allreduce(jnp.ones(1, "complex64"), "max"))
    raises(TypeError, "'avg' of bool", lambda: tutti.allreduce(jnp.ones(1, bool), "avg"))
    raises(TypeError, "x is of float8_e4m3fnuz",
           lambda: tutti.allgather(jnp.ones(1, "float8_e4m3fnuz")))
    raises(ValueError, "op is 'mean'", lambda: tutti.allreduce(MINE, "mean"))
    raises(ValueError, "root is 9", lambda: tutti.broadcast(MINE, 9))
    raises(ValueError, f"a first dimension of {RANKS}",
           lambda: tutti.alltoall(np.ones((RANKS + 1, 2))))
    raises(TypeError, "comm is str", lambda: tutti.allreduce(MINE, comm="world"))
    raises(NotImplementedError, "no derivative for op 'max'",
           lambda: jax.grad(lambda x: tutti.allreduce(x, "max").sum())(MINE))
    equal(tutti.allreduce(MINE), of_all().sum(0))  # it still works
    # Ranks that make different calls get Tutti's own words.
    raises(RuntimeError, "ranks made different calls", lambda: [
        jax.block_until_ready(tutti.allreduce(jnp.ones(3 + RANK))), tutti.allreduce(MINE)])


globals()[sys.argv[1]]()
print("ok", RANK, flush=True)
