"""Define edits for the line to blame. An edit returns the text that should replace a syntax node, or None."""

import ast
import re
from ast import AST
from collections import Counter
from collections.abc import Iterable
from typing import Any

from ...common.syntax import select_nodes
from ...engine.table.generated_code import parse_expression
from ...engine.types import NameList, Names, OptionalExpression
from ..reasons.program_text import (
    find_both_operand_expressions,
    find_last_name_of_dotted_path,
    unparse,
)
from .fault_site import (
    TENSOR_BUILDERS,
    Change,
    Edit,
    FaultSite,
    find_receiver_or_first_argument,
    is_call_of,
    is_module,
)

TENSOR_MAKERS = (
    "Variable constant convert_to_tensor tensor array asarray randn rand zeros ones full fill range arange linspace"
).split()


def build_call_unwrapping_edit(*names: str) -> Edit:
    """Return an edit that replaces ``x.name()``, ``name(x)`` and ``x.name`` with ``x``.

    Args:
        *names: The names of functions, methods and attributes.
    """

    def edit_node(fault: FaultSite, node: Any) -> Change:
        is_named_attribute = isinstance(node, ast.Attribute) and node.attr in names
        if not is_named_attribute and not is_call_of(node, *names):
            return None
        if _does_line_repeat_operation_on_same_inputs(fault) or any(
            is_call_of(n, *TENSOR_BUILDERS) and n is not node for n in fault.statement.calls
        ):
            # The line either deliberately blocks the gradient of another use too, or builds a new tensor from the
            # value.
            return None
        if is_named_attribute:
            # If the attribute is called, the call is edited instead.
            if is_module(fault, node.value) or any(call.func is node for call in fault.statement.calls):
                return None
            changes = [n for n in select_nodes(fault.statement.nodes, ast.Attribute) if n.value is node]
            return None if changes or fault.statement.targets[:1] == [node] else unparse(node.value)
        receiver = find_receiver_or_first_argument(fault, node)
        if receiver is None or any(argument is not receiver for argument in node.args):
            return None
        return None if _is_straight_through(fault.statement.nodes, node, receiver) else unparse(receiver)

    return edit_node


def build_edit_that_moves_cut_to_difference(*names: str) -> Edit:
    """Return an edit that replaces ``cut(x + f(x) - x)``, which passes no gradient, with ``x + cut(f(x) - x)``.

    Args:
        *names: The names of functions and methods that block the gradient.
    """

    def edit_node(fault: FaultSite, node: Any) -> Change:
        operand = find_receiver_or_first_argument(fault, node) if is_call_of(node, *names) else None
        match operand:
            case ast.BinOp(ast.BinOp(kept, ast.Add(), result), ast.Sub(), subtracted) | ast.BinOp(
                kept, ast.Add(), ast.BinOp(result, ast.Sub(), subtracted)
            ) if ast.dump(kept) == ast.dump(subtracted):
                difference = ast.BinOp(result, ast.Sub(), kept)
                return f"{unparse(kept)} + {unparse(node).replace(unparse(operand), unparse(difference))}"
        return None

    return edit_node


def _does_line_repeat_operation_on_same_inputs(fault: FaultSite) -> bool:
    """Return whether the line computes the recorded operation more than once from the same inputs."""
    row = fault.row
    if row is None:
        return False
    counts = fault.question.get_or_compute_shared_result(
        f"inputs of {row.op} at {row.site}",
        lambda: Counter(tuple(r.inputs) for r in fault.question.rows if r.op == row.op and r.site == row.site),
    )
    return counts[tuple(row.inputs)] > 1


def _is_straight_through(nodes: Iterable[AST], call: AST, operand: AST) -> bool:
    """Return whether a call is the cut in ``x + cut(y - x)``, a common way to pass the gradient to ``x`` alone.

    Args:
        nodes: The expressions of the statement.
        call: The call that blocks the gradient.
        operand: The argument of the call.
    """
    if not isinstance(operand, ast.BinOp) or not isinstance(operand.op, ast.Sub):
        return False
    subtracted = ast.dump(operand.right)
    sums = [node for node in select_nodes(nodes, ast.BinOp) if isinstance(node.op, ast.Add)]
    return any(
        (node.right is call and ast.dump(node.left) == subtracted)
        or (node.left is call and ast.dump(node.right) == subtracted)
        for node in sums
    )


def build_keyword_edit(name: str, value: object, *functions: str) -> Edit:
    """Return an edit that sets a keyword argument of a call.

    Args:
        name: The keyword's name.
        value: The keyword's new value, which replaces any other value in a call.
        *functions: The functions whose calls get the keyword if they lack it.
    """

    def edit_node(fault: FaultSite, node: Any) -> Change:
        if not isinstance(node, ast.Call):
            return None
        present_keyword = next((k for k in node.keywords if k.arg == name), None)
        if present_keyword is not None:
            return None if unparse(present_keyword.value) == str(value) else (present_keyword.value, str(value))
        if not is_call_of(node, *functions):
            return None
        return unparse(
            ast.Call(node.func, node.args, [*node.keywords, ast.keyword(name, parse_expression(str(value)))])
        )

    return edit_node


def find_operand_of_operation(fault: FaultSite, node: Any, operation_names: Names) -> OptionalExpression:
    """Return the operand of an operation: ``x`` in ``name(x)``, ``x.name()``, ``a / x`` and ``x ** 0.5``.

    Args:
        fault: The fault site, which provides the names that the program uses.
        node: The syntax node.
        operation_names: The names of the operations. A quotient is named "div", and a power "pow".

    Returns:
        The operand, or None if the node is a different operation, or a power with an exponent of 1 or more.
    """
    if isinstance(node, ast.BinOp) and type(node.op).__name__.lower() in operation_names:
        if isinstance(node.op, ast.Div):
            return node.right
        if isinstance(node.op, ast.Pow) and re.fullmatch(r"[1-9][\d.]*", unparse(node.right)):
            return None
        return node.left
    return find_receiver_or_first_argument(fault, node) if is_call_of(node, *operation_names) else None


def build_operand_edit(operand_template: str, *operation_names: str) -> Edit:
    """Return an edit that changes the operand of an operation.

    Args:
        operand_template: The new operand, with ``{x}`` for the old one, such as ``{x} + 1e-06``.
        *operation_names: The names of the operations; see `find_operand_of_operation`.
    """

    def edit_node(fault: FaultSite, node: Any) -> Change:
        operand_node = find_operand_of_operation(fault, node, operation_names)
        return None if operand_node is None else (operand_node, operand_template.format(x=f"({unparse(operand_node)})"))

    return edit_node


def list_names_of_source(fault: FaultSite) -> NameList:
    """Return the names through which the program accesses the source.

    Names that hold a different object in the asking frame are omitted.

    Args:
        fault: The fault site.
    """
    question = fault.question
    return [
        name
        for name in dict.fromkeys((fault.source_access_path_or_name, question.name))
        if name
        and question.adapter.to_handle_for_comparison(fault.program_values_by_name.get(name, question.source))
        is question.adapter.to_handle_for_comparison(question.source)
    ]


def replace_false_in_requires_grad_or_trainable(fault: FaultSite, node: Any) -> Change:
    """Set ``requires_grad`` or ``trainable`` to True instead of False. This is an `Edit`.

    A statement in a loop is left alone, because such a statement usually freezes many objects.

    Args:
        fault: The fault site, which holds the statement to blame.
        node: The syntax node to change.

    Returns:
        The new text, or None if the edit does not apply to the node.
    """
    if fault.statement.enclosing_loops:
        return None
    if is_call_of(node, "requires_grad_") and node.args and unparse(node.args[0]) == "False":
        return node.args[0], "True"
    is_frozen = isinstance(node, ast.Assign) and find_last_name_of_dotted_path(node.targets[0]) in (
        "requires_grad",
        "trainable",
    )
    return (node.value, "True") if is_frozen and unparse(node.value) == "False" else None


def format_variable_assign_call_or_empty(name: str, value: ast.expr, operator: ast.operator | None = None) -> str:
    """Rewrite an assignment to a name as a method call on a TensorFlow variable.

    Args:
        name: The name of the variable.
        value: The value that the program assigns to the name.
        operator: The operator of an augmented assignment, or None.

    Returns:
        The call, or "" if there is an operator other than ``+=`` and ``-=``.

    >>> format_variable_assign_call_or_empty("w", parse_expression("w - 0.1 * g"))
    'w.assign_sub(0.1 * g)'
    >>> format_variable_assign_call_or_empty("w", parse_expression("tf.Variable(2.0)"))
    'w.assign(2.0)'
    """
    step_types = (ast.Sub, ast.Add)
    if (
        operator is None
        and isinstance(value, ast.BinOp)
        and unparse(value.left) == name
        and isinstance(value.op, step_types)
    ):
        operator = value.op
        value = value.right
    if isinstance(operator, step_types):
        method = "assign_sub" if isinstance(operator, ast.Sub) else "assign_add"
        return f"{name}.{method}({unparse(value)})"
    if operator is not None:
        return ""
    if is_call_of(value, "Variable") and value.args:
        value = value.args[0]
    return f"{name}.assign({unparse(value)})"


def squeeze_column(fault: FaultSite, node: Any) -> Change:
    """Turn the column into a row in an operation that combines a column and a row. This is an `Edit`.

    Args:
        fault: The fault site, which holds the statement to blame.
        node: The syntax node to change.

    Returns:
        The new text, or None if the edit does not apply to the node.
    """
    row: Any = fault.row
    columns = [side for side, row_index in enumerate(row.inputs[:2]) if len(fault.question.rows[row_index].shape) == 2]
    sides = find_both_operand_expressions(fault.question.rows, row)
    is_known = len(columns) == 1 and sides and node is sides[columns[0]]
    return fault.dialect.squeeze_template.format(x=f"({unparse(node)})") if is_known else None


def replace_sample_by_rsample(fault: FaultSite, node: Any) -> Change:
    """Replace ``sample`` with ``rsample``, because only ``rsample`` passes gradients. This is an `Edit`.

    The edit does not apply to discrete distributions, or inside a block that switches autograd off.

    Args:
        fault: The fault site, which holds the statement to blame.
        node: The syntax node to change.

    Returns:
        The new text, or None if the edit does not apply to the node.
    """
    paused = fault.statement.find_enclosing_with_or_function_using("no_grad", "inference_mode")
    if not is_call_of(node, "sample") or not isinstance(node.func, ast.Attribute) or paused:
        return None
    is_discrete = fault.row is not None and any(
        row.op in ("bernoulli", "poisson", "binomial", "multinomial")
        for row in fault.question.rows
        if row.site == fault.row.site
    )
    return None if is_discrete else (node.func, f"{unparse(node.func.value)}.rsample")
