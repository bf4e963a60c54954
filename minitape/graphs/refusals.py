"""How TensorFlow's graphs speak of dtypes and of shapes that do not fit."""

from __future__ import annotations

from typing import Any

from ..engine.values.shape import TensorShape

_ENUM = {"float32": "DT_FLOAT", "float64": "DT_DOUBLE", "float16": "DT_HALF"}


def enum(dtype: Any) -> str:
    """The name of a dtype in TensorFlow's protocol buffers."""
    return _ENUM.get(dtype.name, "DT_" + dtype.name.upper())


def brackets(shape: TensorShape) -> str:
    """A shape as kernels print it."""
    if shape.rank is None:
        return "<unknown>"
    return "[" + ",".join("?" if d is None else str(d) for d in shape.as_list()) + "]"
