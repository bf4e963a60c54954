"""``GradientTape.jacobian`` and ``batch_jacobian``: one sweep for each element of the target."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..back.backward import gradients_of, rows_of
from ..back.endpoints import GradientQuestion, leaf_of, wants_zeros
from ..back.reach import reachable_rows
from ..back.sweep import run_sweep
from ..recording.evidence import site
from ..recording.state import state
from ..table.primitives import TABLE
from ..tensor.tensor import from_array, new_tensor
from ..values import nest

if TYPE_CHECKING:
    from ..back.tape import GradientTape
    from ..types import Adjoint, Array, End, Result, Sizes, Structure

MOST = 100_000  # numbers of a Jacobian that is kept for pictures


def jacobian(
    tape: GradientTape, target: End, sources: Structure, unconnected: object, parallel: int | None, use_pfor: bool
) -> Structure:
    """The derivative of each element of ``target`` with respect to each element of the sources."""
    _begin(tape, "jacobian", "used to ", parallel, use_pfor)
    zero, flat, shape = wants_zeros(unconnected), [leaf_of(s) for s in nest.flatten(sources)], tuple(target.shape)
    count = math.prod(shape)
    found = _gradients(tape, target, flat, np.eye(count, dtype=_kind(target)).reshape(count, *shape))
    results: list[Result] = []
    for g, source in zip(found, flat, strict=True):
        sizes = (*shape, *source.shape)
        if g is None:
            results.append(_zeros(sizes, source) if zero else None)
        else:
            results.append(TABLE["reshape"](g, shape=sizes))
    _end(tape, "jacobian", target, flat, found, results)
    return nest.pack_sequence_as(sources, results)


def batch_jacobian(
    tape: GradientTape, target: End, source: End, unconnected: object, parallel: int | None, use_pfor: bool
) -> Result:
    """The Jacobian of ``target[i]`` with respect to ``source[i]``, for each i."""
    _begin(tape, "batch_jacobian", "used to", parallel, use_pfor)  # TensorFlow's wording here lacks a space
    source = leaf_of(source)
    size, *inner = tuple(target.shape) or (0,)
    if len(target.shape) < 2 or len(source.shape) < 2 or size != source.shape[0]:
        raise ValueError(
            f"Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) to match."
        )
    count, rest = math.prod(inner), tuple(source.shape)[1:]
    rows: np.ndarray = np.eye(count, dtype=_kind(target)).reshape(count, 1, *inner)
    (found,) = _gradients(tape, target, [source], np.broadcast_to(rows, (count, size, *inner)))
    sizes = (size, *inner, *rest)
    if found is None:  # zeros in any case
        result = _zeros(sizes, source if wants_zeros(unconnected) else target)
    else:
        order = (1, 0, *range(2, 2 + len(rest)))
        result = TABLE["reshape"](TABLE["transpose"](found, perm=order), shape=sizes)
    _end(tape, "batch_jacobian", target, [source], [found], [result])
    return result


def _begin(tape: GradientTape, name: str, used_to: str, parallel: int | None, use_pfor: bool) -> None:
    if not (use_pfor or tape._persistent or tape._used):
        raise RuntimeError(
            f"GradientTape must be created with persistent=True to compute the {name} with "
            "experimental_use_pfor set to False."
        )
    if parallel is not None and parallel < 1 + use_pfor:
        raise ValueError(f"parallel_iterations={parallel!r}: expected None or an integer from {1 + use_pfor} on.")
    tape._begin(used_to)


def _gradients(tape: GradientTape, target: End, sources: list[End], adjoints: np.ndarray) -> list[Result]:
    """One gradient for each of the target's adjoints, stacked; None for a source that no path leads to."""
    if not target.dtype.differentiable:
        return [None] * len(sources)
    if not state.tapes:
        return _sweeps(tape, target, sources, adjoints)
    each = [gradients_of(tape, [target], sources, [new_tensor(g[()])]) for g in adjoints]
    return [
        None if not column or column[0] is None else TABLE["stack"](*column, axis=0)
        for column in ([row[k] for row in each] for k in range(len(sources)))
    ]


def _sweeps(tape: GradientTape, target: End, sources: list[End], adjoints: np.ndarray) -> list[Result]:
    """The same where no outer tape is to know of it: which rows matter is asked once."""
    record, ends = tape._record, [rows_of(tape, s) if s.dtype.differentiable else () for s in sources]
    starts, wanted = rows_of(tape, target)[-1:], {row for rows in ends for row in rows}
    if record is None or not (starts and wanted):
        return [None] * len(sources)
    reachable = reachable_rows(tape, wanted)
    wanted = {row for row in wanted if reachable[row]}
    found: list[list[Array]] = [[] for _ in sources]
    for g in adjoints if wanted and reachable[starts[0]] else ():
        arrived = run_sweep(record, {starts[0]: g[()]}, wanted, reachable, False)
        for column, rows in zip(found, ends, strict=True):
            parts = [part for row in rows if row in wanted and (part := arrived(row)) is not None]
            if parts:
                column.append(sum(parts[1:], parts[0]))
    return [from_array(np.stack(column)) if column else None for column in found]


def _end(
    tape: GradientTape, call: str, target: End, sources: list[End], found: list[Adjoint], results: list[Result]
) -> None:
    """Leaves behind what ``gradient`` does, and for pictures what the call returned; a very large Jacobian is not kept
    for them.
    """
    kept = [None if r is None or math.prod(tuple(r.shape)) > MOST else r for r in results]
    tape.last = GradientQuestion([target], sources, [None], [g is None for g in found], call, kept)
    tape._end(site())


def _kind(target: End) -> type:
    kind: type = target.dtype.as_numpy_dtype
    return kind


def _zeros(shape: Sizes, like: End) -> Result:
    return new_tensor(np.zeros(shape, _kind(like)))
