"""``tf.random`` as functions whose numbers go on: with the global seed, and with operation seeds."""

from __future__ import annotations

import math
from typing import Any

from ...engine.recording.evidence import decided
from ...engine.table.primitives import TABLE, declare, special  # noqa: F401 - special fills the table
from ...engine.tensor.operation import apply
from ...engine.tensor.tensor import EagerTensor, Tensor
from ...engine.values import dtypes
from ...engine.values.shape import TensorShape
from ...ops import philox
from ...ops.convert import convert_to_tensor
from ...ops.opdefs import accept, accept_attr
from ...ops.operands import deferred, tensor_of
from ...ops.seeds import Draw, taking
from .arguments import check_dtype, check_numbers, count_of, draw, known_sizes, limits_of, scaled, sizes_of, spread


def _stateful(op: str, sampler: Any, shape: Any, dtype: Any, seed: Any, *limits: Any) -> Any:
    def fill(start: Any, sizes: Any = shape) -> Any:
        count = math.prod(map(int, sizes))
        return sampler(*start(count * philox.SKIP), count, dtype.as_numpy_dtype, *limits).reshape(sizes)

    made = Draw(fill, op, seed, dtype.name)
    return draw(made, known_sizes(shape), dtype, shape) if isinstance(shape, Tensor) else draw(made, shape, dtype)


def _around(op: str, sampler: Any, shape: Any, mean: Any, stddev: Any, dtype: Any, seed: Any) -> Any:
    """Numbers of a distribution around 0, stretched by ``stddev`` and moved to ``mean``."""
    dtype = dtypes.as_dtype(dtype)
    check_numbers((mean, stddev), dtype)
    with taking(seed):
        accept_attr(op, "dtype", dtype)
        sizes = sizes_of(shape, op)
    return scaled(_stateful(op, sampler, sizes, dtype, seed), mean, stddev)


@deferred
def normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Normal numbers of a float dtype. Differentiable in ``mean`` and ``stddev``, which broadcast to ``shape``.

    Raises InvalidArgumentError for a shape that is none, TypeError for integer dtypes.

    >>> import minitape as tf
    >>> tf.random.set_seed(1)
    >>> tf.random.normal([2, 3]).shape
    TensorShape([2, 3])
    """
    return _around("RandomStandardNormal", philox.normal, shape, mean, stddev, dtype, seed)


@deferred
def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Normal numbers, drawn again where they are more than two standard deviations off. Differentiable as ``normal``.

    >>> import minitape as tf
    >>> bool(tf.reduce_all(abs(tf.random.truncated_normal([100])) < 2))
    True
    """
    return _around("TruncatedNormal", philox.truncated_normal, shape, mean, stddev, dtype, seed)


@deferred
def uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, seed: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Numbers spread evenly over [minval, maxval): floats (up to 1 by default), int32 or int64.

    Raises ValueError for other dtypes and for integers without ``maxval``, InvalidArgumentError for an empty range.

    >>> import minitape as tf
    >>> tf.random.set_seed(1)
    >>> tf.random.uniform([3], maxval=2, dtype=tf.int32).dtype
    tf.int32
    """
    dtype = dtypes.as_dtype(dtype)
    check_dtype(dtype, "float16 float32 float64 int32 int64")
    if dtype.is_integer:
        if maxval is None:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        with taking(seed):
            sizes = sizes_of(shape, "RandomUniformInt")
            limits = limits_of(minval, maxval, dtype, "RandomUniformInt", sizes)
        return _stateful("RandomUniformInt", philox.integers, sizes, dtype, seed, *limits)
    with taking(seed):
        sizes = sizes_of(shape, "RandomUniform")
    numbers = _stateful("RandomUniform", philox.uniform, sizes, dtype, seed)
    return spread(numbers, minval, maxval)


@deferred
def shuffle(value: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """The slices along the first axis in a random order. No gradient passes.

    The result has the shape and dtype of ``value``; a scalar comes back as it is.

    >>> import minitape as tf
    >>> sorted(tf.random.shuffle([3, 1, 2]).numpy().tolist())
    [1, 2, 3]
    """
    x = tensor_of(value)
    if x.shape.rank == 0:
        return x

    def fill(start: Any, values: Any) -> Any:
        if values.ndim == 0:
            return values
        count = values.shape[0]
        key, counter = start(-(-(count - 1) // 4))
        return values[philox.permutation(key, counter, count)]

    made = draw(Draw(fill, "RandomShuffle", seed, x.dtype.name), x.shape, x.dtype, x)
    return decided(made, (x,), "RandomShuffle")


@deferred
def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: str | None = None) -> Tensor:
    """For each row of log probabilities ``num_samples`` class numbers (int64, or int32); not differentiable.

    Raises InvalidArgumentError unless ``logits`` is a matrix with one class or more, ValueError for another ``dtype``.

    >>> import minitape as tf
    >>> tf.random.categorical([[0.0, 1.0]], 5).shape
    TensorShape([1, 5])
    """
    x, dtype = tensor_of(logits), dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    check_dtype(dtype, "int32 int64")
    accept("Multinomial", x.dtype)
    count = count_of(x, num_samples, "Multinomial")
    rows = None if x.shape.rank is None else x.shape[0]

    def fill(start: Any, values: Any) -> Any:
        key, counter = start(len(values) * (-(-count // 4) * 8) * philox.SKIP)
        return philox.categories(key, counter, values, count).astype(dtype.as_numpy_dtype)

    made = draw(Draw(fill, "Multinomial", seed, x.dtype.name), [rows, count], dtype, x)
    return decided(made, (x,), "Multinomial")


@deferred
def poisson(shape: Any, lam: Any, dtype: Any = dtypes.float32, seed: Any = None, name: str | None = None) -> Tensor:
    """``shape`` numbers of the Poisson distribution for each rate ``lam``: shape ``shape + lam.shape``.

    A gradient with respect to ``lam`` raises LookupError: TensorFlow has none registered.
    InvalidArgumentError for rates or a ``dtype`` that are no numbers.

    >>> import minitape as tf
    >>> tf.random.poisson([4], lam=[1.0, 2.0]).shape
    TensorShape([4, 2])
    """
    rates, dtype = tensor_of(lam), dtypes.as_dtype(dtype)
    accept_attr("RandomPoissonV2", "R", rates.dtype)
    accept_attr("RandomPoissonV2", "dtype", dtype)

    def fill(start: Any, rates: Any, sizes: Any) -> Any:
        front = sizes.reshape(-1).tolist()
        count = math.prod(front)
        key, counter = start(count * rates.size * philox.SKIP)
        return philox.poisson(key, counter, rates, count).reshape((*front, *rates.shape)).astype(dtype.as_numpy_dtype)

    sizes = convert_to_tensor(shape, dtypes.int32, name="shape")
    front = TensorShape(sizes.array.reshape(-1).tolist()) if hasattr(sizes, "array") else known_sizes(sizes)
    numbers = draw(Draw(fill, "RandomPoissonV2", seed, dtype.name), front.concatenate(rates.shape), dtype, rates, sizes)
    if type(numbers) is not EagerTensor:
        return numbers
    return apply(TABLE["of_poisson"], (sizes, rates), {"numbers": numbers.array})


declare("of_poisson", lambda sizes, lam, *, numbers: numbers, None, op="RandomPoissonV2", missing="unregistered", keep="")
