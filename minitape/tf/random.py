"""Define the functions of ``tf.random``. They draw their numbers from NumPy's generator.

The functions and their arguments follow TensorFlow (https://www.tensorflow.org/api_docs/python/tf/random), but the
numbers differ.
"""

from __future__ import annotations

import numpy as np

from ..engine.tensor.tensor import Tensor, wrap_array_with_origin
from ..engine.types import Array, DTypeLike, GraphName, OptionalNumber, ShapeLike, Value
from ..engine.values.argument_errors import build_argument_error
from ..engine.values.dtypes import as_dtype
from .arguments import to_integer_vector, to_sizes, to_tensor

_GENERATORS = [np.random.default_rng()]  # This list contains only the shared generator, which `set_seed` replaces.


def set_seed(seed: int) -> None:
    """Set the seed of the shared generator so that each run draws the same numbers.

    See https://www.tensorflow.org/api_docs/python/tf/random/set_seed.

    Args:
        seed: The seed for NumPy's generator.

    Raises:
        TypeError: If the seed is not an integer.
        ValueError: If the seed is negative.

    >>> import minitape as tf
    >>> tf.random.set_seed(1)
    >>> first = tf.random.normal([2]).numpy()
    >>> tf.random.set_seed(1)
    >>> bool((first == tf.random.normal([2]).numpy()).all())
    True
    """
    _GENERATORS[0] = np.random.default_rng(seed)


def _get_generator(seed: OptionalNumber) -> np.random.Generator:
    """Return a new generator for a seed, or the shared generator for None."""
    return _GENERATORS[0] if seed is None else np.random.default_rng(seed)


def normal(
    shape: ShapeLike,
    mean: Value = 0.0,
    stddev: Value = 1.0,
    dtype: DTypeLike = "float32",
    seed: OptionalNumber = None,
    name: GraphName = None,
) -> Tensor:
    """Draw normally distributed floats.

    This function is differentiable with respect to ``mean`` and ``stddev``.

    See https://www.tensorflow.org/api_docs/python/tf/random/normal.

    Args:
        shape: The shape, a list of integers.
        mean: The mean, which must broadcast to the shape.
        stddev: The standard deviation, which must broadcast to the shape.
        dtype: The dtype of the result.
        seed: A seed. With the same seed, every call returns the same numbers.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the given shape and dtype.

    Raises:
        TypeError: If the dtype is not a float dtype.
        InvalidArgumentError: If a size is negative, or the shape is not a list.

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
    seed: OptionalNumber = None,
    name: GraphName = None,
) -> Tensor:
    """Draw uniformly distributed floats or integers.

    For floats, this function is differentiable with respect to ``minval`` and ``maxval``.

    See https://www.tensorflow.org/api_docs/python/tf/random/uniform.

    Args:
        shape: The shape, a list of integers.
        minval: The lower limit (inclusive).
        maxval: The upper limit (exclusive). The default for floats is 1.
        dtype: The dtype of the result.
        seed: A seed. With the same seed, every call returns the same numbers.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the given shape and dtype.

    Raises:
        ValueError: If the dtype is an integer dtype and ``maxval`` is missing.
        InvalidArgumentError: If ``minval`` is not less than ``maxval`` for integers, a size is negative, or the shape
            is not a list.
        TypeError: If the dtype is neither a float nor an integer dtype.

    >>> import minitape as tf
    >>> tf.random.uniform([2], maxval=10, dtype=tf.int32).dtype
    tf.int32
    """
    number_dtype = as_dtype(dtype)
    sizes = to_sizes(to_integer_vector(shape, "shape"))
    if not number_dtype.is_integer:
        high = to_tensor(1 if maxval is None else maxval, number_dtype)
        low = to_tensor(minval, number_dtype)
        return _scale_and_shift(_get_generator(seed).random(sizes), dtype, high - low, low)
    if maxval is None:
        raise ValueError(f"tf.random.uniform needs a maxval for {number_dtype.name}")
    low, high = (to_tensor(bound, number_dtype).array for bound in (minval, maxval))
    if not np.all(low < high):
        raise build_argument_error(f"minval must be less than maxval, got {low} and {high}")
    return wrap_array_with_origin(_get_generator(seed).integers(low, high, sizes, number_dtype.as_numpy_dtype))


def _scale_and_shift(numbers: Array, dtype: DTypeLike, scale: Value, offset: Value) -> Tensor:
    """Scale and shift random numbers. The tape records both operations, so gradients reach the scale and the offset."""
    number_dtype = as_dtype(dtype)
    if not number_dtype.is_floating:
        raise TypeError(f"tf.random creates floats or integers, not {number_dtype.name}")
    shifted: Tensor = wrap_array_with_origin(numbers.astype(number_dtype.as_numpy_dtype)) * scale + offset
    return shifted
