"""``tf.zeros_initializer`` and its siblings: objects that make the first value of a variable from a shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import dtypes
from ..engine.convert import constant
from ..engine.operands import static_sizes
from ..ops.filling import ones, zeros


class Initializer:
    """What all initializers have: ``get_config`` and ``from_config``; calling one with a shape makes a tensor."""

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        raise NotImplementedError("an initializer defines __call__(shape, dtype=None)")

    def get_config(self) -> dict[str, Any]:
        """The arguments with which the same initializer can be made again.

        >>> import minitape as tf
        >>> tf.random_normal_initializer(mean=1.0, stddev=0.5, seed=3).get_config()
        {'mean': 1.0, 'stddev': 0.5, 'seed': 3}
        """
        return dict(vars(self))

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """An initializer made of what ``get_config`` gave.

        >>> import minitape as tf
        >>> config = tf.constant_initializer(2.0).get_config()
        >>> tf.constant_initializer.from_config(config)([2]).numpy()
        array([2., 2.], dtype=float32)
        """
        return cls(**{key: value for key, value in config.items() if key != "dtype"})


def _part(shape: Any, kwargs: dict[str, Any]) -> Any:
    """The shape to make: that of the part of a variable where ``partition_shape`` asks for one part only."""
    for key in kwargs:
        if key not in ("partition_shape", "partition_offset"):
            raise TypeError(
                f"Keyword argument should be one of ['partition_shape', 'partition_offset']. Received: {key}"
            )
    return kwargs.get("partition_shape", shape)


def _plain(dtype: Any, floating: bool = False) -> Any:
    dtype = dtypes.as_dtype(dtypes.float32 if dtype is None else dtype)
    if floating and not dtype.is_floating:
        raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {dtype}.")
    if dtype.kind not in "fiucb":
        raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {dtype}.")
    return dtype


class Zeros(Initializer):
    """Zeros of a shape and dtype (float32 by default). ValueError for strings.

    >>> import minitape as tf
    >>> tf.zeros_initializer()([2]).numpy()
    array([0., 0.], dtype=float32)
    """

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        return zeros(_part(shape, kwargs), _plain(dtype))


class Ones(Initializer):
    """Ones of a shape and dtype (float32 by default). ValueError for strings.

    >>> import minitape as tf
    >>> tf.ones_initializer()([2]).numpy()
    array([1., 1.], dtype=float32)
    """

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        return ones(_part(shape, kwargs), _plain(dtype))


class Constant(Initializer):
    """A given value in the shape that is asked for: a number fills it, a list is reshaped.

    >>> import minitape as tf
    >>> tf.constant_initializer([1, 2])([2, 1]).numpy().tolist()
    [[1], [2]]
    """

    def __init__(self, value: Any = 0, support_partition: bool = False) -> None:
        if support_partition:
            raise ValueError("minitape has no partitioned variables: leave `support_partition` out")
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(f"Invalid type for initial value: {type(value).__name__}. Expected Python scalar, list or "
                            "tuple of values, or numpy.ndarray.")  # fmt: skip
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        shape = _part(shape, kwargs)
        if kwargs:
            raise ValueError("Constant initializer doesn't support partition-related arguments")
        return constant(self.value, None if dtype is None else dtypes.as_dtype(dtype), shape=static_sizes(shape))


class RandomNormal(Initializer):
    """Numbers from a normal distribution, with a seed always the same. ValueError for a dtype that is no float.

    >>> import minitape as tf
    >>> tf.random_normal_initializer(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        from .random import normal, stateless_normal

        shape, dtype = _part(shape, kwargs), _plain(dtype, floating=True)
        if self.seed is None:
            return normal(shape, self.mean, self.stddev, dtype)
        return stateless_normal(shape, [self.seed, 0], self.mean, self.stddev, dtype)


class RandomUniform(Initializer):
    """Numbers from a uniform distribution over [minval, maxval).

    >>> import minitape as tf
    >>> tf.random_uniform_initializer(0, 1, seed=1)([2]).dtype
    tf.float32
    """

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: int | None = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        from .random import stateless_uniform, uniform

        shape = _part(shape, kwargs)
        if self.seed is None:
            return uniform(shape, self.minval, self.maxval, _plain(dtype))
        return stateless_uniform(shape, [self.seed, 0], self.minval, self.maxval, _plain(dtype))
