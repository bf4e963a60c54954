"""Layers that disturb their inputs in training, and only then."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ... import tf
from .. import random
from ..base import standardize_data_format
from ..layer import InputSpec
from ..operations.sampling import sizes_of
from .common import SameShape


def _check_rate(rate: float) -> None:
    if not 0 <= rate <= 1:
        raise ValueError(
            f"Invalid value received for argument `rate`. Expected a float value between 0 and 1. Received: rate={rate}"
        )


class Dropout(SameShape):
    """In training sets a fraction ``rate`` of the elements to zero and scales the others by 1 / (1 - rate).

    ``noise_shape`` (None for a size of the input) is the shape of the choice, which is broadcast. Raises ValueError for
    a rate outside [0, 1] and a shape that is none.

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
        _check_rate(rate)
        self.rate, self.seed = rate, seed
        if not (noise_shape is None or isinstance(noise_shape, Iterable)):
            raise ValueError("Invalid value received for argument `noise_shape`. Expected an iterable of integers (e.g., a "
                             f"tuple or list). Received: noise_shape={noise_shape}")  # fmt: skip
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
            return inputs + random.normal(sizes_of(inputs), 0.0, self.stddev, self.dtype, self.seed_generator)
        return inputs


class GaussianDropout(SameShape):
    """In training multiplies by normally distributed noise around 1, as wide as that of ``Dropout`` with this ``rate``.

    The inputs are floats of any shape. Differentiable. Raises ValueError for a rate outside [0, 1].

    >>> import minitape as tf
    >>> layer = tf.keras.layers.GaussianDropout(0.5, seed=1)
    >>> layer(tf.ones([3])).numpy()
    array([1., 1., 1.], dtype=float32)
    >>> layer(tf.ones([3]), training=True).numpy().round(4)
    array([1.1267, 0.507 , 1.6312], dtype=float32)
    """

    _config = "rate seed"

    def __init__(self, rate: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        _check_rate(rate)
        self.rate, self.seed = rate, seed
        if rate > 0:
            self.seed_generator = random.SeedGenerator(seed)
        self.supports_masking = self.built = True

    def call(self, inputs: Any, training: bool = False) -> Any:
        """The inputs, disturbed in training."""
        if training and self.rate > 0:
            deviation = math.sqrt(self.rate / (1.0 - self.rate))
            return inputs * random.normal(sizes_of(inputs), 1.0, deviation, self.dtype, self.seed_generator)
        return inputs


class _SpatialDropout(Dropout):
    """Dropout of whole channels; ``_rank`` is the number of axes of the inputs."""

    _rank = 3

    def __init__(self, rate: float, seed: int | None = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(rate, seed=seed, name=name, dtype=dtype)
        self.input_spec = InputSpec(ndim=self._rank)
        self.data_format = "channels_last"

    def call(self, inputs: Any, training: bool = False) -> Any:
        """The inputs, in training without some of the channels."""
        if not training or self.rate <= 0:
            return inputs
        channels = 1 if self.data_format == "channels_first" else self._rank - 1
        shape = [None if i in (0, channels) else 1 for i in range(self._rank)]
        return random.dropout(inputs, self.rate, shape, self.seed_generator)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another layer like this."""
        return {"rate": self.rate, "seed": self.seed, "name": self.name, "dtype": self.dtype}


class SpatialDropout1D(_SpatialDropout):
    """Dropout of whole channels of (batch, steps, channels): each is kept or lost in all steps.

    Differentiable. Raises ValueError for a rate outside [0, 1] and for inputs of another number of axes.

    >>> import minitape as tf
    >>> tf.keras.layers.SpatialDropout1D(0.5, seed=1)(tf.ones([1, 2, 3]), training=True).numpy()
    array([[[2., 0., 2.],
            [2., 0., 2.]]], dtype=float32)
    """


class _DropoutOfImages(_SpatialDropout):
    """Dropout of whole channels that may also come first."""

    def __init__(
        self,
        rate: float,
        data_format: str | None = None,
        seed: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(rate, seed, name, dtype)
        self.data_format = standardize_data_format(data_format)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another layer like this."""
        return {**super().get_config(), "data_format": self.data_format}


class SpatialDropout2D(_DropoutOfImages):
    """Dropout of whole channels of (batch, height, width, channels), or where ``data_format`` has them.

    Differentiable. Raises ValueError for a rate outside [0, 1] and for inputs of another number of axes.

    >>> import minitape as tf
    >>> tf.keras.layers.SpatialDropout2D(0.5, seed=1)(tf.ones([1, 1, 2, 3]), training=True).numpy()
    array([[[[2., 0., 2.],
             [2., 0., 2.]]]], dtype=float32)
    """

    _rank = 4


class SpatialDropout3D(_DropoutOfImages):
    """Dropout of whole channels of (batch, depth, height, width, channels), or where ``data_format`` has them.

    Differentiable. Raises ValueError for a rate outside [0, 1] and for inputs of another number of axes.

    >>> import minitape as tf
    >>> tf.keras.layers.SpatialDropout3D(0.5, seed=1)(tf.ones([1, 1, 1, 2, 3]), training=True).numpy()[0, 0]
    array([[[2., 0., 2.],
            [2., 0., 2.]]], dtype=float32)
    """

    _rank = 5


class AlphaDropout(Dropout):
    """Dropout for networks of ``selu``: what is dropped is set to its lowest value, and mean and variance stay.

    ``noise_shape`` is that of ``Dropout``. Differentiable. Raises ValueError for a rate outside [0, 1].

    >>> import minitape as tf
    >>> layer = tf.keras.layers.AlphaDropout(0.5, seed=1)
    >>> layer(tf.ones([3]), training=True).numpy().round(4)
    array([ 1.6656, -0.7792,  1.6656], dtype=float32)
    """

    _config = "rate seed"

    def call(self, inputs: Any, training: bool = False) -> Any:
        """The inputs, in training with some at the lowest value."""
        if not training or self.rate <= 0:
            return inputs
        shape = sizes_of(inputs)
        if self.noise_shape is not None:
            shape = [shape[i] if n is None else n for i, n in enumerate(self.noise_shape)]
        kept = tf.cast(random.uniform(shape, seed=self.seed_generator) >= self.rate, inputs.dtype)
        lowest = -1.6732632423543772 * 1.0507009873554805
        a = ((1 - self.rate) * (1 + self.rate * lowest**2)) ** -0.5
        return a * (inputs * kept + lowest * (1 - kept)) - a * lowest * self.rate
