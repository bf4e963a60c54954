"""``tf.keras.random``: seeded random tensors; a seed is an int or a ``SeedGenerator`` that moves on at each use."""

from __future__ import annotations

import random as python_random
from typing import Any

import numpy as np

from .backend import auto_name, current, floatx, name_scope, standardize_dtype
from .variable import Variable


class SeedGenerator:
    """A source of seeds: each use gives another, the sequence depends only on the first.

    >>> import minitape as tf
    >>> seeds = tf.keras.random.SeedGenerator(7)
    >>> seeds.next().numpy(), seeds.next().numpy()
    (array([7, 0]), array([7, 1]))
    """

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
        """The arguments that make another one like this."""
        return {"seed": self._initial_seed, "name": self.name}


def make_default_seed() -> int:
    """A seed from Python's own generator."""
    return python_random.randint(1, int(1e9))


def draw_seed(seed: Any) -> Any:
    """The int32 pair that the stateless functions take, from an int, a generator or None."""
    import minitape as tf

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


def normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Normally distributed numbers."""
    import minitape as tf

    return tf.random.stateless_normal(shape, draw_seed(seed), mean, stddev, dtype or floatx())


def truncated_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Normally distributed numbers, none further than two standard deviations from the mean."""
    import minitape as tf

    return tf.random.stateless_truncated_normal(shape, draw_seed(seed), mean, stddev, dtype or floatx())


def uniform(shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Numbers spread evenly over [minval, maxval)."""
    import minitape as tf

    dtype = dtype or floatx()
    return tf.random.stateless_uniform(shape, draw_seed(seed), tf.cast(minval, dtype), tf.cast(maxval, dtype), dtype)


def randint(shape: Any, minval: int, maxval: int, dtype: Any = "int32", seed: Any = None) -> Any:
    """Integers from [minval, maxval)."""
    import minitape as tf

    kind = standardize_dtype(dtype)
    wide = kind if kind in ("int32", "int64") else "int64"
    return tf.cast(tf.random.stateless_uniform(shape, draw_seed(seed), minval, maxval, wide), kind)


def dropout(inputs: Any, rate: float, noise_shape: Any = None, seed: Any = None) -> Any:
    """Sets a fraction ``rate`` of the elements to zero and scales the others by 1 / (1 - rate)."""
    import minitape as tf

    shape = tuple(inputs.shape)
    if noise_shape is not None:
        shape = tuple(n if s is None else s for s, n in zip(noise_shape, shape, strict=True))
    if rate >= 1:
        return inputs * 0.0
    keep = tf.random.stateless_uniform(shape, draw_seed(seed), dtype=inputs.dtype) >= rate
    return tf.where(keep, inputs * (1.0 / (1.0 - rate)), tf.zeros_like(inputs))


def __getattr__(name: str) -> Any:
    from ..api import missing

    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(missing("tf.keras.random", name, [n for n in globals() if not n.startswith("_")]))
