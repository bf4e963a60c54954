"""``tf.RaggedTensor``: a tensor whose rows have different lengths.

It is a tensor of all its values, one after the other, and for each ragged axis the numbers at which its rows begin
and end (``row_splits``). Everything that is done to one is done to the values, with ``gather`` where they move, so
gradients pass through.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid
from ...engine.operands import placed
from ...engine.primitives import TABLE
from ...engine.state import state
from ...engine.tensor import EagerTensor, Tensor
from ...engine.typed import Operators
from . import checks
from .composite import Composite
from .elementwise import install_operators
from .parts import count_of, is_ragged, nvals, splits_of
from .runs import cut_by_run
from .spec import RaggedTensorSpec


class RaggedTensor(Composite, Operators):
    """Rows of different lengths: ``values``, cut at ``row_splits``.

    Make one with ``tf.ragged.constant`` or a ``from_...`` method; the constructor is private (ValueError).
    ``values`` is a tensor or, for more ragged axes, again a RaggedTensor.
    See https://www.tensorflow.org/api_docs/python/tf/RaggedTensor.

    >>> import minitape as tf
    >>> rt = tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1])
    >>> rt
    <tf.RaggedTensor [[1, 2], [], [3]]>
    >>> rt.shape, rt[0].numpy(), (rt * 2).to_list()
    (TensorShape([3, None]), array([1, 2], dtype=int32), [[2, 4], [], [6]])
    """

    _composite = True
    __array_priority__ = 300
    __module__ = "tensorflow.python.ops.ragged.ragged_tensor"
    __slots__ = ("_values", "_cuts", "_uniform", "__weakref__")

    def __init__(self, values: Any, row_partition: Any, internal: Any = None) -> None:
        raise ValueError(
            "RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
            "RaggedTensor.from_row_lengths())"
        )

    # -- making -------------------------------------------------------------------------------------------------------

    @classmethod
    @cut_by_run
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``; InvalidArgumentError when that does not fit.

        >>> import minitape as tf
        >>> tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2, 3])
        <tf.RaggedTensor [[1, 2], [], [3]]>
        """
        values = as_values(values)
        splits = checks.partition(row_splits, "row_splits") if validate else checks.cuts_of(row_splits)
        if validate:
            checks.splits(splits)
            checks.ends(splits[-1], nvals(values))
        return make(values, splits)

    @classmethod
    @cut_by_run
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row ``i`` has ``row_lengths[i]`` values."""
        values, lengths = as_values(values), checks.partition(row_lengths, "row_lengths")
        if validate:
            checks.not_negative(lengths, "Arguments to from_row_lengths do not form a valid RowPartition")
        splits = splits_of(lengths)
        if validate:
            checks.ends(splits[-1], nvals(values))
        return make(values, splits)

    @classmethod
    @cut_by_run
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Value ``i`` belongs to row ``value_rowids[i]``; the numbers never fall.

        >>> import minitape as tf
        >>> tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=4)
        <tf.RaggedTensor [[1, 2], [], [3], []]>
        """
        values, rowids = as_values(values), checks.partition(value_rowids, "value_rowids")
        last = int(rowids[-1]) if rowids.size else -1
        count = last + 1 if nrows is None else int(convert_to_tensor(nrows, dtypes.int64).array)
        if nrows is not None and count < 0:
            raise ValueError(f"Expected nrows >= 0; got {count}")
        if nrows is not None and last >= count:
            raise ValueError(f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, value_rowids[-1]={last}")
        if rowids.size != nvals(values):
            raise ValueError(f"Shapes ({nvals(values)},) and ({rowids.size},) are incompatible")
        message = "Arguments to from_value_rowids do not form a valid RowPartition"
        if validate:
            checks.not_negative(np.diff(rowids), message)
        checks.not_negative(rowids[:1], message)
        return make(values, splits_of(np.bincount(rowids, minlength=count).astype(rowids.dtype)))

    @classmethod
    @cut_by_run
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row ``i`` begins at ``row_starts[i]`` and ends where the next begins.

        >>> import minitape as tf
        >>> tf.RaggedTensor.from_row_starts([1, 2, 3], [0, 2, 2])
        <tf.RaggedTensor [[1, 2], [], [3]]>
        """
        values, starts = as_values(values), checks.partition(row_starts, "row_starts")
        total = nvals(values)
        if validate:
            checks.starts(starts, total)
        return make(values, np.append(starts, np.array(total, starts.dtype)))

    @classmethod
    @cut_by_run
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row ``i`` ends before ``row_limits[i]``, and begins where the one before ends.

        >>> import minitape as tf
        >>> tf.RaggedTensor.from_row_limits([1, 2, 3], [2, 2, 3])
        <tf.RaggedTensor [[1, 2], [], [3]]>
        """
        values, limits = as_values(values), checks.partition(row_limits, "row_limits")
        splits = np.append(np.zeros(1, limits.dtype), limits)
        if validate:
            checks.not_negative(np.diff(splits), "Arguments to from_row_limits do not form a valid RaggedTensor")
            checks.ends(splits[-1], nvals(values))
        return make(values, splits)

    @classmethod
    @cut_by_run
    def from_uniform_row_length(
        cls, values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True, name: str | None = None
    ) -> RaggedTensor:
        """All rows have the same length: an axis that is not ragged, but around ragged ones.

        ValueError for a length below 0 or of another type than int32 and int64, and when the rows do not add up.

        >>> import minitape as tf
        >>> inner = tf.ragged.constant([[1], [2, 3], [], [4]])
        >>> tf.RaggedTensor.from_uniform_row_length(inner, 2).shape
        TensorShape([2, 2, None])
        """
        values, length = as_values(values), checks.whole(uniform_row_length, "UniformRowLength")
        if length < 0:
            raise ValueError("uniform_row_length must be >= 0.")
        total = nvals(values)
        count = checks.whole(nrows, "nrows") if nrows is not None else total // length if length else 0
        if count < 0:
            raise invalid(f"Expected nrows >= 0; got {count}")
        if validate and count * length != total:
            raise ValueError(f"uniform_row_length={length} times nrows={count} must equal nvals={total}")
        return make(values, np.arange(count + 1, dtype=np.int64) * length, length)

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """One ragged axis for each of the row splits, the outermost first.

        >>> import minitape as tf
        >>> tf.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 2, 3], [0, 1, 1, 3]])
        <tf.RaggedTensor [[[1], []], [[2, 3]]]>
        """
        return _nested(cls.from_row_splits, flat_values, nested_row_splits, "nested_row_splits", validate)

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: Any, nested_row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """One ragged axis for each of the row lengths, the outermost first.

        >>> import minitape as tf
        >>> tf.RaggedTensor.from_nested_row_lengths([1, 2, 3], [[2, 1], [1, 0, 2]])
        <tf.RaggedTensor [[[1], []], [[2, 3]]]>
        """
        return _nested(cls.from_row_lengths, flat_values, nested_row_lengths, "nested_row_lengths", validate)

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Any,
        nested_nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """One ragged axis for each of the row numbers, the outermost first.

        >>> import minitape as tf
        >>> tf.RaggedTensor.from_nested_value_rowids([1, 2, 3], [[0, 0, 1], [0, 2, 2]])
        <tf.RaggedTensor [[[1], []], [[2, 3]]]>
        """
        result = flat_values
        counts = [None] * len(nested_value_rowids) if nested_nrows is None else list(nested_nrows)
        if len(counts) != len(nested_value_rowids):
            raise ValueError(
                "Argument `nested_nrows` must have the same length as argument `nested_value_rowids`. len("
                f"nested_nrows) = {len(counts)} vs. len(nested_values_rowids) = {len(nested_value_rowids)}."
            )
        for rowids, count in zip(reversed(list(nested_value_rowids)), reversed(counts), strict=True):
            result = cls.from_value_rowids(result, rowids, count, validate=validate)
        return result

    @classmethod
    @placed
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> RaggedTensor:
        """The rows of a tensor; cut to ``lengths``, or without the ``padding`` at their ends.

        Raises ValueError for a tensor of one axis, and when both ``lengths`` and ``padding`` are given.

        >>> import minitape as tf
        >>> tf.RaggedTensor.from_tensor([[1, 0, 0], [2, 3, 0]], padding=0)
        <tf.RaggedTensor [[1], [2, 3]]>
        """
        from .convert import from_tensor

        return from_tensor(tensor, lengths, padding, ragged_rank, checks.splits_dtype(row_splits_dtype))

    @classmethod
    @placed
    def from_sparse(cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64) -> RaggedTensor:
        """The rows of a sparse matrix whose entries stand at the left of each row.

        >>> import minitape as tf
        >>> tf.RaggedTensor.from_sparse(tf.sparse.from_dense([[1, 2], [0, 0], [3, 0]]))
        <tf.RaggedTensor [[1, 2], [], [3]]>
        """
        from .convert import from_sparse

        return from_sparse(st_input, checks.splits_dtype(row_splits_dtype))

    # -- other forms --------------------------------------------------------------------------------------------------

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of other values; ValueError when their number differs.

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [3]]).with_values([10, 20, 30])
        <tf.RaggedTensor [[10, 20], [30]]>
        """
        values = as_values(new_values)
        before, after = count_of(self._values), count_of(values)
        if None not in (before, after) and before != after:
            raise ValueError(f"Shapes ({before},) and ({after},) are incompatible")
        return make(values, self._cuts, self._uniform)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of other innermost values.

        >>> import minitape as tf
        >>> tf.ragged.constant([[[1], [2, 3]], [[4]]]).with_flat_values([5, 6, 7, 8])
        <tf.RaggedTensor [[[5], [6, 7]], [[8]]]>
        """
        if is_ragged(self._values):
            return make(self._values.with_flat_values(new_values), self._cuts, self._uniform)
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """The same rows with splits of type int32 or int64; ValueError for another type.

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [3]]).with_row_splits_dtype(tf.int32).row_splits.dtype
        tf.int32
        """
        wanted = dtypes.as_dtype(dtype)
        if wanted not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"Argument `row_splits` dtype must be int32 or int64. Received {wanted}.")
        inner = self._values
        if is_ragged(inner):
            inner = inner.with_row_splits_dtype(wanted)
        return make(inner, _cast(self._cuts, wanted), self._uniform)

    @placed
    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """The axes from ``outer_axis`` to ``inner_axis`` as one.

        >>> import minitape as tf
        >>> tf.ragged.constant([[[1], [2, 3]], [[4]]]).merge_dims(1, 2)
        <tf.RaggedTensor [[1, 2, 3], [4]]>
        """
        from .convert import merge_dims

        return merge_dims(self, outer_axis, inner_axis)

    @placed
    def to_tensor(self, default_value: Any = None, name: str | None = None, shape: Any = None) -> Any:
        """A dense tensor, with ``default_value`` where rows are short; ``shape`` pads or cuts axes to given sizes.

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [3]]).to_tensor(default_value=-1).numpy()
        array([[ 1,  2],
               [ 3, -1]], dtype=int32)
        """
        from .convert import to_tensor

        return to_tensor(self, default_value, shape)

    @placed
    def to_sparse(self, name: str | None = None) -> Any:
        """A sparse tensor with the values at the left of each row.

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [], [3]]).to_sparse().indices.numpy().tolist()
        [[0, 0], [0, 1], [2, 0]]
        """
        from .convert import to_sparse

        return to_sparse(self)

    def to_list(self) -> list[Any]:
        """Nested Python lists.

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [], [3]]).to_list()
        [[1, 2], [], [3]]
        """
        values = self._values
        flat = values.to_list() if is_ragged(values) else values.numpy().tolist()
        return [flat[a:b] for a, b in itertools.pairwise(self._splits)]

    def numpy(self) -> Any:
        """A NumPy array: of rows (dtype object) unless all have the same length."""
        values = self._values.numpy()
        splits = self._splits
        if len(splits) < 2:
            return np.zeros((0, 0, *values.shape[1:]), values.dtype)
        if len(set(np.diff(splits).tolist())) == 1 and values.dtype != object:
            return values.reshape(
                (len(splits) - 1, -1 if values.size else int(splits[1] - splits[0]), *values.shape[1:])
            )
        rows = [values[a:b] for a, b in itertools.pairwise(splits)]
        if len(set(np.diff(splits).tolist())) == 1:
            return np.array(rows, object).reshape((len(rows), int(splits[1] - splits[0]), *values.shape[1:]))
        out = np.empty(len(rows), object)
        for i, row in enumerate(rows):
            out[i] = row
        return out

    # -- Python's protocols -------------------------------------------------------------------------------------------

    @placed
    def __getitem__(self, key: Any) -> Any:
        from .indexing import getitem

        return getitem(self, list(key) if isinstance(key, (list, tuple)) else [key])

    def __iter__(self) -> Any:
        return (self[i] for i in range(nvals(self)))

    def __repr__(self) -> str:
        if not isinstance(self.flat_values, EagerTensor) or not isinstance(self.row_splits, EagerTensor):
            return f"tf.RaggedTensor(values={self.values}, row_splits={self.row_splits})"
        with np.printoptions(formatter={"all": _shown}):
            return f"<tf.RaggedTensor {_shown(self.numpy())}>"

    __str__ = __repr__

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __hash__(self) -> int:  # in a graph of TensorFlow 1 it is a key of feed_dict
        if state.graph is None or state.graph.is_function():
            raise TypeError("RaggedTensor is unhashable.")
        return id(self)

    def consumers(self) -> list[Any]:
        """The operations that use this: an empty list outside graphs.

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [3]]).consumers()
        []
        """
        return []

    @staticmethod
    def _of(values: Any, splits: Any, uniform: int | None = None) -> RaggedTensor:
        """A ragged tensor of parts that are known to fit."""
        made = RaggedTensor.__new__(RaggedTensor)
        made._values, made._cuts, made._uniform = values, splits, uniform
        inner = values
        if is_ragged(inner) and inner.row_splits.dtype != made.row_splits.dtype:  # all splits are of one type
            made._cuts = _cast(splits, dtypes.int64)
            made._values = inner.with_row_splits_dtype(dtypes.int64)
        return made

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        return RaggedTensorSpec.from_value(self)


# -- helpers ----------------------------------------------------------------------------------------------------------


make = RaggedTensor._of
RaggedTensorSpec.value_type = RaggedTensor


def _cast(cuts: Any, dtype: Any) -> Any:
    return cuts.astype(dtype.as_numpy_dtype) if type(cuts) is np.ndarray else TABLE["cast"](cuts, dtype=dtype)


def as_values(values: Any) -> Any:
    """A tensor or a ragged tensor, of at least one axis."""
    if is_ragged(values):
        return values
    tensor = convert_to_tensor(values)
    if tensor.shape.rank == 0:
        tensor[0]  # raises what TensorFlow raises for a scalar
    return tensor


def as_ragged_or_tensor(value: Any, hint: Any = None) -> Any:
    """``value`` itself if it is ragged, else as a tensor."""
    if is_ragged(value) or type(value) is EagerTensor or isinstance(value, Tensor):
        return value
    return convert_to_tensor(value, dtype_hint=hint)


def _nested(factory: Any, flat_values: Any, parts: Any, name: str, validate: bool) -> RaggedTensor:
    if isinstance(parts, Tensor) or not isinstance(parts, (list, tuple)):
        raise TypeError(f"Argument `{name}` must be a list of Tensors. Received {parts}.")
    result = flat_values
    for part in reversed(parts):
        result = factory(result, part, validate=validate)
    return result


def _shown(x: Any) -> str:
    """Elements separated by commas, as nested arrays print themselves inside an array."""
    if isinstance(x, np.ndarray):
        return np.array2string(x, separator=", ") if x.size else repr(x.tolist())
    return str(x)


install_operators(RaggedTensor)
