"""``tf.RaggedTensor`` and ``tf.SparseTensor``: they hold their parts, are shown, and are given back as dense tensors.

minitape does not compute with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.tensor.conversion import constant as dense_constant
from ..engine.tensor.conversion import convert_to_tensor
from ..engine.tensor.tensor import Tensor, create_tensor
from ..engine.values import dtypes
from ..engine.values.argument_errors import build_argument_error, check_indices
from ..engine.values.shape import TensorShape
from .arguments import apply_primitive, to_integers, to_tensor
from .products import matmul

if TYPE_CHECKING:
    from ..engine.types import DTypeLike, Object, Value


class RaggedTensor:
    """A tensor of rows of different lengths: ``values``, cut into rows of the lengths ``row_lengths()``.

    Made by ``tf.ragged.constant`` and ``from_row_lengths``.

    >>> import minitape as tf
    >>> tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1])
    <tf.RaggedTensor [[1, 2], [], [3]]>
    """

    __module__ = "tensorflow.python.ops.ragged.ragged_tensor"

    def __init__(self, values: Value, lengths: Value) -> None:
        self.values, self._lengths = convert_to_tensor(values), to_integers(lengths, "row_lengths")
        if not self.values.ndim or sum(self._lengths) != self.values.shape[0] or min(self._lengths, default=0) < 0:
            raise build_argument_error(
                f"Rows of the lengths {list(self._lengths)} do not fit values of shape {self.values.shape}"
            )

    @classmethod
    def from_row_lengths(cls, values: Value, row_lengths: Value) -> RaggedTensor:
        """The rows of these lengths, one after the other in ``values``; InvalidArgumentError when that does not fit."""
        return cls(values, row_lengths)

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the elements."""
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes; None for the ragged one."""
        return TensorShape([len(self._lengths), None, *self.values.shape[1:]])

    def row_lengths(self) -> Tensor:
        """The lengths of the rows, an int64 tensor."""
        return create_tensor(np.array(self._lengths, np.int64))

    def to_list(self) -> list:
        """The rows as lists."""
        return [row.tolist() for row in np.split(self.values.array, np.cumsum(self._lengths))[:-1]]

    def to_tensor(self) -> Tensor:
        """The rows, filled up with zeros, as a dense tensor. No gradient passes."""
        longest, row_ends = max(self._lengths, default=0), np.cumsum(self._lengths)
        dense = np.zeros((len(row_ends), longest, *self.values._dims[1:]), self.values.array.dtype)
        for row, elements in zip(dense, np.split(self.values.array, row_ends), strict=False):
            row[: len(elements)] = elements
        return create_tensor(dense)

    def __repr__(self) -> str:
        return f"<tf.RaggedTensor {self.to_list()}>"


def ragged_constant(pylist: list, dtype: DTypeLike = None) -> RaggedTensor:
    """A ragged tensor of a list of lists.

    >>> import minitape as tf
    >>> tf.ragged.constant([[1, 2], [3]]).to_tensor().numpy()
    array([[1, 2],
           [3, 0]], dtype=int32)
    """
    return RaggedTensor(dense_constant([n for row in pylist for n in row], dtype), [len(row) for row in pylist])


class SparseTensor:
    """A tensor that is zero but for the elements ``values[i]`` at the places ``indices[i]``.

    ``indices`` is int64 of shape (n, rank), ``dense_shape`` the shape. Raises ValueError when the three do not fit.

    >>> import minitape as tf
    >>> tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [5], [1, 2])).numpy()
    array([[0, 5]], dtype=int32)
    """

    __module__ = "tensorflow.python.framework.sparse_tensor"

    def __init__(self, indices: Value, values: Value, dense_shape: Value) -> None:
        self.indices = convert_to_tensor(indices, dtypes.int64)
        self.values = convert_to_tensor(values)
        self.dense_shape = convert_to_tensor(dense_shape, dtypes.int64)
        if self.indices._dims != (*self.values._dims, *self.dense_shape._dims):
            raise ValueError(
                f"indices of shape {self.indices.shape} do not fit values of shape {self.values.shape} in "
                f"{self.dense_shape.shape[0]} axes"
            )

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the elements."""
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes."""
        return TensorShape(self.dense_shape.array.tolist())

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self.indices!s}, values={self.values!s}, dense_shape={self.dense_shape!s})"


def to_dense(sp_input: SparseTensor) -> Tensor:
    """The dense tensor. Differentiable in ``values``; InvalidArgumentError for a place outside of the shape.

    >>> import minitape as tf
    >>> tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [5], [1, 2])).numpy()
    array([[0, 5]], dtype=int32)
    """
    _require_sparse_tensor("tf.sparse.to_dense", sp_input)
    sizes = tuple(sp_input.dense_shape.array.tolist())
    check_indices(sp_input.indices.array, sizes)
    values = sp_input.values
    return apply_primitive(
        "tensor_scatter_update", create_tensor(np.zeros(sizes, values.array.dtype)), sp_input.indices, values
    )


def sparse_dense_matmul(sp_a: SparseTensor, b: Value) -> Tensor:
    """The matrix product with a dense matrix. Differentiable.

    >>> import minitape as tf
    >>> tf.sparse.sparse_dense_matmul(tf.SparseTensor([[0, 1]], [5.0], [1, 2]), tf.ones([2, 1])).numpy()
    array([[5.]], dtype=float32)
    """
    _require_sparse_tensor("tf.sparse.sparse_dense_matmul", sp_a)
    return matmul(to_dense(sp_a), to_tensor(b, sp_a.dtype))


def _require_sparse_tensor(function_name: str, value: Object) -> None:
    if not isinstance(value, SparseTensor):
        raise TypeError(f"{function_name} takes a tf.SparseTensor, got {type(value).__name__}")
