"""Making ragged tensors of lists, ranges, partitions and crosses, and row splits of segment ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import constant as dense_constant
from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid
from ...engine.operands import placed, worded
from ...engine.shape import TensorShape
from ...engine.tensor import Tensor, wrap
from . import checks
from .parts import is_ragged, nvals, rowids_of, splits_of
from .tensor import RaggedTensor, make

_range = range


@placed
@worded
def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> Any:
    """A ragged tensor of nested lists (a plain tensor when they have only one level).

    ``ragged_rank`` says how many axes are ragged; the inner ones are dense then. Raises ValueError when the numbers
    stand at different depths or the inner lists do not fit, TypeError for a ragged tensor.

    >>> import minitape as tf
    >>> tf.ragged.constant([[1, 2], [], [3]])
    <tf.RaggedTensor [[1, 2], [], [3]]>
    """
    split_type = checks.splits_dtype(row_splits_dtype)
    return built(pylist, ragged_rank, inner_shape,
                 lambda values, shape: dense_constant(values, dtype, shape),
                 lambda values, lengths: make(values, splits_of(np.array(lengths, split_type))))  # fmt: skip


def built(
    pylist: Any, ragged_rank: int | None, inner_shape: Any, dense: Callable[[Any, Any], Any], ragged: Callable[[Any, Any], Any]
) -> Any:
    """Nested lists as ``dense(values, shape)`` of the innermost, and ``ragged(values, lengths of rows)`` around it."""
    if is_ragged(pylist):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    inner_shape = None if inner_shape is None else tuple(int(n) for n in inner_shape)
    if not _is_list(pylist):
        if ragged_rank:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
        if inner_shape:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner_shape)}")
        return dense(pylist, ())
    scalars, deepest = _checked_depths(pylist, ragged_rank, inner_shape)
    if ragged_rank == 0 or (ragged_rank is None and deepest - len(inner_shape or ()) < 2):
        return dense(pylist, inner_shape)
    if inner_shape is None:
        inner_shape = () if ragged_rank is None else _inner_shape(pylist, ragged_rank)
    if ragged_rank is None:
        ragged_rank = max(1, deepest - 1 if scalars is None else scalars - 1 - len(inner_shape))
    values, all_lengths = pylist, []
    for _ in _range(ragged_rank):
        all_lengths.append([len(row) for row in values])
        values = [item for row in values for item in row]
    result: Any = dense(values, (len(values), *inner_shape))
    for lengths in reversed(all_lengths):
        result = ragged(result, lengths)
    return result


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or np.ndim(value) != 0


def _checked_depths(pylist: Any, ragged_rank: int | None, inner_shape: Any) -> tuple[int | None, int]:
    """``_depths`` of a list; ValueError where the ragged rank or the inner shape does not fit it."""
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank!r}: must be nonnegative")
    scalars, deepest = _depths(pylist)
    if scalars is not None:
        if deepest > scalars:
            raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting")
        if ragged_rank is not None and deepest < ragged_rank:
            raise ValueError(f"Invalid pylist={pylist}, max depth smaller than ragged_rank={ragged_rank}")
    if inner_shape is not None and ragged_rank is not None:
        expected = ragged_rank + len(inner_shape) + 1
        if (scalars is not None and expected != scalars) or (scalars is None and expected < deepest):
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
                f"dim(inner_shape)={len(inner_shape)}"
            )
    return scalars, deepest


def _depths(value: Any) -> tuple[int | None, int]:
    """(the depth at which scalars stand, the depth of the deepest list)."""
    if not _is_list(value):
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


def _inner_shape(pylist: Any, ragged_rank: int) -> tuple[int, ...]:
    """The sizes of the dense axes inside the ragged ones; ValueError when they differ."""
    flat = list(pylist)
    for depth in _range(ragged_rank):
        if not all(_is_list(v) for v in flat):
            raise ValueError(
                f"pylist has scalar values depth {depth + 1}, but ragged_rank={ragged_rank} requires scalar value "
                f"depth greater than {ragged_rank}"
            )
        flat = [item for v in flat for item in v]
    shape: list[int] = []
    item: Any = flat
    while _is_list(item):
        shape.append(len(item))
        item = item[0] if len(item) else None

    def check(value: Any, sizes: list[int]) -> None:
        if _is_list(value) != bool(sizes) or (sizes and len(value) != sizes[0]):
            raise ValueError("inner values have inconsistent shape")
        for child in value if sizes else ():
            check(child, sizes[1:])

    check(flat, shape)
    return tuple(shape[1:])


@placed
@worded
def range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> RaggedTensor:
    """One row of numbers for each start, up to (not including) its limit.

    ``starts``, ``limits`` and ``deltas`` are numbers or vectors of one length; a single argument is the limits. The
    numbers have ``dtype``, or the widest dtype given (int32, int64, float32 or float64; else ValueError). No gradient
    passes. InvalidArgumentError for a delta of 0, and for vectors of different lengths.

    >>> import minitape as tf
    >>> tf.ragged.range([3, 1])
    <tf.RaggedTensor [[0, 1, 2], [0]]>
    """
    if limits is None:
        starts, limits = 0, starts
    hint = None if dtype is None else dtypes.as_dtype(dtype)
    parts = [convert_to_tensor(v, hint) for v in (starts, limits, deltas)]
    if hint is None:
        order = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
        if not all(p.dtype in order for p in parts):
            raise ValueError("Invalid dtype for tf.ragged.range: int32, int64, float32 and float64 are supported.")
        hint = max((p.dtype for p in parts), key=order.index)
    for word, part in zip(("starts", "limits", "deltas"), parts, strict=True):
        if part.ndim > 1:
            raise invalid(f"{word} must be a scalar or vector", "RaggedRange")
    if len({part.shape[0] for part in parts if part.ndim}) > 1:
        raise invalid("starts, limits, and deltas must have the same shape", "RaggedRange")
    arrays = np.broadcast_arrays(*[np.atleast_1d(np.asarray(p.array, hint.as_numpy_dtype)) for p in parts])
    if (arrays[2] == 0).any():
        raise invalid("Requires delta != 0", "RaggedRange")
    rows = [np.arange(a, b, d, dtype=hint.as_numpy_dtype) for a, b, d in zip(*arrays, strict=True)]
    lengths = np.array([len(r) for r in rows], checks.splits_dtype(row_splits_dtype))
    return make(wrap(np.concatenate(rows) if rows else np.zeros(0, hint.as_numpy_dtype)), splits_of(lengths))


@placed
@worded
def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """The row number of each value.

    ``splits`` is a vector of int32 or int64 (else ValueError); the result has its dtype or ``out_type``.

    >>> import minitape as tf
    >>> tf.ragged.row_splits_to_segment_ids([0, 2, 3]).numpy()
    array([0, 0, 1])
    """
    array = checks.partition(splits, "splits")
    if not array.size:
        raise ValueError("Invalid row_splits: []")
    return wrap(rowids_of(array if out_type is None else array.astype(checks.splits_dtype(out_type))))


@placed
@worded
def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """The row splits for row numbers that never fall.

    ``segment_ids`` is a vector of int32 or int64 (else ValueError); there are ``num_segments`` rows, by default as many
    as the last number needs; values behind them are left out. The result has the dtype of the numbers or ``out_type``.
    InvalidArgumentError for a number below 0.

    >>> import minitape as tf
    >>> tf.ragged.segment_ids_to_row_splits([0, 0, 2]).numpy()
    array([0, 2, 2, 3])
    """
    ids = checks.integers(segment_ids, "segment_ids")
    if (ids < 0).any():
        raise invalid("Input arr must be non-negative!", "DenseBincount")
    count = int(ids.max(initial=-1)) + 1 if num_segments is None else int(num_segments)
    if count < 0:
        raise invalid(f"size ({count}) must be non-negative", "DenseBincount")
    lengths = np.bincount(ids, minlength=count)[:count].astype(ids.dtype)
    return wrap(splits_of(lengths if out_type is None else lengths.astype(checks.splits_dtype(out_type))))


@placed
@worded
def stack_dynamic_partitions(data: Any, partitions: Any, num_partitions: Any, name: str | None = None) -> Any:
    """Row ``i`` holds the elements of ``data`` whose partition is ``i``.

    ``partitions`` is a vector with a whole number below ``num_partitions`` for each row of ``data``, which may be
    ragged. The result has ``num_partitions`` rows. Differentiable in ``data``. ValueError unless there are as many
    partitions as rows, InvalidArgumentError for one that is not there.

    >>> import minitape as tf
    >>> tf.ragged.stack_dynamic_partitions([1, 2, 3], [0, 1, 0], 2)
    <tf.RaggedTensor [[1, 3], [2]]>
    """
    from .rows import take_rows

    data = data if is_ragged(data) else convert_to_tensor(data)
    which, count = np.asarray(convert_to_tensor(partitions).array), checks.whole(num_partitions, "num_partitions")
    if which.shape != (nvals(data),):
        raise ValueError(f"Shapes {TensorShape(which.shape)} and ({nvals(data)},) are incompatible")
    checks.not_negative(which, "partitions must be non-negative.")
    if which.size and which.max() >= count:
        raise invalid("partitions must be less than num_partitions\nCondition x < y did not hold.\nFirst 1 elements of x:\n"
                      f"[{which.max()}]\nFirst 1 elements of y:\n[{count}]")  # fmt: skip
    order = np.argsort(which, kind="stable")
    counts = np.bincount(which, minlength=count).astype(np.int64)
    return make(take_rows(data, order), splits_of(counts))


@placed
@worded
def cross(inputs: Any, name: str | None = None) -> RaggedTensor:
    """For each row all combinations of one string from each input, joined by ``_X_``.

    ``inputs`` are ragged or dense matrices with the same number of rows (else InvalidArgumentError) of strings or whole
    numbers (else ValueError), which count as their text. The result is a ragged tensor of strings.

    >>> import minitape as tf
    >>> print(tf.ragged.cross([tf.ragged.constant([['a'], ['b', 'c']]), tf.ragged.constant([['d'], ['e']])]).to_list())
    [[b'a_X_d'], [b'b_X_e', b'c_X_e']]
    """
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    tensors = [i if is_ragged(i) else convert_to_tensor(i) for i in inputs]
    for at, tensor in enumerate(tensors):
        if tensor.dtype.kind != "s" and not tensor.dtype.is_integer:
            raise ValueError(f"Unexpected dtype for inputs[{at}]: {tensor.dtype}")
        if len(tensor.shape) != 2:
            raise invalid("tf.ragged.cross only supports inputs with rank=2.", "RaggedCross")
        if nvals(tensor) != nvals(tensors[0]):
            raise invalid("inputs must all have the same batch dimension size.", "RaggedCross")
    rows = [t.to_list() if is_ragged(t) else t.numpy().tolist() for t in tensors]
    out = []
    for parts in zip(*rows, strict=True):
        found = [b""]
        for k, part in enumerate(parts):
            texts = [p if isinstance(p, bytes) else str(p).encode() for p in part]
            found = [f + (b"_X_" if k else b"") + t for f in found for t in texts]
        out.append(found)
    return constant(out, dtypes.string, ragged_rank=1)
