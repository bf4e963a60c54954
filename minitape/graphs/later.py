"""Small operations whose results depend on sizes that only a run of the graph knows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import dtypes
from ..engine.shape import TensorShape
from ..engine.state import state
from ..engine.tensor import wrap
from .primitive import GraphPrimitive
from .symbolic import is_symbolic

SIZE = GraphPrimitive("size_of", "TensorListLength", lambda t, a: [(TensorShape([]), dtypes.int32)],
                      forward=lambda x: (np.int32(np.shape(x)[0]),), rules=None)  # fmt: skip


def _zeros(size: Any, *, known: tuple[int, ...], dtype: Any) -> tuple[Any, ...]:
    out = np.zeros((int(size), *known), dtype.as_numpy_dtype)
    if out.dtype == object:
        out.fill(b"")
    return (out,)


ZEROS = GraphPrimitive(
    "zeros_of_size",
    "TensorListReserve",
    lambda t, a: [
        (
            TensorShape([None]).concatenate(a["shape"]) if a["shape"].is_fully_defined() else TensorShape(None),
            a["dtype"],
        )
    ],
    forward=lambda size, known, dtype, shape: _zeros(size, known=known, dtype=dtype),
    rules=None,
)


def _range(start: Any, limit: Any, delta: Any, *, dtype: Any) -> tuple[Any, ...]:
    from ..ops.filling import numbers_of_range as numbers

    return (numbers(start, limit, delta, dtype),)


RANGE = GraphPrimitive(
    "range", "Range", lambda t, a: [(TensorShape([None]), a["dtype"])], forward=_range, rules=None
)  # its inputs are start, limit and delta


def range_row(start: Any, limit: Any, delta: Any, dtype: Any) -> Any:
    """``tf.range`` with ends that only a run knows."""
    return state.graph.apply(RANGE, (start, limit, delta), {"dtype": dtype})[0]


def size_of(tensor: Any) -> Any:
    """The size of the first axis, as an int32 tensor."""
    if not is_symbolic(tensor):
        return wrap(np.int32(tensor.shape[0]))
    return state.graph.apply(SIZE, (tensor,), {})[0]


def zeros_of_size(size: Any, known: list[int], dtype: Any, shape: TensorShape) -> Any:
    """Zeros whose first size is a symbolic tensor."""
    return state.graph.apply(ZEROS, (size,), {"known": tuple(known), "dtype": dtype, "shape": shape})[0]
