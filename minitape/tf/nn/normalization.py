"""Functions of ``tf.nn`` in and between layers: moments, normalisation, bias, dropout, embeddings."""

from __future__ import annotations

from typing import Any

from ...engine.table.primitives import TABLE, activation  # noqa: F401 - it fills the table
from ...engine.tensor.tensor import Tensor
from ...engine.values import dtypes
from ...ops.operands import axes_of, call, tensor_of
from ...ops.picking import gather
from ...ops.reductions import reduce_mean
from ..linalg.products import without_axes


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
    squares = call("squared_difference", y, fixed)
    variance = reduce_mean(squares, axes, True)
    out = [v if keepdims else without_axes(v, axes_of(axes) or None) for v in (mean, variance)]
    return tuple(call("cast", v, dtype=x.dtype) if half else v for v in out)


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
