"""``tf.SparseTensor``: a tensor that is zero but for some elements, given by their places and values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.recording.evidence import note_used_as_size
from ...engine.recording.logs import warn_not_watchable
from ...engine.table.primitives import TABLE
from ...engine.tensor.convert import convert_to_tensor, to_graph_tensor
from ...engine.tensor.tensor import Tensor, new_tensor
from ...engine.types import Operators
from ...engine.values import dtypes
from ...engine.values.invalid import mismatch
from ...engine.values.shape import TensorShape
from ...ops.arrays import broadcast_to


class SparseTensor(Operators):
    """The elements ``values[i]`` at the places ``indices[i]``, zeros elsewhere; its shape is ``dense_shape``.

    ``indices`` is int64 of shape (n, rank). Raises ValueError when the three do not fit each other. Places and shape
    must be known also while a function is traced. It can be multiplied with numbers and dense tensors; the functions of
    ``tf.sparse`` take it, and few others.
    See https://www.tensorflow.org/api_docs/python/tf/sparse/SparseTensor.

    >>> import minitape as tf
    >>> st = tf.sparse.SparseTensor(indices=[[0, 1], [2, 0]], values=[5, 6], dense_shape=[3, 2])
    >>> tf.sparse.to_dense(st).numpy()
    array([[0, 5],
           [0, 0],
           [6, 0]], dtype=int32)
    """

    _composite = True
    __array_priority__ = 200
    __module__ = "tensorflow.python.framework.sparse_tensor"
    __slots__ = ("_indices", "_values", "_dense_shape", "__weakref__")

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._indices = _known(_int64(indices, "indices"))
        if self._indices is indices and getattr(indices, "_record", None) is not None:  # computed under a tape
            note_used_as_size(indices)
        self._values = to_graph_tensor(values)
        self._dense_shape = _known(_int64(dense_shape, "dense_shape"))
        count, rank = self._indices.shape.with_rank(2)
        _compatible(count, self._values.shape.with_rank(1)[0])
        _compatible(rank, self._dense_shape.shape.with_rank(1)[0])

    indices = property(lambda self: self._indices, doc="The places of the elements: int64, one row for each.")
    values = property(lambda self: self._values, doc="The elements, a tensor of one axis.")
    dense_shape = property(lambda self: self._dense_shape, doc="The shape, an int64 tensor.")
    dtype = property(lambda self: self._values.dtype, doc="The type of the elements.")
    shape = property(lambda self: TensorShape(self.sizes()), doc="The sizes of the axes.")

    def with_values(self, new_values: Any) -> SparseTensor:
        """Other values at the same places; ValueError when their number differs.

        >>> import minitape as tf
        >>> st = tf.sparse.from_dense([[0, 5], [6, 0]])
        >>> tf.sparse.to_dense(st.with_values(st.values * 10)).numpy()
        array([[ 0, 50],
               [60,  0]], dtype=int32)
        """
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def sizes(self) -> tuple[int, ...]:
        """The sizes as ints."""
        return tuple(self._dense_shape.array.tolist())

    def places(self) -> Any:
        """The places as an array."""
        return self._indices.array

    # -- what the tape asks ------------------------------------------------------------------------

    def _watch_on(self, tape: Any) -> None:
        tape.watch(self._values)
        for part in (self._indices, self._dense_shape):
            warn_not_watchable(part.dtype)

    def _gradient_leaf(self) -> Any:
        raise ValueError("Type SparseTensor is not supported as a gradient source or gradient target.")

    # -- what the functions of tf, structures and graphs ask ---------------------------------------

    def _to_tensor(self, dtype: Any = None) -> Any:
        raise ValueError(f"Attempt to convert a value ({self!r}) with an unsupported type ({type(self)}) to a Tensor.")

    def _components(self) -> list:
        return [self._indices, self._values, self._dense_shape]

    def _rebuild(self, parts: list) -> SparseTensor:
        return SparseTensor(*parts)

    def _open_parts(self) -> list:
        return [self._values]

    def _fixed_parts(self) -> list:
        return [self._indices.array, self._dense_shape.array]

    def _of_parts(self, parts: list) -> SparseTensor:
        return self.with_values(parts[0])

    # -- Python's protocols ------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self._indices!s}, values={self._values!s}, dense_shape={self._dense_shape!s})"

    __str__ = __repr__

    def __mul__(self, other: Any) -> SparseTensor:
        """Multiplied by a number or a dense tensor, which may be broadcast to the shape."""
        dense, sizes = other if isinstance(other, Tensor) else convert_to_tensor(other, self.dtype), self.sizes()
        if dense.dtype != self.dtype:
            raise mismatch("SparseDenseCwiseMul", 3, self.dtype.kernel_name, dense.dtype)
        if dense.shape.rank:
            if not dense.shape.is_compatible_with(sizes):
                dense = broadcast_to(dense, sizes)
            dense = TABLE["gather_nd"](dense, self._indices)
        return self.with_values(TABLE["multiply"](self._values, dense))


def _known(part: Any) -> Any:
    if getattr(part, "array", None) is None:
        raise ValueError(
            "minitape computes with a sparse tensor whose places and shape it knows while it traces a function; "
            f"{part} is known only when the graph runs."
        )
    return part


def _compatible(size: int | None, other: int | None) -> None:
    if None not in (size, other) and size != other:
        raise ValueError(f"Dimensions {size} and {other} are not compatible")


def _int64(value: Any, name: str) -> Any:
    if isinstance(value, (list, tuple)) and not value:
        return new_tensor(np.zeros(0, np.int64))
    if isinstance(value, np.ndarray):
        return new_tensor(np.array(value, np.int64))
    try:
        return convert_to_tensor(value, dtypes.int64)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
