"""``tf.random.stateless_*``: numbers that depend on the seed they are given, two integers, and on nothing else."""

from __future__ import annotations

import math
from typing import Any

from ...engine import dtypes
from ...engine.evidence import decided
from ...engine.invalid import invalid, shown
from ...engine.opdefs import accept_attr
from ...engine.operands import static, strict, tensor_of
from ...engine.shape import TensorShape
from ...engine.tensor import Tensor, wrap
from ...ops import philox
from ...ops.joining import stack
from .arguments import check_dtype, check_numbers, count_of, known_sizes, limits_of, scaled, sizes_of, spread
from .stateful import scaled_gamma, shapes_and_scales


def _start(seed: Any) -> tuple[int, int]:
    """Key and counter for a seed of two integers."""
    first, second = (int(n) for n in _seed_of(seed).array)
    return philox.scrambled((first, second))


def _seed_of(seed: Any) -> Any:
    """The seed as a tensor, after the kernel's checks."""
    numbers = tensor_of(seed)
    accept_attr("StatelessRandomGetKeyCounter", "Tseed", numbers.dtype)
    if not numbers.shape.is_compatible_with([2]):
        raise invalid(f"seed must have shape [2], not {shown(numbers.shape)}", "StatelessRandomGetKeyCounter")
    return numbers


def _stateless(sampler: Any, shape: Any, seed: Any, dtype: Any, op: str, *limits: Any) -> Any:
    def fill(key: int, counter: int, sizes: Any) -> Any:
        return sampler(key, counter, math.prod(sizes), dtype.as_numpy_dtype, *limits).reshape(sizes)

    return _filled(fill, shape, seed, dtype, op)


def _each(sampler: Any, shape: Any, seed: Any, rates: Any, dtype: Any, op: str) -> Any:
    """Samples of a distribution for each of the parameters, whose shape ends that of the result."""

    def fill(key: int, counter: int, sizes: Any, rates: Any) -> Any:
        if rates.ndim > len(sizes) or sizes[len(sizes) - rates.ndim :] != rates.shape:
            raise invalid("Shape passed in must end with broadcasted shape.", op)
        count = math.prod(sizes[: len(sizes) - rates.ndim])
        return philox.each(sampler, key, counter, rates, count).reshape(sizes).astype(dtype.as_numpy_dtype)

    return _filled(fill, shape, seed, dtype, op, rates)


def _filled(fill: Any, shape: Any, seed: Any, dtype: Any, op: str, *tensors: Any) -> Any:
    """What ``fill(key, counter, sizes, *arrays)`` makes; in a graph, when it runs."""
    start, sizes = _seed_of(seed), sizes_of(shape, op)

    def run(seed: Any, *given: Any) -> list[Any]:
        arrays = [t.array for t in given]
        taken = tuple(arrays.pop().tolist()) if unknown else sizes
        return [wrap(fill(*_start(seed), taken, *arrays))]

    unknown = isinstance(sizes, Tensor)  # in a graph: only a run knows them
    inputs = (start, *tensors, *([sizes] if unknown else []))
    if not unknown and all(hasattr(t, "array") for t in inputs):
        return run(*inputs)[0]
    from ...graphs.effects import later

    return later(run, inputs, [(known_sizes(sizes) if unknown else TensorShape(sizes), dtype)])[0]


def _check_alg(alg: str) -> None:
    if alg not in ("auto_select", "philox"):
        raise ValueError(f"Argument `alg` got unsupported value {alg}. minitape has 'philox', which is also what "
                         "'auto_select' means on CPUs.")  # fmt: skip


@strict
def stateless_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:  # fmt: skip
    """Normal numbers that depend on ``seed`` (two integers) alone. Differentiable in ``mean`` and ``stddev``.

    Raises InvalidArgumentError unless ``seed`` has shape [2], TypeError unless ``dtype`` is a float.

    >>> import minitape as tf
    >>> print(tf.random.stateless_normal([2], seed=[1, 2]).numpy())
    [0.5441101  0.20738031]
    """
    _check_alg(alg)
    dtype = dtypes.as_dtype(dtype)
    check_numbers((mean, stddev), dtype)
    return scaled(_stateless(philox.normal, shape, seed, dtype, "StatelessRandomNormalV2"), mean, stddev)


@strict
def stateless_truncated_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:  # fmt: skip
    """Normal numbers within two standard deviations that depend on ``seed`` alone. Differentiable as ``normal``.

    ``dtype`` is a float (else TypeError). InvalidArgumentError for a seed that is not two integers.

    >>> import minitape as tf
    >>> print(tf.random.stateless_truncated_normal([2], seed=[1, 2]).numpy())
    [0.5441101  0.20738031]
    """
    _check_alg(alg)
    dtype = dtypes.as_dtype(dtype)
    check_numbers((mean, stddev), dtype)
    return scaled(_stateless(philox.truncated_normal, shape, seed, dtype, "StatelessTruncatedNormalV2"), mean, stddev)


@strict
def stateless_uniform(
    shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:  # fmt: skip
    """Numbers spread evenly over [minval, maxval) that depend on ``seed`` alone.

    Integers (of 32 or 64 bits) without limits (both None) cover their whole range. ValueError with one of them missing,
    and for another ``dtype``.

    >>> import minitape as tf
    >>> print(tf.random.stateless_uniform([2], seed=[1, 2]).numpy())
    [0.8440604  0.19204533]
    """
    _check_alg(alg)
    dtype = dtypes.as_dtype(dtype)
    check_dtype(dtype, "float16 bfloat16 float32 float64 int32 int64 uint32 uint64")
    if not dtype.is_integer:
        numbers = _stateless(philox.uniform, shape, seed, dtype, "StatelessRandomUniformV2")
        return spread(numbers, minval, maxval)
    if (minval is None) != (maxval is None):
        raise ValueError(f"For integer `dtype` argument {dtype}, argument `minval` and `maxval` must be both None or "
                         f"not None. Got `minval`={minval} and `maxval`={maxval}.")  # fmt: skip
    if minval is None:
        return _stateless(philox.bits, shape, seed, dtype, "StatelessRandomUniformFullIntV2")
    limits = limits_of(minval, maxval, dtype, "StatelessRandomUniformIntV2", shape)
    return _stateless(philox.integers, shape, seed, dtype, "StatelessRandomUniformIntV2", *limits)


@strict
def stateless_gamma(
    shape: Any, seed: Any, alpha: Any, beta: Any = None, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """Numbers of Gamma distributions that depend on ``seed`` alone; differentiable as ``tf.random.gamma`` is.

    ``shape`` is that of the result and ends with that of ``alpha`` and ``beta`` together, else InvalidArgumentError.

    >>> import minitape as tf
    >>> print(tf.random.stateless_gamma([2, 2], seed=[1, 2], alpha=[0.5, 3.0]).numpy())
    [[0.06695361 4.674579  ]
     [0.62823546 3.3503754 ]]
    """
    dtype = dtypes.as_dtype(dtype)
    a, b = shapes_and_scales(alpha, beta, dtype)
    return scaled_gamma(a, _each(philox.gamma, shape, seed, a, dtype, "StatelessRandomGammaV3"), b)


@strict
def stateless_poisson(shape: Any, seed: Any, lam: Any, dtype: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """Numbers of Poisson distributions with the rates ``lam`` that depend on ``seed`` alone. No gradient.

    ``shape`` is that of the result and ends with that of ``lam``, else InvalidArgumentError.

    >>> import minitape as tf
    >>> print(tf.random.stateless_poisson([2, 2], seed=[1, 2], lam=[5, 15]).numpy())
    [[ 7 21]
     [ 5 25]]
    """
    rates = tensor_of(lam)
    made = _each(philox.poisson, shape, seed, rates, dtypes.as_dtype(dtype), "StatelessRandomPoisson")
    return decided(made, (rates,), "StatelessRandomPoisson")


@strict
def stateless_categorical(
    logits: Any, num_samples: Any, seed: Any, dtype: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """For each row of log probabilities ``num_samples`` class numbers that depend on ``seed`` alone.

    ``logits`` is a matrix (else InvalidArgumentError); the result has a row for each of its rows and is int64, or int32
    where ``dtype`` says so (else ValueError). Not differentiable.

    >>> import minitape as tf
    >>> print(tf.random.stateless_categorical([[0.0, 1.0, 2.0]], 4, seed=[1, 2]).numpy())
    [[2 2 1 2]]
    """
    x, dtype = tensor_of(logits), dtypes.as_dtype(dtype)
    check_dtype(dtype, "int32 int64")
    accept_attr("StatelessMultinomial", "T", x.dtype)
    count = count_of(x, num_samples, "StatelessMultinomial")
    made = philox.categories(*_start(seed), x.array, count).astype(dtype.as_numpy_dtype)
    return decided(wrap(made), (x,), "StatelessMultinomial")


@strict
def stateless_shuffle(value: Any, seed: Any, alg: str = "auto_select", name: str | None = None) -> Tensor:
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
def split(seed: Any, num: int = 2, alg: str = "auto_select") -> Tensor:
    """``num`` new seeds made of one, as a matrix with one seed in each row.

    ``seed`` is two integers (else InvalidArgumentError), and the result has their dtype.

    >>> import minitape as tf
    >>> tf.random.split([1, 2], 3).shape
    TensorShape([3, 2])
    """
    seed = tensor_of(seed)
    return stateless_uniform([int(static(num)), 2], seed, None, None, seed.dtype, alg=alg)


@strict
def fold_in(seed: Any, data: Any, alg: str = "auto_select") -> Tensor:
    """A new seed made of a seed and an integer.

    ``seed`` is two integers (else InvalidArgumentError), and the result has their dtype.

    >>> import minitape as tf
    >>> print(tf.random.fold_in([1, 2], 5).numpy())
    [1105988140          5]
    """
    data = tensor_of(data)
    first = stateless_uniform([], seed, None, None, data.dtype, alg=alg)
    return stack([first, data])


stateless_split, stateless_fold_in = split, fold_in
