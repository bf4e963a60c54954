"""The values of rows as a sweep reads them, and adjoints in the shape of the values that they belong to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..recording.record import Record
from ..recording.rows import Outline
from ..table.primitives import TABLE
from ..tensor.tensor import EagerTensor, bare

if TYPE_CHECKING:
    from ..tensor.tensor import Tensor
    from ..typed import Adjoint, Array, Values
    from .sweep import Sweep


class Held:
    """The column of values of a long recording, of which few are read."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def __getitem__(self, row: int) -> Array:
        return self.record.held(row)


class Kept:
    """A column of values, and arrays in their place: which were kept from being released, or which might have been."""

    def __init__(self, values: Values, arrays: dict[int, Array]) -> None:
        self.values, self.arrays = values, arrays

    def __getitem__(self, row: int) -> Array:
        return self.arrays[row] if row in self.arrays else self.values[row]


class Tensors(dict[int, "Tensor"]):
    """The values of rows as tensors that an outer tape knows: made when they are asked for."""

    def __init__(self, sweep: Sweep) -> None:
        self.record, self.columns = sweep.record, sweep.columns

    def __missing__(self, row: int) -> Tensor:
        if self.columns is None or row in self.record.leaves or type(value := self.columns[-1][row]) is Outline:
            tensor = tensor_of(self.record, row)
        else:
            tensor = made = EagerTensor()
            made._value, made._record, made._row, made._origin = value, self.record, row, None
        self[row] = tensor
        return tensor


def tensor_of(record: Record, row: int) -> Tensor:
    """The tensor of a row: that of a leaf, or one with the same value in the same place."""
    leaf = record.leaves.get(row)
    if leaf is not None and leaf.tensor is not None:
        return leaf.tensor
    value = record.held(row)
    if type(value) is Outline:
        value = np.broadcast_to(np.zeros((), value.dtype), value.shape)
    tensor = bare(value)
    tensor._record, tensor._row = record, row
    return tensor


def unbroadcast(g: Adjoint, shape: tuple[int, ...]) -> Adjoint:
    """Sums an adjoint over the axes along which an input of ``shape`` was broadcast.

    >>> unbroadcast(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    >>> unbroadcast(np.ones((2, 3)), (2, 1))
    array([[3.],
           [3.]])
    """
    if type(g) is np.ndarray and not shape:  # a number
        return np.add.reduce(g, None, g.dtype)
    have = tuple(g.shape)
    extra = len(have) - len(shape)
    if extra == 1 and have[1:] == shape and type(g) is np.ndarray:  # a bias: the usual case
        return np.add.reduce(g, 0, g.dtype)
    axes = tuple(range(extra)) + tuple(
        i + extra for i, n in enumerate(shape) if n == 1 and 0 <= i + extra < len(have) and have[i + extra] != 1
    )
    if not isinstance(g, (np.ndarray, np.generic)):  # a tensor, or a batch of adjoints
        if axes:
            g = TABLE["reduce_sum"](g, axis=axes, keepdims=False)
        if tuple(g.shape) != tuple(shape):
            g = (
                TABLE["reshape"](g, shape=shape)
                if math.prod(g.shape) == math.prod(shape)
                else TABLE["broadcast_to"](g, shape=shape)
            )
        return g
    if axes:
        g = np.add.reduce(g, axes, g.dtype)
    if g.shape != tuple(shape):
        g = g.reshape(shape) if g.size == math.prod(shape) else np.broadcast_to(g, shape)
    return g
