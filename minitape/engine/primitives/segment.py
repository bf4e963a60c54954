"""Primitives that put rows into segments: sums, means, products and extremes of the rows with one id.

Ids are the second input and carry no gradient. Ids of ``segment_*`` are sorted; ``unsorted_segment_*`` take any order
and drop rows with a negative id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..elements import dtype_of
from ..invalid import at_run, invalid, shown
from . import TABLE, declare, special

if TYPE_CHECKING:
    from ..typed import Array, Function, Object
    from . import Example, Rule

__all__ = ["special"]  # whose primitives the rules use


def _checked(x: Array, ids: Array, op: str) -> None:
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
        raise at_run("segment ids are not increasing", op)


def _checked_unsorted(x: Array, ids: Array, count: int, op: str) -> None:
    if count < 0:
        raise invalid(f"Input num_segments == {count} must not be negative.", op)
    if x.shape[: ids.ndim] != ids.shape:
        shapes = [shown(s) for s in (x.shape, ids.shape)]
        raise invalid(f"data.shape = {shapes[0]} does not start with segment_ids.shape = {shapes[1]}", op)
    if np.any(ids >= count):
        at = tuple(int(i[0]) for i in np.nonzero(ids >= count))
        raise at_run(f"segment_ids[{','.join(map(str, at))}] = {ids[at]} is out of range [0, {count})", op)


def _collect(ufunc: np.ufunc, x: Array, ids: Array, count: int, empty: Array) -> Array:
    """``ufunc`` over the rows of each segment; segments without rows hold ``empty``."""
    tail = x.shape[ids.ndim :]
    rows, flat = x.reshape(ids.size, *tail), ids.reshape(-1)
    kept = flat >= 0
    wide = np.float32 if x.dtype.kind == "V" or x.dtype == np.float16 else x.dtype
    out = np.full((count, *tail), empty, wide)
    if kept.any():
        rows, flat = rows[kept].astype(wide), flat[kept]
        if np.any(flat[1:] < flat[:-1]):
            order = np.argsort(flat, kind="stable")
            rows, flat = rows[order], flat[order]
        starts = np.flatnonzero(np.concatenate([[True], flat[1:] != flat[:-1]]))
        found = flat[starts]
        out[found] = ufunc(out[found], ufunc.reduceat(rows, starts, 0))  # ufunc.at takes eight times as long
    return out.astype(x.dtype, copy=False)


def _total(x: Array, ids: Array, count: int) -> Array:
    """The sums of segments. A row that is alone in one stays as it is: the sign of its zeros, too."""
    out = _collect(np.add, x, ids, count, np.array(0))
    alone = np.bincount(ids, minlength=count)[ids] == 1
    out[ids[alone]] = x[alone]
    return out


def _bound(x: Array, sign: int) -> Array:
    dtype = dtype_of(x)
    return dtype.max if sign > 0 else dtype.min


_UFUNC = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
_WORST: dict[object, float] = {np.maximum: -np.inf, np.minimum: np.inf}


def _sorted(name: str, op: str) -> Function:
    def forward(x: Array, ids: Array) -> Array:
        _checked(x, ids, op)
        count = int(ids[-1]) + 1 if ids.size else 0
        if name == "mean":
            sizes = np.maximum(np.bincount(ids, minlength=count), 1).reshape(-1, *[1] * (x.ndim - 1))
            total = _total(x, ids, count)
            return (total // sizes if x.dtype.kind in "iu" else total / sizes).astype(x.dtype)
        if name == "sum":
            return _total(x, ids, count)
        ufunc = _UFUNC[name]
        start: Array = {"prod": 1}.get(name)
        if start is None:
            start = _bound(x, -1 if name == "max" else 1) if x.dtype.kind in "iu" else _WORST[ufunc]
        out = _collect(ufunc, x, ids, count, start)
        if ufunc in _WORST:
            out[np.setdiff1d(np.arange(count), ids)] = 0
        return out

    return forward


def _unsorted(name: str, op: str) -> Function:
    def forward(x: Array, ids: Array, *, num_segments: int) -> Array:
        _checked_unsorted(x, ids, num_segments, op)
        empty = {"sum": 0, "prod": 1}.get(name)
        if empty is None:
            empty = _bound(x, -1 if name == "max" else 1)
        return _collect(_UFUNC[name], x, ids, num_segments, empty)

    return forward


# -- rules ------------------------------------------------------------------------------------------------------------


def _back(g: Array, ids: Array) -> Array:
    """The adjoint of each row: that of its segment, 0 for dropped rows."""
    return TABLE["gather_rows"](g, ids)


def _like(g: Array) -> Array:
    from ..elements import dtype_of_any

    return dtype_of_any(g)


def _divided(sizes: Array, g: Array) -> Array:
    return TABLE["reshape"](sizes, shape=(sizes.shape[0], *[1] * (len(g.shape) - 1)))


def _mean_rule(g: Array, z: Array, x: Array, ids: Array) -> Array:
    ones = TABLE["cast"](TABLE["ones_like"](ids), dtype=_like(g))
    return _back(TABLE["div_no_nan"](g, _divided(TABLE["segment_sum"](ones, ids), g)), ids)


def _extreme_rule(total: str) -> Function:
    """Equal extremes of a segment share the adjoint evenly."""

    def rule(g: Array, z: Array, x: Array, ids: Array, **attrs: Object) -> Array:
        chosen = TABLE["equal"](x, _back(z, ids))
        shares = TABLE[total](TABLE["cast"](chosen, dtype=_like(g)), ids, **attrs)
        rows = _back(TABLE["div_no_nan"](g, shares), ids)
        return TABLE["select"](chosen, rows, TABLE["zeros_like"](rows))

    return rule


def _prod_rule(total: str, product: str) -> Function:
    """The product of the other rows, also where one of them is zero."""

    def rule(g: Array, z: Array, x: Array, ids: Array, **attrs: Object) -> Array:
        zero = TABLE["equal"](x, TABLE["zeros_like"](x))
        zeros = TABLE[total](TABLE["cast"](zero, dtype=_like(g)), ids, **attrs)
        g = TABLE["select"](TABLE["greater"](zeros, TABLE["ones_like"](zeros)), TABLE["zeros_like"](g), g)
        others = TABLE[product](TABLE["select"](zero, TABLE["ones_like"](x), x), ids, **attrs)
        return _back(g, ids) * TABLE["select"](zero, _back(others, ids), _back(z, ids) / x)

    return rule


def _gather_rows(x: Array, ids: Array) -> Array:
    rows = (
        np.take(x, np.maximum(ids, 0), axis=0, mode="clip")
        if x.shape[0]
        else np.zeros(ids.shape + x.shape[1:], x.dtype)
    )
    return rows * (ids >= 0).reshape(*ids.shape, *[1] * (x.ndim - 1)).astype(x.dtype) if np.any(ids < 0) else rows


def _rows(rng: np.random.Generator) -> tuple[Array, Array]:
    return rng.uniform(1, 2, size=(4, 2)), np.array([0, 0, 1, 2])


def _sorted_example(rng: np.random.Generator) -> Example:
    return _rows(rng), {}


def _unsorted_example(rng: np.random.Generator) -> Example:
    return (rng.uniform(1, 2, size=(4, 2)), np.array([1, 0, -1, 1])), {"num_segments": 2}


declare("gather_rows", _gather_rows,
        [lambda g, z, x, ids: TABLE["unsorted_segment_sum"](g, ids, num_segments=x.shape[0]), None],
        op="GatherDropNegatives", label="gather", keep="y",
        example=lambda rng: ((rng.normal(size=(3, 2)), np.array([2, 0, -1, 2])), {}))  # fmt: skip

_RULES: dict[str, Function] = {
    "sum": lambda g, z, x, ids, **attrs: _back(g, ids), "max": _extreme_rule, "min": _extreme_rule, "prod": _prod_rule,
}  # fmt: skip
for _name in ("sum", "mean", "max", "min", "prod"):
    _kernel = "Segment" + _name.capitalize()
    _rule: Rule = {"sum": _RULES["sum"], "mean": _mean_rule, "prod": _prod_rule("segment_sum", "segment_prod")}.get(
        _name, _extreme_rule("segment_sum"))  # fmt: skip
    declare(f"segment_{_name}", _sorted(_name, _kernel), [_rule, None], op=_kernel, keep="y" if _name in ("sum", "mean")
            else "xyz", example=_sorted_example)  # fmt: skip
for _name in ("sum", "max", "min", "prod"):
    _kernel = "UnsortedSegment" + _name.capitalize()
    _rule = {"sum": _RULES["sum"], "prod": _prod_rule("unsorted_segment_sum", "unsorted_segment_prod")}.get(
        _name, _extreme_rule("unsorted_segment_sum"))  # fmt: skip
    declare(f"unsorted_segment_{_name}", _unsorted(_name, _kernel), [_rule, None], op=_kernel,
            keep="y" if _name == "sum" else "xyz", example=_unsorted_example)  # fmt: skip
