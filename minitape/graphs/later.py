"""Small operations whose results depend on sizes that only a run of the graph knows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.values.dtypes import int32
from ..engine.values.shape import TensorShape
from .primitive import GraphPrimitive


def size_of(tensor: Any) -> Any:
    """The size of the first axis, as an int32 tensor."""
    return TABLE["shape"](tensor, dtype=int32)[0]


def zeros_of_size(size: Any, known: list[int], dtype: Any, shape: TensorShape) -> Any:
    """Zeros whose first size is a symbolic tensor."""
    return state.graph.apply(ZEROS, (size,), {"known": tuple(known), "dtype": dtype, "shape": shape})[0]


def range_row(start: Any, limit: Any, delta: Any, dtype: Any) -> Any:
    """``tf.range`` with ends that only a run knows."""
    return state.graph.apply(RANGE, (start, limit, delta), {"dtype": dtype})[0]


def _zeros_shape(tensors: Any, attrs: dict[str, Any]) -> list[Any]:
    inner = attrs["shape"]
    return [(TensorShape([None]).concatenate(inner) if inner.is_fully_defined() else TensorShape(None), attrs["dtype"])]


def _zeros(size: Any, *, known: tuple[int, ...], dtype: Any, shape: TensorShape) -> tuple[Any, ...]:
    return (np.full((int(size), *known), b"" if dtype.kind == "s" else 0, dtype.as_numpy_dtype),)


def _range(start: Any, limit: Any, delta: Any, *, dtype: Any) -> tuple[Any, ...]:
    from ..ops.filling import numbers_of_range as numbers

    return (numbers(start, limit, delta, dtype),)


ZEROS = GraphPrimitive("zeros_of_size", "TensorListReserve", _zeros_shape, forward=_zeros, rules=None)
RANGE = GraphPrimitive("range", "Range", lambda t, a: [(TensorShape([None]), a["dtype"])], forward=_range, rules=None)
