"""What branches and loops carry: tensors, and values that are made of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import nest
from ..convert import convert_to_tensor
from ..shape import TensorShape


class TensorArrayBase:
    """What marks TensorArrays: their buffer takes part in loops and branches."""

    _buffer: Any


def opened(value: Any) -> Any:
    """A TensorArray's buffer; any other value as it is."""
    return value._buffer if isinstance(value, TensorArrayBase) else value


def closed(like: Any, value: Any) -> Any:
    """The counterpart of ``opened``."""
    return like._with(value) if isinstance(like, TensorArrayBase) else value


def flattened(structure: Any) -> list[Any]:
    """The tensors and TensorArrays of a structure, in order: sparse tensors and slices count as what they hold."""
    return nest.flatten(structure, expand_composites=True)


def packed(structure: Any, leaves: Sequence[Any]) -> Any:
    """The counterpart of ``flattened``."""
    return nest.pack_sequence_as(structure, list(leaves), expand_composites=True)


def kept_shapes(value: Any, invariant: Any = None) -> list[TensorShape]:
    """The shapes that the tensors of a loop variable keep: their own, or those that ``invariant`` allows.

    TypeError for an invariant that is neither a shape nor a type, or the type of another kind of value.
    """
    of_kind = getattr(invariant, "value_type", None)
    if of_kind is not None and not isinstance(value, of_kind):
        raise TypeError(f"TypeSpec {invariant} is not compatible with {value}")
    shape = None if invariant is None else TensorShape(getattr(invariant, "shape", invariant))
    kind = type(value).__name__
    if kind == "SparseTensor":
        (rank,) = value.dense_shape.shape
        return [TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])]
    if kind == "IndexedSlices":
        values = TensorShape([None]).concatenate(value.values.shape[1:] if shape is None else shape[1:])
        return [values, TensorShape([None]), *([] if value.dense_shape is None else [value.dense_shape.shape])]
    if isinstance(value, TensorArrayBase):
        return [TensorShape(None)]
    return [convert_to_tensor(value).shape if shape is None else shape]
