"""The values of rows as a sweep reads them, and adjoints in the shape of the values that they belong to."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import compress
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..recording.outlines import Outline
from ..recording.record import Record
from ..recording.rows import WIDTH
from ..recording.state import state
from ..table.accelerator import fast
from ..table.primitives import TABLE
from ..table.primitives.elementwise import LARGE
from ..tensor.tensor import EagerTensor, new_tensor

if TYPE_CHECKING:
    from ..derivatives.batch import Batch
    from ..table.primitives import Rule
    from ..tensor.tensor import Tensor
    from ..tensor.variable import ResourceVariable
    from ..types import Adjoint, Array, ArrayValues, Sizes
    from .sweep import Sweep
    from .tape import GradientTape


Cells: TypeAlias = tuple[int, int, int, int, Any]  # of a row: its number, op, a, b and call
# a variable, and its value as tensors that only these tapes watch
Reads: TypeAlias = "tuple[ResourceVariable, dict[tuple[GradientTape, ...], Tensor]]"


@fast.instead
def column(record: Record) -> ArrayValues:
    """The values of the rows."""
    return record.rows[5::WIDTH]


@fast.instead
def operations(record: Record, low: int, high: int) -> Iterable[Cells]:
    """The rows from ``high`` down to ``low`` that are no leaves: their ``op`` is 0."""
    ops, left, right, calls, _, _ = record.columns(low, high + 1)
    return compress(
        zip(range(high, low - 1, -1), ops[::-1], left[::-1], right[::-1], calls[::-1], strict=True), ops[::-1]
    )


class Tensors(dict[int, "Tensor"]):
    """The values of rows as tensors of an outer tape, each created at its first use."""

    def __init__(self, record: Record, column: ArrayValues) -> None:
        self.record, self.column = record, column

    def __missing__(self, row: int) -> Tensor:
        """The tensor of a leaf, or one with the same value in the same place."""
        leaf = self.record.leaves.get(row)
        tensor = None if leaf is None else leaf.tensor
        if tensor is None:
            value = self.column[row]
            tensor = made = EagerTensor()
            made._value = value if type(value) is not Outline else value.zeros
            made._record, made._row, made._origin = self.record, row, None
        self[row] = tensor
        return tensor


def late_reads(record: Record) -> dict[int, Reads]:
    """By row the variables that were read in a recording before a tape that records now watched them."""
    if record.trace is not None or not any(tape.late or tape._record is not record for tape in state.tapes):
        return {}
    return {
        row: (variable, {})
        for variable, rows in record.variables.values()
        for row in rows
        if any(tape._record is not record or tape.watched.get(row, 0) > row + 1 for tape in state.tapes)
    }


def as_read(sweep: Sweep, row: int, at: int) -> Adjoint:
    """The value of a row as the operation in row ``at`` read it: tapes that have watched a variable since then know
    another tensor.
    """
    value, record, outer = sweep.values[row], sweep.record, state.record
    if row not in sweep.late or outer is None:
        return value
    variable, tensors = sweep.late[row]
    tapes = tuple([tape for tape in state.tapes if tape._record is record and tape.watched.get(row, at + 1) <= at])
    if tapes not in tensors:
        tensors[tapes] = new_tensor(value._value)
        new = outer.row_or_new_leaf(tensors[tapes], variable, None, tapes)
        outer.variables.setdefault(id(variable), (variable, []))[1].append(new)
    return tensors[tapes]


def unbroadcast(g: Adjoint, shape: Sizes) -> Adjoint:
    """Sums an adjoint over the axes along which an input of ``shape`` was broadcast.

    >>> unbroadcast(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    >>> unbroadcast(np.ones((2, 3)), (2, 1))
    array([[3.],
           [3.]])
    """
    is_array = isinstance(g, (np.ndarray, np.generic))  # else a tensor, or a batch of adjoints
    have = tuple(g.shape)
    extra = len(have) - len(shape)
    axes = tuple([at for at, n in enumerate(have) if at < extra or (n != 1 and shape[at - extra] == 1)])
    if axes:
        g = np.add.reduce(g, axes, g.dtype) if is_array else TABLE["reduce_sum"](g, axis=axes, keepdims=False)
    if tuple(g.shape) != shape:
        g = TABLE["reshape" if math.prod(g.shape) == math.prod(shape) else "broadcast_to"](g, shape=shape)
    return g


def match_input(share: Adjoint, value: Adjoint) -> Adjoint:
    """A share in the shape and dtype of the value that it belongs to."""
    if share.shape != value.shape:
        share = unbroadcast(share, tuple(value.shape))
    if share.dtype is not value.dtype and isinstance(share, (np.ndarray, np.generic)):
        share = share.astype(value.dtype)  # NumPy computes some of the half types in float32
    return share


def add_adjoints(total: Adjoint, share: Adjoint) -> Adjoint:
    """What has arrived at a row and a share that arrives now."""
    if type(total) is np.ndarray and total.size >= LARGE:
        return fast.accumulate(total, share)
    return total + share


def in_batches(rule: Rule) -> Rule:
    """An elementwise rule for a batch of adjoints: it broadcasts over their leading axis by itself."""

    def on_batch(g: Batch, *values: Array) -> Batch:
        share = rule(g.data, *values)
        if np.ndim(share) < g.data.ndim:  # the rule does not read g: the same for all
            share = np.broadcast_to(share, (g.data.shape[0], *np.shape(share)))
        return type(g)(share)

    return on_batch
