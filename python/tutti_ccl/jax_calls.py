# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Collectives between processes as operations of JAX, by its FFI; see tutti_ccl.jax.

Each is a primitive whose effect is ordered. All calls of a process take place one after the other,
in the order of the program, as ranks must make them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import effects
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _core
from .communicator import Communicator
from .world import COMM_WORLD

try:
    from jax.ffi import abstract_token
except ImportError:
    from jax._src.core import abstract_token

OPERATIONS = {"sum": 0, "prod": 1, "min": 2, "max": 3, "avg": 4, "band": 5, "bor": 6, "bxor": 7}
# A bool is a byte that is 0 or 1, and stays one.
OF_BOOLS = {"sum": "bor", "prod": "band", "min": "band", "max": "bor", "band": "band",
            "bor": "bor", "bxor": "bxor"}


class Ordered(effects.Effect):
    """That calls have an order."""

    def __hash__(self) -> int:
        return 0x7477  # the same in each process: it is part of what a compiled program is known by

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ordered)

    def __repr__(self) -> str:
        return "calls of tutti_ccl.jax"


ORDERED = Ordered()
for allowed in (effects.lowerable_effects, effects.ordered_effects,
                effects.control_flow_allowed_effects, effects.custom_derivatives_allowed_effects):
    allowed.add_type(Ordered)
for target, handler in _core.xla_handlers().items():
    jax.ffi.register_ffi_target(target, handler, platform="cpu")

# Communicators by their numbers, which count the order in which they were first used.
_numbered: list[Communicator] = []
_clone: list[Communicator] = []


def default_communicator() -> Communicator:
    """The communicator of calls that name none: a copy of COMM_WORLD, so that the program may use
    that one meanwhile. The first to ask waits for all ranks to ask."""
    if not _clone:
        _clone.append(COMM_WORLD().split(0, 0, name="jax"))
    return _clone[0]


def _number(comm: Communicator | None) -> int:
    comm = default_communicator() if comm is None else comm
    if not isinstance(comm, Communicator):
        raise TypeError(f"comm is {type(comm).__name__}; expected a tutti_ccl.Communicator or None")
    for number, known in enumerate(_numbered):
        if known is comm:
            return number
    _numbered.append(comm)
    return _core.xla_number(comm)


def _size(number: int) -> int:
    return _numbered[number].size


class Call:
    """One kind of call: a primitive of at most one array, and the rules by which JAX transforms it.

    ``result`` gives the shape and type of the result, or None. ``blocks`` says whether the first
    dimension of the argument counts blocks, ``gathers`` whether that of the result does.
    """

    def __init__(self, name: str, result: Callable[..., ShapedArray | None], *,
                 blocks: bool = False, gathers: bool = False) -> None:
        self.primitive = Primitive(f"tutti_{name}")
        self.primitive.multiple_results = True
        self.target, self.result = f"tutti_{name}", result
        self.blocks, self.gathers = blocks, gathers
        self.primitive.def_impl(self._run)
        self.primitive.def_effectful_abstract_eval(self._describe)
        mlir.register_lowering(self.primitive, self._lower, platform="cpu")
        batching.primitive_batchers[self.primitive] = self._batch

    def __call__(self, *arrays: jax.Array, **facts: int) -> Any:
        results = self.primitive.bind(*arrays, **facts)
        return results[0] if results else None

    def _run(self, *arrays: jax.Array, **facts: int) -> Any:
        return _compiled(self.primitive, tuple(facts.items()))(*arrays)

    def _describe(self, *arrays: ShapedArray, **facts: int) -> Any:
        made = self.result(*arrays, **facts)
        return ([] if made is None else [made]), {ORDERED}

    def _lower(self, context: Any, *arrays: Any, **facts: int) -> Any:
        token = context.tokens_in.get(ORDERED)
        with_token = context.replace(avals_in=[*context.avals_in, abstract_token],
                                     avals_out=[*context.avals_out, abstract_token])
        told = {key: np.int64(value) for key, value in facts.items()
                if isinstance(value, int)}
        *results, token = jax.ffi.ffi_lowering(self.target, has_side_effect=True)(
            with_token, *arrays, token, **told)
        context.set_tokens_out(mlir.TokenSet({ORDERED: token}))
        return results

    def _batch(self, arrays: Any, axes: Any, **facts: Any) -> Any:
        """All of a batch in one call: what counts blocks stays in front."""
        if not arrays:
            return self.primitive.bind(**facts), []
        array, = arrays
        axis = 1 if self.blocks else 0
        moved = jnp.moveaxis(array, axes[0], axis)
        results = self.primitive.bind(moved, **facts)
        back = axis + (1 if self.gathers else 0) - (1 if self.blocks else 0)
        return results, [back] * len(results)

    def linear(self, tangent: Callable[..., Any], transpose: Callable[..., Any]) -> None:
        """Rules of differentiation."""
        def jvp(primals: Any, tangents: Any, **facts: Any) -> Any:
            values = self.primitive.bind(*primals, **facts)
            zero = tangents[0].aval if isinstance(tangents[0], ad.Zero) else tangents[0]
            if zero.dtype == jax.dtypes.float0:  # of integers
                return values, [ad.Zero.from_primal_value(value) for value in values]
            given = ad.instantiate_zeros(tangents[0])
            return values, [tangent(given, **facts)]

        def transposed(cotangents: Any, *_: Any, **facts: Any) -> Any:
            return [transpose(ad.instantiate_zeros(cotangents[0]), **facts)]

        ad.primitive_jvps[self.primitive] = jvp
        ad.primitive_transposes[self.primitive] = transposed


@functools.lru_cache(maxsize=None)
def _compiled(primitive: Primitive, facts: tuple[tuple[str, int], ...]) -> Any:
    return jax.jit(functools.partial(primitive.bind, **dict(facts)))


def _like(x: ShapedArray, shape: tuple[int, ...] | None = None) -> ShapedArray:
    return ShapedArray(x.shape if shape is None else shape, x.dtype)


_allreduce = Call("allreduce", lambda x, **_: _like(x))
_reduce_scatter = Call("reduce_scatter", lambda x, **_: _like(x, x.shape[1:]), blocks=True)
_allgather = Call("allgather", lambda x, comm: _like(x, (_size(comm), *x.shape)), gathers=True)
_alltoall = Call("alltoall", lambda x, **_: _like(x), blocks=True, gathers=True)
_broadcast = Call("broadcast", lambda x, **_: _like(x))
_send = Call("send", lambda x, **_: None)
_recv = Call("recv", lambda shape, dtype, **_: ShapedArray(shape, np.dtype(dtype)))
_sendrecv = Call("sendrecv", lambda x, **_: _like(x))
_barrier = Call("barrier", lambda **_: None)

# The transpose of a sum over all ranks: each has the cotangent of the whole already. Its own
# transpose is the sum again.
_own = Primitive("tutti_own")
_own.def_impl(lambda x, **_: x)
_own.def_abstract_eval(lambda x, **_: _like(x))
mlir.register_lowering(_own, lambda context, x, **_: [x])
batching.primitive_batchers[_own] = lambda arrays, axes, **facts: (
    _own.bind(*arrays, **facts), axes[0])
ad.deflinear2(_own, lambda cotangent, _, comm: [
    _allreduce(ad.instantiate_zeros(cotangent), comm=comm, op=OPERATIONS["sum"])])


def _linear_operation(call: str, op: int) -> None:
    if op not in (OPERATIONS["sum"], OPERATIONS["avg"]):
        name = next(name for name, number in OPERATIONS.items() if number == op)
        raise NotImplementedError(f"tutti_ccl.jax.{call} has no derivative for op {name!r}; it has "
                                  "one for 'sum' and 'avg'")


def _tangent_allreduce(tangent: Any, *, comm: int, op: int) -> Any:
    _linear_operation("allreduce", op)
    total = _allreduce(tangent, comm=comm, op=OPERATIONS["sum"])
    return total / _size(comm) if op == OPERATIONS["avg"] else total


def _tangent_reduce_scatter(tangent: Any, *, comm: int, op: int) -> Any:
    _linear_operation("reduce_scatter", op)
    total = _reduce_scatter(tangent, comm=comm, op=OPERATIONS["sum"])
    return total / _size(comm) if op == OPERATIONS["avg"] else total


def _transposed_sendrecv(cotangent: Any, *, comm: int, dest: int, source: int, sendtag: int,
                         recvtag: int) -> Any:
    return _sendrecv(cotangent, comm=comm, dest=source, source=dest, sendtag=recvtag,
                     recvtag=sendtag)


_allreduce.linear(_tangent_allreduce, lambda cotangent, comm, op: _own.bind(cotangent, comm=comm))
_reduce_scatter.linear(_tangent_reduce_scatter,
                       lambda cotangent, comm, op: _allgather(cotangent, comm=comm))
_allgather.linear(_allgather, lambda cotangent, comm: _reduce_scatter(
    cotangent, comm=comm, op=OPERATIONS["sum"]))
_alltoall.linear(_alltoall, _alltoall)
_sendrecv.linear(_sendrecv, _transposed_sendrecv)

TYPES = frozenset("bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 "
                  "float64 float8_e4m3fn float8_e5m2 complex64 complex128".split())


def _expect_type(call: str, name: str, dtype: np.dtype[Any]) -> None:
    if dtype.name not in TYPES:
        raise TypeError(f"tutti_ccl.jax.{call}: {name} is of {dtype.name}; expected one of "
                        + ", ".join(sorted(TYPES)))


def _array(call: str, x: Any) -> jax.Array:
    array = jnp.asarray(x)
    _expect_type(call, "x", array.dtype)
    return array


def _operation(call: str, op: str, x: jax.Array) -> int:
    if op not in OPERATIONS:
        raise ValueError(f"tutti_ccl.jax.{call}: op is {op!r}; expected one of "
                         + ", ".join(OPERATIONS))
    kind = x.dtype.kind
    name = OF_BOOLS.get(op) if kind == "b" else op
    bitwise = op in ("band", "bor", "bxor")
    if name is None or (bitwise and kind not in "biu") or (kind == "c" and op in ("min", "max")):
        raise TypeError(f"tutti_ccl.jax.{call}: {op!r} of {x.dtype.name} is not defined")
    return OPERATIONS[name]


def _rank(call: str, name: str, rank: int, comm: int) -> int:
    if not 0 <= rank < _size(comm):
        raise ValueError(f"tutti_ccl.jax.{call}: {name} is {rank}; expected a rank from 0 to "
                         f"{_size(comm) - 1}")
    return int(rank)


def _blocks(call: str, x: jax.Array, comm: int) -> jax.Array:
    if x.ndim == 0 or x.shape[0] != _size(comm):
        raise ValueError(f"tutti_ccl.jax.{call}: x has the shape {x.shape}; expected a first "
                         f"dimension of {_size(comm)}, a block for each rank")
    return x


def allreduce(x: Any, op: str = "sum", *, comm: Communicator | None = None) -> jax.Array:
    """The reduction of ``x`` over all ranks, on all of them."""
    array = _array("allreduce", x)
    return _allreduce(array, comm=_number(comm), op=_operation("allreduce", op, array))


def reduce_scatter(x: Any, op: str = "sum", *, comm: Communicator | None = None) -> jax.Array:
    """``x`` has a block for each rank as its first dimension; the reduction of this rank's."""
    number = _number(comm)
    array = _blocks("reduce_scatter", _array("reduce_scatter", x), number)
    return _reduce_scatter(array, comm=number, op=_operation("reduce_scatter", op, array))


def allgather(x: Any, *, comm: Communicator | None = None) -> jax.Array:
    """The arrays of all ranks, along a new first dimension."""
    return _allgather(_array("allgather", x), comm=_number(comm))


def alltoall(x: Any, *, comm: Communicator | None = None) -> jax.Array:
    """Block i of ``x`` goes to rank i; block i of the result comes from there."""
    number = _number(comm)
    return _alltoall(_blocks("alltoall", _array("alltoall", x), number), comm=number)


def broadcast(x: Any, root: int = 0, *, comm: Communicator | None = None) -> jax.Array:
    """Returns the root's ``x``; elsewhere only its shape and type count."""
    number = _number(comm)
    return _broadcast(_array("broadcast", x), comm=number,
                      root=_rank("broadcast", "root", root, number))


def send(x: Any, dest: int, tag: int = 0, *, comm: Communicator | None = None) -> None:
    """Sends ``x`` to a rank that receives it."""
    number = _number(comm)
    _send(_array("send", x), comm=number, dest=_rank("send", "dest", dest, number), tag=int(tag))


def recv(like: Any, source: int, tag: int = 0, *, comm: Communicator | None = None) -> jax.Array:
    """Receives what a rank sends, of the shape and type of ``like``, which is not read."""
    number = _number(comm)
    shape, dtype = tuple(like.shape), np.dtype(like.dtype)
    _expect_type("recv", "like", dtype)
    return _recv(comm=number, source=_rank("recv", "source", source, number), tag=int(tag),
                 shape=shape, dtype=dtype.name)


def sendrecv(x: Any, dest: int, source: int, sendtag: int = 0, recvtag: int = 0, *,
             comm: Communicator | None = None) -> jax.Array:
    """Sends ``x`` to one rank and receives as much of another, neither waiting for the other."""
    number = _number(comm)
    return _sendrecv(_array("sendrecv", x), comm=number,
                     dest=_rank("sendrecv", "dest", dest, number),
                     source=_rank("sendrecv", "source", source, number), sendtag=int(sendtag),
                     recvtag=int(recvtag))


def barrier(*, comm: Communicator | None = None) -> None:
    """Waits for all ranks."""
    _barrier(comm=_number(comm))
