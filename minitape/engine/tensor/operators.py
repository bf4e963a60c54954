"""The operators of tensors: what ``a + b``, ``2 * a`` or ``a < b`` do.

Each turns its other operand into a tensor, and runs a primitive (:func:`minitape.engine.tensor.operation.binary`, after
its checks). Arithmetic on floats of one dtype is written out in :mod:`minitape.speed.operators`.
"""

from __future__ import annotations

from sys import _getframe
from typing import TYPE_CHECKING

import numpy as np

from ..table.accelerator import fast
from ..table.primitives import TABLE, Primitive, special  # noqa: F401 - special fills the table
from ..values.errors import InvalidArgumentError
from .convert import convert_operand, convert_to_tensor
from .functions import number_operand
from .operation import apply, binary
from .other_operators import RUN
from .tensor import EagerTensor, Tensor, new_tensor

if TYPE_CHECKING:
    from ..types import Function, Result, Value

# Python's name -> the primitive's
ARITHMETIC = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "pow": "pow",
    "floordiv": "floordiv",
    "mod": "mod",
}
_OTHERS = {"matmul": "matmul", "and": "logical_and", "or": "logical_or", "xor": "logical_xor"}
_COMPARISONS = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}


def _operand(a: Tensor, b: Value, strict: bool = True) -> Result:
    """The other operand of an operator as a tensor; NotImplemented for one of a graph, which has operators of its own.
    ``strict``: see :func:`~minitape.engine.tensor.convert.convert_operand`.
    """
    kind = type(b)
    if kind is float or kind is int:
        b = number_operand(a, b)
    if isinstance(b, Tensor):
        return b if type(b) is EagerTensor else NotImplemented
    found: Tensor = b._read() if hasattr(b, "_read") else convert_operand(b, a.dtype, strict)
    return found


def _pair(name: str, primitive: Primitive) -> tuple[Function, Function]:
    """An operator and its reflection, for operands of any kind."""
    run, strict = RUN.get(name, binary), name not in ("add", "truediv", "matmul")

    def direct(a: Tensor, b: Value) -> Result:
        if type(b) is not EagerTensor:
            try:
                b = _operand(a, b, strict)
            except (TypeError, ValueError):
                if hasattr(b, f"__r{name}__") and not isinstance(b, (int, float, np.ndarray, np.generic)):
                    return NotImplemented  # an object of another class has an operator of its own
                raise
            if b is NotImplemented:
                return b
        return run(primitive, a, b)

    def reflected(a: Tensor, b: Value) -> Result:
        if type(b) is float or type(b) is int:
            b = number_operand(a, b)
        return run(primitive, b if isinstance(b, Tensor) else convert_to_tensor(b, a.dtype), a)

    return direct, reflected


def _comparison(primitive: Primitive) -> Function:
    return lambda a, b: binary(primitive, a, _operand(a, b))


def _equality(primitive: Primitive, unlike: bool) -> Function:
    """``==`` or ``!=``; ``unlike`` is the answer where kinds or shapes do not fit."""

    def compare(a: Tensor, b: Value) -> Result:
        if b is None:
            return unlike
        try:
            return binary(primitive, a, _operand(a, b))
        except InvalidArgumentError as error:
            if "Incompatible shapes" in str(error):
                return new_tensor(np.bool_(unlike))
            raise

    return compare


def _unary(name: str, logical: str = "") -> Function:
    return lambda a: apply(TABLE[logical if logical and a.dtype.kind == "b" else name], (a,), {}, _getframe(1))


def install() -> None:
    """Gives tensors their operators, once the table of primitives is filled."""
    made: dict[str, Function] = {
        "neg": fast.function(_unary("negative"), TABLE["negative"], "__neg__"),
        "abs": lambda a: apply(TABLE["complex_abs" if a.dtype.kind == "c" else "abs"], (a,), {}, _getframe(1)),
        "invert": _unary("bitwise_not", "logical_not"),
        "eq": _equality(TABLE["equal"], False),
        "ne": _equality(TABLE["not_equal"], True),
    }
    for name, primitive in _COMPARISONS.items():
        made[name] = _comparison(TABLE[primitive])
    for name, primitive in (ARITHMETIC | _OTHERS).items():
        p = TABLE[primitive]
        for label, general in zip((name, f"r{name}"), _pair(name, p), strict=True):
            made[label] = general
            if name in ARITHMETIC:
                made[label] = fast.function(general, p, f"__{label}__", reflected=label != name)
                made[label].__doc__ = f"{p.texts[0]}, elementwise."
    for name, operator in made.items():
        operator.__name__ = operator.__qualname__ = f"__{name}__"
        setattr(EagerTensor, operator.__name__, operator)
