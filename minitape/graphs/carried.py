"""What branches and loops carry: tensors, and values that are made of tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import nest
from ..convert import convert_to_tensor
from ..shape import TensorShape
from ..tensor import EagerTensor
from .parts import has_known_rows


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
    return like._rebuilt(parts) if hasattr(like, "_components") else parts[0]


def flattened(structure: Any, in_loop: bool = False) -> list[Any]:
    """The tensors that stand for the leaves of a structure, in order."""
    return [part for leaf in nest.flatten(structure) for part in parts_of(leaf, in_loop)]


def packed(structure: Any, tensors: Iterable[Any], likes: Any = None, in_loop: bool = False) -> Any:
    """The counterpart of ``flattened``; leaves are made like those of ``likes``, where it is given."""
    rest = iter(tensors)
    leaves = nest.flatten(structure if likes is None else likes)
    return nest.pack_sequence_as(structure, [rebuilt(leaf, rest, in_loop) for leaf in leaves])


def refuse_other_rows(first: Any, second: Any, in_loop: bool = False) -> None:
    """NotImplementedError when two structures of one form do not agree in what has to stay as it is."""
    for a, b in zip(nest.flatten(first), nest.flatten(second), strict=True):
        if (has_known_rows(a) or has_known_rows(b)) and not _alike(a.nested_row_splits, b.nested_row_splits):
            raise NotImplementedError(
                "In a graph minitape's branches and loops keep the rows of ragged tensors: only the values may change."
            )
        if in_loop and _has_known_places(a):
            known = _has_known_places(b) and _alike((a.indices, a.dense_shape), (b.indices, b.dense_shape))
            if not known:
                raise NotImplementedError(
                    "In a graph minitape's loops keep the places of sparse tensors: only the values may change."
                )


def _has_known_places(value: Any) -> bool:
    return type(value).__name__ == "SparseTensor" and type(value.indices) is type(value.dense_shape) is EagerTensor


def _alike(first: Sequence[Any], second: Sequence[Any]) -> bool:
    known = [getattr(t, "array", None) for t in (*first, *second)]
    same = zip(first, second, known, known[len(first) :], strict=False)
    return all(a is b or (x is not None and y is not None and np.array_equal(x, y)) for a, b, x, y in same)


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
        (rank,) = value.dense_shape.shape
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
        return [TensorShape([None]).concatenate(value.flat_values.shape[1:]), outer, *[TensorShape([None])] * len(inner)]
    return [convert_to_tensor(value).shape if shape is None else shape]
