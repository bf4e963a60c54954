"""``tf.ragged.constant``: ragged tensors of nested lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.convert import constant as dense_constant
from .rows import is_ragged, splits_of
from .tensor import RaggedTensor


def constant(pylist: Any, dtype: Any = None, *, name: str | None = None) -> Any:
    """A ragged tensor of a list of lists (a plain tensor when they have only one level).

    Raises ValueError when the numbers stand at different depths, and for lists of lists of lists; TypeError for a ragged
    tensor.

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
    """(the depth at which scalars stand, the depth of the deepest list)."""
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
