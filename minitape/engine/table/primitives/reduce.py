"""Declare the reductions along axes and their adjoint, broadcasting."""

from math import prod

import numpy as np
from numpy import ndarray

from ...types import Adjoint, Array, Function, Sizes
from ...values.argument_errors import build_argument_error
from ...values.dtypes import DType, as_dtype
from ..accelerator import create_filled_array
from . import TABLE, declare
from .numerics import get_extreme_value_of_dtype

Axes = Sizes | None


# -- axes ------------------------------------------------------------------------------------------


def _expand_reduced_axes(g: Array, x: Array, axis: Axes, keepdims: bool) -> Array:
    """Restore the reduced axes of an array, as axes of size 1.

    If only the first axis or all axes were reduced, the array does not change, because it broadcasts without these
    axes.
    """
    rank = len(x.shape)
    if keepdims or axis is None or axis == (0,) or not rank:
        return g
    axes = {axis_number % rank for axis_number in axis}
    return TABLE["reshape"](g, shape=tuple(1 if i in axes else n for i, n in enumerate(x.shape)))


def _broadcast_adjoint_to_input(g: Array, x: Array, axis: Axes, keepdims: bool) -> Array:
    g = _expand_reduced_axes(g, x, axis, keepdims)
    shape = tuple(x.shape)
    if isinstance(g, (ndarray, np.generic)):
        return _compute_broadcast(g, shape=shape)
    return TABLE["broadcast_to"](g, shape=shape)


def _count_reduced_elements(x: Array, axis: Axes) -> int:
    """Return the number of elements that are reduced to one element."""
    return prod(x.shape if axis is None else [x.shape[axis_number] for axis_number in axis])


def _build_reduction(op: str, function: Function) -> Function:
    """Build the forward function of a reduction.

    The function computes half-precision inputs in float32, and raises InvalidArgumentError if an axis does not exist or
    occurs twice.
    """

    def compute_reduction(x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
        dtype = x.dtype
        try:
            if dtype.itemsize != 2 or dtype.kind in "iu":
                return function(x, axis, keepdims)
            return function(x.astype(np.float32), axis, keepdims).astype(dtype)
        except ValueError as error:
            raise build_argument_error(
                f"Invalid reduction arguments: {error} (input with {x.ndim} dimensions)", op
            ) from None

    return compute_reduction


# -- forward ---------------------------------------------------------------------------------------


_sum_axes: Function = np.add.reduce  # The arguments are an array, axes, a dtype, None and keepdims.


def _compute_mean(x: Array, axis: Axes, keepdims: bool) -> Array:
    dtype = x.dtype
    if dtype.kind not in "iu":
        return _sum_axes(x, axis, dtype, None, keepdims) / _count_reduced_elements(x, axis)
    total = _sum_axes(x, axis, np.int64, None, keepdims)
    count = max(_count_reduced_elements(x, axis), 1)
    # TensorFlow divides integers like C, which rounds toward 0.
    return (np.sign(total) * (np.abs(total) // count)).astype(dtype)


def _build_extreme_reduction(ufunc: np.ufunc, sign: int) -> Function:
    reduce_axes: Function = ufunc.reduce

    def compute_extreme(x: Array, axis: Axes, keepdims: bool) -> Array:
        if x.size:
            return reduce_axes(x, axis, None, None, keepdims)
        return reduce_axes(x, axis, None, None, keepdims, get_extreme_value_of_dtype(x.dtype, sign))

    return compute_extreme


# -- rules -----------------------------------------------------------------------------------------


def _apply_sum_rule(g: Array, z: Array, x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return _broadcast_adjoint_to_input(g, x, axis, keepdims)


def _apply_mean_rule(g: Array, z: Array, x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return _broadcast_adjoint_to_input(g / float(max(_count_reduced_elements(x, axis), 1)), x, axis, keepdims)


def _apply_extreme_rule(g: Array, z: Array, x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return the share of the input.

    Equal extreme elements share the adjoint evenly, as in TensorFlow's ``_MinOrMaxGrad``.
    """
    expanded = _expand_reduced_axes(z, x, axis, keepdims)
    is_extreme = TABLE["cast"](TABLE["equal"](x, expanded), dtype=as_dtype(g.dtype))
    tie_counts = TABLE["reduce_sum"](is_extreme, axis=axis, keepdims=True)
    return is_extreme / tie_counts * _expand_reduced_axes(g, x, axis, keepdims)


for _name, _kernel, _label, _forward, _rule, _keep in (
    (
        "reduce_sum",
        "Sum",
        "Σ",
        lambda x, axis, keepdims: _sum_axes(x, axis, x.dtype, None, keepdims),
        _apply_sum_rule,
        "",
    ),
    ("reduce_mean", "Mean", "mean", _compute_mean, _apply_mean_rule, ""),
    ("reduce_max", "Max", "max", _build_extreme_reduction(np.maximum, -1), _apply_extreme_rule, "xz"),
    ("reduce_min", "Min", "min", _build_extreme_reduction(np.minimum, 1), _apply_extreme_rule, "xz"),
    ("reduce_all", "All", "all", lambda x, axis, keepdims: np.all(x, axis, None, keepdims), None, ""),
    ("reduce_any", "Any", "any", lambda x, axis, keepdims: np.any(x, axis, None, keepdims), None, ""),
):
    declare(_name, _build_reduction(_kernel, _forward), _rule and [_rule], op=_kernel, label=_label, keep=_keep,
            missing="none" if _rule else "unregistered")  # fmt: skip


def unbroadcast(g: Adjoint, shape: Sizes) -> Adjoint:
    """Sum an adjoint over the axes along which an input was broadcast.

    >>> unbroadcast(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    >>> unbroadcast(np.ones((2, 3)), (2, 1))
    array([[3.],
           [3.]])

    Args:
        g: The adjoint of the output, an array or a tensor.
        shape: The shape of the input.

    Returns:
        The adjoint in the shape of the input.
    """
    is_array = isinstance(g, (ndarray, np.generic))
    adjoint_shape = g.shape if is_array else g.dims
    extra = len(adjoint_shape) - len(shape)
    axes = tuple(
        [
            position
            for position, n in enumerate(adjoint_shape)
            if position < extra or (n != 1 and shape[position - extra] == 1)
        ]
    )
    if axes:
        g = np.add.reduce(g, axes, g.dtype) if is_array else TABLE["reduce_sum"](g, axis=axes, keepdims=False)
    if (g.shape if is_array else g.dims) != shape:
        g = TABLE["reshape" if prod(g.shape) == prod(shape) else "broadcast_to"](g, shape=shape)
    return g


MAX_COPIED_SIZE = 4096  # Copies with up to this many elements are faster than broadcast views.


def _compute_broadcast(x: Array, *, shape: Sizes) -> Array:
    """Broadcast an array to a shape. The result is a copy if that is faster than a view."""
    if type(shape) is tuple and prod(shape) <= MAX_COPIED_SIZE and x.ndim <= len(shape):
        if type(x) is not ndarray:
            return create_filled_array(shape, x.dtype, x)
        copied = np.empty(shape, x.dtype)
        copied[...] = x
        return copied
    return np.broadcast_to(x, shape)


declare(
    "broadcast_to",
    _compute_broadcast,
    [lambda g, z, x, *, shape: unbroadcast(g, tuple(x.shape))],
    keep="",
)


# -- along one axis --------------------------------------------------------------------------------


def _build_extreme_position_search(op: str, find_extreme: Function, sign: int) -> Function:
    def find_position(x: Array, *, axis: int, dtype: DType) -> Array:
        if not -x.ndim <= axis < x.ndim or x.shape[axis] == 0:
            raise build_argument_error(
                f"Expected a dimension in [{-x.ndim}, {x.ndim}) that is not empty, but got {axis} for the shape "
                f"{x.shape}",
                op,
            )
        if x.dtype.kind == "f" and np.isnan(x).any():  # TensorFlow never returns the position of a NaN.
            x = np.where(np.isnan(x), get_extreme_value_of_dtype(x.dtype, sign), x)
        return find_extreme(x, axis).astype(dtype.as_numpy_dtype)

    return find_position


declare("argmax", _build_extreme_position_search("ArgMax", np.argmax, -1), None, op="ArgMax", keep="")
declare("argmin", _build_extreme_position_search("ArgMin", np.argmin, 1), None, op="ArgMin", keep="")
