"""Errors of graphs, in TensorFlow's words: what fails when one runs, at which line of the user's, and what does not fit
before.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.table.primitives import TABLE, Primitive
from ..engine.values import errors
from ..engine.values.dtypes import int64
from ..engine.values.invalid import shape_text
from ..engine.values.shape import TensorShape
from .primitive import GraphPrimitive

if TYPE_CHECKING:
    from ..engine.recording.rows import Call
    from ..engine.types import Adjoint, Array, DTypeLike
    from .build import Graph
    from .symbolic import Operation
    from .types import Tensors

_BEGIN = "Graph execution error:"
_OF_NUMPY = ("operands could not be broadcast", "all input arrays must have the same shape", "matmul: ")


def explain(graph: Graph, rows: Any, error: Exception) -> Exception:
    """The error of rows that were run with the operation that raised it, in TensorFlow's words."""
    trace, failed = error.__traceback__, None
    while trace is not None and failed is None:
        trace, failed = trace.tb_next, rows.failed(trace)
    message = error.message if isinstance(error, errors.OpError) else str(error)
    if failed is None or message.startswith((_BEGIN, "{{function_node ")):
        return error
    call, value_of = failed
    kind = type(error) if isinstance(error, errors.OpError) else errors.InvalidArgumentError
    message = re.sub(r" \[Op:\w*\] name: ?[^\n]*$", "", _in_words(graph, call, value_of, message))
    op = graph.op_of[call.row]
    return kind(None, op, with_location(graph, op, message))


def _in_words(graph: Graph, call: Call, value_of: Callable[[int], Any], message: str) -> str:
    """NumPy's error about shapes in TensorFlow's words."""
    unshaped = re.fullmatch(r"cannot reshape array of size (\d+) into shape \(([\d,]*)\)", message)
    if unshaped is not None:
        wanted = math.prod(int(size) for size in unshaped[2].split(",") if size)
        return f"Input to reshape is a tensor with {unshaped[1]} values, but the requested shape has {wanted}"
    if not message.startswith(_OF_NUMPY):
        return message
    arrays = [graph.constant_value(r) if (found := value_of(r)) is None else found for r in call.inputs]
    if len(arrays) < 2 or any(a is None for a in arrays):
        return message
    first, *rest = (np.shape(a) for a in arrays)
    other = next((shape for shape in rest if shape != first), first)
    shapes = [shape_text(shape) for shape in (first, other)]
    if call.primitive.op == "Pack":
        at = rest.index(other) + 1
        return f"Shapes of all inputs must match: values[0].shape = {shapes[0]} != values[{at}].shape = {shapes[1]}"
    if message.startswith("matmul: "):
        return f"Matrix size-incompatible: In[0]: {shapes[0]}, In[1]: {shapes[1]}"
    return f"Incompatible shapes: {shapes[0]} vs. {shapes[1]}"


def with_location(graph: Graph, op: Operation, message: str) -> str:
    """A message with the operation that it is about and the user's line that made it."""
    place = graph.place_of(op.row)
    line = "" if place is None else f'File "{place[0]}", line {place[1]}, in {place[2].co_name}'
    root = graph.around[-1]
    if root.building_function:
        label = getattr(root, "label", "")
        end = f"{message}\n\t [[{{{{node {op.name}}}}}]] [Op:{label}]"
        if "<" in label:  # TensorFlow looks for lines by the function's name, and finds none that is no word
            return f"{{{{function_node {label}}}}} {end}"
        return f"{_BEGIN}\n\nDetected at node {op.name} defined at (most recent call last):\n  {line}\n\n{end}"
    return (
        f"{_BEGIN}\n\nDetected at node '{op.name}' defined at (most recent call last):\n    {line}\nNode: '{op.name}'\n"
        f"{message}\n\t [[{{{{node {op.name}}}}}]]\n\nOriginal stack trace for '{op.name}':\n  {line}\n"
    )


_ENUM = {"float32": "DT_FLOAT", "float64": "DT_DOUBLE", "float16": "DT_HALF"}


def enum(dtype: DTypeLike) -> str:
    """The name of a dtype in TensorFlow's protocol buffers."""
    return _ENUM.get(dtype.name, "DT_" + dtype.name.upper())


def brackets(shape: TensorShape) -> str:
    """A shape as kernels print it."""
    return "<unknown>" if shape.rank is None else shape_text(shape)


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
