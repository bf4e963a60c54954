"""``tf.random.Generator``: a stream of random numbers whose state is a variable."""

from __future__ import annotations

import enum
import math
import os
import threading
from typing import Any

import numpy as np

from ...engine import dtypes, errors
from ...engine.invalid import invalid
from ...engine.opdefs import accept_attr
from ...engine.operands import static, tensor_of
from ...engine.primitives import TABLE
from ...engine.shape import TensorShape
from ...engine.tensor import Tensor, wrap
from ...engine.variable import Variable
from ...ops import philox
from ...ops.casts import cast
from ...ops.joining import stack
from .arguments import check_numbers, draw, known_sizes, limits_of, scaled, sizes_of, spread

_one_at_a_time = threading.Lock()  # while a generator's state goes on, so that no two threads get the same numbers


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
        raise ValueError(f"Argument `alg` got unsupported value {alg}. Supported values are philox for the Philox algorithm, "
                         "threefry for the ThreeFry algorithm, and auto_select for auto-selection.")  # fmt: skip
    if name in ("philox", "auto_select", 1, 3) or (hasattr(name, "numpy") and int(name.numpy()) == 1):
        return 1
    raise NotImplementedError(f"minitape has the algorithm 'philox' only; got {alg!r}.")


def _words(seed: Any) -> np.ndarray:
    """A seed as the three 64-bit words of a state: an int from its low end on, a list behind zeros."""
    if isinstance(seed, int):
        return np.array([(seed >> 64 * i) & philox.MASK for i in range(3)], np.uint64).view(np.int64)
    numbers = np.asarray(cast(tensor_of(seed), dtypes.int64).array).reshape(-1)[:3]
    return np.concatenate([np.zeros(3 - len(numbers), np.int64), numbers])


def _vector(values: Any, size: int) -> np.ndarray:
    """So many 64-bit words; ValueError for another number of them."""
    words = np.asarray(cast(tensor_of(values), dtypes.int64).array)
    if words.shape != (size,):
        raise ValueError(f"Shapes {TensorShape(words.shape)} and [{size}] are incompatible")
    return words


def create_rng_state(seed: Any, alg: Any) -> Tensor:
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

    _checkpointed: frozenset[str] = frozenset()

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
            state = Variable(_vector(state, 3), trainable=False, name="StateVar", dtype=dtypes.int64)
        self._state_var = state

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
        return cls(state=np.append(_vector(counter, 2), np.int64(static(key))), alg=alg)

    state = property(lambda self: self._state_var, doc="The state, an int64 variable: two words of counter, one of key.")
    algorithm = property(lambda self: self._alg, doc="The number of the algorithm: 1 for Philox.")
    key = property(lambda self: wrap(self._state_var.numpy()[2]), doc="The last word of the state, an int64 tensor.")

    def reset(self, state: Any) -> None:
        """Goes on from another state, a vector of three integers.

        >>> import minitape as tf
        >>> g = tf.random.Generator.from_seed(1)
        >>> g.reset([5, 0, 0])
        >>> print(g.state.numpy())
        [5 0 0]
        """
        self._state_var.assign(_vector(state, 3))

    def reset_from_seed(self, seed: Any) -> None:
        """Begins again at a seed.

        >>> import minitape as tf
        >>> g = tf.random.Generator.from_seed(1)
        >>> before = g.normal([2])
        >>> g.reset_from_seed(1)
        >>> bool(tf.reduce_all(before == g.normal([2])))
        True
        """
        self._state_var.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Begins again at a key and a counter.

        >>> import minitape as tf
        >>> g = tf.random.Generator.from_seed(1)
        >>> g.reset_from_key_counter(7, [1, 2])
        >>> print(g.state.numpy())
        [1 2 7]
        """
        self._state_var.assign(Generator.from_key_counter(key, counter, self._alg).state)

    def skip(self, delta: Any) -> Any:
        """Leaves out ``delta`` numbers; returns the state before, as a tensor.

        >>> import minitape as tf
        >>> g = tf.random.Generator.from_seed(1)
        >>> print(g.skip(2).numpy(), g.state.numpy())
        [1 0 0] [513   0   0]
        """
        count = int(static(delta))

        def run() -> list[Any]:
            key, counter = self._advance(count * philox.SKIP)
            return [wrap(np.array([counter & philox.MASK, counter >> 64, key], np.uint64).view(np.int64))]

        return draw(run, [3], dtypes.int64)

    def _advance(self, blocks: int) -> tuple[int, int]:
        """Key and counter now; the counter goes on by ``blocks``."""
        with _one_at_a_time:
            words = [int(w) & philox.MASK for w in self._state_var.numpy()]
            counter = words[0] | words[1] << 64
            after = counter + blocks
            new = np.array([after & philox.MASK, after >> 64 & philox.MASK, words[2]], np.uint64).view(np.int64)
            self._state_var.assign(new)
        return words[2], counter

    def _draw(self, sampler: Any, shape: Any, dtype: Any, *limits: Any, op: str = "StatelessRandomNormalV2") -> Any:
        """``sampler(key, counter, count, dtype, *limits)`` in a shape, which in a graph only a run may know."""
        sizes = sizes_of(shape, op)

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
        accept_attr("StatelessRandomUniformIntV2", "dtype", dtype)
        if minval is None:
            return self.uniform_full_int(shape, dtype)
        try:
            limits = limits_of(minval, maxval, dtype, "StatelessRandomUniformIntV2", shape)
        except errors.OpError:  # the kernel refuses them after the state has moved on
            self.skip(math.prod(sizes_of(shape, "StatelessRandomUniformIntV2")))
            raise
        return self._draw(philox.integers, shape, dtype, *limits)

    def uniform_full_int(self, shape: Any, dtype: Any = dtypes.uint64, name: Any = None) -> Any:
        """Integers of 32 or 64 bits over the whole range of their dtype; InvalidArgumentError for another one.

        >>> import minitape as tf
        >>> tf.random.Generator.from_seed(1).uniform_full_int([3]).dtype
        tf.uint64
        """
        op, dtype = "StatelessRandomUniformFullIntV2", dtypes.as_dtype(dtype)
        accept_attr(op, "dtype", dtype)
        return self._draw(philox.bits, shape, dtype, op=op)

    def binomial(self, shape: Any, counts: Any, probs: Any, dtype: Any = dtypes.int32, name: Any = None) -> Any:
        """How many of ``counts`` trials succeed with probability ``probs``. (These numbers are not TensorFlow's.)

        ``shape`` ends with the shape to which the two broadcast, else InvalidArgumentError. ValueError for a probability
        that is none (NaN); those below 0 count as 0, those above 1 as 1.

        >>> import minitape as tf
        >>> tf.random.Generator.from_seed(1).binomial([3], counts=10.0, probs=0.5).shape
        TensorShape([3])
        """
        op, n, p = "StatefulRandomBinomial", tensor_of(counts), tensor_of(probs)
        dtype, sizes = dtypes.as_dtype(dtype), tensor_of(sizes_of(shape, op), dtypes.int32)

        def run(sizes: Any, n: Any, p: Any) -> list[Any]:
            to, trials, chance = tuple(sizes.array.tolist()), np.maximum(n.array, 0), np.clip(p.array, 0, 1)
            ending = np.broadcast_shapes(trials.shape, chance.shape)
            if to[len(to) - len(ending) :] != ending:
                raise invalid("Shape passed in must end with broadcasted shape.", op)
            batches = math.prod(ending)
            each = math.prod(to) // max(batches, 1)
            key, counter = self._advance(batches * 200 * (each + 3) // 4 * philox.SKIP)  # as far as TensorFlow goes
            rng = np.random.Generator(np.random.Philox(key=key, counter=counter & (1 << 128) - 1))
            return [wrap(np.asarray(rng.binomial(trials.astype(np.int64), chance, to).astype(dtype.as_numpy_dtype)))]

        known = TensorShape(sizes.array.tolist()) if hasattr(sizes, "array") else known_sizes(sizes)
        return draw(run, known, dtype, sizes, n, p)

    def make_seeds(self, count: int = 1) -> Any:
        """Seeds for the stateless functions: a tensor of shape [2, count].

        >>> import minitape as tf
        >>> seeds = tf.random.Generator.from_seed(1).make_seeds(3)
        >>> seeds.shape, tf.random.stateless_normal([2], seeds[:, 0]).shape
        (TensorShape([2, 3]), TensorShape([2]))
        """
        first = self.uniform_full_int([count], dtypes.int64)
        return stack([first, TABLE["zeros_like"](first)])

    def split(self, count: int = 1) -> list[Generator]:
        """New generators, as good as independent of this one and each other.

        >>> import minitape as tf
        >>> len(tf.random.Generator.from_seed(1).split(3))
        3
        """
        keys = self.uniform_full_int([count], dtypes.int64).numpy()
        return [Generator(state=np.array([0, 0, key], np.int64), alg=self._alg) for key in keys]


_global: list[Generator] = []  # none or one


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
