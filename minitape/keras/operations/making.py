"""``tf.keras.ops``: new tensors, and what is known of a tensor without computing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import tf
from ...engine.tensor import Tensor
from ..base import as_float, convert, floatx, is_keras_tensor, result_type, standardize_dtype
from .common import alike


def convert_to_tensor(x: Any, dtype: Any = None, sparse: Any = None, ragged: Any = None) -> Any:
    """``x`` as a tensor.

    ``x`` is a tensor, a variable, an array, a number or nested lists of equal lengths; ``dtype`` is a dtype or its name,
    by default that of ``x``: int32 for whole Python numbers, float32 for others. A symbolic tensor is given back.
    Differentiable. Raises ValueError for lists of unequal lengths and for what has no dtype.

    >>> import minitape as tf
    >>> tf.keras.ops.convert_to_tensor([1, 2], dtype="float16")
    <tf.Tensor: shape=(2,), dtype=float16, numpy=array([1., 2.], dtype=float16)>
    """
    if sparse or ragged:
        raise ValueError(
            "minitape's keras.ops makes dense tensors only: use tf.sparse.from_dense or tf.ragged.constant."
        )
    return x if is_keras_tensor(x) else convert(x, dtype)


def array(x: Any, dtype: Any = None) -> Tensor:
    """``x`` as a tensor; the same as ``convert_to_tensor``, under NumPy's name.

    Takes what ``convert_to_tensor`` takes and raises what it raises. Differentiable.

    >>> import minitape as tf
    >>> tf.keras.ops.array([[1, 2], [3, 4]])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 2],
           [3, 4]], dtype=int32)>
    """
    return convert_to_tensor(x, dtype)


def convert_to_numpy(x: Any) -> Any:
    """A copy of a tensor as an array of NumPy.

    ``x`` is a tensor of any shape and dtype, or what NumPy makes an array of; the array has its shape and dtype. What
    NumPy computes is not recorded, so no gradient flows through it. Raises ValueError for a symbolic tensor.

    >>> import minitape as tf
    >>> tf.keras.ops.convert_to_numpy(tf.constant([1.0, 2.0]))
    array([1., 2.], dtype=float32)
    """
    return np.array(x.numpy() if hasattr(x, "numpy") else x)


def is_tensor(x: Any) -> bool:
    """True for a tensor, False for an array, a number or a list.

    Takes any object and raises nothing.

    >>> import minitape as tf
    >>> tf.keras.ops.is_tensor(tf.constant(1)), tf.keras.ops.is_tensor([1])
    (True, False)
    """
    return tf.is_tensor(x)


def cast(x: Any, dtype: Any) -> Any:
    """``x`` with elements of another type.

    ``x`` is a tensor of any shape, also a symbolic one; ``dtype`` is a dtype or its name. Floats lose their fraction when
    they become integers. Differentiable between floats. Raises ValueError for an unknown dtype.

    >>> import minitape as tf
    >>> tf.keras.ops.cast([1.7, -1.7], "int32").numpy()
    array([ 1, -1], dtype=int32)
    """
    return x.cast(dtype) if is_keras_tensor(x) else convert(x, dtype)


def shape(x: Any) -> tuple[Any, ...]:
    """The sizes of a tensor as a tuple.

    ``x`` is a tensor of any shape and dtype, or what can become one; unknown sizes of a symbolic one are None. Raises
    ValueError for what cannot become a tensor.

    >>> import minitape as tf
    >>> tf.keras.ops.shape([[1, 2, 3]]), tf.keras.ops.shape(tf.keras.Input((3,)))
    ((1, 3), (None, 3))
    """
    return tuple(x.shape if hasattr(x, "shape") else convert(x).shape)


def ndim(x: Any) -> int:
    """The number of axes as an int.

    ``x`` is a tensor of any shape and dtype, also a symbolic one, or what can become one. Raises ValueError for what can
    not become a tensor.

    >>> import minitape as tf
    >>> tf.keras.ops.ndim([[1, 2, 3]])
    2
    """
    return len(shape(x))


def zeros(shape: Any, dtype: Any = None) -> Tensor:
    """A tensor of zeros.

    ``shape`` is a size or a sequence of sizes; ``dtype`` is a dtype or its name, by default ``floatx()``. Raises
    ValueError for an unknown dtype.

    >>> import minitape as tf
    >>> tf.keras.ops.zeros((2, 3)).numpy()
    array([[0., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    return tf.zeros(shape, standardize_dtype(dtype or floatx()))


def ones(shape: Any, dtype: Any = None) -> Tensor:
    """A tensor of ones.

    ``shape`` is a size or a sequence of sizes; ``dtype`` is a dtype or its name, by default ``floatx()``. Raises
    ValueError for an unknown dtype.

    >>> import minitape as tf
    >>> tf.keras.ops.ones((2, 3), dtype="int32").numpy()
    array([[1, 1, 1],
           [1, 1, 1]], dtype=int32)
    """
    return tf.ones(shape, standardize_dtype(dtype or floatx()))


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """A tensor of one value.

    ``shape`` is a sequence of sizes; ``fill_value`` is a scalar or broadcasts to it; ``dtype`` is a dtype or its name, by
    default ``floatx()``. Differentiable in ``fill_value``. Raises InvalidArgumentError for a value that does not
    broadcast to the shape.

    >>> import minitape as tf
    >>> tf.keras.ops.full((2, 2), 7).numpy()
    array([[7., 7.],
           [7., 7.]], dtype=float32)
    """
    return tf.broadcast_to(convert(fill_value, dtype or floatx()), shape)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Tensor:
    """A matrix with ones on a diagonal and zeros elsewhere.

    It has ``N`` rows and ``M`` columns (``N`` by default); ``k`` counts diagonals upwards from the main one; ``dtype`` is
    by default ``floatx()``. Raises ValueError for an unknown dtype.

    >>> import minitape as tf
    >>> tf.keras.ops.eye(2, 3, k=1).numpy()
    array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    return convert(np.eye(N, M, k), dtype or floatx())


def identity(n: int, dtype: Any = None) -> Tensor:
    """The square matrix of ``n`` rows that leaves a vector as it is.

    ``dtype`` is a dtype or its name, by default ``floatx()``. Raises ValueError for an unknown dtype.

    >>> import minitape as tf
    >>> tf.keras.ops.identity(2).numpy()
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return eye(n, dtype=dtype)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Tensor:
    """A vector of numbers from ``start`` up to ``stop``, which is left out.

    The numbers are Python's or scalar tensors; one alone is ``stop``, and ``start`` is 0. ``dtype`` is by default what holds
    all of them: int32 for whole Python numbers, ``floatx()`` for others. Raises InvalidArgumentError for a ``step`` of 0.

    >>> import minitape as tf
    >>> tf.keras.ops.arange(3).numpy(), tf.keras.ops.arange(0, 1, 0.5).numpy()
    (array([0, 1, 2], dtype=int32), array([0. , 0.5], dtype=float32))
    """
    if dtype is None:
        dtype = result_type(*(getattr(v, "dtype", type(v)) for v in (start, stop, step) if v is not None))
    first, last = (0, start) if stop is None else (start, stop)
    return tf.range(first, last, 1 if step is None else step, standardize_dtype(dtype))


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0
) -> Any:
    """``num`` numbers at equal distances from ``start`` to ``stop``, which ``endpoint=False`` leaves out.

    ``start`` and ``stop`` are numbers or tensors that broadcast; the numbers stand along a new ``axis``. ``dtype`` is by
    default the float type of both; integers are rounded down. With ``retstep`` the distance comes as a second tensor.
    Differentiable in both. Raises ValueError for a negative ``num``.

    >>> import minitape as tf
    >>> tf.keras.ops.linspace(0, 1, 5).numpy()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    if num < 0:
        raise ValueError(f"`num` must be a non-negative integer. Received: num={num}")
    start, stop = map(as_float, alike(start, stop)) if dtype is None else (convert(v, dtype) for v in (start, stop))
    kind, parts = start.dtype.name, num - endpoint
    step = (stop - start) / parts if parts > 0 else tf.constant(np.nan)
    if not endpoint and num > 1:
        start, stop = tf.cast(start, step.dtype), tf.cast(stop, step.dtype) - step
    numbers = tf.linspace(start, stop, num, axis=axis)
    numbers = convert(tf.floor(numbers) if "int" in kind else numbers, kind)
    return (numbers, step) if retstep else numbers
