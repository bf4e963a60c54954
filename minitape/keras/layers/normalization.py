"""Layers that shift and scale their inputs to mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

from ... import tf
from .. import base, initializers, regularizers
from ..calls import InputSpec
from .common import SameShape


class _Normalization(SameShape):
    """Multiplies what was normalised over ``axis`` by ``gamma`` (with ``scale``) and adds ``beta`` (with
    ``center``).
    """

    axis: Any

    def __init__(
        self,
        epsilon: float,
        *,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.epsilon, self.center, self.scale = epsilon, center, scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.gamma: Any = None
        self.beta: Any = None

    def _axes(self) -> list[int]:
        """The axes as a list."""
        return [self.axis] if isinstance(self.axis, int) else list(self.axis)

    def _add_gamma_and_beta(self, shape: tuple[int, ...]) -> None:
        """Creates ``gamma`` (with ``scale``) and ``beta`` (with ``center``)."""
        if self.scale:
            self.gamma = self.add_weight(
                shape, self.gamma_initializer, regularizer=self.gamma_regularizer, name="gamma"
            )
        if self.center:
            self.beta = self.add_weight(shape, self.beta_initializer, regularizer=self.beta_regularizer, name="beta")

    def _normalized(self, x: Any, mean: Any, variance: Any, shape: list) -> Any:
        """The inputs by these moments, with ``gamma`` and ``beta``, where there are any, in a shape that broadcasts."""
        kind = x.dtype.name
        scale, offset = (
            None if v is None else tf.reshape(base.convert(v, kind), shape) for v in (self.gamma, self.beta)
        )
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, self.epsilon)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The input's shape; ValueError for an axis that is not there."""
        for axis in self._axes():
            if not -len(input_shape) <= axis < len(input_shape):
                raise ValueError(
                    f"Axis {axis} is out of bounds for input shape {tuple(input_shape)}. Received: axis={self.axis}"
                )
        return input_shape


class BatchNormalization(_Normalization):
    """Normalises each feature: by the batch in training (which also moves the averages), else by the moving averages.

    Features lie along ``axis``; ``gamma`` (with ``scale``) multiplies and ``beta`` (with ``center``) is added.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.BatchNormalization(epsilon=0.0)
    >>> layer(tf.constant([[1.0], [3.0]]), training=True).numpy().ravel()
    array([-1.,  1.], dtype=float32)
    """

    def __init__(
        self,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 0.001,
        *,
        moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones",
        **kwargs: Any,
    ) -> None:
        super().__init__(float(epsilon), **kwargs)
        self.axis, self.momentum = int(axis), float(momentum)
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)

    def build(self, input_shape: Any) -> None:
        """Creates ``gamma``, ``beta`` and the moving averages."""
        shape = (input_shape[self.axis],)
        self._add_gamma_and_beta(shape)
        self.moving_mean = self.add_weight(shape, self.moving_mean_initializer, trainable=False, name="moving_mean")
        self.moving_variance = self.add_weight(
            shape, self.moving_variance_initializer, trainable=False, name="moving_variance"
        )
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: input_shape[self.axis]})

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The normalised inputs."""
        rank = len(inputs.shape)
        keep = self.axis % rank
        kind = base.result_type(inputs.dtype.name, "float32")
        inputs = base.convert(inputs, kind)
        mean, variance = (base.convert(v, kind) for v in (self.moving_mean, self.moving_variance))
        if training and self.trainable:
            mean, variance = tf.nn.moments(inputs, [i for i in range(rank) if i != keep])
            for moving, value in ((self.moving_mean, mean), (self.moving_variance, variance)):
                moving.assign(base.convert(moving, kind) * self.momentum + value * (1.0 - self.momentum))
        shape = [inputs.shape[keep] if i == keep else 1 for i in range(rank)]
        out = self._normalized(inputs, tf.reshape(mean, shape), tf.reshape(variance, shape), shape)
        return base.convert(out, self.dtype)


class LayerNormalization(_Normalization):
    """Normalises each example over ``axis`` (one, or a list) to mean 0 and variance 1.

    ``gamma`` (with ``scale``) multiplies and ``beta`` (with ``center``) is added. Raises TypeError for another
    ``axis``.

    >>> import minitape as tf
    >>> tf.keras.layers.LayerNormalization(epsilon=0.0)(tf.constant([[1.0, 3.0], [10.0, 30.0]])).numpy()
    array([[-1.,  1.],
           [-1.,  1.]], dtype=float32)
    """

    def __init__(self, axis: Any = -1, epsilon: float = 0.001, **kwargs: Any) -> None:
        super().__init__(epsilon, **kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise TypeError(f"Expected an int or a list/tuple of ints for the argument 'axis', but received: {axis!r}")
        self.axis = axis if isinstance(axis, int) else list(axis)
        self.autocast = False

    def build(self, input_shape: Any) -> None:
        """Creates ``gamma`` and ``beta``."""
        self._add_gamma_and_beta(tuple(input_shape[a] for a in sorted(self._axes())))

    def call(self, inputs: Any) -> Any:
        """The normalised inputs."""
        given, rank = inputs.dtype.name, len(inputs.shape)
        axes = sorted(a % rank for a in self._axes())
        x = base.convert(inputs, base.result_type(given, "float32"))
        mean, variance = tf.nn.moments(x, axes, keepdims=True)
        shape = [x.shape[i] if i in axes else 1 for i in range(rank)]
        out = self._normalized(x, mean, variance, shape)
        return base.convert(base.convert(out, given), self.dtype)  # as Keras: integers give integers
