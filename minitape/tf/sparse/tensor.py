"""``tf.SparseTensor``: a tensor that is zero but for some elements, given by their places and values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor, converted
from ...engine.evidence import planned
from ...engine.shape import TensorShape
from ...engine.tensor import EagerTensor, wrap
from ...engine.typed import Operators
from ...ops.introspection import get_static_value


class SparseTensor(Operators):
    """The elements ``values[i]`` at the places ``indices[i]``, zeros elsewhere; its shape is ``dense_shape``.

    ``indices`` is int64 of shape (n, rank). Raises ValueError when the three do not fit each other.
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
    __slots__ = ("_indices", "_values", "_dense_shape", "_known_shape", "__weakref__")

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._indices = _int64(indices, "indices")
        if self._indices is indices and getattr(indices, "_record", None) is not None:  # computed under a tape
            planned(indices)
        self._values = converted(values)
        self._dense_shape = _int64(dense_shape, "dense_shape")
        count, rank = self._indices.shape.with_rank(2)
        _compatible(count, self._values.shape.with_rank(1)[0])
        _compatible(rank, self._dense_shape.shape.with_rank(1)[0])
        self._known_shape = _static_shape(self._dense_shape, rank)

    indices = property(lambda self: self._indices, doc="The places of the elements: int64, one row for each.")
    values = property(lambda self: self._values, doc="The elements, a tensor of one axis.")
    dense_shape = property(lambda self: self._dense_shape, doc="The shape, an int64 tensor.")
    dtype = property(lambda self: self._values.dtype, doc="The type of the elements.")

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """A sparse tensor of anything that has indices, values and a dense_shape.

        >>> import minitape as tf
        >>> value = tf.compat.v1.SparseTensorValue([[0, 1]], [5], [1, 2])
        >>> tf.sparse.to_dense(tf.SparseTensor.from_value(value)).numpy()
        array([[0, 5]], dtype=int32)
        """
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes; None for those that a graph does not know."""
        return self._known_shape

    def sizes(self) -> tuple[int, ...]:
        """The sizes as ints."""
        return tuple(int(n) for n in self._dense_shape.array)

    def get_shape(self) -> TensorShape:
        """The same as ``shape``.

        >>> import minitape as tf
        >>> tf.sparse.eye(2, 3).get_shape()
        TensorShape([2, 3])
        """
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Says what a graph does not know of the sizes; ValueError when ``shape`` contradicts what it knows.

        >>> import minitape as tf
        >>> tf.sparse.eye(2, 3).set_shape([2, 4])
        Traceback (most recent call last):
            ...
        ValueError: Shapes (2, 3) and (2, 4) are not compatible
        """
        self._known_shape = self.shape.merge_with(shape)

    def with_values(self, new_values: Any) -> SparseTensor:
        """Other values at the same places; ValueError when their number differs.

        >>> import minitape as tf
        >>> st = tf.sparse.from_dense([[0, 5], [6, 0]])
        >>> tf.sparse.to_dense(st.with_values(st.values * 10)).numpy()
        array([[ 0, 50],
               [60,  0]], dtype=int32)
        """
        values = convert_to_tensor(new_values)
        _compatible(self._values.shape.with_rank(1)[0], values.shape.with_rank_at_least(1)[0])
        return SparseTensor(self._indices, values, self._dense_shape)

    def consumers(self) -> list[Any]:
        """The operations that use this: an empty list outside graphs.

        >>> import minitape as tf
        >>> tf.sparse.eye(2).consumers()
        []
        """
        parts = [part for part in self._components() if hasattr(part, "graph")]
        return list(dict.fromkeys(op for part in parts for op in part.consumers()))

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Its SparseTensorValue in the default session (or the given one). AttributeError outside graphs.

        >>> import minitape as tf
        >>> with tf.Graph().as_default(), tf.compat.v1.Session():
        ...     tf.SparseTensor([[0, 1]], [5.0], [1, 2]).eval().values
        array([5.], dtype=float32)
        """
        from ...graphs.session import default_session

        return default_session(session, "evaluate tensor using `eval()`", self.graph).run(self, feed_dict)

    @property
    def op(self) -> Any:
        """The operation that made the values. AttributeError outside graphs."""
        return self._values.op

    @property
    def graph(self) -> Any:
        """The graph that this is part of. AttributeError outside graphs."""
        return self._indices.graph

    # -- gradients ----------------------------------------------------------------------------------------------------

    def _watch_on(self, tape: Any) -> None:
        from ...engine.logs import warn_not_watchable

        tape.watch(self._values)
        for part in (self._indices, self._dense_shape):
            warn_not_watchable(part.dtype)

    def _gradient_leaf(self) -> Any:
        raise ValueError("Type SparseTensor is not supported as a gradient source or gradient target.")

    def _to_tensor(self, dtype: Any = None) -> Any:
        raise ValueError(f"Attempt to convert a value ({self!r}) with an unsupported type ({type(self)}) to a Tensor.")

    def _print_text(self, limit: int) -> str:
        from ...ops.printing import tensor_text

        parts = (("indices", self._indices), ("values", self._values), ("shape", self._dense_shape))
        return f"'SparseTensor({', '.join(f'{k}={tensor_text(t.array, limit)}' for k, t in parts)})'"

    # -- Python's protocols -------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self._indices!s}, values={self._values!s}, dense_shape={self._dense_shape!s})"

    __str__ = __repr__

    def __mul__(self, other: Any) -> SparseTensor:
        from .primitives import times_dense

        return times_dense(self, other)

    def __rmul__(self, other: Any) -> Any:
        from .primitives import times_dense

        return times_dense(self, other) if hasattr(other, "shape") else NotImplemented

    def __truediv__(self, other: Any) -> SparseTensor:
        from ...engine.operators import float_quotient
        from .primitives import times_dense

        values, dense = float_quotient(self.values, convert_to_tensor(other, self.dtype))
        return times_dense(SparseTensor(self.indices, values, self.dense_shape), dense, divide=True)

    def __matmul__(self, other: Any) -> Any:
        return self._to_tensor()

    __rmatmul__ = __matmul__

    def _rows(self, chosen: Any) -> SparseTensor:
        """The rows with these numbers, for batches of a training loop."""
        from .primitives import pick

        index = self._indices.array
        keep, rows = [], []
        for row, number in enumerate(np.asarray(chosen)):
            found = np.flatnonzero(index[:, 0] == number)
            keep.append(found)
            rows.append(np.full(len(found), row))
        order = np.concatenate(keep) if keep else np.zeros(0, np.int64)
        moved = index[order].copy()
        moved[:, 0] = np.concatenate(rows) if rows else 0
        sizes = np.array([len(chosen), *self.sizes()[1:]], np.int64)
        return SparseTensor(wrap(moved), pick(self._values, order), wrap(sizes))

    def _components(self) -> list[Any]:
        return [self._indices, self._values, self._dense_shape]

    def _as_value(self, parts: list[Any]) -> SparseTensorValue:
        """What a session gives for it, of its components' arrays."""
        return SparseTensorValue(*parts)

    def _rebuilt(self, parts: list[Any]) -> SparseTensor:
        return SparseTensor(*parts)

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec.from_value(self)


class SparseTensorSpec:
    """The type of sparse tensors: shape and dtype.

    >>> import minitape as tf
    >>> tf.SparseTensorSpec([2, 3], tf.float32)
    SparseTensorSpec(TensorShape([2, 3]), tf.float32)
    """

    __slots__ = ("_shape", "_dtype")

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32) -> None:
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)

    shape = property(lambda self: self._shape, doc="The sizes; None for unknown ones.")
    dtype = property(lambda self: self._dtype, doc="The type of the elements.")
    value_type = property(lambda self: SparseTensor, doc="The class of values of this type.")

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The type of a sparse tensor.

        >>> import minitape as tf
        >>> tf.SparseTensorSpec.from_value(tf.sparse.eye(2, 3))
        SparseTensorSpec(TensorShape([2, 3]), tf.float32)
        """
        return cls(value.shape, value.dtype)

    def _made_of(self, parts: list[Any]) -> SparseTensor:
        """The sparse tensor of a graph that a run makes of these components."""
        for part, shape in zip(parts, ([None, self.shape.rank], [None], [self.shape.rank]), strict=True):
            part.set_shape(shape)
        found = SparseTensor(*parts)
        found.set_shape(self.shape)
        return found

    def _stacked(self, values: list[Any]) -> SparseTensor:
        """Values of this type along a new first axis."""
        from .functions import concat, expand_dims

        return concat(0, [expand_dims(value, 0) for value in values])

    def is_compatible_with(self, value: Any) -> bool:
        """True when the sparse tensor (or type) is of this type.

        >>> import minitape as tf
        >>> tf.SparseTensorSpec([None, 3]).is_compatible_with(tf.sparse.eye(2, 3))
        True
        """
        return self._dtype == value.dtype and self._shape.is_compatible_with(value.shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SparseTensorSpec) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self._shape!r}, {self._dtype!r})"


def _static_shape(sizes: Any, rank: int | None) -> TensorShape:
    """The shape that a tensor of sizes tells, as far as a graph knows it; -1 stands for an unknown size."""
    if isinstance(sizes, EagerTensor):
        return TensorShape([int(n) if n >= 0 else None for n in sizes.array])
    known = get_static_value(sizes, partial=True)
    if known is None:
        rank = sizes.shape[0] if rank is None else rank
        return TensorShape(None if rank is None else [None] * rank)
    return TensorShape([None if n is None or n < 0 else int(n) for n in known])


def _compatible(size: int | None, other: int | None) -> None:
    if None not in (size, other) and size != other:
        raise ValueError(f"Dimensions {size} and {other} are not compatible")


def _int64(value: Any, name: str) -> Any:
    if isinstance(value, (list, tuple)) and not value:
        return wrap(np.zeros(0, np.int64))
    if isinstance(value, np.ndarray):
        return wrap(np.array(value, np.int64))
    try:
        return convert_to_tensor(value, dtypes.int64)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


class SparseTensorValue(NamedTuple):
    """What a sparse tensor is made of as NumPy arrays (``tf.compat.v1.SparseTensorValue``).

    >>> import minitape as tf
    >>> value = tf.compat.v1.SparseTensorValue([[0, 1]], [5], [1, 2])
    >>> tf.sparse.to_dense(value).numpy()
    array([[0, 5]], dtype=int32)
    """

    indices: Any
    values: Any
    dense_shape: Any


def sparse_input(x: Any) -> SparseTensor:
    """``x``, which must be sparse."""
    if isinstance(x, SparseTensorValue):
        return SparseTensor.from_value(x)
    if not isinstance(x, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return x
