"""Primitives that put rows into segments: sums, means, products and extremes of the rows with one id.

Ids are the second input and carry no gradient. Ids of ``segment_*`` are sorted; ``unsorted_segment_*`` take any order
and drop rows with a negative id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...values.dtypes import dtype_of, dtype_of_any
from ...values.invalid import invalid, shape_text
from . import TABLE, declare, scatter, special  # noqa: F401 - whose primitives the rules use
from .choice import select_in_rule
from .numerics import in_single

if TYPE_CHECKING:
    from ...types import Array, Function, Object

_UFUNC = {"sum": np.add, "mean": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


@in_single
def _collect(x: Array, ids: Array, *, ufunc: np.ufunc, count: int, empty: Array, start: bool) -> Array:
    """``ufunc`` over the rows of each segment; segments without rows hold ``empty``, with which the others start on
    demand.
    """
    tail, flat = x.shape[ids.ndim :], ids.reshape(-1)
    order = np.argsort(flat, kind="stable")[np.count_nonzero(flat < 0) :]
    found, first = np.unique(flat[order], return_index=True)
    out = np.full((count, *tail), empty, x.dtype)
    if found.size:
        totals = ufunc.reduceat(x.reshape(ids.size, *tail)[order], first, 0)  # ufunc.at takes eight times as long
        out[found] = ufunc(out[found], totals) if start else totals
    return out


def _sorted(name: str, op: str) -> Function:
    ufunc = _UFUNC[name]

    def forward(x: Array, ids: Array) -> Array:
        _check(x, ids, op)
        count = int(ids[-1]) + 1 if ids.size else 0
        out = _collect(x, ids, ufunc=ufunc, count=count, empty=int(name == "prod"), start=False)
        if ufunc is not np.add:
            return out
        sizes = np.bincount(ids, minlength=count).reshape(-1, *[1] * (x.ndim - 1))
        total = np.where(sizes == 1, out, out + 0)  # a row that is alone keeps the sign of its zeros
        if name == "sum":
            return total
        return (total // np.maximum(sizes, 1) if x.dtype.kind in "iu" else total / np.maximum(sizes, 1)).astype(x.dtype)

    return forward


def _unsorted(name: str, op: str) -> Function:
    def forward(x: Array, ids: Array, *, num_segments: int) -> Array:
        _check_unsorted(x, ids, num_segments, op)
        empty = (
            int(name == "prod") if name in ("sum", "prod") else dtype_of(x).min if name == "max" else dtype_of(x).max
        )
        return _collect(x, ids, ufunc=_UFUNC[name], count=num_segments, empty=empty, start=True)

    return forward


def _check(x: Array, ids: Array, op: str) -> None:
    """Raises what TensorFlow raises for ids that do not fit ``segment_*``."""
    if ids.ndim != 1:
        raise invalid("segment_ids should be a vector.", op)
    if x.ndim < 1:
        raise invalid("input must be at least rank 1", op)
    if ids.size != x.shape[0]:
        raise invalid("segment_ids should be the same size as dimension 0 of input.", op)
    if ids.size and ids[0] < 0:
        count = int(ids[-1]) + 1
        raise invalid(
            f"Segment id {ids[0]} out of range [0, {count}), possibly because 'segment_ids' input is not sorted.", op
        )
    if np.any(np.diff(ids) < 0):
        raise invalid("segment ids are not increasing", op)


def _check_unsorted(x: Array, ids: Array, count: int, op: str) -> None:
    if count < 0:
        raise invalid(f"Input num_segments == {count} must not be negative.", op)
    if x.shape[: ids.ndim] != ids.shape:
        shapes = [shape_text(s) for s in (x.shape, ids.shape)]
        raise invalid(f"data.shape = {shapes[0]} does not start with segment_ids.shape = {shapes[1]}", op)
    if np.any(ids >= count):
        at = tuple(np.argwhere(ids >= count)[0])
        raise invalid(f"segment_ids{shape_text(at)} = {ids[at]} is out of range [0, {count})", op)


# -- rules -----------------------------------------------------------------------------------------


def _rows(g: Array, ids: Array) -> Array:
    """The adjoint of each row: that of its segment, 0 for rows with a negative id."""
    rows = TABLE["gather"](g, TABLE["maximum"](ids, 0), axis=0)
    kept = TABLE["reshape"](TABLE["greater_equal"](ids, 0), shape=(*ids.shape, *[1] * (len(g.shape) - 1)))
    return select_in_rule(kept, rows, 0)


def _mean_rule(g: Array, z: Array, x: Array, ids: Array) -> Array:
    ones = TABLE["cast"](TABLE["ones_like"](ids), dtype=dtype_of_any(g))
    sizes = TABLE["reshape"](TABLE["segment_sum"](ones, ids), shape=(-1, *[1] * (len(g.shape) - 1)))
    return _rows(TABLE["div_no_nan"](g, sizes), ids)


def _extreme_rule(kind: str) -> Function:
    """Equal extremes of a segment share the adjoint evenly."""

    def rule(g: Array, z: Array, x: Array, ids: Array, **attrs: Object) -> Array:
        chosen = TABLE["equal"](x, _rows(z, ids))
        shares = TABLE[kind + "_sum"](TABLE["cast"](chosen, dtype=dtype_of_any(g)), ids, **attrs)
        return select_in_rule(chosen, _rows(TABLE["div_no_nan"](g, shares), ids), 0)

    return rule


def _prod_rule(kind: str) -> Function:
    """The product of the other rows, also where one of them is zero."""

    def rule(g: Array, z: Array, x: Array, ids: Array, **attrs: Object) -> Array:
        zero = TABLE["equal"](x, 0)
        zeros = TABLE[kind + "_sum"](TABLE["cast"](zero, dtype=dtype_of_any(g)), ids, **attrs)
        others = TABLE[kind + "_prod"](select_in_rule(zero, 1, x), ids, **attrs)
        shares = select_in_rule(zero, _rows(others, ids), _rows(z, ids) / x)
        return _rows(select_in_rule(TABLE["greater"](zeros, 1), 0, g), ids) * shares

    return rule


def _sum_rule(g: Array, z: Array, x: Array, ids: Array, **attrs: Object) -> Array:
    return _rows(g, ids)


for _kind, _forward in (("segment", _sorted), ("unsorted_segment", _unsorted)):
    _kernel = "".join(part.capitalize() for part in _kind.split("_"))
    for _name, _rule, _keep in (
        ("sum", _sum_rule, "y"), ("mean", _mean_rule, "y"), ("max", _extreme_rule(_kind), "xyz"),
        ("min", _extreme_rule(_kind), "xyz"), ("prod", _prod_rule(_kind), "xyz"),
    ):  # fmt: skip
        if (_kind, _name) != ("unsorted_segment", "mean"):  # which is a sum, divided
            _op = _kernel + _name.capitalize()
            declare(f"{_kind}_{_name}", _forward(_name, _op), [_rule, None], op=_op, keep=_keep)
