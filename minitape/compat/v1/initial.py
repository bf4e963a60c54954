"""Initializers of TensorFlow 1: functions of (shape, dtype)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ... import dtypes


class _Initializer:
    """Makes an initial value: ``initializer(shape, dtype)``."""

    def __init__(self, *settings: Any, dtype: Any = dtypes.float32, **named: Any) -> None:
        names = list(self.settings)
        given = dict(zip(names, settings, strict=False)) | named
        unknown = set(given) - set(names)
        if unknown:
            raise TypeError(f"{type(self).__name__} got an unexpected argument '{unknown.pop()}'.")
        self.dtype = dtypes.as_dtype(dtype)
        self.__dict__.update({**self.settings, **given})

    settings: ClassVar[dict[str, Any]] = {}

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        import minitape as tf

        whole = shape if partition_info is None else partition_info.full_shape  # of which the variable is a part
        return self.make(tf, list(shape), dtypes.as_dtype(dtype or self.dtype), list(whole))

    def make(self, tf: Any, shape: list[int], dtype: Any, whole: list[int]) -> Any:
        """The value; ``whole`` is the shape that decides how large it is."""
        raise NotImplementedError


class zeros_initializer(_Initializer):
    """Zeros.

    A function of (shape, dtype): any dtype, float32 by default.

    >>> import minitape as tf
    >>> tf.compat.v1.zeros_initializer()([2]).numpy()
    array([0., 0.], dtype=float32)
    """

    def make(self, tf: Any, shape: list[int], dtype: Any, whole: list[int]) -> Any:
        return tf.zeros(shape, dtype)


class ones_initializer(_Initializer):
    """Ones.

    A function of (shape, dtype): any dtype but strings, float32 by default.

    >>> import minitape as tf
    >>> tf.compat.v1.ones_initializer()([2]).numpy()
    array([1., 1.], dtype=float32)
    """

    def make(self, tf: Any, shape: list[int], dtype: Any, whole: list[int]) -> Any:
        return tf.ones(shape, dtype)


class constant_initializer(_Initializer):
    """One value everywhere, or the given values; with ``verify_shape`` they must have the shape (else TypeError).

    >>> import minitape as tf
    >>> tf.compat.v1.constant_initializer(3)([2]).numpy()
    array([3., 3.], dtype=float32)
    """

    settings: ClassVar[dict[str, Any]] = {"value": 0, "verify_shape": False}
    value: Any
    verify_shape: bool

    def make(self, tf: Any, shape: list[int], dtype: Any, whole: list[int]) -> Any:
        value = tf.constant(self.value, dtype=dtype)
        if self.verify_shape and value.shape != shape:
            raise TypeError(
                f"Expected Tensor {value.numpy()} (converted from {self.value}) with shape {tuple(shape)}, but got "
                f"shape {value.shape}."
            )
        return tf.constant(self.value, dtype=dtype, shape=shape)


class random_normal_initializer(_Initializer):
    """Normally distributed values.

    A function of (shape, dtype), a float (else TypeError); ``mean``, ``stddev`` and ``seed`` are given when it is made.

    >>> import minitape as tf
    >>> tf.compat.v1.random_normal_initializer(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    settings: ClassVar[dict[str, Any]] = {"mean": 0.0, "stddev": 1.0, "seed": None}

    def make(self, tf: Any, shape: list[int], dtype: Any, whole: list[int]) -> Any:
        return tf.random.normal(shape, self.mean, self.stddev, dtype, seed=self.seed)


class truncated_normal_initializer(_Initializer):
    """Normally distributed values within two standard deviations.

    A function of (shape, dtype), a float (else TypeError); ``mean``, ``stddev`` and ``seed`` are given when it is made.

    >>> import minitape as tf
    >>> tf.compat.v1.truncated_normal_initializer(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    settings: ClassVar[dict[str, Any]] = {"mean": 0.0, "stddev": 1.0, "seed": None}

    def make(self, tf: Any, shape: list[int], dtype: Any, whole: list[int]) -> Any:
        return tf.random.truncated_normal(shape, self.mean, self.stddev, dtype, seed=self.seed)


class random_uniform_initializer(_Initializer):
    """Uniformly distributed values.

    A function of (shape, dtype); ``minval``, ``maxval`` and ``seed`` are given when it is made.

    >>> import minitape as tf
    >>> tf.compat.v1.random_uniform_initializer(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    settings: ClassVar[dict[str, Any]] = {"minval": 0.0, "maxval": 1.0, "seed": None}

    def make(self, tf: Any, shape: list[int], dtype: Any, whole: list[int]) -> Any:
        return tf.random.uniform(shape, self.minval, self.maxval, dtype, seed=self.seed)


class glorot_uniform_initializer(_Initializer):
    """Glorot's uniform distribution: within sqrt(6 / (fan in + fan out)).

    A function of (shape, dtype), a float (else TypeError); the last two sizes of a shape are fan in and fan out.

    >>> import minitape as tf
    >>> tf.compat.v1.glorot_uniform_initializer(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    settings: ClassVar[dict[str, Any]] = {"seed": None}

    def make(self, tf: Any, shape: list[int], dtype: Any, whole: list[int]) -> Any:
        limit = math.sqrt(6.0 / _fans(whole))
        return tf.random.uniform(shape, -limit, limit, dtype, seed=self.seed)


class glorot_normal_initializer(_Initializer):
    """Glorot's normal distribution, truncated: variance 2 / (fan in + fan out).

    A function of (shape, dtype), a float (else TypeError); the last two sizes of a shape are fan in and fan out.

    >>> import minitape as tf
    >>> tf.compat.v1.glorot_normal_initializer(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    settings: ClassVar[dict[str, Any]] = {"seed": None}

    def make(self, tf: Any, shape: list[int], dtype: Any, whole: list[int]) -> Any:
        deviation = math.sqrt(2.0 / _fans(whole)) / 0.87962566103423978
        return tf.random.truncated_normal(shape, 0.0, deviation, dtype, seed=self.seed)


def _fans(shape: list[int]) -> float:
    """Fan in plus fan out."""
    if not shape:
        return 2.0
    if len(shape) == 1:
        return 2.0 * shape[0]
    field = math.prod(shape[:-2])
    return float(max(1, field * (shape[-2] + shape[-1])))
