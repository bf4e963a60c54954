"""``tf.sparse``: a tensor of which only some elements are given, which is made, shown and filled up."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import Tensor, new_tensor
from ..engine.values import dtypes


class SparseTensor:
    """The elements ``values[i]`` at the places ``indices[i]``, zeros elsewhere.

    >>> import minitape as tf
    >>> tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [5], [1, 2])).numpy()
    array([[0, 5]], dtype=int32)
    """

    __module__ = "tensorflow.python.framework.sparse_tensor"

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self.indices, self.values = convert_to_tensor(indices, dtypes.int64), convert_to_tensor(values)
        self.dense_shape = convert_to_tensor(dense_shape, dtypes.int64)

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self.indices!s}, values={self.values!s}, dense_shape={self.dense_shape!s})"


def to_dense(sp_input: SparseTensor) -> Tensor:
    """The dense tensor."""
    made = np.zeros(sp_input.dense_shape.array, sp_input.values.array.dtype)
    made[tuple(sp_input.indices.array.T)] = sp_input.values.array
    return new_tensor(made)


def sparse_dense_matmul(sp_a: SparseTensor, b: Any) -> Tensor:
    """The matrix product with a dense matrix.

    >>> import minitape as tf
    >>> tf.sparse.sparse_dense_matmul(tf.SparseTensor([[0, 1]], [5.0], [1, 2]), tf.ones([2, 1])).numpy()
    array([[5.]], dtype=float32)
    """
    return to_dense(sp_a) @ b
