"""Python numbers as operands, and the functions that the rules of the table call while an outer tape records."""

from __future__ import annotations

import operator
from functools import cache, lru_cache
from types import FrameType
from typing import TYPE_CHECKING

from ..record.row_parts import REALS, get_number_leaf
from ..record.thread_state import state
from ..table.accelerator import fast
from ..table.float_warnings import ignore_fp_errors
from ..table.generated_code import compile_expression, find_names
from ..table.primitives.elementwise import BY_CODE, FIRST_CODE, RECORDED_FUNCTIONS, to_recorded_formula
from .tensor import EagerTensor, Tensor

if TYPE_CHECKING:
    from ..record.record import Record
    from ..table.primitives import Rule
    from ..types import Array, Function, Value

PYTHON_OPERATORS: dict[str, Function] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
}


@cache
def build_recorded_functions() -> dict[str, Function]:
    """The functions that the table's rules call in a sweep that is recorded, see
    :func:`minitape.engine.table.primitives.elementwise.to_recorded_formula`.
    """
    called_names = {
        name
        for primitive in BY_CODE
        for text in primitive.texts[1:]
        if text != "-"
        for name in find_names(to_recorded_formula(text))
    }
    functions = dict(RECORDED_FUNCTIONS)
    for primitive in BY_CODE:
        general, signature = (
            PYTHON_OPERATORS.get(primitive.name, primitive),
            "a, b" if len(primitive.texts) == 3 else "a",
        )
        if primitive.name == "add" or not called_names.isdisjoint(
            (primitive.name, f"{primitive.name}_number")
        ):  # shares are added
            functions[primitive.name] = functions[f"{primitive.name}_number"] = fast.register_function(
                general, primitive, "rule", signature=signature, inside=True
            )
        if (name := f"reflected_{primitive.name}") in called_names:
            functions[name] = fast.register_function(
                _swap_operands(general), primitive, "rule", reflected=True, signature=signature, inside=True
            )
    return functions


def _swap_operands(function: Function) -> Function:
    return lambda a, b: function(b, a)


@cache
def compile_recorded_rules(primitive_code: int) -> list[Rule | None]:
    """Compile the rules of a line of the table for a sweep that is recorded."""
    return [
        None if text == "-" else compile_expression(to_recorded_formula(text), build_recorded_functions())
        for text in BY_CODE[primitive_code - FIRST_CODE].texts[1:]
    ]


def convert_number_operand(x: Tensor, y: float, frame: FrameType | None = None) -> Value:
    """Return the tensor of a Python number that is the other operand of a float tensor, in the ``frame`` of a
    statement; the number itself beside a tensor of another dtype.
    """
    record, kind = state.record, x._value.dtype.type if type(x) is EagerTensor else None
    if kind not in REALS:
        if not x.dtype.differentiable:
            return y
        kind = x.dtype._numpy_type
    if record is None:
        return build_number_tensor(y, kind)
    if y != 0 and (tensor := record.numbers.get((y, kind))) is not None:
        return tensor
    return build_number_tensor(y, kind, record, record.note_current_site(frame))


def build_number_tensor(number: float, float_type: type, record: Record | None = None, site: int = 0) -> EagerTensor:
    """Build a tensor of a Python number, of a type of floats. It becomes a leaf of the recording, which gives the same
    tensor for the same number from then on.
    """
    try:
        value = _round_number(number, float_type) if number != 0 else float_type(number)  # 0.0 and -0.0 are one key
    except OverflowError:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.") from None
    tensor = EagerTensor()
    tensor._value, tensor._record, tensor._origin = value, None, None
    if record is not None:
        tensor._record, tensor._row = record, record.append_leaf(get_number_leaf(number), site, value)
        if number == number and number != 0:  # 0.0 and -0.0 are one key, nan is none
            record.numbers[number, type(value)] = tensor
            record.numbers.setdefault(number, tensor)
    return tensor


@lru_cache(1024, typed=True)
def _round_number(number: float, float_type: type) -> Array:
    return ignore_fp_errors().run(float_type, number)
