"""Strings joined: element by element, along axes, by segments and as n-grams."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..convert import convert_to_tensor
from ..errors import OutOfRangeError
from ..invalid import invalid
from ..operands import deferred
from ..tensor import Tensor
from .values import strings_of, texts


@deferred
def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """Tensors of strings joined element by element; scalars go with each element.

    InvalidArgumentError when shapes differ.

    >>> import minitape as tf
    >>> tf.strings.join([["a", "b"], "!"], separator=" ").numpy().tolist()
    [b'a !', b'b !']
    """
    arrays = [strings_of(i, "StringJoin") for i in inputs]
    shape: tuple[int, ...] = next((a.shape for a in arrays if a.ndim), ())
    for a in arrays:
        if a.ndim and a.shape != shape:
            show = [",".join(map(str, s)) for s in (shape, a.shape)]
            raise invalid(f"Input shapes do not match: [{show[0]}] vs. [{show[1]}]", "StringJoin")
    glue = separator.encode() if isinstance(separator, str) else separator
    full = [np.broadcast_to(a, shape).reshape(-1) for a in arrays]
    count = int(np.prod(shape)) if shape else 1
    return texts([glue.join(a[i] for a in full) for i in range(count)], shape)


@deferred
def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: str | None = None
) -> Any:
    """The strings along the axes (all by default) joined.

    >>> import minitape as tf
    >>> tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=-1, separator="+").numpy().tolist()
    [b'a+b', b'c+d']
    """
    array = strings_of(inputs, "ReduceJoin")
    rank, glue = array.ndim, separator.encode()
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


@deferred
def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None
) -> Any:
    """The strings with the same number joined.

    >>> import minitape as tf
    >>> print(tf.strings.unsorted_segment_join(['a', 'b', 'c'], [0, 1, 0], 2, '-').numpy())
    [b'a-c' b'b']
    """
    array = strings_of(inputs, "UnsortedSegmentJoin")
    ids = np.asarray(convert_to_tensor(segment_ids).array).reshape(-1)
    found: list[list[bytes]] = [[] for _ in range(int(num_segments))]
    for s, i in zip(array.reshape(-1), ids, strict=True):
        found[i].append(s)
    return texts([separator.encode().join(f) for f in found])


@deferred
def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Each run of ``ngram_width`` neighbours, joined; several widths one after the other.

    >>> import minitape as tf
    >>> tf.strings.ngrams(["a", "b", "c"], 2).numpy().tolist()
    [b'a b', b'b c']
    """
    from ..ragged.making import constant
    from ..ragged.tensor import RaggedTensor

    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    pads = (
        None
        if pad_values is None
        else (pad_values, pad_values)
        if isinstance(pad_values, (str, bytes))
        else tuple(pad_values)
    )
    glue = separator.encode()

    def grams(row: list[bytes]) -> list[bytes]:
        found: list[bytes] = []
        for width in widths:
            items = list(row)
            if pads is not None:
                each_side = width - 1 if padding_width is None else min(padding_width, width - 1)
                left, right = (p if isinstance(p, bytes) else p.encode() for p in pads)
                items = [left] * each_side + items + [right] * each_side
            found += [glue.join(items[i : i + width]) for i in range(len(items) - width + 1)]
        if preserve_short_sequences and not found and row:
            found = [glue.join(row)]
        return found

    if isinstance(data, RaggedTensor):
        return constant([grams(row) for row in data.to_list()], dtypes.string, ragged_rank=1)
    array = strings_of(data, "StringNGrams")
    flat = [grams(list(row)) for row in array.reshape((-1, array.shape[-1]))]
    if array.ndim == 1:
        return texts(flat[0])
    return texts([g for row in flat for g in row], (*array.shape[:-1], -1))
