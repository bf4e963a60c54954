"""Where the seeds of ``tf.keras.random`` come from."""

from __future__ import annotations

import random as python_random
from typing import Any

import numpy as np

from .. import tf
from .base import auto_name, current, name_scope
from .variable import Variable


class SeedGenerator:
    """A source of seeds: each use gives another, the sequence depends only on the first.

    >>> import minitape as tf
    >>> seeds = tf.keras.random.SeedGenerator(7)
    >>> seeds.next().numpy(), seeds.next().numpy()
    (array([7, 0]), array([7, 1]))
    """

    _tracked_as = "seeds"

    def __init__(self, seed: int | None = None, name: str | None = None) -> None:
        self.name = name or auto_name("SeedGenerator")
        self._initial_seed = seed
        if seed is None:
            seed = make_default_seed()
        if not isinstance(seed, int):
            raise ValueError(f"Argument `seed` must be an integer. Received: seed={seed}")
        with name_scope(self.name, caller=self):
            self.state = Variable(np.array([seed, 0], np.int64), trainable=False, name="seed_generator_state")

    def next(self, ordered: bool = True) -> Any:
        """The next seed, an int64 tensor of two numbers."""
        seed = self.state.value * 1
        self.state.assign(self.state + np.array([0, 1]) if ordered else (self.state + 1) * 5387 % 933199)
        return seed

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this.

        >>> import minitape as tf
        >>> tf.keras.random.SeedGenerator(7, name="seeds").get_config()
        {'seed': 7, 'name': 'seeds'}
        """
        return {"seed": self._initial_seed, "name": self.name}


def make_default_seed() -> int:
    """A seed from Python's own generator, an int from 1 to 1e9."""
    return python_random.randint(1, int(1e9))


def draw_seed(seed: Any) -> Any:
    """The int32 pair that the stateless functions take, from an int, a generator or None."""
    if isinstance(seed, SeedGenerator):
        pair = seed.next()
    elif isinstance(seed, int):
        pair = tf.constant([seed, 0], tf.int64)
    elif seed is None:
        if current.seeds is None:
            current.seeds = SeedGenerator()
        pair = current.seeds.next(ordered=False)
    else:
        raise ValueError(
            "Argument `seed` must be either an integer or an instance of `SeedGenerator`. Received: "
            f"seed={seed} (of type {type(seed)})"
        )
    return tf.cast(tf.math.floormod(pair, tf.constant(2**31 - 2, tf.int64)), tf.int32)
