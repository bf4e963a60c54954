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
from ..ops.filling import numbers_of_range as numbers
from ..ops.picking import boolean_mask
from .primitive import GraphPrimitive
from .symbolic import SymbolicTensor
from .values import current

if TYPE_CHECKING:
    from ..engine.types import Attributes, DTypeLike, Sizes, Value
    from .types import Tensors


def getitem(tensor: Value, key: Any, variable: Any = None) -> Any:
    """``tensor[key]`` in a graph, of a variable's state also a part that can be assigned to."""
    if indexing._is_mask(key):
        return boolean_mask(tensor, key)
    dynamic: list = []

    def known(end: Any) -> Any:
        """An end of an index: the number that it is, or the place of a tensor that only a run has."""
        if end is not None and end is not Ellipsis:
            indexing.check_index(end)
        end = current(end)
        if isinstance(end, Tensor) and hasattr(end, "array") and not np.ndim(end.array):
            return int(end.array)
        if not isinstance(end, SymbolicTensor):
            return end
        dynamic.append(end)
        return SlicePlace(len(dynamic) - 1)

    template = tuple(_map_slice(e, known) for e in (key if isinstance(key, (list, tuple)) else (key,)))
    if not dynamic and tensor.shape.is_fully_defined():
        return indexing.getitem(tensor, key, variable, {"spec": indexing.spec_of(tensor.shape, template)})
    attrs = {"key": template, "shape": _shape(tensor.shape, template)}
    out = state.graph.apply(GETITEM, (tensor, *dynamic), attrs)[0]

    def assign(value: Value, name: str | None = None) -> Any:
        given = variable._read(), convert_to_tensor(value, variable.dtype), *dynamic
        return variable._assign(*state.graph.apply(UPDATE, given, {"key": template}), "assign", True)

    if variable is not None:
        attach(out, assign)
    return out


class SlicePlace:
    """Where a tensor goes that only a run of the graph has."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


def _map_slice(entry: Any, function: Callable[[Any], Any]) -> Any:
    """``function`` of an index, or the slice of what it makes of the three parts of a slice."""
    return slice(*map(function, (entry.start, entry.stop, entry.step))) if isinstance(entry, slice) else function(entry)


def _filled(key: tuple, ends: Tensors) -> tuple:
    """An index with the ends that a run has."""
    return tuple(_map_slice(e, lambda p: int(ends[p.number].array) if isinstance(p, SlicePlace) else p) for e in key)


def _eager(tensors: Tensors, attrs: Attributes) -> list:
    return [tensors[0][_filled(attrs["key"], tensors[1:])]]


def _update(tensors: Tensors, attrs: Attributes) -> list:
    whole, value, *ends = tensors
    return [TABLE["slice_update"](whole, value, spec=indexing.spec_of(whole.shape, _filled(attrs["key"], ends)))]


def _shape(shape: TensorShape, key: tuple) -> TensorShape:
    """What is known about the shape of the slice."""
    if shape.rank is None:
        return TensorShape(None)
    sizes, used = shape.as_list(), len([e for e in key if e is not None and e is not Ellipsis])
    if used > shape.rank:
        raise ValueError(f"Index out of range using input dim {shape.rank}; input has only {shape.rank} dims")
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
UPDATE = GraphPrimitive(
    "slice_update", "ResourceStridedSliceAssign", lambda t, a: [(t[0].shape, t[0].dtype)], eager=_update, rules=None
)


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
