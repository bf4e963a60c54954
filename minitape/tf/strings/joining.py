"""Strings joined: element by element, along axes, by segments and as n-grams."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.errors import OutOfRangeError
from ...engine.invalid import invalid, shown
from ...engine.opdefs import accept
from ...engine.operands import strict
from ...engine.tensor import Tensor
from .values import converted, is_later, strings_of, texts


@strict
def join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """Tensors of strings joined element by element; scalars go with each element.

    InvalidArgumentError when shapes differ, TypeError unless ``inputs`` is a list and ``separator`` a string.

    >>> import minitape as tf
    >>> tf.strings.join([["a", "b"], "!"], separator=" ").numpy().tolist()
    [b'a !', b'b !']
    """
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Expected list for 'inputs' argument to 'string_join' Op, not {inputs!r}.")
    separator = "" if separator is None else separator
    if not isinstance(separator, (str, bytes)):
        raise TypeError(f"Expected string for argument 'separator' not {separator!r}.")
    arrays = [strings_of(i, "StringJoin") for i in inputs]
    shape: tuple[int, ...] = next((a.shape for a in arrays if a.ndim), ())
    for a in arrays:
        if a.ndim and a.shape != shape:
            raise invalid(f"Input shapes do not match: {shown(shape)} vs. {shown(a.shape)}", "StringJoin")
    glue = separator.encode() if isinstance(separator, str) else separator
    full = [np.broadcast_to(a, shape).reshape(-1) for a in arrays]
    count = int(np.prod(shape)) if shape else 1
    return texts([glue.join(a[i] for a in full) for i in range(count)], shape)


@strict
def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: str | None = None
) -> Tensor:
    """The strings along the axes (all by default) joined, in the order of the axes.

    With ``keepdims`` the axes stay, with size 1. OutOfRangeError for an axis that is not there, InvalidArgumentError
    for one that comes twice and for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=-1, separator="+").numpy().tolist()
    [b'a+b', b'c+d']
    """
    separator = "" if separator is None else separator
    if not isinstance(separator, (str, bytes)):
        raise TypeError(f"Expected string for argument 'separator' not {separator!r}.")
    array = strings_of(inputs, "ReduceJoin")
    rank, glue = array.ndim, separator.encode() if isinstance(separator, str) else separator
    if axis is None:
        axes = list(range(rank))[::-1]
    else:
        axes = []
        for a in np.atleast_1d(np.asarray(axis.array if isinstance(axis, Tensor) else axis)).tolist():
            if not -rank <= a < rank:
                raise OutOfRangeError(
                    None,
                    None,
                    f"Invalid reduction dimension {a} for input with {rank} dimension(s) [Op:ReduceJoin] name: ",
                )
            if a % rank in axes:
                raise invalid(f"Duplicate reduction dimension {a}", "ReduceJoin")
            axes.append(a % rank)
    kept = [i for i in range(rank) if i not in axes]
    moved = array.transpose((*kept, *axes[::-1])).reshape((*[array.shape[i] for i in kept], -1))
    flat = moved.reshape((-1, moved.shape[-1])) if kept else moved.reshape(1, -1)
    shape = (
        tuple(1 if i in axes else n for i, n in enumerate(array.shape))
        if keepdims
        else tuple(array.shape[i] for i in kept)
    )
    return texts([glue.join(row) for row in flat], shape)


@strict
def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None
) -> Tensor:
    """The strings with the same number joined, in their order; empty strings for numbers that are not there.

    The shape of ``segment_ids`` (int32 or int64) must be how the shape of ``inputs`` begins; the result has the scalar
    ``num_segments`` in its place. InvalidArgumentError for other shapes, for a number below 0 or not below
    ``num_segments``; ValueError for a tensor that holds no strings.

    >>> import minitape as tf
    >>> print(tf.strings.unsorted_segment_join(['a', 'b', 'c'], [0, 1, 0], 2, '-').numpy())
    [b'a-c' b'b']
    """
    op, array = "UnsortedSegmentJoin", converted(inputs)
    ids, count = convert_to_tensor(segment_ids), convert_to_tensor(num_segments)
    accept(op, dtypes.string, ids.dtype, count.dtype)
    _check_segments(array.shape, np.asarray(ids.array), np.asarray(count.array))
    rest = array.shape[ids.ndim :]
    found: list[list[bytes]] = [[] for _ in range(int(count.array) * math.prod(rest))]
    slices = array.reshape((ids.array.size, -1))
    for number, row in zip(ids.array.reshape(-1).tolist(), slices, strict=True):
        for place, s in enumerate(row):
            found[number * len(row) + place].append(s)
    return texts([separator.encode().join(f) for f in found], (int(count.array), *rest))


def _check_segments(shape: tuple[int, ...], ids: Any, count: Any) -> None:
    op = "UnsortedSegmentJoin"
    if count.ndim:
        raise invalid("Number of segments must be a scalar", op)
    if not ids.ndim:
        raise invalid("Segment_id cannot have rank 0", op)
    if ids.ndim > len(shape):
        message = f"Invalid segment_id rank {ids.ndim} for input with {len(shape)} dimension(s) [Op:{op}]"
        raise OutOfRangeError(None, None, message)
    for axis, (mine, theirs) in enumerate(zip(ids.shape, shape, strict=False)):
        if mine != theirs:
            raise invalid(f"Segment dimension is {mine} while input dimension is {theirs} in rank {axis}", op)
    if ((ids < 0) | (ids >= count)).any():
        raise invalid("segment_ids are not allowed to exceed num_segments or to have negative values.", op)


@strict
def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Each run of ``ngram_width`` neighbours along the last axis, joined; several widths one after the other.

    ``pad_values`` (one string, or one for each side) stand before and after each row, ``padding_width`` times at most;
    with ``preserve_short_sequences`` a row that is too short is one n-gram of its own. Ragged tensors give ragged ones.
    ValueError for a width below 1, for a scalar, for a ``padding_width`` below 1 or without pads, and for a tensor of
    strings of unknown rank; TypeError for pads that are no strings and for a tensor that holds none.

    >>> import minitape as tf
    >>> tf.strings.ngrams(["a", "b", "c"], 2).numpy().tolist()
    [b'a b', b'b c']
    """
    from ..ragged.tensor import RaggedTensor

    widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [int(ngram_width)]
    pads = _pads(pad_values)
    if padding_width is not None and padding_width < 1:
        raise ValueError("padding_width must be greater than 0.")
    if padding_width is not None and pads is None:
        raise ValueError("pad_values must be provided if padding_width is set.")
    if min(widths, default=1) <= 0:
        raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
    glue = _encoded(separator)

    def grams(row: list[bytes]) -> list[bytes]:
        found: list[bytes] = []
        for width in widths:
            items = list(row)
            if pads is not None:
                each_side = width - 1 if padding_width is None else min(padding_width, width - 1)
                items = [pads[0]] * each_side + items + [pads[1]] * each_side
            found += [glue.join(items[i : i + width]) for i in range(len(items) - width + 1)]
        if preserve_short_sequences and not found and row:
            found = [glue.join(row)]
        return found

    if isinstance(data, RaggedTensor):
        return _ragged_ngrams(data, grams)
    if is_later(data) and data.shape.rank is None:
        raise ValueError("Rank of data must be known.")
    array = converted(data, "data: ")
    if not array.ndim:
        raise ValueError("Data must have rank>0")
    flat = [grams(list(row)) for row in array.reshape((-1, array.shape[-1]))]
    if array.ndim == 1:
        return texts(flat[0])
    return texts([g for row in flat for g in row], (*array.shape[:-1], len(flat[0]) if flat else 0))


def _pads(values: Any) -> tuple[bytes, bytes] | None:
    """What stands before and after each row."""
    if values is None:
        return None
    both = (values, values) if isinstance(values, (str, bytes)) else values
    if not isinstance(both, (list, tuple)) or not all(isinstance(v, (str, bytes)) for v in both):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    return _encoded(both[0]), _encoded(both[1])


def _encoded(text: Any) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def _ragged_ngrams(data: Any, grams: Any) -> Any:
    """The n-grams of each of the innermost rows."""
    from ..ragged.parts import is_ragged, splits_of
    from ..ragged.tensor import make

    if is_ragged(data.values):
        return data.with_values(_ragged_ngrams(data.values, grams))
    found = [grams(row) for row in data.to_list()]
    lengths = np.array([len(row) for row in found], data.row_splits.dtype.as_numpy_dtype)
    return make(texts([gram for row in found for gram in row]), splits_of(lengths))
