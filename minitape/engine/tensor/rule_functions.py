"""Convert Python numbers to operands, and define the functions that rules call in a recorded sweep."""

from __future__ import annotations

import operator
from functools import cache, lru_cache
from types import FrameType
from typing import TYPE_CHECKING

from ..record.row_parts import FLOAT_TYPES, get_number_leaf
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
    """Return the functions that the rules of the table call in a recorded sweep.

    Returns:
        A dict that maps names in recorded formulas to functions
        (:func:`minitape.engine.table.primitives.elementwise.to_recorded_formula`). For example, ``multiply`` takes two
        tensors, ``multiply_number`` takes a tensor and a number, and ``reflected_subtract`` takes its operands in
        reverse order.
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
        general = PYTHON_OPERATORS.get(primitive.name, primitive)
        signature = "a, b" if len(primitive.texts) == 3 else "a"
        is_called = not called_names.isdisjoint((primitive.name, f"{primitive.name}_number"))
        # Every sweep adds shares, even if no rule contains an addition.
        if primitive.name == "add" or is_called:
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
    """Compile the rules of an elementwise primitive for a recorded sweep.

    Args:
        primitive_code: The code of the primitive.

    Returns:
        For each input, a rule, or None if the input has no derivative.
    """
    return [
        None if text == "-" else compile_expression(to_recorded_formula(text), build_recorded_functions())
        for text in BY_CODE[primitive_code - FIRST_CODE].texts[1:]
    ]


def convert_number_operand(x: Tensor, y: float, frame: FrameType | None = None) -> Value:
    """Convert a Python number to a tensor in the dtype of the other operand.

    While a recording is open, equal numbers of the same dtype share a tensor and a row. Zeros do not share a tensor,
    because 0.0 and -0.0 are equal.

    Args:
        x: The other operand, a tensor.
        y: The number.
        frame: The innermost frame that may belong to the user's statement. None stands for the caller's frame.

    Returns:
        A scalar tensor, or the number itself if the dtype of ``x`` is neither floating nor complex.

    Raises:
        ValueError: If the number is an int that is too large for the dtype.
    """
    record = state.record
    kind = x._value.dtype.type if type(x) is EagerTensor else None
    if kind not in FLOAT_TYPES:
        if not x.dtype.differentiable:
            return y
        kind = x.dtype._numpy_type
    if record is None:
        return build_number_tensor(y, kind)
    if y != 0 and (tensor := record.numbers.get((y, kind))) is not None:
        return tensor
    return build_number_tensor(y, kind, record, record.store_current_site(frame))


def build_number_tensor(number: float, float_type: type, record: Record | None = None, site: int = 0) -> EagerTensor:
    """Build a tensor from a Python number.

    If a recording is passed, the tensor becomes a leaf there, and later uses of the same number share it.

    Args:
        number: The value.
        float_type: The NumPy scalar type of the tensor, floating or complex.
        record: The open recording, or None.
        site: The statement that uses the number, as ``Record.store_current_site`` returns it.

    Returns:
        A scalar tensor.

    Raises:
        ValueError: If the number is an int that is too large for the type.
    """
    try:
        # 0.0 and -0.0 are equal as cache keys, so zeros bypass the cache.
        value = _round_number(number, float_type) if number != 0 else float_type(number)
    except OverflowError:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.") from None
    tensor = EagerTensor()
    tensor._value = value
    tensor._record = None
    tensor._origin = None
    if record is not None:
        tensor._record, tensor._row = record, record.append_leaf(get_number_leaf(number), site, value)
        # 0.0 and -0.0 are equal as keys, and NaN does not equal any key, so none of them can be looked up.
        if number == number and number != 0:
            record.numbers[number, type(value)] = tensor
            record.numbers.setdefault(number, tensor)
    return tensor


@lru_cache(1024, typed=True)
def _round_number(number: float, float_type: type) -> Array:
    return ignore_fp_errors().run(float_type, number)
