"""Slices, zeros and ranges whose sizes, or whose indices, only a run of the graph knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import Tensor
from ..engine.tensor.updates import attach
from ..engine.values.dtypes import int32
from ..engine.values.shape import TensorShape
from ..ops import indexing
from ..ops.arrays import broadcast_to
from ..ops.arrays import shape as shape_of
from ..ops.filling import numbers_of_range as numbers
from ..ops.picking import boolean_mask
from .primitive import GraphPrimitive
from .symbolic import SymbolicTensor

if TYPE_CHECKING:
    from ..engine.types import Attributes, DTypeLike, Sizes, Value
    from .types import Tensors


def getitem(tensor: Value, key: Any, variable: Any = None) -> Any:
    """``tensor[key]`` in a graph, of a variable's state also a part that can be assigned to."""
    entries = key if isinstance(key, (list, tuple)) else (key,)
    ends = indexing.ends_of(key)
    dynamic = [e for e in ends if isinstance(e, SymbolicTensor) and not hasattr(e, "array")]
    if indexing._is_mask(key):
        return boolean_mask(tensor, key)
    for end in ends:
        if end is not None and end is not Ellipsis:
            indexing.check_index(end)
    if not dynamic and tensor.shape.is_fully_defined():
        return indexing.getitem(tensor, _with_constants(key), variable)
    if (
        tensor.shape.rank is not None
        and len([e for e in entries if e is not None and e is not Ellipsis]) > tensor.shape.rank
    ):
        raise ValueError(
            f"Index out of range using input dim {tensor.shape.rank}; input has only {tensor.shape.rank} dims"
        )
    numbers = {id(e): i for i, e in enumerate(dynamic)}
    template = tuple(
        _map_slice(_with_constants(e), lambda part: SlicePlace(numbers[id(part)]) if id(part) in numbers else part)
        for e in entries
    )
    attrs = {"key": template, "shape": _shape(tensor.shape, template)}
    out = state.graph.apply(GETITEM, (tensor, *dynamic), attrs)[0]
    if variable is not None:
        attach(out, lambda value, name=None: _assign(variable, entries, value))
    return out


def _assign(variable: Any, entries: Any, value: Value) -> Any:
    """Changes the part of a variable that indices select: the places of its elements are selected by them, too."""
    grid = convert_to_tensor(np.moveaxis(np.indices(variable.shape, np.int32), 0, -1))
    places = getitem(grid, (*entries, slice(None)))
    updates = broadcast_to(convert_to_tensor(value, variable.dtype), shape_of(places)[:-1])
    return variable.scatter_nd_update(places, updates)


class SlicePlace:
    """Where a tensor goes that only a run of the graph has."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


def _with_constants(entry: Any) -> Any:
    """An index with the values of constants put in."""
    if isinstance(entry, (list, tuple)):
        return tuple(_with_constants(e) for e in entry)
    return _map_slice(entry, _constant)


def _constant(part: Any) -> Any:
    if isinstance(part, Tensor) and part.dtype.kind != "b" and hasattr(part, "array") and not np.ndim(part.array):
        return int(part.array)
    return part


def _map_slice(entry: Any, function: Callable[[Any], Any]) -> Any:
    """``function`` of an index, or the slice of what it makes of the three parts of a slice."""
    return slice(*map(function, (entry.start, entry.stop, entry.step))) if isinstance(entry, slice) else function(entry)


def _eager(tensors: Tensors, attrs: Attributes) -> list:
    key = [
        _map_slice(e, lambda p: int(tensors[p.number + 1].array) if isinstance(p, SlicePlace) else p)
        for e in attrs["key"]
    ]
    return [tensors[0][tuple(key)]]


def _shape(shape: TensorShape, key: tuple) -> TensorShape:
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
    if size is None or any(isinstance(e, SlicePlace) for e in ends):
        return None
    return len(range(size)[entry])


def _infer(tensors: Tensors, attrs: Attributes) -> list:
    return [(attrs["shape"], tensors[0].dtype)]


GETITEM = GraphPrimitive("getitem", "StridedSlice", _infer, eager=_eager)


def size_of(tensor: Value) -> Any:
    """The size of the first axis, as an int32 tensor."""
    return TABLE["shape"](tensor, dtype=int32)[0]


def zeros_of_size(size: Any, known: list[int], dtype: DTypeLike, shape: TensorShape) -> Any:
    """Zeros whose first size is a symbolic tensor."""
    return state.graph.apply(ZEROS, (size,), {"known": tuple(known), "dtype": dtype, "shape": shape})[0]


def range_row(start: Value, limit: Value, delta: Value, dtype: DTypeLike) -> Any:
    """``tf.range`` with ends that only a run knows."""
    return state.graph.apply(RANGE, (start, limit, delta), {"dtype": dtype})[0]


def _zeros_shape(tensors: Tensors, attrs: Attributes) -> list:
    inner = attrs["shape"]
    return [(TensorShape([None]).concatenate(inner) if inner.is_fully_defined() else TensorShape(None), attrs["dtype"])]


def _zeros(size: Any, *, known: Sizes, dtype: DTypeLike, shape: TensorShape) -> tuple:
    return (np.full((int(size), *known), b"" if dtype.kind == "s" else 0, dtype.as_numpy_dtype),)


def _range(start: Value, limit: Value, delta: Value, *, dtype: DTypeLike) -> tuple:
    return (numbers(start, limit, delta, dtype),)


ZEROS = GraphPrimitive("zeros_of_size", "TensorListReserve", _zeros_shape, forward=_zeros, rules=None)
RANGE = GraphPrimitive("range", "Range", lambda t, a: [(TensorShape([None]), a["dtype"])], forward=_range, rules=None)
