"""What ``tf.math.bincount`` and ``tf.sparse.bincount`` count: dense, ragged and sparse values with their weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..engine.convert import convert_to_tensor
from .assertions import assert_equal


class Counted(NamedTuple):
    """Values in one row: the values, their weights (or None), the row each was in, and how many rows there were."""

    values: Any
    weights: Any
    rows: Any
    count: int


def composite(values: Any, weights: Any) -> Counted | None:
    """The values and weights of a ragged or sparse tensor; None for dense ones.

    ValueError unless the weights are of the same kind, InvalidArgumentError unless they are at the same places.

    >>> import minitape as tf
    >>> composite(tf.ragged.constant([[5], [], [7, 7]]), None).rows
    array([0, 2, 2])
    """
    if hasattr(values, "row_splits"):
        return _ragged(values, weights, type(values))
    return _sparse(values, weights, type(values)) if hasattr(values, "dense_shape") else None


def _ragged(values: Any, weights: Any, kind: type) -> Counted:
    flat = convert_to_tensor(values.values)
    if weights is not None:
        if not isinstance(weights, kind):
            weights = weights if hasattr(weights, "_components") else convert_to_tensor(weights)
            raise ValueError(f"`weights` must be a RaggedTensor if `values` is a RaggedTensor. Received argument weights="
                             f"{weights} of type: {type(weights).__name__}.")  # fmt: skip
        assert_equal(weights.row_splits, values.row_splits,
                     message="'weights' and 'values' must have the same row splits.")  # fmt: skip
        weights = convert_to_tensor(weights.values)
    lengths = np.diff(np.asarray(values.row_splits.array))
    return Counted(flat, weights, np.repeat(np.arange(len(lengths)), lengths), len(lengths))


def _sparse(values: Any, weights: Any, kind: type) -> Counted:
    if weights is not None:
        if not isinstance(weights, kind):
            raise ValueError("Argument `weights` must be a SparseTensor if `values` is a SparseTensor. Received weights="
                             f"{weights} of type: {type(weights).__name__}")  # fmt: skip
        assert_equal(weights.indices, values.indices,
                     message="'weights' and 'values' must have the same indices.")  # fmt: skip
        weights = weights.values
    return Counted(values.values, weights, np.asarray(values.indices.array)[:, 0], int(values.sizes()[0]))
