"""Composite results of a ``tf.function``: taken apart into tensors while tracing, put together after each call."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import nest
from ..slices import IndexedSlices


class SlicesParts(NamedTuple):
    """The tensors of IndexedSlices."""

    values: Any
    indices: Any
    dense_shape: Any


class SparseParts(NamedTuple):
    """The tensors of a SparseTensor."""

    indices: Any
    values: Any
    dense_shape: Any


class RaggedParts(tuple):
    """The tensors of a RaggedTensor: its flat values and the row splits, the outermost first."""


PARTS = (SlicesParts, SparseParts, RaggedParts)


def take_apart(value: Any) -> Any:
    """A composite value as a structure of tensors; anything else as it is."""
    if type(value) is IndexedSlices:
        return SlicesParts(value.values, value.indices, value.dense_shape)
    if type(value).__name__ == "SparseTensor":
        return SparseParts(value.indices, value.values, value.dense_shape)
    if type(value).__name__ == "RaggedTensor":
        return RaggedParts((value.flat_values, *value.nested_row_splits))
    return value


def has_composites(structure: Any) -> bool:
    """True when a structure holds parts of composite values."""
    if isinstance(structure, PARTS):
        return True
    if isinstance(structure, dict):
        return any(has_composites(v) for v in structure.values())
    return nest.is_nested(structure) and any(has_composites(v) for v in structure)


def put_together(model: Any, values: Any) -> Any:
    """The composite values again, from a structure of tensors."""
    if isinstance(values, SlicesParts):
        return IndexedSlices(*values)
    if isinstance(values, SparseParts):
        from ..sparse import SparseTensor

        return SparseTensor(*values)
    if isinstance(values, RaggedParts):
        from ..ragged import RaggedTensor

        return RaggedTensor.from_nested_row_splits(values[0], list(values[1:]), validate=False)
    if isinstance(values, dict):
        return type(values)((k, put_together(model, v)) for k, v in values.items())
    if nest.is_nested(values):
        items = [put_together(model, v) for v in values]
        return type(values)(*items) if hasattr(values, "_fields") else type(values)(items)
    return values
