"""Layers that shift and scale their inputs to mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import initializers
from ..layer import InputSpec
from .common import SameShape, ScaleAndOffset


class BatchNormalization(ScaleAndOffset):
    """Normalises each feature: by the batch in training (which also moves the averages), else by the moving averages.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.BatchNormalization(epsilon=0.0)
    >>> layer(tf.constant([[1.0], [3.0]]), training=True).numpy().ravel()
    array([-1.,  1.], dtype=float32)
    """

    _config = (
        "axis momentum epsilon center scale beta_initializer gamma_initializer moving_mean_initializer "
        "moving_variance_initializer beta_regularizer gamma_regularizer beta_constraint gamma_constraint"
    )

    def __init__(
        self,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 0.001,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.axis, self.momentum, self.epsilon = int(axis), float(momentum), float(epsilon)
        self._set_weights(
            center, scale, beta_initializer, gamma_initializer, beta_regularizer, gamma_regularizer, beta_constraint,
            gamma_constraint,
        )  # fmt: skip
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)

    def build(self, input_shape: Any) -> None:
        """Creates ``gamma``, ``beta`` and the moving averages."""
        shape = (input_shape[self.axis],)
        self._add_weights(shape)
        self.moving_mean = self.add_weight(shape, self.moving_mean_initializer, trainable=False, name="moving_mean")
        self.moving_variance = self.add_weight(
            shape, self.moving_variance_initializer, trainable=False, name="moving_variance"
        )
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: input_shape[self.axis]})

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """The normalised inputs."""
        import minitape as tf

        if mask is not None:
            raise ValueError("minitape's BatchNormalization does not support masks.")
        rank = inputs.ndim
        keep = self.axis % rank
        mean, variance = self.moving_mean.value, self.moving_variance.value
        if training and self.trainable:
            mean, variance = tf.nn.moments(inputs, [i for i in range(rank) if i != keep])
            for moving, value in ((self.moving_mean, mean), (self.moving_variance, variance)):
                moving.assign(moving * self.momentum + value * (1.0 - self.momentum))
        shape = [inputs.shape[keep] if i == keep else 1 for i in range(rank)]
        scale, offset = self._scale_and_offset(shape)
        return tf.nn.batch_normalization(
            inputs, tf.reshape(mean, shape), tf.reshape(variance, shape), offset, scale, self.epsilon
        )


class LayerNormalization(ScaleAndOffset):
    """Normalises each example over ``axis``."""

    _config = (
        "axis epsilon center scale beta_initializer gamma_initializer beta_regularizer gamma_regularizer "
        "beta_constraint gamma_constraint"
    )

    def __init__(
        self,
        axis: Any = -1,
        epsilon: float = 0.001,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise TypeError(f"Expected an int or a list/tuple of ints for the argument 'axis', but received: {axis!r}")
        self.axis = axis if isinstance(axis, int) else list(axis)
        self.epsilon = epsilon
        self._set_weights(
            center, scale, beta_initializer, gamma_initializer, beta_regularizer, gamma_regularizer, beta_constraint,
            gamma_constraint,
        )  # fmt: skip

    def _axes(self, rank: int) -> list[int]:
        return sorted(a % rank for a in ([self.axis] if isinstance(self.axis, int) else self.axis))

    def build(self, input_shape: Any) -> None:
        """Creates ``gamma`` and ``beta``."""
        shape = tuple(input_shape[a] for a in self._axes(len(input_shape)))
        self._add_weights(shape)

    def call(self, inputs: Any) -> Any:
        """The normalised inputs."""
        import minitape as tf

        axes = self._axes(inputs.ndim)
        mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
        shape = [inputs.shape[i] if i in axes else 1 for i in range(inputs.ndim)]
        scale, offset = self._scale_and_offset(shape)
        return tf.nn.batch_normalization(inputs, mean, variance, offset, scale, self.epsilon)


class Normalization(SameShape):
    """Shifts and scales by a mean and a variance that are given, or learnt from data by ``adapt``.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.Normalization(axis=None)
    >>> layer.adapt(np.array([1.0, 3.0], np.float32))
    >>> layer(tf.constant([3.0])).numpy()
    array([1.], dtype=float32)
    """

    _config = "axis invert"

    def __init__(
        self, axis: Any = -1, mean: Any = None, variance: Any = None, invert: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if (mean is None) != (variance is None):
            raise ValueError(
                "When setting values directly, both `mean` and `variance` must be set. Received: "
                f"mean={mean} and variance={variance}"
            )
        self.axis = () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        self.invert = invert
        self.mean = self.variance = None
        if mean is not None:
            self.mean, self.variance = np.asarray(mean, self.dtype), np.asarray(variance, self.dtype)

    def adapt(self, data: Any) -> None:
        """Takes mean and variance from an array or a dataset."""
        if hasattr(data, "as_numpy_iterator"):
            data = np.concatenate(list(data.as_numpy_iterator()))
        data = np.asarray(data)
        over = tuple(i for i in range(data.ndim) if i not in {a % data.ndim for a in self.axis})
        self.mean = np.asarray(data.mean(over, keepdims=bool(self.axis), dtype=np.float64), self.dtype)
        self.variance = np.asarray(data.var(over, keepdims=bool(self.axis), dtype=np.float64), self.dtype)

    def call(self, inputs: Any) -> Any:
        """The normalised inputs (or the way back, with ``invert``)."""
        import minitape as tf

        if self.mean is None:
            raise ValueError("You must call `.build(input_shape)` on the layer before using it.")
        x = tf.cast(inputs, self.dtype)
        deviation = np.maximum(np.sqrt(self.variance), 1e-7)
        return x * deviation + self.mean if self.invert else (x - self.mean) / deviation
