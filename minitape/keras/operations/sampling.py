"""``tf.keras.random``: tensors of random numbers that depend on a seed only."""

from __future__ import annotations

from typing import Any

from ... import tf
from ...engine.tensor import Tensor
from ..base import floatx, is_float_dtype, is_int_dtype, standardize_dtype
from ..seeds import draw_seed


def normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None) -> Tensor:
    """Normally distributed numbers.

    ``shape`` is a sequence of sizes; ``dtype`` a float dtype, by default ``floatx()``; ``seed`` an int (the same numbers at
    each call), a ``SeedGenerator`` (others at each call) or None. Differentiable in ``mean`` and ``stddev``. Raises
    ValueError for another seed.

    >>> import minitape as tf
    >>> tf.keras.random.normal((2, 3), seed=7).numpy().round(4)
    array([[-0.6742, -0.3587, -1.8796],
           [-1.4729, -2.0063, -1.1334]], dtype=float32)
    """
    return tf.random.stateless_normal(shape, draw_seed(seed), mean, stddev, dtype or floatx())


def truncated_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None) -> Tensor:
    """Normally distributed numbers, none further than two standard deviations from the mean.

    ``shape`` is a sequence of sizes; ``dtype`` a float dtype, by default ``floatx()``; ``seed`` an int (the same numbers at
    each call), a ``SeedGenerator`` (others at each call) or None. Differentiable in ``mean`` and ``stddev``. Raises
    ValueError for another seed.

    >>> import minitape as tf
    >>> tf.keras.random.truncated_normal((3,), stddev=0.1, seed=7).numpy().round(4)
    array([-0.0674, -0.0359, -0.188 ], dtype=float32)
    """
    return tf.random.stateless_truncated_normal(shape, draw_seed(seed), mean, stddev, dtype or floatx())


def uniform(shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Any = None) -> Tensor:
    """Numbers spread evenly from ``minval`` up to ``maxval``, which is left out.

    ``shape`` is a sequence of sizes; ``dtype`` a float dtype, by default ``floatx()``; ``seed`` an int (the same numbers at
    each call), a ``SeedGenerator`` (others at each call) or None. Differentiable in the bounds. Raises ValueError for
    another seed and another dtype.

    >>> import minitape as tf
    >>> tf.keras.random.uniform((3,), minval=-1.0, seed=7).numpy().round(4)
    array([ 0.4942,  0.3444, -0.8844], dtype=float32)
    """
    dtype = standardize_dtype(dtype)
    if not is_float_dtype(dtype):
        raise ValueError(f"`keras.random.uniform` requires a floating point `dtype`. Received: dtype={dtype} ")
    return tf.random.stateless_uniform(shape, draw_seed(seed), tf.cast(minval, dtype), tf.cast(maxval, dtype), dtype)


def randint(shape: Any, minval: int, maxval: int, dtype: Any = "int32", seed: Any = None) -> Tensor:
    """Whole numbers from ``minval`` up to ``maxval``, which is left out.

    ``shape`` is a sequence of sizes; ``dtype`` a dtype of integers; ``seed`` an int (the same numbers at each call), a
    ``SeedGenerator`` (others at each call) or None. Not differentiable. Raises ValueError for another seed and another
    dtype.

    >>> import minitape as tf
    >>> tf.keras.random.randint((5,), 1, 7, seed=7).numpy()
    array([6, 1, 1, 5, 6], dtype=int32)
    """
    kind = standardize_dtype(dtype)
    if not is_int_dtype(kind):
        raise ValueError(f"`keras.random.randint` requires an integer `dtype`. Received: dtype={dtype} ")
    wide = kind if kind in ("int32", "int64") else "int64"
    return tf.cast(tf.random.stateless_uniform(shape, draw_seed(seed), minval, maxval, wide), kind)


def sizes_of(tensor: Any) -> Any:
    """The shape of a tensor: as a tuple of ints, or as a tensor where only a run of the graph knows it."""
    return tuple(tensor.shape) if tensor.shape.is_fully_defined() else tf.shape(tensor)


def dropout(inputs: Any, rate: float, noise_shape: Any = None, seed: Any = None) -> Tensor:
    """Sets a fraction ``rate`` of the elements to zero and scales the others by ``1 / (1 - rate)``.

    ``inputs`` is a tensor of floats of any shape; ``noise_shape`` has 1 (or None for the size of the inputs) for each
    axis along which all are kept or dropped together. The result has the shape and dtype of the inputs.
    Differentiable in ``inputs``. Raises ValueError for a seed that is none.

    >>> import minitape as tf
    >>> tf.keras.random.dropout(tf.ones((6,)), rate=0.5, seed=7).numpy()
    array([2., 2., 0., 2., 0., 2.], dtype=float32)
    """
    shape = sizes_of(inputs)
    if noise_shape is not None:
        shape = [shape[i] if n is None else n for i, n in enumerate(noise_shape)]
    if rate >= 1:
        return inputs * 0.0
    keep = tf.random.stateless_uniform(shape, draw_seed(seed), dtype=inputs.dtype) >= rate
    return tf.where(keep, inputs * (1.0 / (1.0 - rate)), tf.zeros_like(inputs))
