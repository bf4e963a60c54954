"""Functions of ``tf.nn`` in and between layers: moments, normalisation, bias, dropout, embeddings."""

from __future__ import annotations

from typing import Any

from ...engine.table.primitives import TABLE, activation  # noqa: F401 - it fills the table
from ...engine.tensor.convert import is_array
from ...engine.tensor.tensor import Tensor
from ...engine.values import dtypes
from ...ops.arrays import shape
from ...ops.elementwise import squared_difference
from ...ops.operands import axes_of, call, is_tensor_like, postpone, static, tensor_of
from ...ops.picking import gather
from ...ops.reductions import reduce_mean
from ..linalg.products import without_axes
from ..random.functions import uniform


@postpone
def moments(x: Any, axes: Any, *, keepdims: bool = False, name: str | None = None) -> Any:
    """Mean and variance over ``axes``, a pair; half floats are computed in float32. Differentiable.

    x must be a tensor or an array. Raises InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> mean, variance = tf.nn.moments(tf.constant([1.0, 3.0]), axes=[0])
    >>> print(mean.numpy(), variance.numpy())
    2.0 1.0
    """
    half = dtypes.as_dtype(x.dtype).name == "float16"
    x = tensor_of(x)
    y = call("cast", x, dtype=dtypes.float32) if half else x
    mean = reduce_mean(y, axes, True)
    fixed = call("stop_gradient", mean)
    squares = squared_difference(y, fixed) if y.dtype.kind == "c" else call("squared_difference", y, fixed)
    variance = reduce_mean(squares, axes, True)
    out = [v if keepdims else without_axes(v, axes_of(axes) or None) for v in (mean, variance)]
    return tuple(call("cast", v, dtype=x.dtype) if half else v for v in out)


@postpone
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
    inverse = call("rsqrt", tensor_of(variance + variance_epsilon))
    if scale is not None:
        inverse = inverse * scale
    x = tensor_of(x)
    rest = offset - mean * inverse if offset is not None else -mean * inverse
    return x * call("cast", inverse, dtype=x.dtype) + call("cast", rest, dtype=x.dtype)


@postpone
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
    if not (number or is_tensor_like(rate) or is_array(rate)):
        raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
    if is_tensor_like(rate):
        if rate.dtype != x.dtype:
            raise ValueError(
                f"`x.dtype` must be compatible with `rate.dtype`. Received: x.dtype={x.dtype} and "
                f"rate.dtype={rate.dtype}"
            )
        rate.shape.assert_has_rank(0)


@postpone
def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None) -> Tensor:
    """Sets each element to 0 with probability ``rate`` and scales the others by ``1 / (1 - rate)``.

    ``noise_shape`` broadcasts to the shape of x and says which elements are dropped together. Differentiable.
    Raises ValueError unless x are floats and the rate lies in [0, 1).

    >>> import minitape as tf
    >>> print(tf.nn.dropout([1.0, 2.0], rate=0.0).numpy())
    [1. 2.]
    """
    x = tensor_of(x)
    _check_rate(x, rate)
    if isinstance(rate, (int, float)) and rate == 0:
        return x
    rate = tensor_of(rate, x.dtype)
    sizes = list(x.shape) if x.shape.is_fully_defined() else shape(x)
    if noise_shape is not None:
        sizes = [sizes[i] if n is None else n for i, n in enumerate(static(noise_shape))]
    drawn = uniform(sizes, seed=seed, dtype=x.dtype if x.dtype.size > 2 else dtypes.float32)
    scaled = x * (1 / (1 - rate))
    kept = drawn >= call("cast", rate, dtype=x.dtype)
    return call("select", kept, scaled, call("zeros_like", scaled))


@postpone
def embedding_lookup(params: Any, ids: Any, *, name: str | None = None) -> Tensor:
    """The rows of a table at ``ids``, in the shape of ``ids`` followed by that of a row.

    Differentiable in ``params``: the gradient is an IndexedSlices. ``params`` may be a list of tables, one after the
    other. InvalidArgumentError for an id that is not there.

    >>> import minitape as tf
    >>> print(tf.nn.embedding_lookup(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [1, 0]).numpy().tolist())
    [[3.0, 4.0], [1.0, 2.0]]
    """
    if hasattr(ids, "_map_values"):
        return ids._map_values(lambda numbers: embedding_lookup(params, numbers))
    if isinstance(params, (list, tuple)):
        params = call("concat", *[tensor_of(p) for p in params], axis=0)
    return call("identity", gather(params, ids))  # TensorFlow's is one step further, which orders its slices
