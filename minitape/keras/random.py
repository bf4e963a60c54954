"""Random numbers of Keras, for initializers and dropout: they depend on a seed only.

A seed is an int, which gives the same numbers each time, or a ``SeedGenerator``, which gives others at each use.
"""

from __future__ import annotations

import random as python_random
from typing import Any

import numpy as np

from .. import tf
from ..engine.tensor.tensor import Tensor
from ..tf.random.functions import stateless_normal, stateless_truncated_normal, stateless_uniform
from .base import auto_name, name_scope, standardize_dtype
from .variable import Variable


class SeedGenerator:
    """A source of seeds: each use gives another, the sequence depends only on the first.

    >>> seeds = SeedGenerator(7)
    >>> seeds.next().numpy(), seeds.next().numpy()
    (array([7, 0]), array([7, 1]))
    """

    _tracked_as = "seeds"

    def __init__(self, seed: int | None = None) -> None:
        self.name = auto_name("SeedGenerator")
        if seed is None:
            seed = make_default_seed()
        if not isinstance(seed, int):
            raise ValueError(f"Argument `seed` must be an integer. Received: seed={seed}")
        with name_scope(self.name, caller=self):
            self.state = Variable(np.array([seed, 0], np.int64), trainable=False, name="seed_generator_state")

    def next(self) -> Tensor:
        """The next seed, an int64 tensor of two numbers."""
        seed = self.state.value * 1
        self.state.assign(self.state + np.array([0, 1]))
        return seed


def make_default_seed() -> int:
    """A seed from Python's own generator, an int from 1 to 1e9."""
    return python_random.randint(1, int(1e9))


def _seed_pair(seed: Any) -> Tensor:
    """The int32 pair that the stateless functions take, from an int or a generator."""
    pair = seed.next() if isinstance(seed, SeedGenerator) else tf.constant([seed, 0], tf.int64)
    return tf.cast(tf.math.floormod(pair, tf.constant(2**31 - 2, tf.int64)), tf.int32)


def normal(shape: Any, mean: float, stddev: float, dtype: Any, seed: Any) -> Tensor:
    """Normally distributed numbers."""
    return stateless_normal(shape, _seed_pair(seed), mean, stddev, standardize_dtype(dtype))


def truncated_normal(shape: Any, mean: float, stddev: float, dtype: Any, seed: Any) -> Tensor:
    """Normally distributed numbers, none further than two standard deviations from the mean."""
    return stateless_truncated_normal(shape, _seed_pair(seed), mean, stddev, standardize_dtype(dtype))


def uniform(shape: Any, minval: float, maxval: float, dtype: Any, seed: Any) -> Tensor:
    """Numbers spread evenly from ``minval`` up to ``maxval``, which is left out; ValueError for a dtype without
    floats.
    """
    dtype = standardize_dtype(dtype)
    if "float" not in dtype:
        raise ValueError(f"`keras.random.uniform` requires a floating point `dtype`. Received: dtype={dtype} ")
    return stateless_uniform(shape, _seed_pair(seed), tf.cast(minval, dtype), tf.cast(maxval, dtype), dtype)


def dropout(inputs: Any, rate: float, seed: Any) -> Tensor:
    """Sets a fraction ``rate`` of the elements to zero and scales the others by ``1 / (1 - rate)``."""
    shape = tuple(inputs.shape) if inputs.shape.is_fully_defined() else tf.shape(inputs)
    if rate >= 1:
        return inputs * 0.0
    keep = stateless_uniform(shape, _seed_pair(seed), dtype=inputs.dtype) >= rate
    return tf.where(keep, inputs * (1.0 / (1.0 - rate)), tf.zeros_like(inputs))
