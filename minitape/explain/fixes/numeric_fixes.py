"""What fixes a line that goes in steps, or makes NaNs: edits that look at the recorded numbers, too."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from ..reasons.program_text import find_last_name, parse_expression, unparse
from .dialects import TENSORFLOW
from .fault_site import (
    Change,
    Edit,
    FaultSite,
    find_call_operand,
    is_call,
    is_result_used_as_index,
    spell_path_for_program,
)

_RANDOM_FUNCTIONS = set("rand randn randint normal uniform bernoulli sample rsample dropout".split())
STEP_FUNCTIONS = "round floor ceil trunc sign rint fix floordiv".split()


def format_straight_through(fault: FaultSite, step: ast.expr, x: ast.expr | None) -> str | None:
    """``x + stop_gradient(round(x) - x)``; None where ``x`` must not run a second time."""
    if x is None:
        return None
    calls = [n.func for n in ast.walk(x) if isinstance(n, ast.Call)]
    if any(
        isinstance(function, ast.Name) or find_last_name(function) in _RANDOM_FUNCTIONS for function in calls
    ):  # other numbers, or done twice
        return None
    stop_function = spell_path_for_program(fault, fault.dialect.stop_gradient) if fault.dialect.stop_gradient else ""
    inner = f"({unparse(step)}) - ({unparse(x)})"
    text = f"({unparse(x)}) + " + (f"{stop_function}({inner})" if stop_function else f"({inner}).detach()")
    return None if stop_function is None else unparse(parse_expression(text))


def find_step_operand(fault: FaultSite, node: Any) -> ast.expr | None:
    """What a step is applied to; of ``a // b`` the quotient."""
    pair = [node.left, node.right] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) else []
    pair = list(node.args) if is_call(node, "floordiv", "floor_divide") else pair
    return ast.BinOp(pair[0], ast.Div(), pair[1]) if len(pair) == 2 else find_call_operand(fault, node)


def pass_straight_through(fault: FaultSite, node: Any) -> Change:
    """A step, or a cast to whole numbers, whose gradient passes as if it were not there."""
    is_cast = fault.cause.startswith("integer") and is_integer_cast(node) and isinstance(node.func, ast.Attribute)
    is_step = (
        is_cast or is_call(node, *STEP_FUNCTIONS) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv))
    )
    enclosing = [n for n in fault.statement.nodes if is_step and n is not node and node in ast.walk(n)]
    is_compared = any(
        isinstance(n, ast.Compare) or is_integer_cast(n) or is_call(n, "equal", "not_equal") for n in enclosing
    )
    x = find_step_operand(fault, node) if is_step and not is_compared and not is_result_used_as_index(fault) else None
    if x is None or any(is_call(n, *STEP_FUNCTIONS) or is_integer_cast(n) for n in ast.walk(x)):
        return None
    hard_value: Any = node
    if is_cast and find_last_name(node.func) == "cast":
        rows, row = fault.question.rows, fault.row
        reader_ops = [reader.op for reader in rows if row is not None and row.index in reader.inputs]
        if row is None or not all(op.lower() == "cast" for op in reader_ops) or "int" in rows[row.inputs[0]].dtype:
            return None  # something reads the whole numbers themselves, or they were whole before
        hard_value = ast.Call(parse_expression("tf.cast"), [node, parse_expression("tf.float32")], [])
    return format_straight_through(fault, hard_value, x)


def is_integer_cast(node: ast.AST) -> bool:
    """Whether an expression makes whole numbers."""
    if not is_call(node, "long", "int", "short", "astype", "cast", "to", "type"):
        return False
    arguments = [*node.args[-1:], *(keyword.value for keyword in node.keywords)]
    return find_last_name(node.func) in ("long", "int", "short") or any(
        "int" in unparse(argument) for argument in arguments
    )


def require_zero_input(edit: Edit, input_index: int = 0) -> Edit:
    """An edit that is right where what the operation takes was computed from the source, is zero somewhere, and
    nowhere negative; not where exp, a product or a root left that zero: its own derivative is zero, or infinite, too.
    """

    def edit_at_zero(fault: FaultSite, node: Any) -> Change:
        rows = [fault.question.rows[row] for row in (fault.row.inputs if fault.row else [])]
        op_words = " ".join(text for row in rows for text in (row.op, *row.scope)).lower()
        has_flat_zero = re.search("exp|sigmoid|logistic|softmax|prod|sqrt|norm", op_words)
        is_computed = bool(rows) and rows[input_index].index in fault.question.descendants
        return (
            edit(fault, node)
            if is_computed and find_smallest_input_element(fault, input_index) == 0 and not has_flat_zero
            else None
        )

    return edit_at_zero


def require_nonzero_result(edit: Edit) -> Edit:
    """An edit of a root: where all that it gives is zero, the derivative of what is below is mostly zero, too."""
    return lambda fault, node: (
        edit(fault, node) if (numbers := fault.find_result_array()) is not None and numbers.any() else None
    )


def exclude_tensorflow(edit: Edit) -> Edit:
    """An edit that TensorFlow undoes: compiled, it may add the number of ``tf.norm(a - b + 1e-12)`` to ``b`` first."""
    return lambda fault, node: None if fault.dialect is TENSORFLOW else edit(fault, node)


def find_smallest_input_element(fault: FaultSite, input_index: int = 0) -> float:
    """The smallest element of the first input of the operation whose elements are known, or of another of them."""
    minima = [float(np.min(array)) for array in fault.list_input_arrays() if array is not None and array.size]
    return minima[input_index] if minima else -np.inf
