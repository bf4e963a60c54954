"""How TensorFlow's graphs speak of dtypes and of shapes that do not fit, and what they refuse only when they run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.table.primitives import TABLE, Primitive
from ..engine.values.dtypes import int64
from ..engine.values.shape import TensorShape
from .primitive import GraphPrimitive

_ENUM = {"float32": "DT_FLOAT", "float64": "DT_DOUBLE", "float16": "DT_HALF"}


def enum(dtype: Any) -> str:
    """The name of a dtype in TensorFlow's protocol buffers."""
    return _ENUM.get(dtype.name, "DT_" + dtype.name.upper())


def brackets(shape: TensorShape) -> str:
    """A shape as kernels print it."""
    if shape.rank is None:
        return "<unknown>"
    return "[" + ",".join("?" if d is None else str(d) for d in shape.as_list()) + "]"


def refused(primitive: Primitive, error: Exception, tensors: Sequence[Any]) -> GraphPrimitive:
    """In the place of a primitive, one that raises an error when the graph runs: what stands behind it is traced before."""
    dtype = int64 if primitive.op in ("ArgMax", "ArgMin", "Where") else tensors[0].dtype

    def forward(*arrays: Any) -> Any:
        raise error

    def rule(g: Any, z: Any, *inputs: Any) -> list[Any]:
        return [TABLE["zeros_like"](x) if x.dtype.differentiable else None for x in inputs]

    infer = lambda tensors, attrs: [(TensorShape(None), dtype)]  # noqa: E731
    return GraphPrimitive("refused", primitive.op, infer, forward=forward, rules=None if primitive.flat else rule)
