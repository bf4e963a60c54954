"""What branches and loops carry: tensors, and values that are made of tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..engine.values import nest
from ..engine.values.shape import TensorShape
from ..ops.convert import convert_to_tensor
from ..ops.parts import fixed_parts, of_parts, open_parts
from .arrays import TensorArray


def is_composite(value: Any) -> bool:
    """True for TensorArrays, sparse and ragged tensors and slices."""
    return hasattr(value, "_components")


def _parts(value: Any) -> list[Any]:
    """The tensors that stand for a value."""
    return open_parts(value) if is_composite(value) else [value]


def flattened(structure: Any) -> list[Any]:
    """The tensors that stand for the leaves of a structure, in order."""
    return [part for leaf in nest.flatten(structure) for part in _parts(leaf)]


def packed(structure: Any, tensors: Iterable[Any], likes: Any = None) -> Any:
    """The counterpart of ``flattened``; leaves are made like those of ``likes``, where it is given."""
    rest, leaves = iter(tensors), []
    for like in nest.flatten(structure if likes is None else likes):
        parts = [next(rest) for _ in _parts(like)]
        leaves.append(of_parts(like, parts) if is_composite(like) else parts[0])
    return nest.pack_sequence_as(structure, leaves)


def with_rows_of(before: Any, after: Any) -> Any:
    """``after``, of the same structure as ``before``; ValueError where ragged tensors have other rows, or sparse ones places."""
    for a, b in zip(nest.flatten(before), nest.flatten(after), strict=True):
        ours, others = fixed_parts(a), fixed_parts(b)
        if len(ours) != len(others) or not all(map(np.array_equal, ours, others)):
            raise ValueError("In minitape a ragged tensor keeps its rows, and a sparse one its places, in the branches and loops "
                             f"of a graph. Here they change, from those of {a} to those of {b}.")  # fmt: skip
    return after


def kept_shapes(value: Any, invariant: Any = None) -> list[TensorShape]:
    """The shapes that the tensors of a loop variable keep: their own, or those that ``invariant`` allows.

    TypeError for an invariant that is neither a shape nor a type.
    """
    if isinstance(value, TensorArray):
        return [TensorShape(None)]
    shape = None if invariant is None else TensorShape(getattr(invariant, "shape", invariant))
    if type(value).__name__ == "IndexedSlices":
        values = TensorShape([None]).concatenate(value.values.shape[1:] if shape is None else shape[1:])
        return [values, TensorShape([None]), *([] if value.dense_shape is None else [value.dense_shape.shape])]
    if is_composite(value):
        return [part.shape for part in open_parts(value)]
    return [convert_to_tensor(value).shape if shape is None else shape]
