"""Slices of symbolic tensors whose sizes, or whose indices, only a run of the graph knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.recording.state import state
from ..engine.tensor.tensor import Tensor
from ..engine.values.shape import TensorShape
from .primitive import GraphPrimitive
from .symbolic import SymbolicTensor


def getitem(tensor: Any, key: Any) -> Any:
    """``tensor[key]`` in a graph."""
    from ..ops import indexing

    entries = key if isinstance(key, (list, tuple)) else (key,)
    ends = [e for p in entries for e in ((p.start, p.stop, p.step) if isinstance(p, slice) else (p,))]
    dynamic = [e for e in ends if isinstance(e, SymbolicTensor) and not hasattr(e, "array")]
    if indexing._is_mask(key):
        from ..ops.picking import boolean_mask

        return boolean_mask(tensor, key)
    for end in ends:
        if end is not None and end is not Ellipsis:
            indexing.check_index(end)
    if not dynamic and tensor.shape.is_fully_defined():
        return indexing.getitem(tensor, _settled(key))
    if tensor.shape.rank is not None and len([e for e in entries if e is not None and e is not Ellipsis]) > tensor.shape.rank:
        raise ValueError(f"Index out of range using input dim {tensor.shape.rank}; input has only {tensor.shape.rank} dims")
    numbers = {id(e): i for i, e in enumerate(dynamic)}
    template = tuple(_template(_settled(e), numbers) for e in entries)
    attrs = {"key": template, "shape": _shape(tensor.shape, template)}
    return state.graph.apply(GETITEM, (tensor, *dynamic), attrs)[0]


class Place:
    """Where a tensor goes that only a run of the graph has."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


def _settled(entry: Any) -> Any:
    """An index with the values of constants put in."""
    if isinstance(entry, (list, tuple)):
        return tuple(_settled(e) for e in entry)
    if isinstance(entry, slice):
        return slice(*(_settled(e) for e in (entry.start, entry.stop, entry.step)))
    if isinstance(entry, Tensor) and entry.dtype.kind != "b" and hasattr(entry, "array") and not np.ndim(entry.array):
        return int(entry.array)
    return entry


def _template(entry: Any, numbers: dict[int, int]) -> Any:
    if isinstance(entry, slice):
        return slice(*(_template(e, numbers) for e in (entry.start, entry.stop, entry.step)))
    return Place(numbers[id(entry)]) if id(entry) in numbers else entry


def _filled(entry: Any, values: Sequence[Any]) -> Any:
    if isinstance(entry, slice):
        return slice(*(_filled(e, values) for e in (entry.start, entry.stop, entry.step)))
    return int(values[entry.number].array) if isinstance(entry, Place) else entry


def _eager(tensors: Sequence[Any], attrs: dict[str, Any]) -> list[Any]:
    return [tensors[0][tuple(_filled(e, tensors[1:]) for e in attrs["key"])]]


def _shape(shape: TensorShape, key: tuple[Any, ...]) -> TensorShape:
    """What is known about the shape of the slice."""
    if shape.rank is None:
        return TensorShape(None)
    sizes, used = shape.as_list(), len([e for e in key if e is not None and e is not Ellipsis])
    out: list[int | None] = []
    at = 0
    entries = key if Ellipsis in [e for e in key if e is Ellipsis] else (*key, Ellipsis)
    for entry in entries:
        if entry is Ellipsis:
            count = shape.rank - used
            out += sizes[at : at + count]
            at += count
        elif entry is None:
            out.append(1)
        elif isinstance(entry, slice):
            out.append(_length(entry, sizes[at]))
            at += 1
        else:
            at += 1
    return TensorShape(out)


def _length(entry: slice, size: int | None) -> int | None:
    ends = (entry.start, entry.stop, entry.step)
    if ends in ((None, None, None), (None, None, 1), (0, None, None)):
        return size
    if size is None or any(isinstance(e, Place) for e in ends):
        return None
    return len(range(size)[entry])


def _infer(tensors: Any, attrs: dict[str, Any]) -> list[Any]:
    return [(attrs["shape"], tensors[0].dtype)]


GETITEM = GraphPrimitive("getitem", "StridedSlice", _infer, eager=_eager)
