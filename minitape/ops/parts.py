"""Slices, ragged and sparse tensors as arguments and results of functions: taken apart into tensors, and put together
again.

Their open parts are the tensors that a trace of a function leaves open. Of a ragged tensor these are the values alone,
and of a sparse one mostly: its rows (places) are fixed, they belong to the trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..engine.values import nest


def open_parts(value: Any) -> list:
    """The tensors that a trace leaves open of a value that has components."""
    return list(value._open_parts() if hasattr(value, "_open_parts") else value._components())


def of_parts(like: Any, parts: list) -> Any:
    """The counterpart of ``open_parts``: such a value of other tensors."""
    return like._of_parts(parts) if hasattr(like, "_of_parts") else like._rebuild(parts)


def fixed_parts(value: Any) -> list:
    """The arrays that belong to a trace: where rows begin and end, or the places of a sparse tensor."""
    return list(value._fixed_parts()) if hasattr(value, "_fixed_parts") else []


def is_composite(value: Any) -> bool:
    """True for slices, TensorArrays, sparse and ragged tensors."""
    return hasattr(value, "_components")


def _parts(value: Any) -> list:
    """The tensors that stand for a value."""
    return open_parts(value) if is_composite(value) else [value]


def flatten_parts(structure: Any) -> list:
    """The tensors that stand for the leaves of a structure, in order."""
    return [part for leaf in nest.flatten(structure) for part in _parts(leaf)]


def pack_parts(structure: Any, tensors: Iterable, likes: Any = None) -> Any:
    """The counterpart of ``flatten_parts``; leaves are made like those of ``likes``, where it is given."""
    rest, leaves = iter(tensors), []
    for like in nest.flatten(structure if likes is None else likes):
        parts = [next(rest) for _ in _parts(like)]
        leaves.append(of_parts(like, parts) if is_composite(like) else parts[0])
    return nest.pack_sequence_as(structure, leaves)


def with_rows_of(before: Any, after: Any) -> Any:
    """``after``, of the same structure as ``before``; ValueError where ragged tensors have other rows, or sparse ones
    places.
    """
    for a, b in zip(nest.flatten(before), nest.flatten(after), strict=True):
        ours, others = fixed_parts(a), fixed_parts(b)
        if len(ours) != len(others) or not all(map(np.array_equal, ours, others)):
            raise ValueError(
                "In minitape a ragged tensor keeps its rows, and a sparse one its places, in the branches and loops "
                f"of a graph. Here they change, from those of {a} to those of {b}."
            )
    return after
