"""Layers that disturb their inputs in training, and only then."""

from __future__ import annotations

from typing import Any

from .. import random
from .common import SameShape


class Dropout(SameShape):
    """In training sets a fraction ``rate`` of the elements to zero and scales the others by 1 / (1 - rate).

    ``noise_shape`` (None for a size of the input) is the shape of the choice, which is broadcast. Raises ValueError for
    a rate outside [0, 1].

    >>> import minitape as tf
    >>> layer = tf.keras.layers.Dropout(0.5, seed=1)
    >>> layer(tf.ones([3])).numpy()
    array([1., 1., 1.], dtype=float32)
    >>> layer(tf.ones([3]), training=True).numpy()
    array([2., 0., 2.], dtype=float32)
    """

    _config = "rate seed noise_shape"

    def __init__(self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 <= rate <= 1:
            raise ValueError(
                "Invalid value received for argument `rate`. Expected a float value between 0 and 1. "
                f"Received: rate={rate}"
            )
        self.rate, self.seed = rate, seed
        self.noise_shape = None if noise_shape is None else tuple(noise_shape)
        if rate > 0:
            self.seed_generator = random.SeedGenerator(seed)
        self.supports_masking = self.built = True

    def call(self, inputs: Any, training: bool = False) -> Any:
        """The inputs, disturbed in training."""
        if training and self.rate > 0:
            return random.dropout(inputs, self.rate, self.noise_shape, self.seed_generator)
        return inputs


class GaussianNoise(SameShape):
    """In training adds normally distributed noise of deviation ``stddev``, which ValueError holds to [0, 1].

    >>> import minitape as tf
    >>> layer = tf.keras.layers.GaussianNoise(0.5, seed=1)
    >>> layer(tf.zeros([3])).numpy()
    array([0., 0., 0.], dtype=float32)
    >>> layer(tf.zeros([3]), training=True).numpy()
    array([ 0.06332515, -0.24650829,  0.31559536], dtype=float32)
    """

    _config = "stddev seed"

    def __init__(self, stddev: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 <= stddev <= 1:
            raise ValueError(
                "Invalid value received for argument `stddev`. Expected a float value between 0 and 1. "
                f"Received: stddev={stddev}"
            )
        self.stddev, self.seed = stddev, seed
        if stddev > 0:
            self.seed_generator = random.SeedGenerator(seed)
        self.supports_masking = self.built = True

    def call(self, inputs: Any, training: bool = False) -> Any:
        """The inputs, disturbed in training."""
        if training and self.stddev > 0:
            return inputs + random.normal(inputs.shape, 0.0, self.stddev, self.dtype, self.seed_generator)
        return inputs
