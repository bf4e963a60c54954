"""Initializers of TensorFlow 1: functions of (shape, dtype)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ... import tf
from ...engine import dtypes


class _Initializer:
    """Makes an initial value: ``initializer(shape, dtype)``."""

    def __init__(self, *settings: Any, dtype: Any = dtypes.float32, **named: Any) -> None:
        names = list(self.settings)
        given = dict(zip(names, settings, strict=False)) | named
        unknown = set(given) - set(names)
        if unknown:
            raise TypeError(f"{type(self).__name__} got an unexpected argument '{unknown.pop()}'.")
        self.dtype = dtypes.as_dtype(dtype)
        if self.floats_only and not self.dtype.is_floating:
            raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {self.dtype}.")
        self.__dict__.update({**self.settings, **given})

    settings: ClassVar[dict[str, Any]] = {}
    floats_only = False

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
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
    floats_only = True

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
    floats_only = True

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


class variance_scaling_initializer(_Initializer):
    """Random values whose variance is ``scale`` over the fan in, the fan out or their mean, as ``mode`` says.

    A function of (shape, dtype), a float (else ValueError). ``distribution`` is "truncated_normal" (also called "normal"),
    "untruncated_normal" or "uniform". ValueError for other settings.

    >>> import minitape as tf
    >>> tf.compat.v1.variance_scaling_initializer(mode="fan_avg", seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    settings: ClassVar[dict[str, Any]] = {
        "scale": 1.0, "mode": "fan_in", "distribution": "truncated_normal", "seed": None
    }  # fmt: skip
    floats_only = True

    def __init__(self, *settings: Any, **named: Any) -> None:
        super().__init__(*settings, **named)
        if self.scale <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {self.scale}")
        if self.mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). Received: {self.mode}")
        self.distribution = self.distribution.lower()
        if self.distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(
                "Argument `distribution` should be one of ('normal', uniform', 'truncated_normal', 'untruncated_normal'). "
                f"Received: {self.distribution}"
            )

    def make(self, tf: Any, shape: list[int], dtype: Any, whole: list[int]) -> Any:
        from ...keras.initializers import TRUNCATED, fans

        fan_in, fan_out = fans(whole)
        variance = self.scale / max(1.0, {"fan_in": fan_in, "fan_out": fan_out}.get(self.mode, (fan_in + fan_out) / 2))
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return tf.random.uniform(shape, -limit, limit, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return tf.random.normal(shape, 0.0, math.sqrt(variance), dtype, seed=self.seed)
        return tf.random.truncated_normal(shape, 0.0, math.sqrt(variance) / TRUNCATED, dtype, seed=self.seed)


class glorot_uniform_initializer(variance_scaling_initializer):
    """Glorot's uniform distribution: within sqrt(6 / (fan in + fan out)).

    A function of (shape, dtype), a float (else TypeError); the last two sizes of a shape are fan in and fan out.

    >>> import minitape as tf
    >>> tf.compat.v1.glorot_uniform_initializer(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    settings: ClassVar[dict[str, Any]] = {"seed": None}
    scale, mode, distribution = 1.0, "fan_avg", "uniform"


class glorot_normal_initializer(variance_scaling_initializer):
    """Glorot's normal distribution, truncated: variance 2 / (fan in + fan out).

    A function of (shape, dtype), a float (else TypeError); the last two sizes of a shape are fan in and fan out.

    >>> import minitape as tf
    >>> tf.compat.v1.glorot_normal_initializer(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    settings: ClassVar[dict[str, Any]] = {"seed": None}
    scale, mode, distribution = 1.0, "fan_avg", "truncated_normal"


class uniform_unit_scaling_initializer(_Initializer):
    """Uniformly distributed values that keep the scale of what a layer is given, times ``factor``.

    A function of (shape, dtype), a float (else ValueError); all sizes but the last count as inputs.

    >>> import minitape as tf
    >>> tf.compat.v1.uniform_unit_scaling_initializer(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    settings: ClassVar[dict[str, Any]] = {"factor": 1.0, "seed": None}
    floats_only = True

    def make(self, tf: Any, shape: list[int], dtype: Any, whole: list[int]) -> Any:
        limit = math.sqrt(3 / max(math.prod(map(float, whole[:-1])), 1.0)) * self.factor
        return tf.random.uniform(shape, -limit, limit, dtype, seed=self.seed)


class orthogonal_initializer(_Initializer):
    """A random orthogonal matrix times ``gain``; more than two axes count as a matrix whose columns are the last one.

    A function of (shape, dtype), a float; ValueError for other types and for fewer than two axes.

    >>> import minitape as tf
    >>> q = tf.compat.v1.orthogonal_initializer(seed=1)([2, 2])
    >>> print(abs((tf.transpose(q) @ q - tf.eye(2)).numpy()).max() < 1e-6)
    True
    """

    settings: ClassVar[dict[str, Any]] = {"gain": 1.0, "seed": None}
    floats_only = True

    def make(self, tf: Any, shape: list[int], dtype: Any, whole: list[int]) -> Any:
        _check_axes(shape, len(shape) >= 2)
        rows, columns = math.prod(shape[:-1]), shape[-1]
        q, r = tf.linalg.qr(tf.random.normal([max(rows, columns), min(rows, columns)], dtype=dtype, seed=self.seed))
        q = q * tf.sign(tf.linalg.diag_part(r))
        return self.gain * tf.reshape(tf.transpose(q) if rows < columns else q, shape)


class identity(_Initializer):
    """The identity matrix times ``gain``.

    A function of (shape, dtype), a float; ValueError for other types and unless there are two axes.

    >>> import minitape as tf
    >>> tf.compat.v1.initializers.identity(2.0)([2, 2]).numpy().tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """

    settings: ClassVar[dict[str, Any]] = {"gain": 1.0}
    floats_only = True

    def make(self, tf: Any, shape: list[int], dtype: Any, whole: list[int]) -> Any:
        _check_axes(shape, len(whole) == 2)
        return self.gain * tf.eye(*whole, dtype=dtype)[: shape[0], : shape[1]]


def _check_axes(shape: Any, enough: bool) -> None:
    if not enough:
        raise ValueError(
            "The tensor to initialize, specified by argument `shape` must be at least two-dimensional. Received "
            f"shape={tuple(shape)}"
        )
