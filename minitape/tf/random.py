"""``tf.random``: NumPy's generator, behind TensorFlow's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.tensor.tensor import Tensor, new_tensor
from ..engine.values.dtypes import as_dtype
from ..functions.calls import in_traces

_GENERATORS = [np.random.default_rng()]


def set_seed(seed: int) -> None:
    """From now on the same numbers follow."""
    _GENERATORS[0] = np.random.default_rng(seed)


def normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = "float32") -> Tensor:
    """Normally distributed numbers.

    >>> import minitape as tf
    >>> tf.random.normal([2, 3]).shape
    TensorShape([2, 3])
    """
    return new_tensor(np.asarray(_GENERATORS[0].normal(mean, stddev, tuple(shape)), as_dtype(dtype).as_numpy_dtype))


def uniform(shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = "float32") -> Tensor:
    """Numbers spread evenly from ``minval`` up to ``maxval``.

    >>> import minitape as tf
    >>> tf.random.uniform([2]).shape
    TensorShape([2])
    """
    return new_tensor(np.asarray(_GENERATORS[0].uniform(minval, maxval, tuple(shape)), as_dtype(dtype).as_numpy_dtype))


normal, uniform = in_traces("normal", normal), in_traces("uniform", uniform)
