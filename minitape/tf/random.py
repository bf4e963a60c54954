"""``tf.random``: NumPy's generator behind TensorFlow's names. The numbers are not TensorFlow's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.tensor.tensor import Tensor, create_tensor
from ..engine.values.argument_errors import build_argument_error
from ..engine.values.dtypes import as_dtype
from .arguments import to_integer_vector, to_sizes, to_tensor

if TYPE_CHECKING:
    from ..engine.types import Array, DTypeLike, GraphName, ShapeLike, Value

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


def _get_generator(seed: int | None) -> np.random.Generator:
    return _GENERATORS[0] if seed is None else np.random.default_rng(seed)


def normal(
    shape: ShapeLike,
    mean: Value = 0.0,
    stddev: Value = 1.0,
    dtype: DTypeLike = "float32",
    seed: int | None = None,
    name: GraphName = None,
) -> Tensor:
    """Normally distributed floats, with this mean and standard deviation, which broadcast. Differentiable in both.

    A ``seed`` gives the same numbers at each call. Raises TypeError for a dtype that is not of floats.

    >>> import minitape as tf
    >>> tf.random.normal([2, 3]).shape
    TensorShape([2, 3])
    """
    numbers = _get_generator(seed).standard_normal(to_sizes(to_integer_vector(shape, "shape")))
    return _scale_and_shift(numbers, dtype, stddev, mean)


def uniform(
    shape: ShapeLike,
    minval: Value = 0,
    maxval: Value = None,
    dtype: DTypeLike = "float32",
    seed: int | None = None,
    name: GraphName = None,
) -> Tensor:
    """Numbers spread evenly from ``minval`` up to, not including, ``maxval``: floats (up to 1 by default) or integers.

    Differentiable in both for floats. Raises ValueError for integers without ``maxval``.

    >>> import minitape as tf
    >>> tf.random.uniform([2], maxval=10, dtype=tf.int32).dtype
    tf.int32
    """
    number_dtype, sizes = as_dtype(dtype), to_sizes(to_integer_vector(shape, "shape"))
    if not number_dtype.is_integer:
        high, low = to_tensor(1 if maxval is None else maxval, number_dtype), to_tensor(minval, number_dtype)
        return _scale_and_shift(_get_generator(seed).random(sizes), dtype, high - low, low)
    if maxval is None:
        raise ValueError(f"tf.random.uniform of {number_dtype.name} takes a maxval")
    low, high = (to_tensor(bound, number_dtype).array for bound in (minval, maxval))
    if not np.all(low < high):
        raise build_argument_error(f"minval must be less than maxval, got {low} and {high}")
    return create_tensor(_get_generator(seed).integers(low, high, sizes, number_dtype.as_numpy_dtype))


def _scale_and_shift(numbers: Array, dtype: DTypeLike, scale: Value, offset: Value) -> Tensor:
    """Give numbers of unit scale another scale and offset, recorded, so that gradients reach both."""
    number_dtype = as_dtype(dtype)
    if not number_dtype.is_floating:
        raise TypeError(f"tf.random makes floats or integers, not {number_dtype.name}")
    shifted: Tensor = create_tensor(numbers.astype(number_dtype.as_numpy_dtype)) * scale + offset
    return shifted
