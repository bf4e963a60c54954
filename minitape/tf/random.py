"""``tf.random``: NumPy's generator behind TensorFlow's names. The numbers are not TensorFlow's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.tensor.tensor import Tensor, new_tensor
from ..engine.values.dtypes import as_dtype
from ..engine.values.invalid import invalid
from .arguments import sizes_of, tensor_of, vector

if TYPE_CHECKING:
    from ..engine.types import Array, DTypeLike, Name, ShapeLike, Value

_GENERATORS = [np.random.default_rng()]  # one, in whose place `set_seed` puts another


def set_seed(seed: int) -> None:
    """Makes the numbers that follow the same in each run.

    >>> import minitape as tf
    >>> tf.random.set_seed(1)
    >>> first = tf.random.normal([2]).numpy()
    >>> tf.random.set_seed(1)
    >>> bool((first == tf.random.normal([2]).numpy()).all())
    True
    """
    _GENERATORS[0] = np.random.default_rng(seed)


def _generator(seed: int | None) -> np.random.Generator:
    return _GENERATORS[0] if seed is None else np.random.default_rng(seed)


def normal(
    shape: ShapeLike,
    mean: Value = 0.0,
    stddev: Value = 1.0,
    dtype: DTypeLike = "float32",
    seed: int | None = None,
    name: Name = None,
) -> Tensor:
    """Normally distributed floats, with this mean and standard deviation, which broadcast. Differentiable in both.

    A ``seed`` gives the same numbers at each call. Raises TypeError for a dtype that is not of floats.

    >>> import minitape as tf
    >>> tf.random.normal([2, 3]).shape
    TensorShape([2, 3])
    """
    numbers = _generator(seed).standard_normal(sizes_of(vector(shape, "shape")))
    return _shift(numbers, dtype, stddev, mean)


def uniform(
    shape: ShapeLike,
    minval: Value = 0,
    maxval: Value = None,
    dtype: DTypeLike = "float32",
    seed: int | None = None,
    name: Name = None,
) -> Tensor:
    """Numbers spread evenly from ``minval`` up to, not including, ``maxval``: floats (up to 1 by default) or integers.

    Differentiable in both for floats. Raises ValueError for integers without ``maxval``.

    >>> import minitape as tf
    >>> tf.random.uniform([2], maxval=10, dtype=tf.int32).dtype
    tf.int32
    """
    kind, sizes = as_dtype(dtype), sizes_of(vector(shape, "shape"))
    if not kind.is_integer:
        high, low = tensor_of(1 if maxval is None else maxval, kind), tensor_of(minval, kind)
        return _shift(_generator(seed).random(sizes), dtype, high - low, low)
    if maxval is None:
        raise ValueError(f"tf.random.uniform of {kind.name} takes a maxval")
    low, high = (tensor_of(v, kind).array for v in (minval, maxval))
    if not np.all(low < high):
        raise invalid(f"minval must be less than maxval, got {low} and {high}")
    return new_tensor(_generator(seed).integers(low, high, sizes, kind.as_numpy_dtype))


def _shift(numbers: Array, dtype: DTypeLike, scale: Value, shift: Value) -> Tensor:
    """Numbers of unit scale with another one, recorded, so that gradients reach scale and shift."""
    kind = as_dtype(dtype)
    if not kind.is_floating:
        raise TypeError(f"tf.random makes floats or integers, not {kind.name}")
    out: Tensor = new_tensor(numbers.astype(kind.as_numpy_dtype)) * scale + shift
    return out
