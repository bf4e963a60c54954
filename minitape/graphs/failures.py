"""Errors of graphs, in TensorFlow's words: what fails when one runs, at which line of the user's, and what does not fit
before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


from ..engine.table.primitives import TABLE, Primitive
from ..engine.values.dtypes import int64
from ..engine.values.shape import TensorShape
from .primitive import GraphPrimitive

if TYPE_CHECKING:
    from ..engine.types import Adjoint, Array
    from .types import Tensors

_BEGIN = "Graph execution error:"
_OF_NUMPY = ("operands could not be broadcast", "all input arrays must have the same shape", "matmul: ")








_ENUM = {"float32": "DT_FLOAT", "float64": "DT_DOUBLE", "float16": "DT_HALF"}






def raising_primitive(primitive: Primitive, error: Exception, tensors: Tensors) -> GraphPrimitive:
    """In the place of a primitive, one that raises an error when the graph runs: what is behind it is traced
    before.
    """
    dtype = int64 if primitive.op in ("ArgMax", "ArgMin", "Where") else tensors[0].dtype

    def forward(*arrays: Array) -> Any:
        raise error

    def rule(g: Adjoint, z: Adjoint, *inputs: Any) -> list:
        return [TABLE["zeros_like"](x) if x.dtype.differentiable else None for x in inputs]

    infer = lambda tensors, attrs: [(TensorShape(None), dtype)]  # noqa: E731
    return GraphPrimitive("refused", primitive.op, infer, forward=forward, rules=None if primitive.flat else rule)
