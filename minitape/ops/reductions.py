"""Reductions of ``tf.math``: sums, means, extremes, norms and counts over axes; running totals along one."""

from __future__ import annotations

from sys import _getframe
from typing import Any

import numpy as np

from ..engine.table.primitives import TABLE, special  # noqa: F401 - special fills the table
from ..engine.tensor.convert import convert_to_tensor, is_array
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.values import dtypes
from ..engine.values.invalid import invalid, shape_text
from .operands import axes_of, call, integers, is_tensor_like, static, tensor_of, with_name


def _axes(axis: Any, op: str, like: bool) -> tuple[int, ...] | None:
    """The axis argument as ints; the kernel's refusal of other numbers and of text."""
    if type(axis) is int:
        return (axis,)
    if isinstance(axis, (list, tuple)) and not axis:
        return ()
    if like and (type(axis) is float or isinstance(axis, np.floating)):  # then the axis is converted to int32
        axis = tensor_of(axis, dtypes.int32)
    indices = tensor_of(axis)
    return axes_of(indices)


def _reduction(name: str, sentence: str, example: str, dtype: Any = None) -> Any:
    primitive = TABLE[name]

    def function(input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None) -> Tensor:
        x: Tensor
        if type(input_tensor) is EagerTensor:
            x = input_tensor
        elif hasattr(input_tensor, "_reduce"):  # a ragged tensor
            return input_tensor._reduce(primitive.name, axis, bool(keepdims))
        else:
            x = tensor_of(input_tensor, dtype)
        if dtype is not None and isinstance(axis, (list, tuple, str)):  # TensorFlow then converts all arguments anew
            x = convert_to_tensor(x, dtype)
        axes = None if axis is None else _axes(axis, primitive.op, is_tensor_like(input_tensor))
        return apply(primitive, (x,), {"axis": axes, "keepdims": bool(keepdims)})

    general = with_name(function, name, "", __name__)

    def at_once(input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None) -> Tensor:
        if type(input_tensor) is EagerTensor and (axis is None or type(axis) is int):
            attributes = {"axis": axis if axis is None else (axis,), "keepdims": bool(keepdims)}
            return apply(primitive, (input_tensor,), attributes, _getframe(1))
        return general(input_tensor, axis, keepdims)

    differentiable = "Differentiable." if primitive.rules is not None else "Not differentiable."
    argument, _, result = example.partition(" -> ")
    doc = f"""{sentence} over the axes in ``axis`` (all of them for None).

    ``axis`` is an int, a list of ints or a tensor; ``keepdims`` keeps the reduced axes with size 1. The result has the
    dtype of ``input_tensor``. {differentiable}
    Raises InvalidArgumentError for an axis that is not there or twice, and for dtypes that have no such reduction.

    >>> import minitape as tf
    >>> print(tf.math.{name}({argument}).numpy())
    {result}
    """
    return with_name(at_once, name, doc, __name__)


reduce_sum = _reduction("reduce_sum", "The sum", "[[1, 2], [3, 4]], axis=0 -> [4 6]")
reduce_mean = _reduction("reduce_mean", "The mean (of ints an int)", "[[1.0, 2.0], [3.0, 4.0]], axis=1 -> [1.5 3.5]")
reduce_max = _reduction("reduce_max", "The largest element; its gradient is shared by equal ones", "[1, 5, 3] -> 5")
reduce_min = _reduction("reduce_min", "The smallest element; its gradient is shared by equal ones", "[1, 5, 3] -> 1")
reduce_all = _reduction("reduce_all", "Whether all are true", "[True, False] -> False", dtypes.bool)
reduce_any = _reduction("reduce_any", "Whether any is true", "[True, False] -> True", dtypes.bool)
reduce_euclidean_norm = _reduction(
    "reduce_euclidean_norm", "The square root of the sum of squares", "[3.0, 4.0] -> 5.0"
)


def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The mean squared distance from the mean over the axes in ``axis``; real for complex tensors. Differentiable.

    Raises TypeError for integers.

    >>> import minitape as tf
    >>> print(tf.math.reduce_variance([1.0, 3.0]).numpy())
    1.0
    """
    x = tensor_of(input_tensor)
    means = reduce_mean(x, axis, True)
    if means.dtype.is_integer:
        raise TypeError(f"Input must be either real or complex. Received integer type {means.dtype}.")
    away = x - means
    squares = call("real", call("conj", away) * away) if x.dtype.kind == "c" else call("square", away)
    return reduce_mean(squares, axis, keepdims)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The standard deviation over the axes in ``axis``. Differentiable; the gradient of constants is NaN.

    Raises TypeError for integers.

    >>> import minitape as tf
    >>> print(tf.math.reduce_std([1.0, 3.0]).numpy())
    1.0
    """
    return call("sqrt", reduce_variance(input_tensor, axis, keepdims))


def count_nonzero(
    input: Any, axis: Any = None, keepdims: Any = None, dtype: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """How many elements are not zero (not empty, for strings) along the axes in ``axis``. Not differentiable.

    >>> import minitape as tf
    >>> print(tf.math.count_nonzero([[0, 1, 0], [1, 1, 0]], axis=0).numpy())
    [1 2 0]
    """
    x = tensor_of(input)
    zero = tensor_of(b"" if x.dtype.kind == "s" else x.dtype.as_numpy_dtype(0))
    found = call("cast", call("not_equal", x, zero), dtype=dtypes.int64)
    return call("cast", reduce_sum(found, axis, bool(keepdims)), dtype=dtypes.as_dtype(dtype))


def _one_axis(axis: Any, name: str) -> int:
    place = static(axis)
    if name == "argmax":  # which is stricter than argmin
        if hasattr(axis, "dtype") and (is_array(axis) or not axis.dtype.is_integer):
            raise TypeError(f"axis tensor dtypes {axis.dtype} is not supported")
        if not hasattr(axis, "dtype") and not isinstance(place, int):
            raise TypeError("axis must be int or Tensor with integer datatype")
    if not isinstance(place, int):
        integers(axis, "ArgMin", "Tidx")
        raise invalid(f"dim must be a scalar, but received tensor of shape: {shape_text(np.shape(place))}", "ArgMin")
    return int(place)


def _position(name: str, sentence: str, result: int) -> Any:
    def function(input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None) -> Any:
        dtype = dtypes.as_dtype(output_type)
        place = 0 if axis is None else _one_axis(axis, made)
        return call(made, tensor_of(input), axis=int(place), dtype=dtype)

    made = name
    doc = f"""The position of the {sentence} element along ``axis`` (the first axis for None); the first of equal ones.

    The result has ``output_type`` (int64 or int32). NaN is passed over. Not differentiable. Raises InvalidArgumentError
    for an axis that is not there or empty.

    >>> import minitape as tf
    >>> print(tf.{name}([3.0, 9.0, 1.0]).numpy())
    {result}
    """
    return with_name(function, name, doc, __name__)


argmax = _position("argmax", "largest", 1)
argmin = _position("argmin", "smallest", 2)


# -- running totals --------------------------------------------------------------------------------


def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """The running sum along ``axis``; ``exclusive`` leaves the own element out, ``reverse`` starts at the end.

    Same shape and dtype as x. Differentiable. Raises InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> print(tf.cumsum([1, 2, 3]).numpy(), tf.cumsum([1, 2, 3], exclusive=True).numpy())
    [1 3 6] [0 1 3]
    """
