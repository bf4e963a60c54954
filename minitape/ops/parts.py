"""Slices, ragged and sparse tensors as arguments and results of functions: taken apart into tensors, and put together again.

Their open parts are the tensors that a trace of a function leaves open. Of a ragged tensor these are the values alone, and
of a sparse one mostly: its rows (places) are fixed, they belong to the trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def open_parts(value: Any) -> list[Any]:
    """The tensors that a trace leaves open of a value that has components."""
    return list(value._open_parts() if hasattr(value, "_open_parts") else value._components())


def of_parts(like: Any, parts: list[Any]) -> Any:
    """The counterpart of ``open_parts``: such a value of other tensors."""
    return like._of_parts(parts) if hasattr(like, "_of_parts") else like._rebuilt(parts)


def fixed_parts(value: Any) -> list[Any]:
    """The arrays that belong to a trace: where rows begin and end, or the places of a sparse tensor."""
    return list(value._fixed_parts()) if hasattr(value, "_fixed_parts") else []


class Parts(list[Any]):
    """The tensors of one value, and how to make it of them."""

    def __init__(self, tensors: Any = (), make: Callable[..., Any] | None = None) -> None:
        super().__init__(tensors)
        self.make = make


def take_apart(value: Any) -> Any:
    """The parts of a composite value; any other value as it is."""
    if not hasattr(value, "_components"):
        return value
    return Parts(open_parts(value), lambda *parts: of_parts(value, list(parts)))


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
        assert like.make is not None  # only a copy that pack_sequence_as makes has none
        return like.make(*packed)
    if isinstance(like, Mapping):
        return type(packed)((key, put_together(like[key], packed[key])) for key in packed)
    if isinstance(like, (list, tuple)):
        parts = [put_together(part, p) for part, p in zip(like, packed, strict=True)]
        return type(packed)(*parts) if hasattr(packed, "_fields") else type(packed)(parts)
    return packed
