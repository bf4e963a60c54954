"""``tf.random.Generator``: a stream of random numbers whose state is a variable."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from ...engine.tensor.opdefs import accept_attr
from ...engine.tensor.tensor import Tensor, new_tensor
from ...engine.tensor.variable import Variable
from ...engine.values import dtypes
from ...ops import philox
from ...ops.casts import cast
from ...ops.operands import tensor_of
from .functions import check_numbers, draw, known_sizes, limits_of, scaled, sizes_of, spread

_one_at_a_time = threading.Lock()  # while a generator's state goes on, so that no two threads get the same numbers


def _algorithm(alg: Any) -> int:
    """The number of an algorithm: 1 for Philox, the only one here, which is also what "auto_select" means."""
    if alg not in (None, "philox", "auto_select", 1, 3):
        raise ValueError(f"Argument `alg` got unsupported value {alg}. minitape has 'philox' only.")
    return 1


def _words(seed: Any) -> np.ndarray:
    """A seed as the three 64-bit words of a state: an int from its low end on, a list behind zeros."""
    if isinstance(seed, int):
        return np.array([(seed >> 64 * i) & philox.MASK for i in range(3)], np.uint64).view(np.int64)
    numbers = np.asarray(cast(tensor_of(seed), dtypes.int64).array).reshape(-1)[:3]
    return np.concatenate([np.zeros(3 - len(numbers), np.int64), numbers])


class Generator:
    """A stream of random numbers. Make one with ``from_seed``.

    The numbers are those of TensorFlow's generators with the algorithm Philox.
    See https://www.tensorflow.org/api_docs/python/tf/random/Generator.

    >>> import minitape as tf
    >>> g = tf.random.Generator.from_seed(1)
    >>> print(g.normal([2]).numpy())
    [ 0.43842274 -0.53439844]
    """

    def __init__(self, state: Any, alg: Any) -> None:
        self._alg = _algorithm(alg)
        self._state_var = Variable(state, trainable=False, name="StateVar", dtype=dtypes.int64)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """A generator that begins at a seed: an int or a list of at most three.

        >>> import minitape as tf
        >>> print(tf.random.Generator.from_seed(1234).uniform([2]).numpy().shape)
        (2,)
        """
        return cls(_words(seed), alg)

    state = property(
        lambda self: self._state_var, doc="The state, an int64 variable: two words of counter, one of key."
    )
    algorithm = property(lambda self: self._alg, doc="The number of the algorithm: 1 for Philox.")

    def _advance(self, blocks: int) -> tuple[int, int]:
        """Key and counter now; the counter goes on by ``blocks``."""
        with _one_at_a_time:
            words = [int(w) & philox.MASK for w in self._state_var.numpy()]
            counter = words[0] | words[1] << 64
            after = counter + blocks
            new = np.array([after & philox.MASK, after >> 64 & philox.MASK, words[2]], np.uint64).view(np.int64)
            self._state_var.assign(new)
        return words[2], counter

    def _draw(self, sampler: Any, shape: Any, dtype: Any, *limits: Any) -> Any:
        """``sampler(key, counter, count, dtype, *limits)`` in a shape, which in a graph only a run may know."""
        sizes = sizes_of(shape, "StatelessRandomNormalV2")

        def run(sizes: Any = sizes) -> list:
            sizes = tuple(sizes.array.tolist()) if isinstance(sizes, Tensor) else sizes
            count = math.prod(sizes)
            key, counter = self._advance(count * philox.SKIP)
            return [new_tensor(np.asarray(sampler(key, counter, count, dtype.as_numpy_dtype, *limits).reshape(sizes)))]

        return draw(run, known_sizes(sizes), dtype, sizes) if isinstance(sizes, Tensor) else draw(run, sizes, dtype)

    def normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: Any = None
    ) -> Any:
        """Normal numbers. Differentiable in ``mean`` and ``stddev``.

        >>> import minitape as tf
        >>> print(tf.random.Generator.from_seed(1).normal([2], mean=5.0).numpy())
        [5.4384227 4.4656014]
        """
        dtype = dtypes.as_dtype(dtype)
        check_numbers((mean, stddev), dtype)
        return scaled(self._draw(philox.normal, shape, dtype), mean, stddev)

    def uniform(
        self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, name: Any = None
    ) -> Any:
        """Numbers spread evenly over [minval, maxval); integers need both limits or none (ValueError).

        >>> import minitape as tf
        >>> tf.random.Generator.from_seed(1).uniform([2], 0, 5, tf.int32).dtype
        tf.int32
        """
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_integer:
            numbers = self._draw(philox.uniform, shape, dtype)
            return spread(numbers, minval, maxval)
        if (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer dtype {dtype}, minval and maxval must be both `None` or both non-`None`; "
                f"got minval={minval} and maxval={maxval}"
            )
        accept_attr("StatelessRandomUniformIntV2", "dtype", dtype)
        if minval is None:  # the whole range of the dtype
            return self._draw(philox.bits, shape, dtype)
        limits = limits_of(minval, maxval, dtype, "StatelessRandomUniformIntV2", shape)
        return self._draw(philox.integers, shape, dtype, *limits)
