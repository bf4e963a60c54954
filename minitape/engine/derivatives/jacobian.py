"""``GradientTape.jacobian`` and ``batch_jacobian``: one sweep for each element of the target."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from ..back.backward import gradients_of
from ..back.endpoints import GradientQuestion, gradient_end, rows_of, wants_zeros
from ..back.reach import reachable_rows
from ..back.sweep import Sweep
from ..recording.array_spec import ArraySpec
from ..recording.evidence import stack
from ..recording.rows import Call
from ..recording.state import first_run, state
from ..table.primitives import TABLE
from ..table.primitives.reduce import unbroadcast
from ..tensor.tensor import from_array, new_tensor
from ..values import nest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..back.tape import GradientTape
    from ..recording.record import Record
    from ..types import Adjoint, Array, End, Function, Object, Result, Sizes, Structure

MOST = 100_000  # numbers of a Jacobian that is kept for pictures


def jacobian(
    tape: GradientTape, target: End, sources: Structure, unconnected: object, parallel: int | None, use_pfor: bool
) -> Structure:
    """The derivative of each element of ``target`` with respect to each element of the sources."""
    _begin_jacobian(tape, "jacobian", parallel, use_pfor)
    target = new_tensor(target) if isinstance(target, ndarray) else target  # no tape recorded it
    zero, flat, shape = wants_zeros(unconnected), [gradient_end(s) for s in nest.flatten(sources)], tuple(target.shape)
    count = math.prod(shape)
    turns = count or 1  # one shows what has a path to a target without elements
    rows: ndarray = np.eye(turns, dtype=_kind(target))[:, :count].reshape(turns, *shape)
    found = _gradients(tape, target, flat, rows)
    results: list[Result] = []
    for g, source in zip(found, flat, strict=True):
        sizes = (*shape, *source.shape)
        if g is None or not count:
            results.append(None if g is None and not zero else _zeros(sizes, source))
        else:
            results.append(TABLE["reshape"](g, shape=sizes))
    _end_jacobian(tape, "jacobian", target, flat, found, results)
    return nest.pack_sequence_as(sources, results)


def batch_jacobian(
    tape: GradientTape, target: End, source: End, unconnected: object, parallel: int | None, use_pfor: bool
) -> Result:
    """The Jacobian of ``target[i]`` with respect to ``source[i]``, for each i."""
    _begin_jacobian(tape, "batch_jacobian", parallel, use_pfor)
    source = gradient_end(source)
    size, *inner = tuple(target.shape) or (0,)
    if len(target.shape) < 2 or len(source.shape) < 2 or size != source.shape[0]:
        raise ValueError(
            f"Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) to match; "
            "both must have rank at least 2."
        )
    count, rest = math.prod(inner), tuple(source.shape)[1:]
    rows: ndarray = np.eye(count, dtype=_kind(target)).reshape(count, 1, *inner)
    (found,) = _gradients(tape, target, [source], np.broadcast_to(rows, (count, size, *inner)))
    sizes = (size, *inner, *rest)
    if found is None:  # zeros in any case
        result = _zeros(sizes, source if wants_zeros(unconnected) else target)
    else:
        order = (1, 0, *range(2, 2 + len(rest)))
        result = TABLE["reshape"](TABLE["transpose"](found, perm=order), shape=sizes)
    _end_jacobian(tape, "batch_jacobian", target, [source], [found], [result])
    return result


def _begin_jacobian(tape: GradientTape, name: str, parallel: int | None, use_pfor: bool) -> None:
    if not (use_pfor or tape._persistent or tape._used):
        raise RuntimeError(
            f"GradientTape must be created with persistent=True to compute the {name} with "
            "experimental_use_pfor set to False."
        )
    if parallel is not None and parallel < 1 + use_pfor:
        raise ValueError(f"parallel_iterations={parallel!r}: expected None or an integer from {1 + use_pfor} on.")
    tape._begin_gradient()


def _gradients(tape: GradientTape, target: End, sources: list[End], adjoints: ndarray) -> list[Result]:
    """One gradient for each of the target's adjoints, stacked; None for a source that no path leads to."""
    if not target.dtype.differentiable:
        return [None] * len(sources)
    if not state.tapes and first_run() is None:
        return _sweep(tape, target, sources, adjoints)
    each = [gradients_of(tape, [target], sources, [new_tensor(g[()])]) for g in adjoints]
    return [
        None if not column or column[0] is None else TABLE["stack"](*column, axis=0)
        for column in ([row[k] for row in each] for k in range(len(sources)))
    ]


def _sweep(tape: GradientTape, target: End, sources: list[End], adjoints: ndarray) -> list[Result]:
    """The gradients of one sweep of a stack, which no outer tape is to know of."""
    record, rows_by_source = tape._record, [rows_of(tape, s) if s.dtype.differentiable else () for s in sources]
    starts, source_rows = rows_of(tape, target)[-1:], {row for rows in rows_by_source for row in rows}
    if record is None or not (starts and source_rows):
        return [None] * len(sources)
    reachable = reachable_rows(tape, source_rows)
    source_rows = {row for row in source_rows if reachable[row]}
    if not (source_rows and reachable[starts[0]] and len(adjoints)):
        return [None] * len(sources)
    sweep = StackedSweep(record, {starts[0]: adjoints}, source_rows, reachable)
    sweep.run()
    parts = [[g for row in rows if (g := sweep.adjoint(row)) is not None] for rows in rows_by_source]
    return [from_array(sum(gs[1:], gs[0])) if gs else None for gs in parts]


class StackedSweep(Sweep):
    """The sweep of many adjoints of one target at once: at each row is a stack of them, along one more axis in front.

    The rules of the table broadcast over it, those of the primitives that are ``STACKED`` where their attributes count
    that axis. For all others each adjoint of the stack has its turn.
    """

    def __init__(self, record: Record, starts: dict[int, ndarray], sources: set[int], reachable: bytearray) -> None:
        super().__init__(record, starts, sources, reachable)
        self.count = len(next(iter(starts.values())))

    def shares(self, call: Call, g: Adjoint, values: Sequence[Adjoint], positions: list[int]) -> dict[int, Adjoint]:
        """See :meth:`Sweep.shares`."""
        primitive, inputs, count = call.primitive, values[1:], self.count
        if primitive.code:
            rules: Object = self.rules(primitive, g)
            found = {i: rules[i](g, *values) for i in positions if rules[i] is not None}
            return {i: _sum_broadcast(share, inputs[i], count) for i, share in found.items()}
        if primitive.name in STACKED and len({x.ndim for x in inputs}) == 1:
            rank = inputs[0].ndim
            attrs = {name: _MOVED[name](value, rank) if name in _MOVED else value for name, value in call.attrs.items()}
            moved = Call(call.row, primitive, call.inputs, attrs, call.outputs)
            wide = [v if type(v) is list else _spread(v, count) for v in values]
            return super().shares(moved, g, wide, positions)
        each = [
            super(StackedSweep, self).shares(call, one, values, positions)
            for one in (g if call.outputs == 1 else zip(*g, strict=True))
        ]
        return {i: np.stack([shares[i] for shares in each]) for i in each[0]}

    def zeros(self, row: int) -> Adjoint:
        """A stack of zeros."""
        shape, dtype = self.record.shape_dtype(row)
        return np.zeros((self.count, *shape), dtype)


def _spread(value: Array, count: int) -> ndarray:
    """A value as often as there are adjoints, along one more axis in front."""
    array = value.zeros if type(value) is ArraySpec else value
    if not array.flags.c_contiguous:
        return np.broadcast_to(array, (count, *array.shape))
    return ndarray((count, *array.shape), array.dtype, array, 0, (0, *array.strides))  # a fifth of the other's time


def _sum_broadcast(share: Array, x: Array, count: int) -> Array:
    """A stack of shares, each summed to the shape of the input that they belong to."""
    wide = unbroadcast(share, (count, *(1,) * (share.ndim - 1 - x.ndim), *x.shape))
    return wide.reshape(count, *x.shape).astype(x.dtype, copy=False)


STACKED = frozenset(
    "cast concat log_softmax matmul reduce_max reduce_mean reduce_min reduce_sum reshape select slice softmax "
    "softmax_cross_entropy split stack transpose unstack".split()
)


def _moved_axis(axis: int | Sizes | None, rank: int) -> int | Sizes:
    if isinstance(axis, int):
        return axis + 1 if axis >= 0 else axis
    return tuple([a + 1 if a >= 0 else a for a in (range(rank) if axis is None else axis)])


# attributes that count axes, for values with one more axis in front
_MOVED: dict[str, Function] = {
    "axis": _moved_axis,
    "perm": lambda perm, rank: (0, *[p % rank + 1 for p in perm]),
    "spec": lambda spec, rank: (slice(None), *spec),
}


def _end_jacobian(
    tape: GradientTape, call: str, target: End, sources: list[End], found: list[Adjoint], results: list[Result]
) -> None:
    """Ends the question as ``gradient`` does, and notes for pictures what the call returned, but no very large one."""
    results = [None if r is None or math.prod(tuple(r.shape)) > MOST else r for r in results]
    tape.last = GradientQuestion([target], sources, [None], [g is None for g in found], call, results)
    tape._end_gradient(stack(most=1))


def _kind(target: End) -> type:
    kind: type = target.dtype.as_numpy_dtype
    return kind


def _zeros(shape: Sizes, like: End) -> Result:
    return new_tensor(np.zeros(shape, _kind(like)))
