"""Primitives that reduce axes, and their opposite, broadcasting; and running totals along an axis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..accelerator import filled
from . import PLAIN, TABLE, declare

if TYPE_CHECKING:
    from ..typed import Array, Function, NumPyType, Sizes
    from . import Example

Axes = tuple[int, ...] | None


# -- axes -------------------------------------------------------------------------------------------------------------


def checked_axes(x: Array, axis: Axes, op: str) -> Axes:
    """The axes as numbers from 0; InvalidArgumentError for one that is not there or given twice."""
    if axis is None:
        return None
    from ..invalid import invalid

    rank, seen = x.ndim, []
    for a in axis:
        if not -rank <= a < rank:
            raise invalid(f"Invalid reduction dimension ({a} for input with {rank} dimension(s)", op)
        if a % rank in seen:
            raise invalid(f"Invalid reduction arguments: Axes contains duplicate dimension: {a % rank}", op)
        seen.append(a % rank)
    return tuple(seen)


def _axis_set(x: Array, axis: Axes) -> set[int]:
    rank = len(x.shape)
    return set(range(rank)) if axis is None else {a % rank for a in axis}


def _expand(g: Array, x: Array, axis: Axes, keepdims: bool) -> Array:
    """An adjoint of a reduction, with the reduced axes put back as axes of size 1; a number broadcasts as it is."""
    if keepdims or axis is None or not len(x.shape):
        return g
    axes = _axis_set(x, axis)
    return TABLE["reshape"](g, shape=tuple(1 if i in axes else n for i, n in enumerate(x.shape)))


def _spread(g: Array, x: Array, axis: Axes, keepdims: bool) -> Array:
    g, shape = g if axis is None else _expand(g, x, axis, keepdims), tuple(x.shape)
    return _broadcast_to(g, shape=shape) if type(g) in PLAIN else TABLE["broadcast_to"](g, shape=shape)


def _count(x: Array, axis: Axes) -> int:
    return _elements(x.shape, axis)


def _elements(shape: Sizes, axis: Axes) -> int:
    """How many elements of an array of this shape are reduced to one."""
    return math.prod(shape if axis is None else [shape[a] for a in {a % len(shape) for a in axis}])


def _dtype(x: Array) -> Array:
    from ..elements import dtype_of_any

    return dtype_of_any(x)


COPIED = 4096  # elements up to which a number is written out rather than broadcast


def _reducer(op: str, function: Function) -> Function:
    """A forward function of a reduction, with TensorFlow's checks of the axes."""

    def forward(x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
        if axis is not None and (len(axis) != 1 or not 0 <= axis[0] < x.ndim):
            axis = checked_axes(x, axis, op)
        return function(x, axis, keepdims)

    return forward


# -- forward ----------------------------------------------------------------------------------------------------------


_add: Function = np.add.reduce  # NumPy's types want to see whether the axes are kept


def _narrow(x: Array) -> bool:
    """True for floats that are added up in float32."""
    return x.dtype.itemsize == 2 and x.dtype.kind not in "iub"


def _wide_sum(x: Array, axis: Axes, keepdims: bool) -> Array:
    return _add(x, axis, np.float32 if _narrow(x) else x.dtype, None, keepdims)


def _sum(x: Array, axis: Axes, keepdims: bool) -> Array:
    dtype = x.dtype
    if dtype.itemsize == 2 and _narrow(x):
        return _wide_sum(x, axis, keepdims).astype(dtype)
    return _add(x, axis, dtype, None, keepdims)


def _prod(x: Array, axis: Axes, keepdims: bool) -> Array:
    wide = np.float32 if _narrow(x) else x.dtype
    return np.prod(x, axis=axis, keepdims=keepdims, dtype=wide).astype(x.dtype)


def _mean(x: Array, axis: Axes, keepdims: bool) -> Array:
    dtype = x.dtype
    if dtype.kind == "f" and dtype.itemsize > 2 and x.size:
        return _add(x, axis, dtype, None, keepdims) / (x.size if axis is None else _count(x, axis))
    if dtype.kind in "iu":  # integers are divided as C divides them, towards 0
        total, count = np.sum(x, axis=axis, keepdims=keepdims, dtype=np.int64), max(_count(x, axis), 1)
        return (np.sign(total) * (np.abs(total) // count)).astype(dtype)
    if x.size == 0:
        total = np.sum(x, axis=axis, keepdims=keepdims, dtype=dtype)
        return total if dtype.kind == "c" else total / dtype.type(0)
    return (_wide_sum(x, axis, keepdims) / _count(x, axis)).astype(dtype)


def _lowest(dtype: NumPyType, sign: int) -> Array:
    """The neutral element of max (sign -1) or min (sign 1)."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return info.min if sign < 0 else info.max
    return sign * np.inf


def _max(x: Array, axis: Axes, keepdims: bool) -> Array:
    if x.size:
        return np.max(x, axis=axis, keepdims=keepdims)
    return np.full(_reduced_shape(x, axis, keepdims), _lowest(x.dtype, -1), x.dtype)


def _min(x: Array, axis: Axes, keepdims: bool) -> Array:
    if x.size:
        return np.min(x, axis=axis, keepdims=keepdims)
    return np.full(_reduced_shape(x, axis, keepdims), _lowest(x.dtype, 1), x.dtype)


def _reduced_shape(x: Array, axis: Axes, keepdims: bool) -> tuple[int, ...]:
    axes = _axis_set(x, axis)
    return tuple(1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes)


def _euclidean(x: Array, axis: Axes, keepdims: bool) -> Array:
    squares = (
        (x * np.conj(x)) if x.dtype.kind == "c" else x.astype(np.float64 if x.dtype.kind in "iu" else x.dtype) ** 2
    )
    wide = np.float32 if _narrow(squares) else squares.dtype
    return np.sqrt(np.sum(squares, axis=axis, keepdims=keepdims, dtype=wide)).astype(x.dtype)


# -- rules ------------------------------------------------------------------------------------------------------------


def _sum_rule(g: Array, z: Array, x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return _spread(g, x, axis, keepdims)


def _mean_rule(g: Array, z: Array, x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return _spread(g / float(max(_count(x, axis), 1)), x, axis, keepdims)


def _extreme_rule(g: Array, z: Array, x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Ties share the adjoint evenly, as in TensorFlow's ``_MinOrMaxGrad``."""
    like = _expand(z, x, axis, keepdims)
    chosen = TABLE["cast"](TABLE["equal"](x, like), dtype=_dtype(g))
    shares = TABLE["reduce_sum"](chosen, axis=axis, keepdims=True)
    return chosen / shares * _expand(g, x, axis, keepdims)


def _prod_rule(g: Array, z: Array, x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """The product of the others: of those before times those after, so that zeros do no harm."""
    rank = len(x.shape)
    axes = sorted(_axis_set(x, axis))
    rest = [i for i in range(rank) if i not in axes]
    order = (*axes, *rest)
    moved = TABLE["transpose"](x, perm=order) if rank else x
    others = tuple(x.shape[i] for i in rest)
    flat = TABLE["reshape"](moved, shape=(_count(x, axis), *others))
    before = TABLE["cumprod"](flat, axis=0, exclusive=True, reverse=False)
    after = TABLE["cumprod"](flat, axis=0, exclusive=True, reverse=True)
    product = TABLE["reshape"](conjugate(before) * conjugate(after), shape=tuple(x.shape[i] for i in order))
    back = tuple(int(i) for i in np.argsort(order))
    return _spread(g, x, axis, keepdims) * (TABLE["transpose"](product, perm=back) if rank else product)


def conjugate(x: Array) -> Array:
    """The complex conjugate; real arrays and tensors as they are."""
    return TABLE["conj"](x) if _dtype(x).kind == "c" else x


def _euclidean_rule(g: Array, z: Array, x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return _expand(g, x, axis, keepdims) * (x / _expand(z, x, axis, keepdims))


def _matrix(rng: np.random.Generator) -> Example:
    return (rng.normal(size=(2, 3)),), {"axis": (1,), "keepdims": False}


for _name, _kernel, _label, _forward, _rule, _keep in (
    ("reduce_sum", "Sum", "Σ", _sum, _sum_rule, ""),
    ("reduce_mean", "Mean", "mean", _mean, _mean_rule, ""),
    ("reduce_max", "Max", "max", _max, _extreme_rule, "xz"),
    ("reduce_min", "Min", "min", _min, _extreme_rule, "xz"),
    ("reduce_prod", "Prod", "Π", _prod, _prod_rule, "x"),
    ("reduce_euclidean_norm", "EuclideanNorm", "‖x‖", _euclidean, _euclidean_rule, "xz"),
    ("reduce_all", "All", "all", lambda x, axis, keepdims: np.all(x, axis=axis, keepdims=keepdims), None, ""),
    ("reduce_any", "Any", "any", lambda x, axis, keepdims: np.any(x, axis=axis, keepdims=keepdims), None, ""),
):  # fmt: skip
    declare(
        _name,
        _reducer(_kernel, _forward),
        None if _rule is None else [_rule],
        op=_kernel,
        label=_label,
        keep=_keep,
        example=_matrix if _rule else None,
        missing="none" if _rule else "unregistered",
    )


def _unbroadcast(g: Array, shape: tuple[int, ...]) -> Array:
    from ..sweep import unbroadcast

    return unbroadcast(g, shape)


def _broadcast_to(x: Array, *, shape: tuple[int, ...]) -> Array:
    """A view with strides of 0; a copy where that is faster than making the view."""
    if (type(x) is np.float32 or type(x) is np.float64) and type(shape) is tuple and math.prod(shape) <= COPIED:
        return filled(shape, x.dtype, x)
    return np.broadcast_to(x, shape)


declare("broadcast_to", _broadcast_to,
        [lambda g, z, x, *, shape: _unbroadcast(g, tuple(x.shape))], op="BroadcastTo", keep="",
        example=lambda rng: ((rng.normal(size=(2, 1)),), {"shape": (3, 2, 4)}))  # fmt: skip


# -- positions of extremes --------------------------------------------------------------------------------------------


def _position(op: str, best: Array, worst: int) -> Function:
    def forward(x: Array, *, axis: int, dtype: NumPyType) -> Array:
        from ..invalid import at_run

        if not -x.ndim <= axis < x.ndim:
            raise at_run(f"Expected dimension in the range [{-x.ndim}, {x.ndim}), but got {axis}", op)
        if x.shape[axis] == 0:
            sizes = ",".join(map(str, x.shape))
            raise at_run(f"Reduction axis {axis % x.ndim} is empty in shape [{sizes}]", op)
        if x.dtype.kind == "f" and np.isnan(x).any():  # NaN is never the extreme
            x = np.where(np.isnan(x), x.dtype.type(worst * np.inf), x)
        return best(x, axis=axis).astype(dtype.as_numpy_dtype)

    return forward


declare("argmax", _position("ArgMax", np.argmax, -1), None, op="ArgMax", keep="")
declare("argmin", _position("ArgMin", np.argmin, 1), None, op="ArgMin", keep="")


# -- running totals ---------------------------------------------------------------------------------------------------


def _scan(function: Function, empty: float) -> Function:
    """A running total along an axis: of the elements before (exclusive), from the end (reverse)."""

    def forward(x: Array, *, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Array:
        from ..invalid import at_run

        if not -x.ndim <= axis < x.ndim:
            shown = axis if axis >= 0 else axis + x.ndim
            raise at_run(f"ScanOp: Expected scan axis in the range [{-x.ndim}, {x.ndim}), but got {shown}", "Cumsum")
        values = np.flip(x, axis) if reverse else x
        total = function(values, axis)
        if exclusive and total.shape[axis]:
            head = [slice(None)] * x.ndim
            first = [slice(None)] * x.ndim
            head[axis], first[axis] = slice(None, -1), slice(0, 1)
            edge = np.full_like(total[tuple(first)], empty)
            total = np.concatenate([edge, total[tuple(head)]], axis)
        return np.flip(total, axis) if reverse else total

    return forward


def _cumsum_rule(g: Array, z: Array, x: Array, *, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Array:
    return TABLE["cumsum"](g, axis=axis, exclusive=exclusive, reverse=not reverse)


def _cumprod_rule(g: Array, z: Array, x: Array, *, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Array:
    """As TensorFlow: divided by x, and 0 where x is 0 (which is not the derivative there)."""
    from . import special  # noqa: F401 # declares div_no_nan

    product = TABLE["cumprod"](x, axis=axis, exclusive=exclusive, reverse=reverse)
    total = TABLE["cumsum"](product * g, axis=axis, exclusive=exclusive, reverse=not reverse)
    return TABLE["div_no_nan"](total, x)


def _cumsum(x: Array, axis: int) -> Array:
    wide = np.float32 if _narrow(x) else x.dtype
    total = np.cumsum(x, axis, dtype=wide)
    total += 0  # which it begins with: a first -0.0 becomes 0.0
    return total.astype(x.dtype, copy=False)


def _scan_example(rng: np.random.Generator) -> Example:
    return (rng.uniform(0.5, 2.0, size=(3, 2)),), {"axis": 0, "exclusive": False, "reverse": True}


declare("cumsum", _scan(_cumsum, 0.0), [_cumsum_rule], op="Cumsum", label="Σ≤", keep="", example=_scan_example)
declare("cumprod", _scan(lambda x, axis: np.cumprod(x, axis, dtype=x.dtype), 1.0), [_cumprod_rule], op="Cumprod",
        label="Π≤", keep="x", example=_scan_example)  # fmt: skip
