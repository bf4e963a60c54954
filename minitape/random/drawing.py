"""``tf.random`` as functions: with a global seed and operation seeds, and stateless ones with a seed of their own.

The streams are TensorFlow's, see :mod:`minitape.random.philox`: ``set_seed(1234)`` gives the same numbers there and here.
Without any seed the numbers differ from run to run.
"""

from __future__ import annotations

import contextlib
import copy
import math
import os
import random as _python
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..convert import convert_to_tensor
from ..evidence import decided
from ..invalid import invalid
from ..opdefs import accept_attr
from ..operands import integers, static, strict, tensor_of
from ..primitives import TABLE
from ..record import state
from ..shape import TensorShape
from ..tensor import Tensor, apply, wrap
from . import philox

_MOST = 2**31 - 1


class _Seeds:
    """The global seed, the seeds that it gives to operations, and how far operations with a seed have read."""

    def __init__(self) -> None:
        self.plant(None)

    def plant(self, seed: Any) -> None:
        try:
            hash(seed)
            self.rng = None if seed is None else _python.Random(seed)
        except TypeError:  # a tensor or an array
            seed = int(np.array(seed))
            self.rng = _python.Random(seed)
        self.seed = seed
        self.read: dict[tuple[Any, ...], int] = {}
        self.places: weakref.WeakKeyDictionary[_Draw, int] = weakref.WeakKeyDictionary()  # the same in graphs

    def start(self, op: str, op_seed: Any, dtype: str, blocks: int) -> tuple[int, int]:
        """Key and counter for the next ``blocks`` of four numbers of an operation."""
        if self.seed is None and op_seed is None:
            return _unpredictable()
        second = op_seed
        if second is None:
            second = self.rng.randint(0, _MOST)  # type: ignore[union-attr]
        pair = _pair(self.seed, second)
        counter = pair[1] << 64
        if op_seed is not None:  # an operation with its own seed goes on where it stopped
            place = (op, *pair, dtype)
            counter += self.read.get(place, 0)
            self.read[place] = self.read.get(place, 0) + blocks
        return pair[0], counter

    def follow(self, draw: _Draw, blocks: int) -> tuple[int, int]:
        """The same for an operation of a graph, which has a stretch of its own until the global seed is set."""
        if draw.pair is None:
            return _unpredictable()
        before = self.places.get(draw, 0)
        self.places[draw] = before + blocks
        return draw.pair[0], (draw.pair[1] << 64) + before


def _unpredictable() -> tuple[int, int]:
    return int.from_bytes(os.urandom(8), "little"), 0


def _pair(first: Any, second: Any) -> tuple[int, int]:
    """The two seeds of an operation: the global one, or TensorFlow's stand-in for it, and its own."""
    pair = ((87654321 if first is None else first) % _MOST, second % _MOST)
    return (0, _MOST) if pair == (0, 0) else pair


class _Draw:
    """One random operation: ``fill(start, *arrays)`` makes its numbers, ``start(blocks)`` says where they begin.

    In a graph its seeds are settled when it is made: those of the graph and the number of random operations before.
    """

    def __init__(self, fill: Callable[..., Any], op: str, seed: Any, dtype: str) -> None:
        self.fill, self.op, self.seed, self.dtype = fill, op, seed, dtype
        self.graph, self.pair = state.graph, None
        if self.graph is not None and (seed is not None or self.graph.seed is not None):
            if seed is None:
                seed, self.graph.drawn = self.graph.drawn, self.graph.drawn + 1
            self.pair = _pair(self.graph.seed, seed)

    def start(self, blocks: int) -> tuple[int, int]:
        if self.graph is None:
            return _seeds.start(self.op, self.seed, self.dtype, blocks)
        return _seeds.follow(self, blocks)

    def again(self) -> _Draw:
        """For a copy of the operation in another graph, which starts anew."""
        return copy.copy(self)

    def __call__(self, *tensors: Any) -> list[Any]:
        return [wrap(np.asarray(self.fill(self.start, *[t.array for t in tensors])))]


_seeds = _Seeds()


def global_seed() -> Any:
    """What ``tf.random.set_seed`` was given last, for the graph of a function."""
    return _seeds.seed


def restart(graph: Any) -> None:
    """A new session of a graph: its random operations start anew."""
    for place in [p for p in _seeds.places if p.graph is graph]:
        del _seeds.places[place]


def pair_of(op_seed: int | None) -> tuple[int, int]:
    """The two seeds of something that keeps its own place among the numbers, as datasets do."""
    key, counter = _seeds.start("", op_seed, "", 0)
    return key, counter >> 64


def permutation(count: int) -> Any:
    """The order in which ``fit`` takes examples: at random, but always the same for one global seed."""
    if _seeds.seed is None:
        return philox.permutation(int.from_bytes(os.urandom(8), "little"), 0, count)
    return philox.permutation(_seeds.seed % _MOST, 0, count)


def set_seed(seed: Any) -> None:
    """Sets the global seed: the same random numbers follow each time. None makes them unpredictable again.

    >>> import minitape as tf
    >>> tf.random.set_seed(1234)
    >>> print(tf.random.uniform([2]).numpy())
    [0.5380393  0.36461866]
    """
    _seeds.plant(seed)


# -- shapes, dtypes, running ------------------------------------------------------------------------------------------


def _shape(shape: Any, op: str) -> Any:
    """A shape argument as ints, after the kernel's checks; as a tensor where only a run of the graph knows it."""
    if isinstance(shape, TensorShape):
        shape = shape.as_list()
    elif state.graph is not None and not hasattr(tensor_of(shape), "array"):
        return tensor_of(shape)
    sizes = integers(shape, op, "T")
    if sizes.ndim != 1:
        raise invalid(f"shape must be a vector of {{int32,int64}}, got shape {list(sizes.shape)}", op)
    for n in sizes.tolist():
        if n < 0:
            raise invalid(f"Dimension {n} must be >= 0", op)
    return tuple(sizes.tolist())


# what TensorFlow's graphs call the numbers of a kernel
_NAMES = {
    "RandomStandardNormal": "random_normal", "RandomUniform": "random_uniform/RandomUniform",
    "RandomUniformInt": "random_uniform", "TruncatedNormal": "truncated_normal", "RandomShuffle": "RandomShuffle",
    "Multinomial": "categorical/Multinomial",
}  # fmt: skip


def draw(run: Callable[..., list[Any]], shape: Any, dtype: Any, *tensors: Any) -> Any:
    """A tensor of the numbers that ``run`` makes of the tensors; in a graph, anew each time that it runs."""
    if state.graph is not None:
        from ..graphs.effects import later

        name = _NAMES.get(getattr(run, "op", ""))
        return later(run, tensors, [(TensorShape(shape), dtype)], stateful=True, name=name)[0]
    return decided(run(*tensors)[0], tensors, "random sampling")


@contextlib.contextmanager
def _taking(seed: Any) -> Iterator[None]:
    """Checks of the kernel: what it refuses has taken a seed of the global stream all the same."""
    try:
        yield
    except errors.OpError:
        if seed is None and state.graph is None and _seeds.rng is not None:
            _seeds.rng.randint(0, _MOST)
        raise


def _stateful(op: str, sampler: Any, shape: Any, dtype: Any, seed: Any, *limits: Any) -> Any:
    def fill(start: Any, sizes: Any = shape) -> Any:
        count = math.prod(map(int, sizes))
        return sampler(*start(count * philox.SKIP), count, dtype.as_numpy_dtype, *limits).reshape(sizes)

    made = _Draw(fill, op, seed, dtype.name)
    return draw(made, _known_sizes(shape), dtype, shape) if isinstance(shape, Tensor) else draw(made, shape, dtype)


def _known_sizes(shape: Any) -> TensorShape:
    """What a graph knows of a shape that is a tensor."""
    if shape.op.type == "Shape":
        return shape.op.inputs[0].shape  # type: ignore[no-any-return]
    if shape.op.type == "Pack":
        return TensorShape([int(n.array) if hasattr(n, "array") else None for n in shape.op.inputs])
    rank = shape.shape[0] if shape.shape.rank else None
    return TensorShape(None if rank is None else [None] * rank)


def _scaled(numbers: Any, mean: Any, stddev: Any) -> Any:
    """Standard normal numbers times ``stddev`` plus ``mean``."""
    if type(mean) is float and type(stddev) is float and mean == 0 and stddev == 1:
        return numbers
    return numbers * convert_to_tensor(stddev, numbers.dtype) + convert_to_tensor(mean, numbers.dtype)


def _checked(values: Any, dtype: Any) -> None:
    for v in values:
        convert_to_tensor(v, dtype)


# -- with the global seed ---------------------------------------------------------------------------------------------


@strict
def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Any:
    """Normal numbers of a float dtype. Differentiable in ``mean`` and ``stddev``, which broadcast to ``shape``.

    Raises InvalidArgumentError for a shape that is none, TypeError for integer dtypes.

    >>> import minitape as tf
    >>> tf.random.set_seed(1)
    >>> tf.random.normal([2, 3]).shape
    TensorShape([2, 3])
    """
    dtype = dtypes.as_dtype(dtype)
    _checked((mean, stddev), dtype)
    with _taking(seed):
        accept_attr("RandomStandardNormal", "dtype", dtype)
        sizes = _shape(shape, "RandomStandardNormal")
    return _scaled(_stateful("RandomStandardNormal", philox.normal, sizes, dtype, seed), mean, stddev)


@strict
def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Any:
    """Normal numbers, drawn again where they are more than two standard deviations off. Differentiable as ``normal``.

    >>> import minitape as tf
    >>> bool(tf.reduce_all(abs(tf.random.truncated_normal([100])) < 2))
    True
    """
    dtype = dtypes.as_dtype(dtype)
    _checked((mean, stddev), dtype)
    with _taking(seed):
        accept_attr("TruncatedNormal", "dtype", dtype)
        sizes = _shape(shape, "TruncatedNormal")
    return _scaled(_stateful("TruncatedNormal", philox.truncated_normal, sizes, dtype, seed), mean, stddev)


def _limits(minval: Any, maxval: Any, dtype: Any, op: str) -> tuple[int, int]:
    """The range of integer numbers, after the kernel's checks."""
    low, high = convert_to_tensor(minval, dtype), convert_to_tensor(maxval, dtype)
    for name, limit in (("minval", low), ("maxval", high)):
        if limit.ndim:
            raise invalid(f"{name} must be 0-D, got shape {limit.shape.as_list()}", op)
    if not low.array < high.array:
        raise invalid(f"Need minval < maxval, got {low.array} >= {high.array}", op)
    return int(low.array), int(high.array)


def _float_range(numbers: Any, minval: Any, maxval: Any) -> Any:
    """Numbers of [0, 1) spread over [minval, maxval)."""
    low, high = convert_to_tensor(minval, numbers.dtype), convert_to_tensor(maxval, numbers.dtype)
    return numbers * (high - low) + low


def _stateless_range(numbers: Any, minval: Any, maxval: Any) -> Any:
    """The same, with 1 for no ``maxval``; numbers that are asked for in [0, 1) are left alone."""
    if maxval is None and type(minval) in (int, float) and minval == 0:
        return numbers
    return _float_range(numbers, minval, 1 if maxval is None else maxval)


@strict
def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Any:
    """Numbers spread evenly over [minval, maxval): floats (up to 1 by default), int32 or int64.

    Raises ValueError for other dtypes and for integers without ``maxval``, InvalidArgumentError for an empty range.

    >>> import minitape as tf
    >>> tf.random.set_seed(1)
    >>> tf.random.uniform([3], maxval=2, dtype=tf.int32).dtype
    tf.int32
    """
    dtype = dtypes.as_dtype(dtype)
    if dtype.name not in ("float16", "bfloat16", "float32", "float64", "int32", "int64"):
        raise ValueError(f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are (tf.float16, tf.bfloat16, "
                         "tf.float32, tf.float64, tf.int32, tf.int64).")  # fmt: skip
    if dtype.is_integer:
        if maxval is None:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        with _taking(seed):
            sizes = _shape(shape, "RandomUniformInt")
            limits = _limits(minval, maxval, dtype, "RandomUniformInt")
        return _stateful("RandomUniformInt", philox.integers, sizes, dtype, seed, *limits)
    with _taking(seed):
        sizes = _shape(shape, "RandomUniform")
    numbers = _stateful("RandomUniform", philox.uniform, sizes, dtype, seed)
    if maxval is None and type(minval) in (int, float) and minval == 0:
        return numbers
    return _float_range(numbers, minval, 1 if maxval is None else maxval)


@strict
def shuffle(value: Any, seed: Any = None, name: str | None = None) -> Any:
    """The slices along the first axis in a random order. No gradient passes.

    The result has the shape and dtype of ``value``; a scalar comes back as it is.

    >>> import minitape as tf
    >>> sorted(tf.random.shuffle([3, 1, 2]).numpy().tolist())
    [1, 2, 3]
    """
    x = tensor_of(value)
    if x.ndim == 0:
        return x

    def fill(start: Any, values: Any) -> Any:
        count = values.shape[0]
        key, counter = start(-(-(count - 1) // 4))
        return values[philox.permutation(key, counter, count)]

    made = draw(_Draw(fill, "RandomShuffle", seed, x.dtype.name), x.shape, x.dtype, x)
    return decided(made, (x,), "RandomShuffle")


def _check_logits(x: Any, count: Any, op: str) -> int:
    if x.ndim != 2:
        raise invalid(f"logits should be a matrix, got shape {x.shape.as_list()}", op)
    samples = tensor_of(count)
    if samples.ndim:
        raise invalid(f"num_samples should be a scalar, got shape {samples.shape.as_list()}", op)
    if samples.array < 0:
        raise invalid(f"num_samples should be non-negative, got {samples.array}", op)
    return int(samples.array)


@strict
def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: str | None = None) -> Any:
    """For each row of log probabilities ``num_samples`` class numbers (int64); not differentiable.

    Raises InvalidArgumentError unless ``logits`` is a matrix.

    >>> import minitape as tf
    >>> tf.random.categorical([[0.0, 1.0]], 5).shape
    TensorShape([1, 5])
    """
    from ..opdefs import accept

    x, dtype = tensor_of(logits), dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    accept("Multinomial", x.dtype)
    count = _check_logits(x, num_samples, "Multinomial")

    def fill(start: Any, values: Any) -> Any:
        key, counter = start(len(values) * (-(-count // 4) * 8) * philox.SKIP)
        return philox.categories(key, counter, values, count).astype(dtype.as_numpy_dtype)

    made = draw(_Draw(fill, "Multinomial", seed, x.dtype.name), [x.shape[0], count], dtype, x)
    return decided(made, (x,), "Multinomial")


def _one_by_one(op: str, sampler: Any, sizes: tuple[int, ...], rates: Any, seed: Any, dtype: Any) -> Any:
    """Samples of a distribution for each of the given parameters, each from its own part of the stream."""
    count = math.prod(sizes)

    def fill(start: Any, values: Any) -> Any:
        flat = values.reshape(-1).tolist()
        key, counter = start(count * len(flat) * philox.SKIP)
        out = np.empty((count, len(flat)))
        for j, rate in enumerate(flat):
            for i in range(count):
                out[i, j] = sampler(key, counter + (j * count + i) * philox.SKIP, rate)
        return out.reshape(*sizes, *values.shape).astype(dtype.as_numpy_dtype)

    made = draw(_Draw(fill, op, seed, dtype.name), [*sizes, *rates.shape], dtype, rates)
    return decided(made, (rates,), op)


@strict
def gamma(
    shape: Any, alpha: Any, beta: Any = None, dtype: Any = dtypes.float32, seed: Any = None, name: str | None = None
) -> Any:
    """``shape`` numbers of the Gamma distribution for each ``alpha`` (and inverse scale ``beta``, default 1).

    The result has the shape ``shape + broadcast(alpha, beta)``. Differentiable in ``beta``; ``alpha`` passes no
    gradient.

    >>> import minitape as tf
    >>> tf.random.gamma([4], alpha=[1.0, 2.0]).shape
    TensorShape([4, 2])
    """
    dtype = dtypes.as_dtype(dtype)
    a, b = convert_to_tensor(alpha, dtype), convert_to_tensor(1.0 if beta is None else beta, dtype)
    sizes = integers(shape, "RandomGamma", "S").reshape(-1).tolist()
    wide = a + TABLE["zeros_like"](b)
    numbers = _one_by_one("RandomGamma", philox.gamma, tuple(sizes), wide, seed, dtype)
    least = convert_to_tensor(np.finfo(dtype.as_numpy_dtype).tiny, dtype)
    return apply(TABLE["maximum"], (least, numbers / b), {})


@strict
def poisson(shape: Any, lam: Any, dtype: Any = dtypes.float32, seed: Any = None, name: str | None = None) -> Any:
    """``shape`` numbers of the Poisson distribution for each rate ``lam``: shape ``shape + lam.shape``. No gradient.

    >>> import minitape as tf
    >>> tf.random.poisson([4], lam=[1.0, 2.0]).shape
    TensorShape([4, 2])
    """
    rates = tensor_of(lam)
    sizes = integers(shape, "RandomPoissonV2", "S").reshape(-1).tolist()
    return _one_by_one("RandomPoissonV2", philox.poisson, tuple(sizes), rates, seed, dtypes.as_dtype(dtype))


# -- stateless --------------------------------------------------------------------------------------------------------


def _start(seed: Any) -> tuple[int, int]:
    """Key and counter for a seed of two integers."""
    numbers = tensor_of(seed)
    accept_attr("StatelessRandomGetKeyCounter", "Tseed", numbers.dtype)
    if numbers.shape.as_list() != [2]:
        raise invalid(
            f"seed must have shape [2], not [{','.join(map(str, numbers.shape))}]", "StatelessRandomGetKeyCounter"
        )
    first, second = (int(n) for n in numbers.array)
    return philox.scrambled((first, second))


def _stateless(sampler: Any, shape: Any, seed: Any, dtype: Any, op: str, *limits: Any) -> Any:
    start, sizes = _start(seed), _shape(shape, op)
    numbers = sampler(*start, math.prod(sizes), dtype.as_numpy_dtype, *limits)
    return wrap(numbers.reshape(sizes))


def _check_alg(alg: str) -> None:
    if alg not in ("auto_select", "philox"):
        raise ValueError(f"Argument `alg` got unsupported value {alg}. minitape has 'philox', which is also what "
                         "'auto_select' means on CPUs.")  # fmt: skip


@strict
def stateless_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: str | None = None,
    alg: str = "auto_select",
) -> Any:  # fmt: skip
    """Normal numbers that depend on ``seed`` (two integers) alone. Differentiable in ``mean`` and ``stddev``.

    Raises InvalidArgumentError unless ``seed`` has shape [2].

    >>> import minitape as tf
    >>> print(tf.random.stateless_normal([2], seed=[1, 2]).numpy())
    [0.5441101  0.20738031]
    """
    _check_alg(alg)
    dtype = dtypes.as_dtype(dtype)
    return _scaled(_stateless(philox.normal, shape, seed, dtype, "StatelessRandomNormalV2"), mean, stddev)


@strict
def stateless_truncated_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: str | None = None,
    alg: str = "auto_select",
) -> Any:  # fmt: skip
    """Normal numbers within two standard deviations that depend on ``seed`` alone. Differentiable as ``normal``.

    ``dtype`` is a float (else TypeError). InvalidArgumentError for a seed that is not two integers.

    >>> import minitape as tf
    >>> print(tf.random.stateless_truncated_normal([2], seed=[1, 2]).numpy())
    [0.5441101  0.20738031]
    """
    _check_alg(alg)
    dtype = dtypes.as_dtype(dtype)
    if dtype.is_integer:
        raise TypeError(f"Cannot convert {mean} to EagerTensor of dtype {dtype.name}")
    return _scaled(_stateless(philox.truncated_normal, shape, seed, dtype, "StatelessTruncatedNormalV2"), mean, stddev)


@strict
def stateless_uniform(
    shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, name: str | None = None,
    alg: str = "auto_select",
) -> Any:  # fmt: skip
    """Numbers spread evenly over [minval, maxval) that depend on ``seed`` alone.

    Integers without limits (both None) cover their whole range; with one of them missing: ValueError.

    >>> import minitape as tf
    >>> print(tf.random.stateless_uniform([2], seed=[1, 2]).numpy())
    [0.8440604  0.19204533]
    """
    _check_alg(alg)
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_integer:
        numbers = _stateless(philox.uniform, shape, seed, dtype, "StatelessRandomUniformV2")
        return _stateless_range(numbers, minval, maxval)
    if (minval is None) != (maxval is None):
        raise ValueError(f"For integer `dtype` argument {dtype}, argument `minval` and `maxval` must be both None or "
                         f"not None. Got `minval`={minval} and `maxval`={maxval}.")  # fmt: skip
    if minval is None:
        return _stateless(philox.bits, shape, seed, dtype, "StatelessRandomUniformFullIntV2")
    limits = _limits(minval, maxval, dtype, "StatelessRandomUniformIntV2")
    return _stateless(philox.integers, shape, seed, dtype, "StatelessRandomUniformIntV2", *limits)


@strict
def stateless_categorical(
    logits: Any, num_samples: Any, seed: Any, dtype: Any = dtypes.int64, name: str | None = None
) -> Any:
    """For each row of log probabilities ``num_samples`` class numbers that depend on ``seed`` alone.

    ``logits`` is a matrix (else InvalidArgumentError); the result has a row for each of its rows and is int64 unless
    ``dtype`` says otherwise. Not differentiable.

    >>> import minitape as tf
    >>> print(tf.random.stateless_categorical([[0.0, 1.0, 2.0]], 4, seed=[1, 2]).numpy())
    [[2 2 1 2]]
    """
    x = tensor_of(logits)
    count = _check_logits(x, num_samples, "StatelessMultinomial")
    made = philox.categories(*_start(seed), x.array, count).astype(dtypes.as_dtype(dtype).as_numpy_dtype)
    return decided(wrap(made), (x,), "StatelessMultinomial")


@strict
def stateless_shuffle(value: Any, seed: Any, alg: str = "auto_select", name: str | None = None) -> Any:
    """The slices along the first axis in an order that depends on ``seed`` alone. No gradient passes.

    The result has the shape and dtype of ``value``; a scalar comes back as it is.

    >>> import minitape as tf
    >>> print(tf.random.experimental.stateless_shuffle([0, 1, 2, 3, 4, 5, 6, 7], seed=[1, 2]).numpy())
    [4 2 1 7 3 6 0 5]
    """
    _check_alg(alg)
    x = tensor_of(value)
    if x.ndim == 0:
        return x
    return decided(wrap(x.array[philox.permutation(*_start(seed), x.array.shape[0])]), (x,), "RandomIndexShuffle")


@strict
def split(seed: Any, num: int = 2, alg: str = "auto_select") -> Any:
    """``num`` new seeds made of one, as a matrix with one seed in each row.

    ``seed`` is two integers (else InvalidArgumentError), and the result has their dtype.

    >>> import minitape as tf
    >>> tf.random.split([1, 2], 3).shape
    TensorShape([3, 2])
    """
    seed = tensor_of(seed)
    return stateless_uniform([int(static(num)), 2], seed, None, None, seed.dtype, alg=alg)


@strict
def fold_in(seed: Any, data: Any, alg: str = "auto_select") -> Any:
    """A new seed made of a seed and an integer.

    ``seed`` is two integers (else InvalidArgumentError), and the result has their dtype.

    >>> import minitape as tf
    >>> print(tf.random.fold_in([1, 2], 5).numpy())
    [1105988140          5]
    """
    data = tensor_of(data)
    first = stateless_uniform([], seed, None, None, data.dtype, alg=alg)
    return wrap(np.array([first.array, data.array], data.dtype.as_numpy_dtype))


stateless_split, stateless_fold_in = split, fold_in
