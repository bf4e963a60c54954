"""``tf.keras.ops``: one number for many, along axes or over all; and the running sums.

What ``tf`` has under another name is two lines of a table, as in :mod:`minitape.keras.operations.elementwise`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ... import tf
from ...engine.tensor import Tensor
from ..base import as_float, convert
from .common import alike, as_bool, as_summands, find, flat, install

MEANS = """
mean = reduce_mean | The mean.
    [[1, 2], [3, 6]] -> np.float32(3.0)
std = math.reduce_std | The standard deviation: the root of ``var``.
    [1, 3] -> np.float32(1.0)
var = math.reduce_variance | The variance: the mean of the squared distances from the mean.
    [1, 3, 5, 7] -> np.float32(5.0)
logsumexp = reduce_logsumexp | ``log(sum(exp(x)))``, without overflow.
    [[0.0, 0.0], [1.0, 3.0]], axis=1 -> array([0.6931, 3.1269], dtype=float32)
"""
SUMS = """
sum = reduce_sum | The sum.
    [[1, 2], [3, 4]], axis=0 -> array([4, 6], dtype=int32)
"""
QUESTIONS = """
all = reduce_all | Whether all elements are True.
    [[True, False], [True, True]], axis=1 -> array([False,  True])
any = reduce_any | Whether one of the elements is True.
    [[True, False], [False, False]], axis=1 -> array([ True, False])
"""
EXTREMES = """
amax = reduce_max | The largest element, as ``max`` without ``initial``.
    [[1, 5], [7, 3]], axis=1 -> array([5, 7], dtype=int32)
amin = reduce_min | The smallest element, as ``min`` without ``initial``.
    [[1, 5], [7, 3]], axis=1 -> array([1, 3], dtype=int32)
"""
SHARED = "Differentiable; equal ones share the gradient."
TABLES = (
    # table, what it is given, of what, what it gives, gradient
    (MEANS, as_float, "numbers (whole numbers become floats first)", "its dtype", "Differentiable."),
    (SUMS, as_summands, "numbers", "its dtype, for bools and small integers one of 32 bits", "Differentiable."),
    (QUESTIONS, as_bool, "bools, or numbers of which those that are not 0 count as True", "dtype bool",
     "Not differentiable: the gradient is None."),
    (EXTREMES, convert, "numbers", "its dtype", SHARED),
)  # fmt: skip

OVER = """``x`` is a tensor of any shape, or what can become one, of {0}.
    ``axis`` is an axis, several or None for all; they are left out of the result, or have size 1 with ``keepdims``.
    The result has {1}. {2}
    Raises InvalidArgumentError for an axis that is not there."""


def _over(path: str, take: Callable[[Any], Any]) -> Callable[..., Any]:
    def function(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
        return find(path)(take(x), axis=axis, keepdims=keepdims)

    return function


for _table, _take, *_facts in TABLES:
    install(globals(), _table, functools.partial(_over, take=_take), OVER.format(*_facts))


def max(x: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Tensor:
    """The largest element, or ``initial`` where that is larger.

    ``x`` is a tensor of numbers of any shape; ``axis`` is an axis, several or None for all; they are left out of the
    result, or have size 1 with ``keepdims``. The result has the dtype of ``x``. Differentiable; equal ones share the
    gradient. Raises InvalidArgumentError for an empty tensor without ``initial``.

    >>> import minitape as tf
    >>> tf.keras.ops.max([[1, 5], [7, 3]], axis=0).numpy(), tf.keras.ops.max([1, 5], initial=6).numpy()
    (array([7, 5], dtype=int32), np.int32(6))
    """
    return _extreme("max", tf.maximum, convert(x), axis, keepdims, initial)


def min(x: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Tensor:
    """The smallest element, or ``initial`` where that is smaller.

    ``x`` is a tensor of numbers of any shape; ``axis`` is an axis, several or None for all; they are left out of the
    result, or have size 1 with ``keepdims``. The result has the dtype of ``x``. Differentiable; equal ones share the
    gradient. Raises InvalidArgumentError for an empty tensor without ``initial``.

    >>> import minitape as tf
    >>> tf.keras.ops.min([[1, 5], [7, 3]], axis=0).numpy(), tf.keras.ops.min([1, 5], initial=0).numpy()
    (array([1, 3], dtype=int32), np.int32(0))
    """
    return _extreme("min", tf.minimum, convert(x), axis, keepdims, initial)


def _extreme(name: str, choose: Any, x: Any, axis: Any, keepdims: bool, initial: Any) -> Any:
    if initial is None:
        tf.debugging.assert_greater(tf.size(x), 0, message=f"Cannot compute the {name} of an empty tensor.")
    found = find(f"reduce_{name}")(convert(x, "int8") if x.dtype.name == "bool" else x, axis=axis, keepdims=keepdims)
    found = convert(found, x.dtype.name)
    return found if initial is None else choose(found, convert(initial, found.dtype.name))


def prod(x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """The product.

    ``x`` is a tensor of numbers of any shape; ``axis`` is an axis, several or None for all; they are left out of the
    result, or have size 1 with ``keepdims``. The result has the dtype of ``x`` (bools and small integers have 32 bits)
    or ``dtype``. Differentiable. Raises InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> tf.keras.ops.prod([[1, 2], [3, 4]], axis=1).numpy()
    array([ 2, 12], dtype=int32)
    """
    x = as_summands(x) if dtype is None else convert(x, dtype)
    return tf.reduce_prod(x, axis=axis, keepdims=keepdims)


def average(x: Any, axis: Any = None, weights: Any = None) -> Tensor:
    """The mean, in which each element counts as much as its weight says.

    ``x`` is a tensor of numbers (whole numbers become floats first), ``weights`` a vector for the elements of ``axis``
    or a tensor of the shape of ``x``; ``axis`` is an axis, several or None for all. Differentiable in both. Raises InvalidArgumentError for
    weights that do not broadcast.

    >>> import minitape as tf
    >>> tf.keras.ops.average([1, 2, 3], weights=[3, 1, 0]).numpy()
    np.float32(1.25)
    """
    if weights is None:
        return tf.reduce_mean(as_float(x), axis)
    x, weights = map(as_float, alike(x, weights))
    if axis is not None and len(weights.shape) == 1 < len(x.shape):
        sizes = [1] * len(x.shape)
        sizes[axis] = -1
        weights = tf.broadcast_to(tf.reshape(weights, sizes), x.shape)
    return tf.reduce_sum(x * weights, axis) / tf.reduce_sum(weights, axis)


def count_nonzero(x: Any, axis: Any = None) -> Tensor:
    """How many elements are not 0.

    ``x`` is a tensor of numbers or bools of any shape; ``axis`` is an axis, several or None for all. The result is
    int32. Not differentiable.

    >>> import minitape as tf
    >>> tf.keras.ops.count_nonzero([[0, 1], [1, 1]], axis=0).numpy()
    array([1, 2], dtype=int32)
    """
    return tf.math.count_nonzero(convert(x), axis, dtype="int32")


def argmax(x: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Where the largest element is; of equal ones the first.

    ``x`` is a tensor of numbers of any shape; without ``axis`` the places are counted through all axes. The result is
    int32. Not differentiable. Raises InvalidArgumentError for an axis that is empty or not there.

    >>> import minitape as tf
    >>> tf.keras.ops.argmax([[1, 5], [7, 3]]).numpy(), tf.keras.ops.argmax([[1, 5], [7, 3]], axis=1).numpy()
    (np.int32(2), array([1, 0], dtype=int32))
    """
    return _place(tf.argmax, convert(x), axis, keepdims)


def argmin(x: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Where the smallest element is; of equal ones the first.

    ``x`` is a tensor of numbers of any shape; without ``axis`` the places are counted through all axes. The result is
    int32. Not differentiable. Raises InvalidArgumentError for an axis that is empty or not there.

    >>> import minitape as tf
    >>> tf.keras.ops.argmin([[4, 5], [7, 3]]).numpy(), tf.keras.ops.argmin([[4, 5], [7, 3]], axis=1).numpy()
    (np.int32(3), array([0, 1], dtype=int32))
    """
    return _place(tf.argmin, convert(x), axis, keepdims)


def _place(search: Any, x: Any, axis: int | None, keepdims: bool) -> Any:
    line, along = flat(x, axis)
    found = search(line, axis=along, output_type="int32")
    if not keepdims:
        return found
    return tf.reshape(found, [1] * len(x.shape)) if axis is None else tf.expand_dims(found, axis)


def cumsum(x: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The sum of all elements up to each.

    ``x`` is a tensor of numbers of any shape (bools become int32); without ``axis`` all elements count as one row. The
    result has the shape of ``x``, or is a vector, and its dtype or ``dtype``. Differentiable. Raises
    InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> tf.keras.ops.cumsum([1, 2, 3]).numpy()
    array([1, 3, 6], dtype=int32)
    """
    return tf.cumsum(*_running(x, axis, dtype))


def cumprod(x: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The product of all elements up to each.

    ``x`` is a tensor of numbers of any shape (bools become int32); without ``axis`` all elements count as one row. The
    result has the shape of ``x``, or is a vector, and its dtype or ``dtype``. Differentiable. Raises
    InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> tf.keras.ops.cumprod([1, 2, 3, 4]).numpy()
    array([ 1,  2,  6, 24], dtype=int32)
    """
    return tf.math.cumprod(*_running(x, axis, dtype))


def _running(x: Any, axis: int | None, dtype: Any) -> tuple[Any, Any]:
    x = convert(x, dtype)
    return flat(convert(x, "int32") if x.dtype.name == "bool" else x, axis)


def bincount(x: Any, weights: Any = None, minlength: int = 0, sparse: bool = False) -> Tensor:
    """How often each number from 0 on occurs, or the sum of the weights at it.

    ``x`` is a tensor of integers from 0 on, a vector or a matrix whose rows are counted one by one; ``weights`` has its
    shape. The result has as many elements as the largest number asks for, at least ``minlength``; it is int32, or of
    the dtype of ``weights``. Not differentiable. Raises InvalidArgumentError for negative numbers.

    >>> import minitape as tf
    >>> tf.keras.ops.bincount([1, 1, 3], minlength=5).numpy()
    array([0, 2, 0, 1, 0], dtype=int32)
    """
    if sparse:
        raise ValueError("minitape's keras.ops.bincount gives dense tensors only. Received: sparse=True")
    x = convert(x)
    weights = None if weights is None else convert(weights)
    axis = -1 if len(x.shape) > 1 else None
    return tf.math.bincount(convert(x, "int32"), weights, minlength, axis=axis, dtype="int32")
