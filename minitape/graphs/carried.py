"""What branches and loops carry: tensors, and values that are made of tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..engine import nest
from ..engine.convert import convert_to_tensor
from ..engine.shape import TensorShape
from ..engine.state import state
from ..engine.tensor import EagerTensor
from ..ops.parts import has_known_rows


class TensorArrayBase:
    """What marks TensorArrays: their buffer takes part in loops and branches."""

    _parts: Any
    _with: Any


def is_composite(value: Any) -> bool:
    """True for TensorArrays, sparse and ragged tensors and slices."""
    return isinstance(value, TensorArrayBase) or hasattr(value, "_components")


def parts_of(value: Any, in_loop: bool = False) -> list[Any]:
    """The tensors that stand for a value.

    Of a ragged tensor whose rows are known these are the values alone, for its rows stay as they are; so do in loops
    the places of a sparse tensor that are known.
    """
    if isinstance(value, TensorArrayBase):
        return list(value._parts())
    if has_known_rows(value):
        return [value.flat_values]
    if in_loop and _has_known_places(value):
        return [value.values]
    return list(value._components()) if hasattr(value, "_components") else [value]


def rebuilt(like: Any, tensors: Iterator[Any], in_loop: bool = False) -> Any:
    """The counterpart of ``parts_of``, which takes as many of the tensors as it needs."""
    parts = [next(tensors) for _ in parts_of(like, in_loop)]
    if isinstance(like, TensorArrayBase):
        return like._with(*parts)
    if has_known_rows(like):
        return like.with_flat_values(parts[0])
    if in_loop and _has_known_places(like):
        return like.with_values(parts[0])
    made = like._rebuilt(parts) if hasattr(like, "_components") else parts[0]
    return made._without_lengths() if hasattr(made, "_without_lengths") else made


def flattened(structure: Any, in_loop: bool = False) -> list[Any]:
    """The tensors that stand for the leaves of a structure, in order."""
    return [part for leaf in nest.flatten(structure) for part in parts_of(leaf, in_loop)]


def packed(structure: Any, tensors: Iterable[Any], likes: Any = None, in_loop: bool = False) -> Any:
    """The counterpart of ``flattened``; leaves are made like those of ``likes``, where it is given."""
    rest = iter(tensors)
    leaves = nest.flatten(structure if likes is None else likes)
    return nest.pack_sequence_as(structure, [rebuilt(leaf, rest, in_loop) for leaf in leaves])


class OtherRows(Exception):
    """The rows of a ragged tensor, or the places of a sparse one, are others after a turn of a loop."""


def with_rows_of(before: Any, after: Any, in_loop: bool = False) -> Any:
    """``after``, of the same form as ``before``, carried in the same parts; OtherRows where ``before`` must be opened."""

    def leaf(a: Any, b: Any) -> Any:
        if not _is_fixed(a, in_loop):
            return opened(b) if _is_fixed(b, in_loop) else b
        fixed = a._components()[1:] if has_known_rows(a) else [a.indices, a.dense_shape]
        now = b._components()[1:] if has_known_rows(a) else [b.indices, b.dense_shape]
        if _is_fixed(b, in_loop) and all(x is y or np.array_equal(x.array, y.array) for x, y in zip(fixed, now, strict=True)):
            return b
        raise OtherRows

    pairs = zip(nest.flatten(before), nest.flatten(after), strict=True)
    return nest.pack_sequence_as(after, [leaf(a, b) for a, b in pairs])


def alike(first: Any, second: Any) -> tuple[Any, Any]:
    """What two branches give, carried in the same parts."""
    try:
        return first, with_rows_of(first, second)
    except OtherRows:
        return opened(first), with_rows_of(opened(first), second)


def opened(structure: Any) -> Any:
    """The same structure, whose ragged tensors may get other rows and whose sparse ones may get other places."""

    def leaf(value: Any) -> Any:
        if has_known_rows(value):
            return value._opened()
        if not _has_known_places(value):
            return value
        graph = state.graph
        return value._rebuilt([graph.tensor_at(graph.enter(part)) for part in value._components()])

    return nest.map_structure(leaf, structure)


def _is_fixed(value: Any, in_loop: bool) -> bool:
    return has_known_rows(value) or (in_loop and _has_known_places(value))


def _has_known_places(value: Any) -> bool:
    return type(value).__name__ == "SparseTensor" and type(value.indices) is type(value.dense_shape) is EagerTensor


def kept_shapes(value: Any, invariant: Any = None) -> list[TensorShape]:
    """The shapes that the tensors of a loop variable keep: their own, or those that ``invariant`` allows.

    TypeError for an invariant that is neither a shape nor a type, or the type of another kind of value.
    """
    of_kind = getattr(invariant, "value_type", None)
    if of_kind is not None and not isinstance(value, of_kind):
        raise TypeError(f"TypeSpec {invariant} is not compatible with {value}")
    shape = None if invariant is None else TensorShape(getattr(invariant, "shape", invariant))
    kind = type(value).__name__
    if _has_known_places(value):
        return [value.values.shape]
    if kind == "SparseTensor":
        (rank,) = value.dense_shape.shape if shape is None else (shape.rank,)
        return [TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])]
    if kind == "IndexedSlices":
        values = TensorShape([None]).concatenate(value.values.shape[1:] if shape is None else shape[1:])
        return [values, TensorShape([None]), *([] if value.dense_shape is None else [value.dense_shape.shape])]
    if isinstance(value, TensorArrayBase):
        return [TensorShape(None) for _ in value._parts()]
    if has_known_rows(value):
        return [value.flat_values.shape]
    if kind == "RaggedTensor":
        outer, *inner = [splits.shape for splits in value.nested_row_splits]
        if shape is not None:
            outer = TensorShape([None if shape.rank is None or shape[0] is None else shape[0] + 1])
        return [TensorShape([None]).concatenate(value.flat_values.shape[1:]), outer, *[TensorShape([None])] * len(inner)]
    return [convert_to_tensor(value).shape if shape is None else shape]
