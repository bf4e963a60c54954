"""``tf.RaggedTensor`` and ``tf.SparseTensor``, which can be created, shown and converted to dense tensors.

Apart from ``tf.sparse.sparse_dense_matmul``, minitape has no operations for them. The classes and functions follow
TensorFlow (https://www.tensorflow.org/api_docs/python/tf/RaggedTensor,
https://www.tensorflow.org/api_docs/python/tf/sparse/SparseTensor).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..engine.tensor.conversion import constant as dense_constant
from ..engine.tensor.conversion import convert_to_tensor
from ..engine.tensor.tensor import Tensor, wrap_array_with_origin
from ..engine.types import DTypeLike, Object, PickleParts, Value
from ..engine.values import dtypes
from ..engine.values.argument_errors import build_argument_error
from ..engine.values.shape import TensorShape
from .arguments import apply_primitive, to_integers, to_tensor
from .products import matmul


class RaggedTensor:
    """A tensor whose rows have different lengths.

    Create a ragged tensor with ``tf.ragged.constant`` or ``from_row_lengths``. The constructor raises
    InvalidArgumentError if the row lengths do not match the values.

    See https://www.tensorflow.org/api_docs/python/tf/RaggedTensor.

    Args:
        values: The elements of all rows, concatenated, as a tensor-like value of any dtype.
        lengths: The row lengths, a list of integers.

    Attributes:
        values: The elements of all rows, concatenated, as a tensor of shape (number of elements, ...).

    >>> import minitape as tf
    >>> tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1])
    <tf.RaggedTensor [[1, 2], [], [3]]>
    """

    __module__ = "tensorflow.python.ops.ragged.ragged_tensor"

    def __init__(self, values: Value, lengths: Value):
        """Convert the values and check that the row lengths match them."""
        self.values = convert_to_tensor(values)
        self._lengths = to_integers(lengths, "row_lengths")
        if not self.values.ndim or sum(self._lengths) != self.values.shape[0] or min(self._lengths, default=0) < 0:
            raise build_argument_error(
                f"Rows with the lengths {list(self._lengths)} do not fit values of shape {self.values.shape}"
            )

    @classmethod
    def from_row_lengths(cls, values: Value, row_lengths: Value) -> RaggedTensor:
        """Create a ragged tensor from its elements and its row lengths.

        Args:
            values: The elements of all rows, concatenated, as a tensor-like value of any dtype.
            row_lengths: The row lengths, a list of integers.

        Returns:
            The ragged tensor.

        Raises:
            InvalidArgumentError: If the lengths do not add up to the number of values, or a length is negative.
        """
        return cls(values, row_lengths)

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the elements."""
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape, with None as the size of the ragged axis."""
        return TensorShape([len(self._lengths), None, *self.values.shape[1:]])

    def row_lengths(self) -> Tensor:
        """Return the row lengths.

        Returns:
            An int64 tensor with one length per row.
        """
        return wrap_array_with_origin(np.array(self._lengths, np.int64))

    def to_list(self) -> list:
        """Return the rows as lists.

        Returns:
            A list with one list per row.
        """
        return [row.tolist() for row in np.split(self.values.array, np.cumsum(self._lengths))[:-1]]

    def to_tensor(self) -> Tensor:
        """Convert the rows to a dense tensor, padded with zeros.

        This function is not differentiable.

        Returns:
            A tensor of shape (number of rows, length of the longest row, ...).
        """
        longest = max(self._lengths, default=0)
        row_ends = np.cumsum(self._lengths)
        dense = np.zeros((len(row_ends), longest, *self.values.dims[1:]), self.values.array.dtype)
        for row, elements in zip(dense, np.split(self.values.array, row_ends), strict=False):
            row[: len(elements)] = elements
        return wrap_array_with_origin(dense)

    def __repr__(self) -> str:
        """Return the rows as a string."""
        return f"<tf.RaggedTensor {self.to_list()}>"

    def __reduce__(self) -> PickleParts:
        """Return the function and arguments that ``pickle`` and ``copy`` use to re-create the tensor."""
        return _create_ragged_tensor, (self.values, self._lengths)


def _create_ragged_tensor(values: Value, lengths: Value) -> RaggedTensor:
    """Re-create a pickled ragged tensor. Pickle cannot find the class, because its ``__module__`` is TensorFlow's."""
    return RaggedTensor(values, lengths)


def ragged_constant(pylist: list, dtype: DTypeLike = None) -> RaggedTensor:
    """Create a ragged tensor from a list of lists.

    See https://www.tensorflow.org/api_docs/python/tf/ragged/constant.

    Args:
        pylist: The rows, a list of lists of numbers.
        dtype: The dtype of the elements. By default, minitape infers the dtype from the numbers.

    Returns:
        A ragged tensor of shape (number of rows, None).

    Raises:
        TypeError: If the items of ``pylist`` are not lists, or a number cannot be represented in the dtype.
        ValueError: If the rows contain both numbers and strings.

    >>> import minitape as tf
    >>> tf.ragged.constant([[1, 2], [3]]).to_tensor().numpy()
    array([[1, 2],
           [3, 0]], dtype=int32)
    """
    return RaggedTensor(dense_constant([n for row in pylist for n in row], dtype), [len(row) for row in pylist])


class SparseTensor:
    """A tensor that stores only its nonzero elements: ``values[i]`` at position ``indices[i]``.

    The constructor raises ValueError if the shapes of the arguments do not match.

    See https://www.tensorflow.org/api_docs/python/tf/SparseTensor.

    Args:
        indices: The positions, integers of shape (n, rank).
        values: The elements, a tensor-like value of shape (n,) and any dtype.
        dense_shape: The shape of the whole tensor, a list of integers.

    Attributes:
        indices: The positions, an int64 tensor of shape (n, rank).
        values: The elements, a tensor of shape (n,).
        dense_shape: The shape of the whole tensor, an int64 tensor of shape (rank,).

    >>> import minitape as tf
    >>> tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [5], [1, 2])).numpy()
    array([[0, 5]], dtype=int32)
    """

    __module__ = "tensorflow.python.framework.sparse_tensor"

    def __init__(self, indices: Value, values: Value, dense_shape: Value):
        """Convert the arguments to tensors and check that their shapes match."""
        self.indices = convert_to_tensor(indices, dtypes.int64)
        self.values = convert_to_tensor(values)
        self.dense_shape = convert_to_tensor(dense_shape, dtypes.int64)
        if self.indices.dims != self.values.dims + self.dense_shape.dims:
            raise ValueError(
                f"indices of shape {self.indices.shape} do not fit values of shape {self.values.shape} with "
                f"{self.dense_shape.shape[0]} axes"
            )

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the elements."""
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole tensor."""
        return TensorShape(self.dense_shape.array.tolist())

    def __repr__(self) -> str:
        """Return the positions, elements and shape as a string."""
        return f"SparseTensor(indices={self.indices!s}, values={self.values!s}, dense_shape={self.dense_shape!s})"

    def __reduce__(self) -> PickleParts:
        """Return the function and arguments that ``pickle`` and ``copy`` use to re-create the tensor."""
        return _create_sparse_tensor, (self.indices, self.values, self.dense_shape)


def _create_sparse_tensor(indices: Value, values: Value, dense_shape: Value) -> SparseTensor:
    """Re-create a pickled sparse tensor. This exists for the same reason as :func:`_create_ragged_tensor`."""
    return SparseTensor(indices, values, dense_shape)


def to_dense(sp_input: SparseTensor) -> Tensor:
    """Convert a sparse tensor to a dense tensor.

    This function is differentiable with respect to ``values``.

    See https://www.tensorflow.org/api_docs/python/tf/sparse/to_dense.

    Args:
        sp_input: The sparse tensor.

    Returns:
        A tensor of shape ``dense_shape`` with the dtype of ``values``. All other positions are 0.

    Raises:
        InvalidArgumentError: If a position lies outside the shape, is repeated or is out of order.
        TypeError: If ``sp_input`` is not a ``tf.SparseTensor``.

    >>> import minitape as tf
    >>> tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [5], [1, 2])).numpy()
    array([[0, 5]], dtype=int32)
    """
    _require_sparse_tensor("tf.sparse.to_dense", sp_input)
    positions = sp_input.indices._value.tolist()
    for i, (previous, position) in enumerate(pairwise(positions), 1):
        if position <= previous:
            raise build_argument_error(
                f"indices[{i}] = {position} is repeated or out of order. Sort the positions, and use each of them once"
            )
    return _scatter_values(sp_input)


def _scatter_values(sparse: SparseTensor) -> Tensor:
    """Return a dense tensor with the elements of a sparse tensor. Elements at the same position are added."""
    return apply_primitive("scatter_nd", sparse.indices, sparse.values, shape=tuple(sparse.dense_shape.array.tolist()))


def sparse_dense_matmul(sp_a: SparseTensor, b: Value) -> Tensor:
    """Return the matrix product of a sparse and a dense matrix.

    Elements at the same position are added. This function is differentiable with respect to both arguments.

    See https://www.tensorflow.org/api_docs/python/tf/sparse/sparse_dense_matmul.

    Args:
        sp_a: A sparse tensor of shape (m, k).
        b: A tensor-like value of shape (k, n) with the same dtype.

    Returns:
        A tensor of shape (m, n) with the same dtype.

    Raises:
        TypeError: If ``sp_a`` is not a ``tf.SparseTensor``.
        InvalidArgumentError: If the shapes do not match, or the dtypes differ.

    >>> import minitape as tf
    >>> tf.sparse.sparse_dense_matmul(tf.SparseTensor([[0, 1]], [5.0], [1, 2]), tf.ones([2, 1])).numpy()
    array([[5.]], dtype=float32)
    """
    _require_sparse_tensor("tf.sparse.sparse_dense_matmul", sp_a)
    return matmul(_scatter_values(sp_a), to_tensor(b, sp_a.dtype))


def _require_sparse_tensor(function_name: str, value: Object) -> None:
    """Raise TypeError if a value is not a sparse tensor."""
    if not isinstance(value, SparseTensor):
        raise TypeError(f"{function_name} takes a tf.SparseTensor, got {type(value).__name__}")
