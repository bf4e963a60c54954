"""Sparse and ragged tensors as TensorFlow 1 makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import tf
from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.dimension import Dimension
from ...engine.invalid import invalid, shown
from ...engine.operands import worded
from ...engine.state import state
from ...engine.tensor import Tensor
from ...engine.updates import deprecated
from ...graphs.session import placeholder, placeholder_with_default
from ...tf.ragged.making import built
from ...tf.ragged.tensor import RaggedTensor
from ...tf.ragged.value import RaggedTensorValue
from ...tf.sparse.tensor import SparseTensor, SparseTensorValue


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A SparseTensor that is given its value by ``feed_dict``: a SparseTensorValue. RuntimeError outside a graph.

    ``shape`` may be known in part, or be a tensor.

    >>> import minitape as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     x = tf.compat.v1.sparse_placeholder(tf.float32, shape=[None, 2])
    ...     dense = tf.sparse.to_dense(x)
    ...     print(session.run(dense, {x: tf.compat.v1.SparseTensorValue([[0, 1]], [5.0], [1, 2])}))
    [[0. 5.]]
    """
    if state.graph is None:
        raise RuntimeError("`sparse_placeholder` is not compatible with eager execution.")
    label = name or "Placeholder"
    if shape is None:
        sizes, rank = placeholder(tf.int64, [None], f"{label}/shape"), None
    else:
        given = shape if tf.is_tensor(shape) else [-1 if size is None else int(size) for size in tf.TensorShape(shape)]
        sizes = placeholder_with_default(tf.cast(given, tf.int64), None, f"{label}/shape")
        rank = len(given) if isinstance(given, list) else given.shape.with_rank(1)[0]
        sizes.set_shape([rank])
    made = SparseTensor(placeholder(tf.int64, [None, rank], f"{label}/indices"), placeholder(dtype, [None], f"{label}/values"),
                        sizes)  # fmt: skip
    if isinstance(shape, (list, tuple, tf.TensorShape)):
        made.set_shape([size.value if isinstance(size, Dimension) else size for size in shape])
    return made


@worded
def sparse_to_dense(sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0,
                    validate_indices: bool = True, name: str | None = None) -> Tensor:  # fmt: skip
    """A tensor of ``output_shape`` with the values at their places and ``default_value`` elsewhere.

    ``sparse_indices`` are a place, a vector of places along one axis, or a row for each place; ``sparse_values`` one value
    for each, or one for all. InvalidArgumentError for shapes that do not fit and for places outside, and, unless
    ``validate_indices`` is False, for repeated ones and ones out of order. Differentiable.

    >>> import minitape as tf
    >>> print(tf.compat.v1.sparse_to_dense([1, 3], [5], 7).numpy())
    [0 7 0 7 0]
    """
    deprecated("sparse_to_dense (from tensorflow.python.ops.sparse_ops) is deprecated and will be removed in a future version.\n"
               "Instructions for updating:\nCreate a `tf.sparse.SparseTensor` and use `tf.sparse.to_dense` instead.")  # fmt: skip
    index, sizes, values = (convert_to_tensor(given) for given in (sparse_indices, output_shape, sparse_values))
    default = convert_to_tensor(default_value, values.dtype)
    if index.ndim is not None and index.ndim > 2:
        raise invalid(f"sparse_indices should be a scalar, vector, or matrix, got shape {shown(index.shape)}", "SparseToDense")
    if sizes.ndim not in (None, 1):
        raise invalid(f"output_shape must be rank 1, got shape {shown(sizes.shape)}", "SparseToDense")
    index = index if index.ndim == 2 else tf.reshape(index, [-1, 1])
    count, width = index.shape
    if sizes.shape[0] != width:
        raise invalid(f"output_shape has incorrect number of elements: {sizes.shape[0]} should be: {width}", "SparseToDense")
    if values.ndim != 0 and values.shape != [count]:
        raise invalid(f"sparse_values has incorrect shape {shown(values.shape)}, should be [] or [{count}]", "SparseToDense")
    if default.ndim != 0:
        raise invalid("default_value should be a scalar.", "SparseToDense")
    values = tf.broadcast_to(values, tf.shape(index)[:1])
    if not validate_indices and ((index.array < 0) | (index.array >= sizes.array)).any():
        raise invalid(f"Indices are not valid (out of bounds).  Shape: {shown(sizes.array)}", "SparseToDense")
    places = SparseTensor(tf.cast(index, tf.int64), values, tf.cast(sizes, tf.int64))
    return tf.sparse.to_dense(places, default, validate_indices)


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A SparseTensor as it is, a SparseTensorValue as one, anything else as a tensor. RuntimeError for another ``dtype``.

    >>> import minitape as tf
    >>> tf.compat.v1.convert_to_tensor_or_sparse_tensor([1, 2]).numpy()
    array([1, 2], dtype=int32)
    """
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        return convert_to_tensor(value, dtype)
    if dtype is not None and value.dtype != dtype:
        raise RuntimeError(f"Sparse dtype mismatch. Requested: {dtype.name},  Actual: {value.dtype.name}")
    return value


# -- ragged -----------------------------------------------------------------------------------------------------------


def ragged_placeholder(dtype: Any, ragged_rank: int, value_shape: Any = None, name: str | None = None) -> Any:
    """A RaggedTensor that is given its value by ``feed_dict``: a RaggedTensorValue. RuntimeError outside a graph.

    ``value_shape`` is the shape of one of the innermost values. With a ``ragged_rank`` of 0 it is a plain placeholder.

    >>> import minitape as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     x = tf.compat.v1.ragged.placeholder(tf.float32, 1, value_shape=[])
    ...     sums = tf.reduce_sum(x, axis=1)
    ...     print(session.run(sums, {x: tf.compat.v1.ragged.constant_value([[1.0, 2.0], [5.0]])}))
    [3. 5.]
    """
    label = name or "RaggedPlaceholder"
    if ragged_rank == 0:
        return placeholder(dtype, value_shape, name)
    shape = tf.TensorShape([None]).concatenate(value_shape)
    result = placeholder(dtype, shape, f"{label}/flat_values")
    for axis in reversed(range(ragged_rank)):
        splits = placeholder(tf.int64, [None], f"{label}/row_splits_{axis}")
        result = RaggedTensor.from_row_splits(result, splits, validate=False)
    return result


def constant_value(
    pylist: Any, dtype: Any = None, ragged_rank: int | None = None, inner_shape: Any = None, row_splits_dtype: Any = "int64"
) -> Any:
    """As ``tf.ragged.constant``, but a RaggedTensorValue (or an array, where no axis is ragged).

    >>> import minitape as tf
    >>> tf.compat.v1.ragged.constant_value([[1, 2], [3]])
    tf.RaggedTensorValue(values=array([1, 2, 3]), row_splits=array([0, 2, 3]))
    """
    kind = dtype.as_numpy_dtype if isinstance(dtype, dtypes.DType) else dtype
    splits = dtypes.as_dtype(row_splits_dtype).as_numpy_dtype

    def dense(values: Any, shape: Any) -> Any:
        array = np.array(values) if kind in (None, object) else np.array(values).astype(kind)
        return (array.astype(object) if kind is object else array).reshape(array.shape if shape is None else shape)

    def ragged(values: Any, lengths: Any) -> RaggedTensorValue:
        return RaggedTensorValue(values, np.cumsum([0, *lengths]).astype(splits))

    return built(pylist, ragged_rank, inner_shape, dense, ragged)
