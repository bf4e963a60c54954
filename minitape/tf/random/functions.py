"""The functions of ``tf.random``, whose numbers go on, and those of Keras, which depend on their seed alone; how they
take arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...engine.recording.evidence import with_influences
from ...engine.recording.state import state
from ...engine.table.primitives import TABLE, declare, special  # noqa: F401 - special fills the table
from ...engine.tensor.convert import convert_to_tensor
from ...engine.tensor.opdefs import accept, accept_attr
from ...engine.tensor.tensor import EagerTensor, Tensor, new_tensor
from ...engine.values import dtypes
from ...engine.values.invalid import invalid, shape_text
from ...engine.values.shape import TensorShape
from ...ops import philox
from ...ops.operands import call, integers, postpone, tensor_of
from ...ops.seeds import Draw, taking


def _stateful(op: str, sampler: Any, shape: Any, dtype: Any, seed: Any, *limits: Any) -> Any:
    def fill(start: Any, sizes: Any = shape) -> Any:
        count = math.prod(map(int, sizes))
        return sampler(*start(count * philox.SKIP), count, dtype.as_numpy_dtype, *limits).reshape(sizes)

    made = Draw(fill, op, seed, dtype.name)
    return draw(made, known_sizes(shape), dtype, shape) if isinstance(shape, Tensor) else draw(made, shape, dtype)


def _scale_and_shift(op: str, sampler: Any, shape: Any, mean: Any, stddev: Any, dtype: Any, seed: Any) -> Any:
    """Numbers of a distribution around 0, stretched by ``stddev`` and moved to ``mean``."""
    dtype = dtypes.as_dtype(dtype)
    check_numbers((mean, stddev), dtype)
    with taking(seed):
        accept_attr(op, "dtype", dtype)
        sizes = sizes_of(shape, op)
    return scaled(_stateful(op, sampler, sizes, dtype, seed), mean, stddev)


@postpone
def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Normal numbers of a float dtype. Differentiable in ``mean`` and ``stddev``, which broadcast to ``shape``.

    Raises InvalidArgumentError for a shape that is none, TypeError for integer dtypes.

    >>> import minitape as tf
    >>> tf.random.set_seed(1)
    >>> tf.random.normal([2, 3]).shape
    TensorShape([2, 3])
    """
    return _scale_and_shift("RandomStandardNormal", philox.normal, shape, mean, stddev, dtype, seed)


@postpone
def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Normal numbers, drawn again where they are more than two standard deviations off. Differentiable as ``normal``.

    >>> import minitape as tf
    >>> bool(tf.reduce_all(abs(tf.random.truncated_normal([100])) < 2))
    True
    """
    return _scale_and_shift("TruncatedNormal", philox.truncated_normal, shape, mean, stddev, dtype, seed)


@postpone
def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
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


@postpone
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
    return with_influences(made, (x,), "RandomShuffle")


@postpone
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
    return with_influences(made, (x,), "Multinomial")


@postpone
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
    return call("of_poisson", sizes, rates, numbers=numbers.array)


declare(
    "of_poisson", lambda sizes, lam, *, numbers: numbers, None, op="RandomPoissonV2", missing="unregistered", keep=""
)


def sizes_of(shape: Any, op: str) -> Any:
    """A shape argument as ints, after the kernel's checks; as a tensor where only a run of the graph knows it."""
    if isinstance(shape, TensorShape):
        shape = shape.as_list()
    elif state.graph is not None and not hasattr(tensor_of(shape), "array"):
        return tensor_of(shape)
    sizes = integers(shape, op, "T")
    if sizes.ndim != 1:
        raise invalid(f"shape must be a vector of {{int32,int64}}, got shape {shape_text(sizes.shape)}", op)
    for n in sizes.tolist():
        if n < 0:
            raise invalid(f"Dimension {n} must be >= 0", op)
    return tuple(sizes.tolist())


def known_sizes(shape: Any) -> TensorShape:
    """What a graph knows of a shape that is a tensor."""
    if shape.op.type == "Shape":
        return shape.op.inputs[0].shape
    if shape.op.type == "Pack":
        return TensorShape([int(n.array) if hasattr(n, "array") else None for n in shape.op.inputs])
    rank = shape.shape[0] if shape.shape.rank else None
    return TensorShape(None if rank is None else [None] * rank)


def limits_of(minval: Any, maxval: Any, dtype: Any, op: str, sizes: Any = None) -> tuple[int, int]:
    """The range of integer numbers, after the kernel's checks; where none are drawn, any range will do."""
    low, high = convert_to_tensor(minval, dtype), convert_to_tensor(maxval, dtype)
    for name, limit in (("minval", low), ("maxval", high)):
        if limit.ndim:
            raise invalid(f"{name} must be 0-D, got shape {limit.shape.as_list()}", op)
    if isinstance(sizes, (list, tuple)) and 0 in sizes:
        return 0, 1
    if not low.array < high.array:
        raise invalid(f"Need minval < maxval, got {low.array} >= {high.array}", op)
    return int(low.array), int(high.array)


def count_of(x: Any, count: Any, op: str) -> int:
    """How many class numbers each row of the logits ``x`` is to get, after the kernel's checks."""
    if x.shape.rank not in (2, None):
        raise invalid(f"logits should be a matrix, got shape {x.shape.as_list()}", op)
    samples = tensor_of(count, dtypes.int32)
    if samples.ndim:
        raise invalid(f"num_samples should be a scalar, got shape {samples.shape.as_list()}", op)
    if samples.array < 0:
        raise invalid(f"num_samples should be non-negative, got {samples.array}", op)
    if x.shape.rank and x.shape[-1] == 0:
        raise invalid("num_classes should be positive, got 0", op)
    return int(samples.array)


def check_dtype(dtype: Any, names: str) -> None:
    """ValueError for a dtype that is not among those of these names."""
    accepted = names.split()
    if dtype.name not in accepted:
        listed = ", ".join(f"tf.{name}" for name in accepted)
        raise ValueError(f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are ({listed}).")


def scaled(numbers: Any, mean: Any, stddev: Any) -> Any:
    """Standard normal numbers times ``stddev`` plus ``mean``."""
    if type(mean) is float and type(stddev) is float and mean == 0 and stddev == 1:
        return numbers
    return numbers * convert_to_tensor(stddev, numbers.dtype) + convert_to_tensor(mean, numbers.dtype)


def check_numbers(values: Any, dtype: Any) -> None:
    """Raises what TensorFlow raises for parameters that are no numbers of this dtype."""
    for v in values:
        convert_to_tensor(v, dtype)


def spread(numbers: Any, minval: Any, maxval: Any) -> Any:
    """Numbers of [0, 1) spread over [minval, maxval), up to 1 for no ``maxval``; left alone where that is [0, 1)."""
    if maxval is None and type(minval) in (int, float) and minval == 0:
        return numbers
    low = convert_to_tensor(minval, numbers.dtype)
    high = convert_to_tensor(1 if maxval is None else maxval, numbers.dtype)
    return numbers * (high - low) + low


# what TensorFlow's graphs call the numbers of a kernel
_NAMES = {
    "RandomStandardNormal": "random_normal",
    "RandomUniform": "random_uniform/RandomUniform",
    "RandomUniformInt": "random_uniform",
    "TruncatedNormal": "truncated_normal",
    "RandomShuffle": "RandomShuffle",
    "Multinomial": "categorical/Multinomial",
}


def draw(run: Callable[..., list], shape: Any, dtype: Any, *tensors: Any) -> Any:
    """A tensor of the numbers that ``run`` makes of the tensors; in a graph, anew each time that it runs."""
    if state.record is not None and state.record.traces:
        from ...functions.rows import row

        return row(getattr(run, "op", "random"), run, tensors, op=getattr(run, "op", ""), stateful=True, rules=False)[0]
    return with_influences(run(*tensors)[0], tensors, "random sampling")


@postpone
def _stateless(sampler: Any, shape: Any, seed: Any, dtype: Any, op: str) -> Any:
    """The numbers of a sampler in a shape; in a graph, when it runs."""
    start, sizes = tensor_of(seed), sizes_of(shape, op)
    unknown = isinstance(sizes, Tensor)  # in a graph: only a run knows them

    def run(seed: Any, *sizes_then: Any) -> list:
        to = tuple(sizes_then[0].array.tolist()) if unknown else sizes
        first, second = (int(n) for n in seed.array)
        return [new_tensor(sampler(*philox.scramble((first, second)), math.prod(to), dtype.as_numpy_dtype).reshape(to))]

    return run(start)[0]


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


def stateless_truncated_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32
) -> Tensor:
    """Normal numbers within two standard deviations that depend on ``seed`` alone. Differentiable as
    ``stateless_normal``.

    >>> print(stateless_truncated_normal([2], seed=[1, 2]).numpy())
    [0.5441101  0.20738031]
    """
    return _normal(philox.truncated_normal, shape, seed, mean, stddev, dtype)


def stateless_uniform(
    shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32
) -> Tensor:
    """Floats spread evenly over [minval, maxval) that depend on ``seed`` alone.

    >>> print(stateless_uniform([2], seed=[1, 2]).numpy())
    [0.8440604  0.19204533]
    """
    dtype = dtypes.as_dtype(dtype)
    check_dtype(dtype, "float16 float32 float64")
    return spread(_stateless(philox.uniform, shape, seed, dtype, "StatelessRandomUniformV2"), minval, maxval)
