"""Define edits for lines that compute step functions or NaNs. These edits also depend on the recorded values."""

import ast
import re
from typing import Any

import numpy as np

from ...common.syntax import list_nodes
from ...engine.table.generated_code import parse_expression
from ...engine.types import OptionalExpression, OptionalText
from ..reasons.program_text import find_last_name_of_dotted_path, unparse
from .fault_site import (
    Change,
    Edit,
    FaultSite,
    find_receiver_or_first_argument,
    is_call_of,
    spell_function_path_as_imported,
)

_RANDOM_FUNCTIONS = set("rand randn randint normal uniform bernoulli sample rsample dropout".split())
STEP_FUNCTIONS = "round floor ceil trunc sign rint fix floordiv".split()


def format_straight_through_estimator(fault: FaultSite, step: ast.expr, operand: OptionalExpression) -> OptionalText:
    """Return a straight-through estimator, such as ``x + stop_gradient(round(x) - x)``.

    Args:
        fault: The fault site, which provides the dialect and the program.
        step: The step expression, such as ``round(x)``.
        operand: The operand of the step, or None.

    Returns:
        The text of the expression, or None if `operand` is None, if the operand must not be evaluated twice, or if the
        program does not import the framework's function.
    """
    if operand is None:
        return None
    # A second call to a random function would return different numbers, and the program's own functions may have side
    # effects.
    if any(
        isinstance(call.func, ast.Name) or find_last_name_of_dotted_path(call.func) in _RANDOM_FUNCTIONS
        for call in list_nodes(operand, ast.Call)
    ):
        return None
    inner = f"({unparse(step)}) - ({unparse(operand)})"
    if not fault.dialect.stop_gradient:
        return unparse(parse_expression(f"({unparse(operand)}) + ({inner}).detach()"))
    stop_function = spell_function_path_as_imported(fault, fault.dialect.stop_gradient)
    if stop_function is None:
        return None
    return unparse(parse_expression(f"({unparse(operand)}) + {stop_function}({inner})"))


def find_step_function_operand(fault: FaultSite, node: Any) -> OptionalExpression:
    """Return the operand of a step such as ``round(x)``. For ``a // b``, return the quotient ``a / b``.

    Args:
        fault: The fault site, which provides the names that the program uses.
        node: The step expression.
    """
    if fault.dialect.name == "jax" and is_call_of(node, "categorical"):  # The first argument is the random key.
        return next(iter(node.args[1:]), None)
    pair = [node.left, node.right] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) else []
    pair = list(node.args) if is_call_of(node, "floordiv", "floor_divide") else pair
    return ast.BinOp(pair[0], ast.Div(), pair[1]) if len(pair) == 2 else find_receiver_or_first_argument(fault, node)


def is_integer_cast(node: ast.Call) -> bool:
    """Return whether a call to a casting function converts to an integer type.

    Args:
        node: The call.
    """
    arguments = [*node.args[-1:], *(keyword.value for keyword in node.keywords)]
    return find_last_name_of_dotted_path(node.func) in ("long", "int", "short") or any(
        "int" in unparse(argument) for argument in arguments
    )


def restrict_edit_to_input_with_minimum_zero(edit: Edit, input_index: int = 0) -> Edit:
    """Return an edit that applies only if an input of the operation contains a zero.

    The input must have been computed from the source, and its smallest element must be zero. The edit does not apply if
    an exp, a product or a root produced the zero, because the derivative of that operation is then zero or infinite.

    Args:
        edit: The edit.
        input_index: The index of the input.
    """

    def edit_at_zero(fault: FaultSite, node: Any) -> Change:
        rows = [fault.question.rows[row] for row in (fault.row.inputs if fault.row else [])]
        op_words = " ".join(text for row in rows for text in (row.op, *row.scope)).lower()
        has_flat_zero = re.search("exp|sigmoid|logistic|softmax|prod|sqrt|norm", op_words)
        if not rows or has_flat_zero or find_smallest_input_element_or_minus_inf(fault, input_index) != 0:
            return None
        return edit(fault, node) if fault.question.is_computed_from_source(rows[input_index].index) else None

    return edit_at_zero


def restrict_edit_to_nonzero_operation_result(edit: Edit) -> Edit:
    """Return an edit that applies only if the operation's result has a nonzero element.

    If all results of a root are zero, the derivative of the operand is usually zero as well, and the edit would not
    help.

    Args:
        edit: The edit.
    """

    def edit_nonzero_result(fault: FaultSite, node: Any) -> Change:
        result = fault.find_result_array()
        if result is None or not result.any():
            return None
        return edit(fault, node)

    return edit_nonzero_result


def find_smallest_input_element_or_minus_inf(fault: FaultSite, input_index: int = 0) -> float:
    """Return the smallest element of one of the operation's inputs, or -inf if its elements are not known.

    Args:
        fault: The fault site, which holds the operation.
        input_index: The index of the input.
    """
    array = next(iter(fault.list_input_arrays()[input_index:]), None)
    return -np.inf if array is None or not array.size else float(np.min(array))
