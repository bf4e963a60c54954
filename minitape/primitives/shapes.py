"""Shapes of results, from the shapes of inputs alone: with them a call on small arrays need not run at once.

Each rule takes the inputs' shapes and the call's attributes; None means that the call must run to tell (or to refuse).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

Shape = tuple[int, ...]


def broadcast(x: Shape, y: Shape | None = None) -> Shape | None:
    """The shape of an elementwise result.

    >>> broadcast((3, 1), (2,)), broadcast((2,), (3,))
    ((3, 2), None)
    """
    if y is None or x == y or not y:
        return x
    if len(x) < len(y):
        x, y = y, x
    head = len(x) - len(y)
    if x[head:] == y:
        return x
    for m, n in zip(x[head:], y, strict=True):
        if m != n and m != 1 and n != 1:
            return None
    return x[:head] + tuple(n if m == 1 else m for m, n in zip(x[head:], y, strict=True))


def product(x: Shape, y: Shape) -> Shape | None:
    """The shape of a product of two matrices.

    >>> product((2, 3), (3, 4))
    (2, 4)
    """
    return (x[0], y[1]) if len(x) == len(y) == 2 and x[1] == y[0] else None


def reduced(x: Shape, *, axis: Any = None, keepdims: bool = False) -> Shape | None:
    """The shape of a reduction over axes.

    >>> reduced((2, 3), axis=(-1,)), reduced((2, 3), keepdims=True), reduced((2, 3), axis=(5,))
    ((2,), (1, 1), None)
    """
    if axis is None:
        return (1,) * len(x) if keepdims else ()
    rank = len(x)
    axes = {a % rank for a in axis if -rank <= a < rank} if rank else set()
    if len(axes) < len(axis):
        return None
    return tuple(1 if i in axes else n for i, n in enumerate(x) if keepdims or i not in axes)


@lru_cache(4096)
def _length(size: int, start: int | None, stop: int | None, step: int | None) -> int:
    """How many places a slice selects of so many."""
    return len(range(size)[start:stop:step])


def sliced(x: Shape, *, spec: Any) -> Shape | None:
    """The shape of a basic slice, all places of which exist.

    >>> sliced((5, 4), spec=(slice(1, None), 2)), sliced((5,), spec=(None, slice(None, None, -2)))
    ((4,), (1, 3))
    """
    out: tuple[int, ...] = ()
    axis = 0
    for entry in spec:
        if entry is None:
            out += (1,)
            continue
        if axis == len(x):
            return None
        if type(entry) is slice:
            out += (_length(x[axis], entry.start, entry.stop, entry.step),)
        elif type(entry) is not int or not -x[axis] <= entry < x[axis]:
            return None
        axis += 1
    return out + x[axis:]


def given(*shapes: Shape, shape: Any, **attrs: Any) -> Shape | None:
    """The shape that an attribute gives: of ``unslice``.

    >>> given((2,), shape=(4,), spec=(slice(1, 3),))
    (4,)
    """
    return shape if type(shape) is tuple else None


def reshaped(x: Shape, *, shape: Any) -> Shape | None:
    """The shape that an attribute gives, for as many elements.

    >>> reshaped((2, 3), shape=(3, 2)), reshaped((2, 3), shape=(4,))
    ((3, 2), None)
    """
    fits = type(shape) is tuple and min(shape, default=0) >= 0 and math.prod(shape) == math.prod(x)
    return shape if fits else None


def spread(x: Shape, *, shape: Any) -> Shape | None:
    """The shape that an attribute gives, where ``x`` broadcasts to it.

    >>> spread((3, 1), shape=(2, 3, 4)), spread((3,), shape=(4,))
    ((2, 3, 4), None)
    """
    return shape if type(shape) is tuple and len(shape) >= len(x) and broadcast(x, shape) == shape else None


def permuted(x: Shape, *, perm: Any) -> Shape | None:
    """The shape with its axes in another order.

    >>> permuted((2, 3, 4), perm=(1, 2, 0))
    (3, 4, 2)
    """
    return tuple([x[i] for i in perm]) if len(perm) == len(x) else None
