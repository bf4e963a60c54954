"""Slices, ragged and sparse tensors as results of functions: taken apart into tensors, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..engine.slices import IndexedSlices


class Parts(list[Any]):
    """The tensors of one value, and how to make it of them."""

    def __init__(self, tensors: Any = (), make: Callable[..., Any] | None = None) -> None:
        super().__init__(tensors)
        self.make = make


def take_apart(value: Any) -> Any:
    """The parts of a composite value; any other value as it is."""
    if isinstance(value, IndexedSlices):
        shape = value._dense_shape
        return Parts([value._values, value._indices, *([] if shape is None else [shape])], IndexedSlices)
    kind = type(value).__name__
    if has_known_rows(value):
        return Parts([value.flat_values], value.with_flat_values)
    if kind == "RaggedTensor":
        return Parts(value._components(), lambda *parts: value._rebuilt(list(parts)))
    if kind == "SparseTensor":
        return Parts([value.indices, value.values, value.dense_shape], type(value))
    return value


def has_known_rows(value: Any) -> bool:
    """True for a ragged tensor of which it is known while tracing where its rows begin and end."""
    return type(value).__name__ == "RaggedTensor" and value._has_known_rows()


def has_parts(structure: Any) -> bool:
    """True when a structure contains parts."""
    if isinstance(structure, Parts):
        return True
    if isinstance(structure, Mapping):
        return any(map(has_parts, structure.values()))
    return isinstance(structure, (list, tuple)) and any(map(has_parts, structure))


def put_together(like: Any, packed: Any) -> Any:
    """``packed`` with the parts of ``like`` made into slices again."""
    if isinstance(like, Parts):
        return like.make(*packed)
    if isinstance(like, Mapping):
        return type(packed)((key, put_together(like[key], packed[key])) for key in packed)
    if isinstance(like, (list, tuple)):
        parts = [put_together(part, p) for part, p in zip(like, packed, strict=True)]
        return type(packed)(*parts) if hasattr(packed, "_fields") else type(packed)(parts)
    return packed
