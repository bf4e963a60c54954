"""``tf.nn``: connectionist temporal classification, for sequences whose labels have no times."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.evidence import decided
from ...engine.invalid import invalid
from ...engine.operands import call, static, strict, tensor_of
from ...engine.primitives import ctc as _primitives  # noqa: F401 - it fills the table
from ...engine.tensor import Tensor, wrap
from ..sparse.tensor import SparseTensor


@strict
def ctc_loss(
    labels: Any, logits: Any, label_length: Any, logit_length: Any, logits_time_major: bool = True, unique: Any = None,
    blank_index: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The negative log probability of each label sequence, over all the ways to place it in time. Differentiable once.

    ``logits`` are (frames, batch, classes), or (batch, frames, classes) without ``logits_time_major``; ``labels`` are
    integers (batch, at most so many) with ``label_length`` of each, or a SparseTensor, which needs a ``blank_index``.
    Between two labels there may be blanks, the class ``blank_index`` (by default 0, negative numbers count from the end).
    ``unique`` only makes TensorFlow faster. ValueError for a sparse tensor without a blank.

    >>> import minitape as tf
    >>> print(tf.nn.ctc_loss([[1]], tf.zeros([2, 1, 2]), [1], [2]).numpy())
    [0.2876821]
    """
    x = convert_to_tensor(logits)
    count = x.shape[2]
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ValueError("Argument `blank_index` must be provided when `labels` is a `SparseTensor`.")
        labels, label_length = _dense(labels)
    blank = 0 if blank_index is None else int(static(blank_index))
    blank += count if blank < 0 else 0
    whole = x.dtype
    x = call("cast", x, dtype=dtypes.float32) if whole.size == 2 else x
    x = x if logits_time_major else call("transpose", x, perm=(1, 0, 2))
    loss = call("ctc", x, *(tensor_of(v) for v in (labels, label_length, logit_length)), blank=blank)[0]
    return call("cast", loss, dtype=whole) if whole.size == 2 else loss


def _dense(labels: Any) -> tuple[Any, Any]:
    """The rows of a sparse tensor of labels, padded, and how long each is."""
    from ..sparse.functions import to_dense

    rows = np.bincount(labels.indices.array[:, 0], minlength=int(labels.dense_shape.array[0]))
    return to_dense(labels), wrap(rows.astype(np.int32))


@strict
def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> tuple[Any, Any]:
    """The labels of each row without those that repeat the one before, padded with 0, and the new lengths.

    >>> import minitape as tf
    >>> rows, lengths = tf.nn.collapse_repeated([[1, 1, 2], [3, 3, 3]], [3, 2])
    >>> print(rows.numpy().tolist(), lengths.numpy())
    [[1, 2], [3, 0]] [2 1]
    """
    x, lengths = tensor_of(labels), tensor_of(seq_length)
    rows = [[v for i, v in enumerate(row[:n]) if i == 0 or v != row[i - 1]]
            for row, n in zip(x.array.tolist(), lengths.array.tolist(), strict=True)]  # fmt: skip
    return (decided(wrap(_padded(rows, x.array.dtype)), (x,), "ScatterNd"),
            decided(wrap(np.array([len(r) for r in rows], lengths.array.dtype)), (x, lengths), "Sum"))  # fmt: skip


def _padded(rows: list[list[Any]], dtype: Any, width: int | None = None) -> Any:
    out = np.zeros((len(rows), max(map(len, rows), default=0) if width is None else width), dtype)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out


@strict
def ctc_unique_labels(labels: Any, name: str | None = None) -> list[Any]:
    """The different labels of each row in the order in which they come, padded with 0, and which of them each label is.

    >>> import minitape as tf
    >>> unique, places = tf.nn.ctc_unique_labels([[1, 3, 3]])
    >>> print(unique.numpy(), places.numpy())
    [[1 3 0]] [[0 1 1]]
    """
    x = tensor_of(labels)
    rows = [list(dict.fromkeys(row)) for row in x.array.tolist()]
    places = [[known.index(v) for v in row] for known, row in zip(rows, x.array.tolist(), strict=True)]
    return [decided(wrap(v), (x,), "Unique") for v in (_padded(rows, np.int64, x.shape[1]), np.array(places, np.int32))]


@strict
def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True, blank_index: Any = None
) -> tuple[list[Any], Any]:
    """The likeliest class of each frame, without blanks: a list of one SparseTensor of labels, and minus the sum of logits.

    ``inputs`` are (frames, batch, classes), the blank is the last class unless ``blank_index`` says another. With
    ``merge_repeated``, frames of one class after the other count once. Not differentiable.

    >>> import minitape as tf
    >>> (found,), score = tf.nn.ctc_greedy_decoder([[[5.0, 1.0]], [[4.0, 1.0]], [[0.0, 2.0]]], [3])
    >>> print(found.values.numpy(), score.numpy())
    [0] [[-11.]]
    """
    x, lengths = tensor_of(inputs), tensor_of(sequence_length)
    if x.shape.rank != 3:
        raise invalid("inputs is not a 3-Tensor", "CTCGreedyDecoder")
    blank = x.shape[2] - 1 if blank_index is None else int(static(blank_index)) % x.shape[2]
    best = x.array.argmax(axis=2)
    rows = []
    for column, n in zip(best.T.tolist(), lengths.array.tolist(), strict=True):
        column = column[:n]
        rows.append([v for i, v in enumerate(column) if v != blank and not (merge_repeated and i and v == column[i - 1])])
    score = -np.where(np.arange(len(best))[:, None] < lengths.array, x.array.max(axis=2), 0).sum(axis=0)[:, None]
    indices = np.array([(i, j) for i, row in enumerate(rows) for j in range(len(row))], np.int64).reshape(-1, 2)
    shape = np.array([len(rows), max(map(len, rows), default=0)], np.int64)
    values = np.array([v for row in rows for v in row], np.int64)
    found = SparseTensor(wrap(indices), decided(wrap(values), (x,), "CTCGreedyDecoder"), wrap(shape))
    return [found], decided(wrap(score.astype(x.array.dtype)), (x,), "CTCGreedyDecoder")
