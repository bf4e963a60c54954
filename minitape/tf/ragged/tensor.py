"""``tf.RaggedTensor``: a tensor whose rows have different lengths.

It is a tensor of all its values, one after the other, and the numbers at which its rows begin and end (``row_splits``).
Everything that is done to one is done to the values, with ``gather`` where they move, so gradients pass through.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from ...engine.recording.logs import warn_not_watchable
from ...engine.tensor.convert import constant as dense_constant
from ...engine.tensor.convert import convert_to_tensor
from ...engine.tensor.tensor import EagerTensor, Tensor, new_tensor
from ...engine.types import Operators
from ...engine.values import dtypes
from ...engine.values.shape import TensorShape
from ...ops.arrays import ensure_shape
from ...ops.picking import gather_or_default
from .rows import check_splits, coordinates, install_operators, is_ragged, partition, pick, reduce, splits_of


class RaggedTensor(Operators):
    """Rows of different lengths: ``values``, cut at ``row_splits``.

    Make one with ``tf.ragged.constant``, ``from_row_lengths`` or ``from_row_splits``; the constructor is private
    (ValueError). ``values`` is a tensor. Where rows begin and end must be known also while a function is traced.
    Operators compute with the values; so do the functions of one tensor such as ``tf.exp``, ``tf.reduce_sum``,
    ``tf.reduce_mean``, ``tf.reduce_max``, ``tf.reduce_min`` and ``tf.reduce_prod``.
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
    __slots__ = ("_values", "_splits", "__weakref__")

    _values: Any
    _splits: Any  # the row splits, a NumPy array

    def __init__(self, values: Any, row_partition: Any, internal: Any = None) -> None:
        raise ValueError(
            "RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
            "RaggedTensor.from_row_lengths())"
        )

    # -- making ------------------------------------------------------------------------------------

    @classmethod
    def _cut(cls, values: Any, splits: Any) -> RaggedTensor:
        """Values cut at splits that fit them."""
        made = object.__new__(cls)
        made._values, made._splits = values, splits
        return made

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, name: str | None = None) -> RaggedTensor:
        """Row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``; InvalidArgumentError when that does not fit.

        >>> import minitape as tf
        >>> tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2, 3])
        <tf.RaggedTensor [[1, 2], [], [3]]>
        """
        splits = partition(row_splits, "row_splits")
        return cls._cut(_of_length(values, splits), splits)

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: str | None = None) -> RaggedTensor:
        """Row ``i`` has ``row_lengths[i]`` values; InvalidArgumentError when they are not as many as there are.

        >>> import minitape as tf
        >>> tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1])
        <tf.RaggedTensor [[1, 2], [], [3]]>
        """
        splits = splits_of(partition(row_lengths, "row_lengths"))
        return cls._cut(_of_length(values, splits), splits)

    # -- what it is --------------------------------------------------------------------------------

    values = property(lambda self: self._values, doc="All rows one after the other, a tensor.")
    flat_values = values
    dtype = property(lambda self: self._values.dtype, doc="The type of the values.")
    ragged_rank = property(lambda self: 1, doc="How many axes are cut at splits.")
    row_splits = property(
        lambda self: new_tensor(self._splits), doc="Where rows begin and end: one number more than there are rows."
    )
    nested_row_splits = property(lambda self: (self.row_splits,), doc="The row splits, alone in a tuple.")

    @property
    def shape(self) -> TensorShape:
        """The sizes; None for the ragged axis."""
        inner = self._values.shape
        return TensorShape(None) if inner.rank is None else TensorShape([len(self._splits) - 1, None, *inner[1:]])

    def row_lengths(self) -> Tensor:
        """The lengths of the rows.

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [], [3]]).row_lengths().numpy()
        array([2, 0, 1])
        """
        return new_tensor(np.diff(self._splits))

    # -- other forms -------------------------------------------------------------------------------

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of other values; ValueError when their number differs.

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [3]]).with_values([10, 20, 30])
        <tf.RaggedTensor [[10, 20], [30]]>
        """
        values = convert_to_tensor(new_values)
        if values.shape.rank == 0:
            raise ValueError("Shape () must have rank at least 1")
        before, after = _count(self._values), _count(values)
        if None not in (before, after) and before != after:
            raise ValueError(f"Shapes ({before},) and ({after},) are incompatible")
        return self._cut(values, self._splits)

    with_flat_values = with_values

    def to_tensor(self, default_value: Any = None) -> Tensor:
        """A dense tensor, with ``default_value`` (zero) where rows are short. Differentiable.

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [3]]).to_tensor(default_value=-1).numpy()
        array([[ 1,  2],
               [ 3, -1]], dtype=int32)
        """
        rows, within = coordinates(self._splits)
        numbers = np.full((len(self._splits) - 1, np.diff(self._splits).max(initial=0)), len(rows))
        numbers[rows, within] = np.arange(len(rows))
        return gather_or_default(self._values, numbers, default_value)

    def to_list(self) -> list:
        """Nested Python lists.

        >>> import minitape as tf
        >>> tf.ragged.constant([[1, 2], [], [3]]).to_list()
        [[1, 2], [], [3]]
        """
        flat = self._values.numpy().tolist()
        return [flat[a:b] for a, b in itertools.pairwise(self._splits)]

    def numpy(self) -> Any:
        """A NumPy array: of rows (dtype object) unless all have the same length."""
        values, splits = self._values.numpy(), self._splits
        lengths = set(np.diff(splits).tolist())
        if not lengths:
            return np.zeros((0, 0, *values.shape[1:]), values.dtype)
        rows = [values[a:b] for a, b in itertools.pairwise(splits)]
        if len(lengths) == 1:
            return np.array(rows, values.dtype).reshape((len(rows), *lengths, *values.shape[1:]))
        out = np.empty(len(rows), object)
        for i, row in enumerate(rows):
            out[i] = row
        return out

    # -- what the tape asks ------------------------------------------------------------------------

    def _watch_on(self, tape: Any) -> None:
        tape.watch(self._values)
        warn_not_watchable(self.row_splits.dtype)

    def _gradient_leaf(self) -> Any:
        return self._values

    def _like_gradient(self, gradient: Any) -> Any:
        return self.with_values(gradient)

    # -- what the functions of tf ask --------------------------------------------------------------

    def _to_tensor(self, dtype: Any = None) -> Any:
        raise ValueError("TypeError: object of type 'RaggedTensor' has no len()\n")  # TensorFlow says no more

    def _map_values(self, function: Callable[[Any], Any]) -> RaggedTensor:
        """An elementwise function of the values."""
        return self.with_values(function(self._values))

    def _reduce(self, name: str, axis: Any, keepdims: bool) -> Any:
        return reduce(name, self, axis, keepdims)

    # -- what structures and graphs ask ------------------------------------------------------------

    def _components(self) -> list:
        return [self._values, self.row_splits]

    def _rebuild(self, parts: list) -> Any:
        return self._cut(parts[0], partition(parts[1], "row_splits"))

    def _open_parts(self) -> list:
        return [self._values]

    def _fixed_parts(self) -> list:
        return [self._splits]

    def _of_parts(self, parts: list) -> RaggedTensor:
        return self.with_values(parts[0])

    # -- Python's protocols ------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        return pick(self, tuple(key) if isinstance(key, (list, tuple)) else (key,))

    def __iter__(self) -> Iterator:
        return (self[i] for i in range(len(self._splits) - 1))

    def __repr__(self) -> str:
        if not isinstance(self._values, EagerTensor):
            return f"tf.RaggedTensor(values={self.values}, row_splits={self.row_splits})"
        with np.printoptions(formatter={"all": _shown}):
            return f"<tf.RaggedTensor {_shown(self.numpy())}>"

    __str__ = __repr__

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __hash__(self) -> int:
        raise TypeError("RaggedTensor is unhashable.")


install_operators(RaggedTensor)


def _count(values: Any) -> int | None:
    """How many rows a tensor has; None for a tensor of a graph that does not say it."""
    return values.shape[0] if values.shape.rank else None


def _of_length(values: Any, splits: Any) -> Any:
    """The values as a tensor, as many as the splits say: in a graph that does not know their number the run sees to
    it.
    """
    tensor = convert_to_tensor(values)
    if tensor.shape.rank == 0:
        tensor[0]  # raises what TensorFlow raises for a scalar
    total = _count(tensor)
    check_splits(splits, total)
    if total is not None:
        return tensor
    if tensor.shape.rank is None:
        raise ValueError(f"minitape cuts only values whose number of axes it knows, got {tensor}")
    return ensure_shape(tensor, TensorShape([int(splits[-1]), *tensor.shape.as_list()[1:]]))


def _shown(x: Any) -> str:
    """Elements separated by commas, as nested arrays print themselves inside an array."""
    if isinstance(x, np.ndarray):
        return np.array2string(x, separator=", ") if x.size else repr(x.tolist())
    return str(x)


def constant(pylist: Any, dtype: Any = None, *, name: str | None = None) -> Any:
    """A ragged tensor of a list of lists (a plain tensor when they have only one level).

    Raises ValueError when the numbers are at different depths, and for lists of lists of lists; TypeError for a
    ragged tensor.

    >>> import minitape as tf
    >>> tf.ragged.constant([[1, 2], [], [3]])
    <tf.RaggedTensor [[1, 2], [], [3]]>
    """
    if is_ragged(pylist):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    scalars, deepest = _depths(pylist)
    if scalars is not None and deepest > scalars:
        raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting")
    if deepest < 2:
        return dense_constant(pylist, dtype)
    if deepest > 2:
        raise ValueError("A ragged tensor of minitape has rows of numbers, no rows of rows.")
    values = dense_constant([item for row in pylist for item in row], dtype)
    return RaggedTensor._cut(values, splits_of(np.array([len(row) for row in pylist], np.int64)))


def _depths(value: Any) -> tuple[int | None, int]:
    """(the depth of scalars, the depth of the deepest list)."""
    if not (isinstance(value, (list, tuple)) or np.ndim(value)):
        return 0, 0
    scalars, deepest = None, 1
    for child in value:
        found, depth = _depths(child)
        if found is not None:
            if scalars is not None and scalars != found + 1:
                raise ValueError("all scalar values must have the same nesting depth")
            scalars = found + 1
        deepest = max(deepest, depth + 1)
    return scalars, deepest


class RaggedTensorSpec:
    """The type of ragged tensors of one ragged axis: shape and dtype.

    >>> import minitape as tf
    >>> tf.RaggedTensorSpec([2, None], tf.int32)
    RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)
    """

    __slots__ = ("_shape", "_dtype", "_ragged_rank", "_row_splits_dtype")

    def __init__(
        self, shape: Any, dtype: Any = dtypes.float32, ragged_rank: int = 1, row_splits_dtype: Any = dtypes.int64
    ) -> None:
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)
        self._ragged_rank, self._row_splits_dtype = ragged_rank, dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.rank
        if rank is not None and ragged_rank >= rank:
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}).")
        if ragged_rank != 1:
            raise ValueError("A ragged tensor of minitape has rows of numbers, no rows of rows.")

    shape = property(lambda self: self._shape, doc="The sizes; None for ragged or unknown ones.")
    dtype = property(lambda self: self._dtype, doc="The type of the values.")
    row_splits_dtype = property(lambda self: self._row_splits_dtype, doc="The type of the splits.")

    def is_compatible_with(self, value: Any) -> bool:
        """True when the ragged tensor is of this type.

        >>> import minitape as tf
        >>> tf.RaggedTensorSpec([None, None], tf.int32).is_compatible_with(tf.ragged.constant([[1, 2], [3]]))
        True
        """
        return bool(self._dtype == value.dtype and self._shape.is_compatible_with(value.shape))

    def _made_of(self, parts: Any) -> NoReturn:
        raise ValueError(
            f"minitape has no ragged tensor in a graph whose rows only a run knows, as the result {self!r} of "
            "py_function. Call it outside of tf.function, or return values and row_splits."
        )

    def __repr__(self) -> str:
        return f"RaggedTensorSpec({self._shape!r}, {self._dtype!r}, {self._ragged_rank}, {self._row_splits_dtype!r})"
