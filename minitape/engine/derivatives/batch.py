"""Many adjoints at once: a Jacobian is one sweep whose adjoints carry a leading axis over the target's elements.

A :class:`Batch` stands for one of its elements: it has that element's shape, and every primitive applied to it is
applied to all of them. Elementwise primitives broadcast over the extra axis by themselves, the common movers of
elements have a line in ``RULES``, and any other primitive is applied to the elements one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..table.primitives import BATCHES, TRACERS

if TYPE_CHECKING:
    from ..table.primitives import Primitive
    from ..types import Adjoint, Array, Attributes, Function, Index, Sizes

_ELEMENTWISE = {
    "select",
    "cast",
    "conj",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "equal",
    "not_equal",
    "logical_and",
    "logical_or",
    "logical_not",
    "zeros_like",
    "ones_like",
}


class Batch:
    """An array with a leading axis of independent elements; ``shape`` and ``dtype`` are those of one element.

    >>> b = Batch(np.ones((5, 2)))
    >>> (b * 3.0).shape, (b * 3.0).data.shape
    ((2,), (5, 2))
    """

    __slots__ = ("data",)
    __array_ufunc__ = None  # NumPy leaves operators to this class

    def __init__(self, data: np.ndarray) -> None:
        self.data = data

    shape = property(lambda self: self.data.shape[1:])
    ndim = property(lambda self: self.data.ndim - 1)
    dtype = property(lambda self: self.data.dtype)

    def __neg__(self) -> Batch:
        return Batch(-self.data)

    def __getitem__(self, spec: Index) -> Batch:
        return Batch(self.data[_behind(spec)])


def align_batches(inputs: tuple[Adjoint, ...]) -> list[Adjoint]:
    """The arrays behind the inputs, with the batch axis in front of all axes of any input."""
    rank = max(np.ndim(i) if type(i) is not Batch else i.ndim for i in inputs)
    return [
        i.data.reshape(i.data.shape[0], *([1] * (rank - i.ndim)), *i.shape) if type(i) is Batch else i for i in inputs
    ]


def _operator(name: str, function: Function) -> None:
    def operator(self: Batch, other: Array) -> Batch:
        return Batch(function(*align_batches((self, other))))

    def reflected(self: Batch, other: Array) -> Batch:
        return Batch(function(*align_batches((other, self))))

    setattr(Batch, f"__{name}__", operator)
    setattr(Batch, f"__r{name}__", reflected)


for _name, _function in (
    ("add", np.add),
    ("sub", np.subtract),
    ("mul", np.multiply),
    ("truediv", np.divide),
    ("pow", np.power),
):
    _operator(_name, _function)


def _axes(axis: Sequence[int] | None, rank: int) -> Sizes:
    axes = range(rank) if axis is None else axis
    return tuple(a % rank + 1 for a in axes)


def _behind(spec: Index) -> tuple[Index, ...]:
    return (slice(None), *(spec if isinstance(spec, tuple) else (spec,)))


def _broadcast_to(g: Batch, *, shape: Sizes) -> Array:
    k = g.data.shape[0]
    return np.broadcast_to(g.data.reshape(k, *([1] * (len(shape) - g.ndim)), *g.shape), (k, *shape))


def _unslice(g: Batch, *, shape: Sizes, spec: Index) -> Array:
    out = np.zeros((g.data.shape[0], *shape), g.dtype)
    out[_behind(spec)] = g.data
    return out


def _matmul(x: Adjoint, y: Adjoint, *, transpose_a: bool = False, transpose_b: bool = False) -> Adjoint:
    """The product of matrices of which one or both are batches: in one go where a single product can say it."""
    x, y = _transposed(x) if transpose_a else x, _transposed(y) if transpose_b else y
    if type(y) is not Batch:  # the rows of all elements below each other
        size, rows, inner = x.data.shape
        return (x.data.reshape(size * rows, inner) @ y).reshape(size, rows, y.shape[1])
    if type(x) is not Batch and y.shape[1] == 1:  # of each element one column, side by side
        return (y.data[:, :, 0] @ x.T)[:, :, None]
    return np.matmul(x.data if type(x) is Batch else x, y.data)


def _transposed(x: Adjoint) -> Adjoint:
    return Batch(x.data.swapaxes(1, 2)) if type(x) is Batch else x.T


def _scatter_slices(values: Batch, indices: Array, *, shape: Sizes) -> Array:
    out = np.zeros((values.data.shape[0], *shape), values.dtype)
    where: Index = (slice(None), indices)
    np.add.at(out, where, values.data)
    return out


RULES: dict[str, Function] = {
    "reshape": lambda g, *, shape: g.data.reshape(g.data.shape[0], *shape),
    "broadcast_to": _broadcast_to,
    "transpose": lambda g, *, perm: np.transpose(g.data, (0, *(p % g.ndim + 1 for p in perm))),
    "reduce_sum": lambda g, *, axis=None, keepdims=False: np.sum(g.data, _axes(axis, g.ndim), keepdims=keepdims),
    "slice": lambda g, *, spec: g.data[_behind(spec)],
    "unslice": _unslice,
    "scatter_slices": _scatter_slices,
}


def apply(primitive: Primitive, inputs: tuple[Adjoint, ...], attrs: Attributes) -> Adjoint:
    """Applies a primitive to every element of the batches among its inputs."""
    name = primitive.name
    if primitive.code or name in _ELEMENTWISE:
        return Batch(primitive.forward(*align_batches(inputs), **attrs))
    if name in RULES and type(inputs[0]) is Batch and not any(type(i) is Batch for i in inputs[1:]):
        return Batch(RULES[name](*inputs, **attrs))
    if name == "matmul" and all(i.ndim == 2 for i in inputs):
        return Batch(_matmul(*inputs, **attrs))
    size = next(i.data.shape[0] for i in inputs if type(i) is Batch)
    each = [primitive.forward(*(i.data[k] if type(i) is Batch else i for i in inputs), **attrs) for k in range(size)]
    if isinstance(each[0], tuple):
        return tuple(Batch(np.stack(parts)) for parts in zip(*each, strict=True))
    return Batch(np.stack(each))


TRACERS[Batch] = apply
BATCHES.add(Batch)
