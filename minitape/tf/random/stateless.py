"""Random numbers that depend on the seed they are given, two integers, and on nothing else: those of Keras."""

from __future__ import annotations

import math
from typing import Any

from ...engine.tensor.tensor import Tensor, wrap
from ...engine.values import dtypes
from ...engine.values.shape import TensorShape
from ...ops import philox
from ...ops.operands import tensor_of
from .arguments import check_dtype, check_numbers, known_sizes, scaled, sizes_of, spread


def _stateless(sampler: Any, shape: Any, seed: Any, dtype: Any, op: str) -> Any:
    """The numbers of a sampler in a shape; in a graph, when it runs."""
    start, sizes = tensor_of(seed), sizes_of(shape, op)
    unknown = isinstance(sizes, Tensor)  # in a graph: only a run knows them

    def run(seed: Any, *sizes_then: Any) -> list[Any]:
        to = tuple(sizes_then[0].array.tolist()) if unknown else sizes
        first, second = (int(n) for n in seed.array)
        return [wrap(sampler(*philox.scrambled((first, second)), math.prod(to), dtype.as_numpy_dtype).reshape(to))]

    if not unknown and hasattr(start, "array"):
        return run(start)[0]
    from ...graphs.effects import later

    inputs = (start, sizes) if unknown else (start,)
    return later(run, inputs, [(known_sizes(sizes) if unknown else TensorShape(sizes), dtype)])[0]


def _normal(sampler: Any, shape: Any, seed: Any, mean: Any, stddev: Any, dtype: Any) -> Tensor:
    dtype = dtypes.as_dtype(dtype)
    check_numbers((mean, stddev), dtype)
    return scaled(_stateless(sampler, shape, seed, dtype, "StatelessRandomNormalV2"), mean, stddev)


def stateless_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32) -> Tensor:
    """Normal numbers that depend on ``seed`` (two integers) alone. Differentiable in ``mean`` and ``stddev``.

    >>> print(stateless_normal([2], seed=[1, 2]).numpy())
    [0.5441101  0.20738031]
    """
    return _normal(philox.normal, shape, seed, mean, stddev, dtype)


def stateless_truncated_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32) -> Tensor:
    """Normal numbers within two standard deviations that depend on ``seed`` alone. Differentiable as ``stateless_normal``.

    >>> print(stateless_truncated_normal([2], seed=[1, 2]).numpy())
    [0.5441101  0.20738031]
    """
    return _normal(philox.truncated_normal, shape, seed, mean, stddev, dtype)


def stateless_uniform(shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32) -> Tensor:
    """Floats spread evenly over [minval, maxval) that depend on ``seed`` alone.

    >>> print(stateless_uniform([2], seed=[1, 2]).numpy())
    [0.8440604  0.19204533]
    """
    dtype = dtypes.as_dtype(dtype)
    check_dtype(dtype, "float16 float32 float64")
    return spread(_stateless(philox.uniform, shape, seed, dtype, "StatelessRandomUniformV2"), minval, maxval)
