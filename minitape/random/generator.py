"""``tf.random.Generator``: a stream of random numbers whose state is a variable."""

from __future__ import annotations

import enum
import math
import os
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..convert import convert_to_tensor
from ..operands import static, tensor_of
from ..tensor import Tensor, wrap
from ..variable import Variable
from . import philox
from .arguments import check_numbers, draw, known_sizes, limits_of, scaled, sizes_of, spread


class Algorithm(enum.Enum):
    """Names of algorithms; minitape has PHILOX, which is also what AUTO_SELECT means.

    >>> import minitape as tf
    >>> tf.random.Generator.from_seed(1, tf.random.Algorithm.PHILOX).algorithm
    1
    """

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def _algorithm(alg: Any) -> int:
    name = alg.name.lower() if isinstance(alg, Algorithm) else alg
    if isinstance(name, str) and name not in ("philox", "threefry", "auto_select"):
        raise ValueError(f"Argument `alg` got unsupported value {alg}. Supported values are philox for the Philox "
                         f"algorithm, "
                         "threefry for the ThreeFry algorithm, and auto_select for auto-selection.")  # fmt: skip
    if name in ("philox", "auto_select", 1, 3) or (hasattr(name, "numpy") and int(name.numpy()) == 1):
        return 1
    raise NotImplementedError(f"minitape has the algorithm 'philox' only; got {alg!r}.")


def _words(seed: Any) -> np.ndarray:
    """A seed as the three 64-bit words of a state: an int from its low end on, a list behind zeros."""
    if isinstance(seed, (int, float, np.integer)):
        number = int(seed)
        return np.array([(number >> 64 * i) & philox.MASK for i in range(3)], np.uint64).view(np.int64)
    numbers = np.asarray(tensor_of(seed).array).astype(np.int64).reshape(-1)[:3]
    return np.concatenate([np.zeros(3 - len(numbers), np.int64), numbers])


def create_rng_state(seed: Any, alg: Any) -> Any:
    """The state that a Generator with this seed begins with, as an int64 tensor.

    ``seed`` is a whole number or a vector of up to three. ValueError for an unknown ``alg``.

    >>> import minitape as tf
    >>> print(tf.random.create_rng_state(1, "philox").numpy())
    [1 0 0]
    """
    _algorithm(alg)
    return wrap(_words(seed))


class Generator:
    """A stream of random numbers. Make one with ``from_seed``, ``from_non_deterministic_state`` or ``from_state``.

    The numbers are those of TensorFlow's generators with the algorithm Philox.
    See https://www.tensorflow.org/api_docs/python/tf/random/Generator.

    >>> import minitape as tf
    >>> g = tf.random.Generator.from_seed(1)
    >>> print(g.normal([2]).numpy())
    [ 0.43842274 -0.53439844]
    """

    def __init__(self, copy_from: Generator | None = None, state: Any = None, alg: Any = None) -> None:
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("If `copy_from` is specified, neither `state` nor `alg` must be specified. Received "
                                 f"copy_from={copy_from}, state={state}, alg={alg}")  # fmt: skip
            state, alg = copy_from.state.numpy(), copy_from.algorithm
        if state is None or alg is None:
            raise ValueError("If `copy_from` is not specified, both `state` and `alg` must be specified. Received "
                             f"copy_from={copy_from}, state={state}, alg={alg}")  # fmt: skip
        self._alg = _algorithm(alg)
        if not isinstance(state, Variable):  # a variable is shared, as in TensorFlow
            state = convert_to_tensor(state, dtypes.int64)
            if state.shape != (3,):
                raise ValueError(f"Shapes {state.shape} and [3] are incompatible")
            state = Variable(state, trainable=False, name="StateVar", dtype=dtypes.int64)
        self._state = state

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """A generator that begins at a seed: an int or a list of at most three.

        >>> import minitape as tf
        >>> print(tf.random.Generator.from_seed(1234).uniform([2]).numpy().shape)
        (2,)
        """
        alg = 1 if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A generator that begins at a state nobody can predict.

        >>> import minitape as tf
        >>> tf.random.Generator.from_non_deterministic_state().normal([2]).shape
        TensorShape([2])
        """
        return cls(state=np.frombuffer(os.urandom(24), np.int64).copy(), alg=1 if alg is None else alg)

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """A generator that goes on from a state: a vector of three integers, or a variable, which is then shared.

        >>> import minitape as tf
        >>> g = tf.random.Generator.from_seed(1)
        >>> h = tf.random.Generator.from_state(g.state.numpy(), alg="philox")
        >>> bool(tf.reduce_all(g.normal([3]) == h.normal([3])))
        True
        """
        return cls(state=state, alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """A generator from a key (an integer) and a counter (two of them).

        >>> import minitape as tf
        >>> print(tf.random.Generator.from_key_counter(5, [0, 1], "philox").state.numpy())
        [0 1 5]
        """
        words = [*np.asarray(static(counter)).reshape(-1), static(key)]
        return cls(state=np.array(words, np.int64), alg=alg)

    state = property(lambda self: self._state, doc="The state, an int64 variable: two words of counter, one of key.")
    algorithm = property(lambda self: self._alg, doc="The number of the algorithm: 1 for Philox.")
    key = property(lambda self: wrap(self._state.numpy()[2]), doc="The last word of the state, an int64 tensor.")

    def reset(self, state: Any) -> None:
        """Goes on from another state, a vector of three integers.

        >>> import minitape as tf
        >>> g = tf.random.Generator.from_seed(1)
        >>> g.reset([5, 0, 0])
        >>> print(g.state.numpy())
        [5 0 0]
        """
        self._state.assign(state._read() if hasattr(state, "_read") else state)

    def reset_from_seed(self, seed: Any) -> None:
        """Begins again at a seed.

        >>> import minitape as tf
        >>> g = tf.random.Generator.from_seed(1)
        >>> before = g.normal([2])
        >>> g.reset_from_seed(1)
        >>> bool(tf.reduce_all(before == g.normal([2])))
        True
        """
        self._state.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Begins again at a key and a counter.

        >>> import minitape as tf
        >>> g = tf.random.Generator.from_seed(1)
        >>> g.reset_from_key_counter(7, [1, 2])
        >>> print(g.state.numpy())
        [1 2 7]
        """
        self._state.assign(Generator.from_key_counter(key, counter, self._alg).state)

    def skip(self, delta: Any) -> Any:
        """Leaves out ``delta`` numbers; returns the state before, as a tensor.

        >>> import minitape as tf
        >>> g = tf.random.Generator.from_seed(1)
        >>> print(g.skip(2).numpy(), g.state.numpy())
        [1 0 0] [513   0   0]
        """
        before = self._state.numpy()
        self._advance(int(static(delta)) * philox.SKIP)
        return wrap(before)

    def _advance(self, blocks: int) -> tuple[int, int]:
        """Key and counter now; the counter goes on by ``blocks``."""
        words = [int(w) & philox.MASK for w in self._state.numpy()]
        counter = words[0] | words[1] << 64
        after = counter + blocks
        new = np.array([after & philox.MASK, after >> 64 & philox.MASK, words[2]], np.uint64).view(np.int64)
        self._state.assign(new)
        return words[2], counter

    def _draw(self, sampler: Any, shape: Any, dtype: Any, *limits: Any) -> Any:
        sizes = sizes_of(shape, "StatelessRandomNormalV2")

        def run(sizes: Any = sizes) -> list[Any]:
            sizes = tuple(sizes.array.tolist()) if isinstance(sizes, Tensor) else sizes
            count = math.prod(sizes)
            key, counter = self._advance(count * philox.SKIP)
            return [wrap(np.asarray(sampler(key, counter, count, dtype.as_numpy_dtype, *limits).reshape(sizes)))]

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

    def truncated_normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: Any = None
    ) -> Any:
        """Normal numbers within two standard deviations. Differentiable in ``mean`` and ``stddev``.

        >>> import minitape as tf
        >>> numbers = tf.random.Generator.from_seed(1).truncated_normal([100])
        >>> bool(tf.reduce_all(abs(numbers) < 2))
        True
        """
        dtype = dtypes.as_dtype(dtype)
        check_numbers((mean, stddev), dtype)
        return scaled(self._draw(philox.truncated_normal, shape, dtype), mean, stddev)

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
            raise ValueError(f"For integer dtype {dtype}, minval and maxval must be both `None` or both non-`None`; "
                             f"got minval={minval} and maxval={maxval}")  # fmt: skip
        if minval is None:
            return self._draw(philox.bits, shape, dtype)
        try:
            limits = limits_of(minval, maxval, dtype, "StatelessRandomUniformIntV2")
        except errors.OpError:  # the kernel refuses them after the state has moved on
            self.skip(math.prod(sizes_of(shape, "StatelessRandomUniformIntV2")))
            raise
        return self._draw(philox.integers, shape, dtype, *limits)

    def uniform_full_int(self, shape: Any, dtype: Any = dtypes.uint64, name: Any = None) -> Any:
        """Integers over the whole range of their dtype.

        >>> import minitape as tf
        >>> tf.random.Generator.from_seed(1).uniform_full_int([3]).dtype
        tf.uint64
        """
        return self._draw(philox.bits, shape, dtypes.as_dtype(dtype))

    def binomial(self, shape: Any, counts: Any, probs: Any, dtype: Any = dtypes.int32, name: Any = None) -> Any:
        """How many of ``counts`` trials succeed with probability ``probs``. (These numbers are not TensorFlow's.)

        >>> import minitape as tf
        >>> tf.random.Generator.from_seed(1).binomial([3], counts=10.0, probs=0.5).shape
        TensorShape([3])
        """
        dtype, sizes = dtypes.as_dtype(dtype), sizes_of(shape, "StatefulRandomBinomial")
        n, p = tensor_of(counts).array, tensor_of(probs).array

        def run() -> list[Any]:
            key, counter = self._advance(100 * math.prod(sizes) * philox.SKIP)
            rng = np.random.Generator(np.random.Philox(key=key, counter=counter & (1 << 128) - 1))
            return [wrap(np.asarray(rng.binomial(np.asarray(n, np.int64), p, sizes).astype(dtype.as_numpy_dtype)))]

        return draw(run, sizes, dtype)

    def make_seeds(self, count: int = 1) -> Any:
        """Seeds for the stateless functions: a tensor of shape [2, count].

        >>> import minitape as tf
        >>> seeds = tf.random.Generator.from_seed(1).make_seeds(3)
        >>> seeds.shape, tf.random.stateless_normal([2], seeds[:, 0]).shape
        (TensorShape([2, 3]), TensorShape([2]))
        """
        first = self.uniform_full_int([count], dtypes.int64).numpy()
        return wrap(np.stack([first, np.zeros_like(first)]))

    def split(self, count: int = 1) -> list[Generator]:
        """New generators, as good as independent of this one and each other.

        >>> import minitape as tf
        >>> len(tf.random.Generator.from_seed(1).split(3))
        3
        """
        keys = self.uniform_full_int([count], dtypes.int64).numpy()
        return [Generator(state=np.array([0, 0, key], np.int64), alg=self._alg) for key in keys]


_global: list[Generator] = []


def get_global_generator() -> Generator:
    """The generator that stands for all; made, at an unpredictable state, when it is first asked for.

    >>> import minitape as tf
    >>> tf.random.get_global_generator().normal([2]).shape
    TensorShape([2])
    """
    if not _global:
        _global.append(Generator.from_non_deterministic_state())
    return _global[0]


def set_global_generator(generator: Generator) -> None:
    """Puts another generator in the place of the global one.

    >>> import minitape as tf
    >>> tf.random.set_global_generator(tf.random.Generator.from_seed(7))
    >>> print(tf.random.get_global_generator().state.numpy())
    [7 0 0]
    """
    _global[:] = [generator]
