# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The constants of tutti.h, IN_PLACE, and the reductions of Python objects."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any


def _elementwise(x: Any, ufunc: str, otherwise: Callable[[Any, Any], Any]) -> Any:
    """The function that compares or tests. Arrays need their own, since they have no truth as a
    whole."""
    if getattr(x, "ndim", 0) == 0:
        return otherwise
    if hasattr(x, ufunc):  # tensors have it as a method
        return type(x).__dict__.get(ufunc) or getattr(type(x), ufunc)
    import numpy

    home = numpy.ma if isinstance(x, numpy.ma.MaskedArray) else numpy
    return getattr(home, ufunc)


def _larger(x: Any, y: Any) -> Any:
    return _elementwise(x, "maximum", lambda x, y: y if y > x else x)(x, y)


def _smaller(x: Any, y: Any) -> Any:
    return _elementwise(x, "minimum", lambda x, y: y if y < x else x)(x, y)


def _both(x: Any, y: Any) -> Any:
    return _elementwise(x, "logical_and", lambda x, y: bool(x) and bool(y))(x, y)


def _either(x: Any, y: Any) -> Any:
    return _elementwise(x, "logical_or", lambda x, y: bool(x) or bool(y))(x, y)


def _one(x: Any, y: Any) -> Any:
    return _elementwise(x, "logical_xor", lambda x, y: bool(x) != bool(y))(x, y)


def _larger_with_place(x: Any, y: Any) -> Any:
    if x[0] == y[0]:
        return (x[0], _smaller(x[1], y[1]))
    return x if x[0] > y[0] else y


def _smaller_with_place(x: Any, y: Any) -> Any:
    if x[0] == y[0]:
        return (x[0], _smaller(x[1], y[1]))
    return x if x[0] < y[0] else y


class Op(int):
    """A reduction: a number to the library, and to the lower-case calls a function of two objects.

    Those with numbers below 0 are for Python objects; the logical ones for bool, too.
    """

    name: str
    function: Callable[[Any, Any], Any]

    def __new__(cls, number: int, name: str, function: Callable[[Any, Any], Any]) -> Op:
        made = super().__new__(cls, number)
        made.name, made.function = name, function
        return made

    def __call__(self, x: Any, y: Any) -> Any:
        return self.function(x, y)

    def __repr__(self) -> str:
        return self.name

    @staticmethod
    def Create(function: Any, commute: bool = False) -> Op:
        raise NotImplementedError("Op.Create: reductions of buffers are those of tutti_ccl; the "
                                  "lower-case calls take a function of two objects as their op")

    def Is_commutative(self) -> bool:
        return self not in (REPLACE, NO_OP)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return _named, (self.name,)


def _named(name: str) -> Op:
    return globals()[name]


SUM = Op(0, "SUM", operator.add)
PROD = Op(1, "PROD", operator.mul)
MIN = Op(2, "MIN", _smaller)
MAX = Op(3, "MAX", _larger)
# The sum divided by the number of ranks; integers of arrays truncate toward zero.
AVG = Op(4, "AVG", operator.add)
# Bitwise, of integers and bool.
BAND = Op(5, "BAND", operator.and_)
BOR = Op(6, "BOR", operator.or_)
BXOR = Op(7, "BXOR", operator.xor)
LAND = Op(-1, "LAND", _both)
LOR = Op(-2, "LOR", _either)
LXOR = Op(-3, "LXOR", _one)
# Reductions of pairs (value, place); the smallest place wins among equal values.
MAXLOC = Op(-4, "MAXLOC", _larger_with_place)
MINLOC = Op(-5, "MINLOC", _smaller_with_place)
REPLACE = Op(-6, "REPLACE", lambda _, y: y)
NO_OP = Op(-7, "NO_OP", lambda x, _: x)

ANY_SOURCE = -1
ANY_TAG = -1
# A rank that is not there: messages to it are not sent, and from it nothing comes.
PROC_NULL = -3


class InPlace:
    """The type of IN_PLACE, which stands for the buffer that lies in the other one."""

    def __repr__(self) -> str:
        return "IN_PLACE"


IN_PLACE = InPlace()
