"""``tf.nn.isotonic_regression``: the nearest values that never rise (or never fall)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ... import tf
from ...engine.opdefs import accept
from ...engine.operands import strict, tensor_of
from ...engine.operation import apply
from ...engine.primitives import TABLE
from ...engine.tensor import wrap

_WIDE = {"int8": "float32", "int16": "float32", "uint8": "float32", "uint16": "float32",
         "int32": "float64", "int64": "float64", "uint32": "float64", "uint64": "float64"}  # fmt: skip


class IsotonicRegression(NamedTuple):
    """The values, and the number of the block that each belongs to."""

    output: Any
    segments: Any


@strict
def isotonic_regression(inputs: Any, decreasing: bool = True, axis: int = -1) -> Any:
    """The values nearest to ``inputs`` that never rise along an axis (with ``decreasing=False`` never fall).

    Neighbours that stand in the wrong order become blocks of their mean: ``(output, segments)``, where ``segments`` are the
    blocks' numbers. Whole numbers come out as floats. Differentiable. InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> output, segments = tf.nn.isotonic_regression([3.0, 1.0, 2.0])
    >>> output.numpy(), segments.numpy()
    (array([3. , 1.5, 1.5], dtype=float32), array([0, 1, 1], dtype=int32))
    """
    x = tensor_of(inputs)
    accept("IsotonicRegression", x.dtype)
    x = tf.cast(x, _WIDE.get(x.dtype.name, x.dtype))
    rank = len(x.shape)
    if not rank:
        return IsotonicRegression(x, tf.zeros([], tf.int32))
    if not -rank <= axis < rank:
        from ...engine.invalid import invalid

        raise invalid(f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of dimensions in the input. "
                      f"Received: dim={axis}")  # fmt: skip
    if axis % rank != rank - 1:
        order = [a for a in range(rank) if a != axis % rank] + [axis % rank]
        found = isotonic_regression(tf.transpose(x, order), decreasing)
        return tuple(tf.transpose(part, np.argsort(order)) for part in found)
    if not decreasing:
        output, segments = isotonic_regression(-x)
        return -output, segments
    rows = x.array.reshape((int(np.prod(x.shape[:-1])), x.shape[-1]))
    segments = np.array([_blocks(row) for row in rows.astype(np.float64)], np.int32).reshape(rows.shape)
    places = wrap((segments + np.arange(len(rows))[:, None] * rows.shape[1]).reshape(-1).astype(np.int64))
    means = tf.math.unsorted_segment_mean(tf.reshape(x, [-1]), places, rows.size)
    output = tf.reshape(apply(TABLE["gather"], (means, places), {"axis": 0}), x.shape)
    return IsotonicRegression(output, wrap(segments.reshape(x.shape)))


def _blocks(row: Any) -> list[int]:
    """For each number its block, when neighbours that rise are pooled until none does.

    >>> _blocks([3.0, 1.0, 2.0])
    [0, 1, 1]
    """
    blocks: list[list[float]] = []  # sum and count of each
    for value in row:
        blocks.append([value, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] < blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total, blocks[-1][1] + count]
    return [number for number, (_, count) in enumerate(blocks) for _ in range(int(count))]
