"""``tf.math``: elementwise functions, comparisons, reductions and products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .convert import convert_to_tensor
from .primitives import TABLE, Primitive
from .tensor import Tensor, apply, binary, float_quotient


def _tensor(x: Any) -> Any:
    return x if isinstance(x, Tensor) else x._read() if hasattr(x, "_read") else convert_to_tensor(x)


def _pair(x: Any, y: Any) -> tuple[Any, Any]:
    if isinstance(x, Tensor) or hasattr(x, "_read"):
        x = _tensor(x)
        return x, y if isinstance(y, Tensor) else y._read() if hasattr(y, "_read") else convert_to_tensor(y, x.dtype)
    y_tensor = isinstance(y, Tensor) or hasattr(y, "_read")
    if y_tensor:
        y = _tensor(y)
        return convert_to_tensor(x, y.dtype), y
    x = convert_to_tensor(x)
    return x, convert_to_tensor(y, x.dtype)


def _unary(name: str, primitive: Primitive) -> Callable[..., Any]:
    def function(x: Any, name: str | None = None) -> Any:
        return apply(primitive, (_tensor(x),), {})

    return _named(function, name, f"Computes {primitive.texts[0]}, elementwise." if primitive.texts else primitive.name)


def _binary(name: str, primitive: Primitive, prepare: Any = None) -> Callable[..., Any]:
    def function(x: Any, y: Any, name: str | None = None) -> Any:
        x, y = _pair(x, y)
        if prepare is not None:
            x, y = prepare(x, y)
        return binary(primitive, x, y)

    return _named(function, name, f"Computes {primitive.texts[0] if primitive.texts else primitive.label}, elementwise.")


def _named(function: Any, name: str, doc: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


for _name, _primitive in {
    "abs": "abs", "acos": "acos", "acosh": "acosh", "asin": "asin", "asinh": "asinh", "atan": "atan", "atanh": "atanh",
    "ceil": "ceil", "cos": "cos", "cosh": "cosh", "exp": "exp", "expm1": "expm1", "floor": "floor", "log": "log",
    "log1p": "log1p", "negative": "negative", "reciprocal": "reciprocal", "round": "rint", "rsqrt": "rsqrt",
    "sigmoid": "sigmoid", "sign": "sign", "sin": "sin", "sinh": "sinh", "softplus": "softplus", "sqrt": "sqrt",
    "square": "square", "tan": "tan", "tanh": "tanh", "logical_not": "logical_not",
}.items():  # fmt: skip
    globals()[_name] = _unary(_name, TABLE[_primitive])

for _name, _primitive in {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "pow": "pow", "floordiv": "floordiv", "mod": "mod",
    "maximum": "maximum", "minimum": "minimum", "squared_difference": "squared_difference", "atan2": "atan2",
    "less": "less", "less_equal": "less_equal", "greater": "greater", "greater_equal": "greater_equal",
    "equal": "equal", "not_equal": "not_equal", "logical_and": "logical_and", "logical_or": "logical_or",
}.items():  # fmt: skip
    globals()[_name] = _binary(_name, TABLE[_primitive])
divide = truediv = _binary("divide", TABLE["divide"], float_quotient)


def axes_of(axis: Any) -> tuple[int, ...] | None:
    """An axis argument (None, an int, a list or a tensor) as a tuple of ints."""
    if axis is None:
        return None
    numbers = np.asarray(axis.array if isinstance(axis, Tensor) else axis)
    return tuple(int(a) for a in numbers.reshape(-1))


def _reduction(name: str, primitive: Primitive) -> Callable[..., Any]:
    def function(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
        return apply(primitive, (_tensor(input_tensor),), {"axis": axes_of(axis), "keepdims": bool(keepdims)})

    return _named(function, name, f"The {primitive.label} over the axes in ``axis`` (all for None).")


for _name in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min"):
    globals()[_name] = _reduction(_name, TABLE[_name])


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, name: str | None = None) -> Any:
    """The product of matrices (or of batches of them)."""
    a, b = _pair(a, b)
    return binary(TABLE["matmul"], _t(a, transpose_a), _t(b, transpose_b)) if False else apply(
        TABLE["matmul"], (_t(a, transpose_a), _t(b, transpose_b)), {})  # fmt: skip


def _t(x: Any, flag: bool) -> Any:
    rank = x.ndim
    return TABLE["transpose"](x, perm=(*range(rank - 2), rank - 1, rank - 2)) if flag else x
