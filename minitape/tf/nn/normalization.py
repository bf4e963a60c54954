"""Functions of ``tf.nn`` between layers: moments, normalisation, bias, dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.operands import axes_of, call, is_tensor_like, static, strict, tensor_of
from ...engine.operation import apply
from ...engine.primitives import TABLE, activation  # noqa: F401 - it fills the table
from ...engine.tensor import Tensor, wrap
from ...ops.introspection import get_static_value
from ...ops.reductions import reduce_mean, reduce_sum


def _dropped(x: Any, axes: Any, keepdims: bool) -> Any:
    """Without the axes of size 1 that a reduction kept."""
    if keepdims:
        return x
    gone = {a % x.ndim for a in (axes_of(axes) or range(x.ndim))}
    return call("reshape", x, shape=tuple(n for i, n in enumerate(x.shape) if i not in gone))


@strict
def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Mean and variance over ``axes``, a pair; half floats are computed in float32. Differentiable.

    x must be a tensor or an array. ``shift`` is not used. Raises InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> mean, variance = tf.nn.moments(tf.constant([1.0, 3.0]), axes=[0])
    >>> print(mean.numpy(), variance.numpy())
    2.0 1.0
    """
    half = dtypes.as_dtype(x.dtype).name == "float16"
    x = tensor_of(x)
    y = TABLE["cast"](x, dtype=dtypes.float32) if half else x
    mean = reduce_mean(y, axes, True)
    fixed = apply(TABLE["stop_gradient"], (mean,), {})
    squares = TABLE["squared_distance" if y.dtype.kind == "c" else "squared_difference"]
    variance = reduce_mean(apply(squares, (y, fixed), {}), axes, True)
    out = [_dropped(v, axes, keepdims) for v in (mean, variance)]
    return tuple(TABLE["cast"](v, dtype=x.dtype) if half else v for v in out)


@strict
def weighted_moments(x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None) -> Any:
    """Mean and variance over ``axes`` of elements that count with the given weights, a pair. Differentiable.

    Both are 0 where the weights are.

    >>> import minitape as tf
    >>> mean, variance = tf.nn.weighted_moments(tf.constant([1.0, 2.0]), [0], tf.constant([1.0, 3.0]))
    >>> print(mean.numpy(), variance.numpy())
    1.75 0.1875
    """
    x = tensor_of(x)
    weights = tensor_of(frequency_weights, x.dtype)
    if weights.dtype is not x.dtype:
        weights = TABLE["cast"](weights, dtype=x.dtype)
    total = reduce_sum(weights * x, axes, True)
    count = reduce_sum(weights + TABLE["zeros_like"](x), axes, True)
    mean = TABLE["div_no_nan"](total, count)
    squares = reduce_sum(weights * apply(TABLE["squared_difference"], (x, mean), {}), axes, True)
    variance = TABLE["div_no_nan"](squares, count)
    return _dropped(mean, axes, keepdims), _dropped(variance, axes, keepdims)


@strict
def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any, name: str | None = None
) -> Tensor:
    """``(x - mean) / sqrt(variance + variance_epsilon) * scale + offset``; either may be None. Differentiable.

    ``variance`` and ``mean`` must be tensors that broadcast with x.

    >>> import minitape as tf
    >>> one = tf.constant(1.0)
    >>> print(tf.nn.batch_normalization(tf.constant([3.0]), one, one * 4.0, None, None, 0.0).numpy())
    [1.]
    """
    inverse = apply(TABLE["rsqrt"], (tensor_of(variance + variance_epsilon),), {})
    if scale is not None:
        inverse = inverse * scale
    x = tensor_of(x)
    rest = offset - mean * inverse if offset is not None else -mean * inverse
    return x * TABLE["cast"](inverse, dtype=x.dtype) + TABLE["cast"](rest, dtype=x.dtype)


@strict
def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Tensor:
    """Adds a vector along the last axis (the second one for a ``data_format`` like "NCHW"). Differentiable.

    Raises InvalidArgumentError when the vector has another length, or ``value`` fewer than two axes.

    >>> import minitape as tf
    >>> print(tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0]).numpy())
    [[11. 22.]]
    """
    axis = -1
    if data_format is not None:
        if data_format.startswith("NC"):
            axis = 1
        elif not (data_format.startswith("N") and data_format.endswith("C")):
            raise ValueError(
                f"`data_format` must be of the form `N...C` or `NC...`. Received: data_format={data_format}"
            )
    x = tensor_of(value)
    return call("bias_add", x, tensor_of(bias, x.dtype), axis=axis)


def _check_rate(x: Any, rate: Any) -> None:
    number = isinstance(rate, (int, float))
    if number and not 0 <= rate < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
    if not x.dtype.is_floating:
        raise ValueError(
            f"`x.dtype` must be a floating point tensor as `x` will be scaled. Received: x_dtype={x.dtype}"
        )
    if not (number or is_tensor_like(rate) or isinstance(rate, (np.ndarray, np.generic))):
        raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
    if is_tensor_like(rate):
        if rate.dtype != x.dtype:
            raise ValueError(
                f"`x.dtype` must be compatible with `rate.dtype`. Received: x.dtype={x.dtype} and rate.dtype={rate.dtype}"
            )
        rate.shape.assert_has_rank(0)


@strict
def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None) -> Tensor:
    """Sets each element to 0 with probability ``rate`` and scales the others by ``1 / (1 - rate)``.

    ``noise_shape`` broadcasts to the shape of x and says which elements are dropped together. Differentiable.
    Raises ValueError unless x are floats and the rate lies in [0, 1).

    >>> import minitape as tf
    >>> print(tf.nn.dropout([1.0, 2.0], rate=0.0).numpy())
    [1. 2.]
    """
    from ..random import uniform

    return _dropout(x, rate, noise_shape, lambda shape, dtype: uniform(shape, seed=seed, dtype=dtype))


@strict
def stateless_dropout(
    x: Any, rate: Any, seed: Any, rng_alg: Any = "auto_select", noise_shape: Any = None, name: str | None = None
) -> Tensor:
    """``tf.nn.dropout`` whose choice depends on ``seed``, two whole numbers, and nothing else.

    ``rng_alg`` is the algorithm, as for ``tf.random.stateless_uniform``; ``noise_shape`` broadcasts to the shape of x.
    Differentiable. Raises ValueError unless x are floats and the rate lies in [0, 1).

    >>> import minitape as tf
    >>> print(tf.nn.experimental.stateless_dropout([1.0, 2.0, 3.0], 0.5, seed=[1, 2]).numpy())
    [2. 0. 6.]
    """
    from ..random import stateless_uniform

    return _dropout(x, rate, noise_shape,
                    lambda shape, dtype: stateless_uniform(shape, seed, dtype=dtype, alg=rng_alg))  # fmt: skip


@strict
def general_dropout(x: Any, rate: Any, uniform_sampler: Any, noise_shape: Any = None, name: str | None = None) -> Tensor:
    """``tf.nn.dropout`` whose choice depends on the numbers from 0 to 1 that ``uniform_sampler(shape, dtype)`` returns.

    ``noise_shape`` broadcasts to the shape of x. Differentiable. Raises ValueError unless x are floats and the rate lies
    in [0, 1).

    >>> import minitape as tf
    >>> drawn = lambda shape, dtype: tf.constant([0.2, 0.7])
    >>> print(tf.nn.experimental.general_dropout([1.0, 2.0], 0.5, drawn).numpy())
    [0. 4.]
    """
    return _dropout(x, rate, noise_shape, lambda shape, dtype: uniform_sampler(shape=shape, dtype=dtype))


def _dropout(x: Any, rate: Any, noise_shape: Any, draw: Any) -> Any:
    x = tensor_of(x)
    _check_rate(x, rate)
    if isinstance(rate, (int, float)) and rate == 0:
        return x
    rate = tensor_of(rate, x.dtype)
    shape = _noise_shape(x, noise_shape)
    kept = draw(shape, x.dtype if x.dtype.size > 2 else dtypes.float32) >= TABLE["cast"](rate, dtype=x.dtype)
    scaled = x * (1 / (1 - rate))
    found = apply(TABLE["select"], (kept, scaled, TABLE["zeros_like"](scaled)), {})
    if found.shape.rank is None:
        found.set_shape(x.shape)
    return found


def _noise_shape(x: Any, given: Any) -> Any:
    """The shape of the choices: that of x, or the given one with sizes of x for None."""
    from ...ops.arrays import shape

    if isinstance(given, Tensor) and get_static_value(given) is None:  # only a run of the graph knows it
        return given
    sizes = list(x.shape) if x.shape.is_fully_defined() else shape(x)
    return sizes if given is None else [sizes[i] if n is None else n for i, n in enumerate(static(given))]


@strict
def normalize_moments(counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None) -> Any:
    """Mean and variance from the number of elements, their sum and the sum of their squares (both less ``shift``).

    >>> import minitape as tf
    >>> mean, variance = tf.nn.normalize_moments(2.0, 4.0, 10.0, None)
    >>> print(mean.numpy(), variance.numpy())
    2.0 1.0
    """
    one = tensor_of(1.0) / tensor_of(counts)
    shifted = tensor_of(mean_ss) * one
    variance = tensor_of(variance_ss) * one - shifted * shifted
    return (shifted if shift is None else shifted + shift), variance


@strict
def sufficient_statistics(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Number of elements, their sum and the sum of their squares over ``axes``, less ``shift``; and the shift.

    >>> import minitape as tf
    >>> count, total, squares, _ = tf.nn.sufficient_statistics(tf.constant([1.0, 2.0]), [0])
    >>> print(count.numpy(), total.numpy(), squares.numpy())
    2.0 3.0 5.0
    """
    from ...ops.arrays import shape
    from ...ops.picking import gather
    from ...ops.reductions import reduce_prod

    x = tensor_of(x)
    sizes = [x.shape[a] for a in (axes_of(axes) or ())]
    if None in sizes:
        size = TABLE["cast"](reduce_prod(gather(shape(x), axes)), dtype=x.dtype)
    else:
        size = wrap(x.dtype.as_numpy_dtype(int(np.prod(sizes))))
    if shift is not None:
        away, squares = x - shift, apply(TABLE["squared_difference"], (x, tensor_of(shift, x.dtype)), {})
    else:
        away, squares = x, apply(TABLE["square"], (x,), {})
    return size, reduce_sum(away, axes, keepdims), reduce_sum(squares, axes, keepdims), shift
