"""Compile the rules of the table for a recorded sweep, in which they call recorded operations."""

import operator
from functools import cache

from ..table.accelerator import fast
from ..table.generated_code import compile_expression, find_names_in_expression
from ..table.primitives import Rule
from ..table.primitives.elementwise import BY_CODE, FIRST_CODE, RECORDED_FUNCTIONS, to_recorded_formula
from ..types import Function, FunctionsByName

PYTHON_OPERATORS: FunctionsByName = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
}


@cache
def build_recorded_functions() -> FunctionsByName:
    """Return the functions that the rules of the table call in a recorded sweep.

    Returns:
        A dict that maps names in recorded formulas to functions
        (:func:`minitape.engine.table.primitives.elementwise.to_recorded_formula`). For example, ``multiply`` takes two
        tensors, ``multiply_number`` takes a tensor and a number (which becomes a leaf row, see ``numbers``), and
        ``reflected_subtract`` takes its operands in reverse order. In the plain engine, ``multiply`` is
        ``operator.mul``. Functions without an operator, such as ``pow``, are the primitives themselves, which record
        their operation if an operand is a tensor.
    """
    called_names = {
        name
        for primitive in BY_CODE
        for text in primitive.texts[1:]
        if text != "-"
        for name in find_names_in_expression(to_recorded_formula(text))
    }
    functions = dict(RECORDED_FUNCTIONS)
    for primitive in BY_CODE:
        name = primitive.name
        general = PYTHON_OPERATORS.get(name, primitive)
        signature = "a, b" if primitive.is_binary else "a"
        is_called = not called_names.isdisjoint((name, f"{name}_number"))
        # Every sweep adds shares, even if no rule contains an addition.
        if name == "add" or is_called:
            function = fast.get_fast_operation_function(general, primitive, "rule", signature=signature, inside=True)
            functions[name] = function
            functions[f"{name}_number"] = function
        if (reflected_name := f"reflected_{name}") in called_names:
            functions[reflected_name] = fast.get_fast_operation_function(
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
