"""``tf.RaggedTensor`` and ``tf.SparseTensor``, which store their parts and convert to dense tensors.

minitape cannot compute with them otherwise. The classes and functions are TensorFlow's
(https://www.tensorflow.org/api_docs/python/tf/RaggedTensor,
https://www.tensorflow.org/api_docs/python/tf/sparse/SparseTensor).
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
    """A tensor whose rows have different lengths.

    Create one with ``tf.ragged.constant`` or ``from_row_lengths``. Rows that do not fit the values raise
    InvalidArgumentError.

    Args:
        values: The elements of all rows, one row after the other, a tensor-like value.
        lengths: The lengths of the rows, a list of integers.

    Attributes:
        values: The elements of all rows, one row after the other, a tensor.

    >>> import minitape as tf
    >>> tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1])
    <tf.RaggedTensor [[1, 2], [], [3]]>
    """

    __module__ = "tensorflow.python.ops.ragged.ragged_tensor"

    def __init__(self, values: Value, lengths: Value) -> None:
        """Convert the values and check that the rows fit them."""
        self.values, self._lengths = convert_to_tensor(values), to_integers(lengths, "row_lengths")
        if not self.values.ndim or sum(self._lengths) != self.values.shape[0] or min(self._lengths, default=0) < 0:
            raise build_argument_error(
                f"Rows of the lengths {list(self._lengths)} do not fit values of shape {self.values.shape}"
            )

    @classmethod
    def from_row_lengths(cls, values: Value, row_lengths: Value) -> RaggedTensor:
        """Create a ragged tensor from its elements and the lengths of its rows.

        Args:
            values: The elements of all rows, one row after the other, a tensor-like value.
            row_lengths: The lengths of the rows, a list of integers.

        Returns:
            The ragged tensor.

        Raises:
            InvalidArgumentError: If the lengths do not add up to the number of values, or a length is negative.
        """
        return cls(values, row_lengths)

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the elements."""
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes. The size of the ragged axis is None."""
        return TensorShape([len(self._lengths), None, *self.values.shape[1:]])

    def row_lengths(self) -> Tensor:
        """Return the lengths of the rows.

        Returns:
            An int64 tensor with one length per row.
        """
        return create_tensor(np.array(self._lengths, np.int64))

    def to_list(self) -> list:
        """Return the rows as lists.

        Returns:
            A list with one list per row.
        """
        return [row.tolist() for row in np.split(self.values.array, np.cumsum(self._lengths))[:-1]]

    def to_tensor(self) -> Tensor:
        """Return the rows as a dense tensor, padded with zeros.

        No gradient passes.

        Returns:
            A tensor of shape (number of rows, length of the longest row, ...).
        """
        longest, row_ends = max(self._lengths, default=0), np.cumsum(self._lengths)
        dense = np.zeros((len(row_ends), longest, *self.values._dims[1:]), self.values.array.dtype)
        for row, elements in zip(dense, np.split(self.values.array, row_ends), strict=False):
            row[: len(elements)] = elements
        return create_tensor(dense)

    def __repr__(self) -> str:
        """Return the rows as text."""
        return f"<tf.RaggedTensor {self.to_list()}>"

    def __reduce__(self) -> tuple[object, ...]:
        """Return how pickle and copy rebuild the tensor."""
        return _create_ragged_tensor, (self.values, self._lengths)


def _create_ragged_tensor(values: Value, lengths: Value) -> RaggedTensor:
    """Create a ragged tensor that was pickled: its class has TensorFlow's name, under which pickle finds nothing."""
    return RaggedTensor(values, lengths)


def ragged_constant(pylist: list, dtype: DTypeLike = None) -> RaggedTensor:
    """Create a ragged tensor from a list of lists.

    Args:
        pylist: The rows, a list of lists of numbers.
        dtype: The dtype of the elements. By default it is derived from the numbers.

    Returns:
        The ragged tensor.

    >>> import minitape as tf
    >>> tf.ragged.constant([[1, 2], [3]]).to_tensor().numpy()
    array([[1, 2],
           [3, 0]], dtype=int32)
    """
    return RaggedTensor(dense_constant([n for row in pylist for n in row], dtype), [len(row) for row in pylist])


class SparseTensor:
    """A tensor that stores only its nonzero elements, ``values[i]`` at the position ``indices[i]``.

    Arguments whose shapes do not fit together raise ValueError.

    Args:
        indices: The positions, integers of shape (n, rank).
        values: The n elements, a tensor-like value.
        dense_shape: The sizes of all axes, a list of integers.

    Attributes:
        indices: The positions, an int64 tensor of shape (n, rank).
        values: The elements, a tensor of shape (n,).
        dense_shape: The sizes of all axes, an int64 tensor of shape (rank,).

    >>> import minitape as tf
    >>> tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [5], [1, 2])).numpy()
    array([[0, 5]], dtype=int32)
    """

    __module__ = "tensorflow.python.framework.sparse_tensor"

    def __init__(self, indices: Value, values: Value, dense_shape: Value) -> None:
        """Convert the arguments to tensors and check that they fit together."""
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
        """Return the positions, elements and shape as text."""
        return f"SparseTensor(indices={self.indices!s}, values={self.values!s}, dense_shape={self.dense_shape!s})"

    def __reduce__(self) -> tuple[object, ...]:
        """Return how pickle and copy rebuild the tensor."""
        return _create_sparse_tensor, (self.indices, self.values, self.dense_shape)


def _create_sparse_tensor(indices: Value, values: Value, dense_shape: Value) -> SparseTensor:
    """Create a sparse tensor that was pickled, for the same reason as :func:`_create_ragged_tensor`."""
    return SparseTensor(indices, values, dense_shape)


def to_dense(sp_input: SparseTensor) -> Tensor:
    """Convert a sparse tensor to a dense tensor.

    Differentiable in ``values``.

    Args:
        sp_input: The sparse tensor.

    Returns:
        A tensor of shape ``dense_shape``, with 0 at all other positions.

    Raises:
        InvalidArgumentError: If a position is outside of the shape.
        TypeError: If ``sp_input`` is not a ``tf.SparseTensor``.

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
    """Return the matrix product of a sparse and a dense matrix.

    Differentiable in both.

    Args:
        sp_a: A sparse tensor of shape (m, k).
        b: A tensor-like value of the same dtype of shape (k, n).

    Returns:
        A tensor of shape (m, n).

    Raises:
        TypeError: If ``sp_a`` is not a ``tf.SparseTensor``.
        InvalidArgumentError: If the shapes do not fit, or the dtypes differ.

    >>> import minitape as tf
    >>> tf.sparse.sparse_dense_matmul(tf.SparseTensor([[0, 1]], [5.0], [1, 2]), tf.ones([2, 1])).numpy()
    array([[5.]], dtype=float32)
    """
    _require_sparse_tensor("tf.sparse.sparse_dense_matmul", sp_a)
    return matmul(to_dense(sp_a), to_tensor(b, sp_a.dtype))


def _require_sparse_tensor(function_name: str, value: Object) -> None:
    """Raise TypeError if a value is not a sparse tensor."""
    if not isinstance(value, SparseTensor):
        raise TypeError(f"{function_name} takes a tf.SparseTensor, got {type(value).__name__}")
