"""The layer that leaves out some of its inputs in training, and only then."""

from __future__ import annotations

from typing import Any

from .. import random
from .common import SameShape


class Dropout(SameShape):
    """In training sets a fraction ``rate`` of the elements to zero and scales the others by 1 / (1 - rate).

    Raises ValueError for a rate outside [0, 1].

    >>> import minitape as tf
    >>> layer = tf.keras.layers.Dropout(0.5, seed=1)
    >>> layer(tf.ones([3])).numpy()
    array([1., 1., 1.], dtype=float32)
    >>> layer(tf.ones([3]), training=True).numpy()
    array([2., 0., 2.], dtype=float32)
    """

    def __init__(self, rate: float, *, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 <= rate <= 1:
            raise ValueError(
                "Invalid value received for argument `rate`. Expected a float value between 0 and 1. "
                f"Received: rate={rate}"
            )
        self.rate, self.seed = rate, seed
        if rate > 0:
            self.seed_generator = random.SeedGenerator(seed)
        self.built = True

    def call(self, inputs: Any, training: bool = False) -> Any:
        """The inputs, disturbed in training."""
        if training and self.rate > 0:
            return random.dropout(inputs, self.rate, self.seed_generator)
        return inputs
