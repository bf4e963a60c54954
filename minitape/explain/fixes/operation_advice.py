"""Give advice on the operation to blame, such as what to write instead or what to check.

One table serves all frameworks. If no row of the table applies, the cause's own sentence is used.
"""

import ast
import re
from ast import AST
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...common.syntax import select_nodes
from ...engine.table.generated_code import parse_expression
from ...engine.types import OptionalExpression, OptionalText
from ..reasons.program_text import find_last_name_of_dotted_path, unparse
from ..reasons.zero_nan import is_softmax_of_single_elements
from ..translated_sentences import fill
from .fault_site import (
    FaultSite,
    find_receiver_or_first_argument,
    is_call_of,
    is_result_used_as_index,
    spell_function_path_as_imported,
)
from .host_conversion_fixes import FLAT_FUNCTIONS, find_convertible_call_and_new_text
from .numeric_fixes import (
    find_smallest_input_element_or_minus_inf,
    find_step_function_operand,
    format_straight_through_estimator,
    is_integer_cast,
)


class OperationAdvice(NamedTuple):
    """A row of the table.

    Attributes:
        causes: The causes to which the row applies, separated by spaces.
        name_pattern: A pattern that matches the operation's name in lower case without underscores.
        sentence: The advice, which may contain fields from `_FIELD_READERS`.
        applies: A function that returns whether the row applies to a node of the statement to blame.
    """

    causes: str
    name_pattern: str
    sentence: str
    applies: Callable[[FaultSite, Any], bool] = lambda fault, node: True


def find_advice_for_fault(fault: FaultSite) -> OptionalText:
    """Return the advice from the first row of the table that applies to the statement to blame.

    Rows and expressions that match the recorded operation's name are tried before all others.

    Args:
        fault: The fault site, which holds the statement.

    Returns:
        The advice with its fields filled in, or None if no row applies.
    """
    op_name = "" if fault.row is None else _normalize_name(fault.row.op)
    if op_name == "function":  # The advice is about single operations, not about whole functions.
        return None
    rows = [row for row in OPERATION_FIXES if fault.cause in row.causes.split()]
    rows.sort(key=lambda row: not re.fullmatch(row.name_pattern, op_name))
    nodes: list[Any] = select_nodes(fault.statement.nodes, ast.expr, ast.stmt)
    if fault.call is not None:  # Only the expression that ran, or an expression that encloses it, can be to blame.
        call_nodes = [*ast.walk(fault.call)]
        nodes = [node for node in nodes if node in call_nodes or fault.call in ast.walk(node)]
    nodes.sort(
        key=lambda node: (
            node is not fault.call,
            find_normalized_operation_or_node_kind(node) != op_name,
            not _did_operand_of_call_compute_input(fault, node),
        )
    )
    for row in rows:
        for node in nodes:
            if _is_advice_about_expression(row, node, op_name) and row.applies(fault, node):
                values = {name: _FIELD_READERS[name](fault, node) for name in set(re.findall(r"{(\w+)}", row.sentence))}
                if None not in values.values():
                    return fill(row.sentence, **values)
    return None


def _is_advice_about_expression(row: OperationAdvice, node: AST, op_name: str) -> bool:
    """Return whether a row of the table is about an expression, or about an operation that has run.

    Advice without fields does not depend on how the line calls the operation, as in ``criterion(...)``.
    """
    names = [find_normalized_operation_or_node_kind(node), *([] if "{" in row.sentence else [op_name])]
    return any(re.fullmatch(row.name_pattern, name) for name in names)


def _did_operand_of_call_compute_input(fault: FaultSite, node: AST) -> bool:
    """Return whether the operand of a call computed one of the recorded operation's inputs."""
    inputs = [] if fault.row is None else fault.row.inputs
    operand = find_receiver_or_first_argument(fault, node)
    ops = [_normalize_name(fault.question.rows[index].op) for index in inputs]
    return operand is not None and find_normalized_operation_or_node_kind(operand) in ops


def find_normalized_operation_or_node_kind(node: AST) -> str:
    """Return the name of the function that an expression calls, or the name of its operator or node type.

    Args:
        node: The expression.

    Returns:
        The name in lower case, without underscores.

    >>> texts = "tf.math.top_k(x)", "a // b", "a < b"
    >>> [find_normalized_operation_or_node_kind(ast.parse(text, mode="eval").body) for text in texts]
    ['topk', 'floordiv', 'compare']
    """
    if isinstance(node, ast.Call):
        return _normalize_name(find_last_name_of_dotted_path(node.func))
    return type(getattr(node, "op", node)).__name__.lower()


def _to_source_text(node: AST | None) -> OptionalText:
    return None if node is None else unparse(node)


def _find_second_operand_or_argument(node: ast.BinOp | ast.Call) -> OptionalExpression:
    """Return the second operand of an operator or call, or None if a call has only one argument."""
    if isinstance(node, ast.BinOp):
        return node.right
    return node.args[1] if len(node.args) > 1 else None


def _format_argument_negated_for_minimum(selection: AST, argument: OptionalExpression) -> OptionalText:
    """Return the text of the value that a selection maximizes. For a minimum, this is the negated argument."""
    text = _to_source_text(
        ast.UnaryOp(ast.USub(), argument)
        if argument and "min" in find_normalized_operation_or_node_kind(selection)
        else argument
    )
    return text and text.removeprefix("--")


def _spell_path_or_keep(fault: FaultSite, path: str) -> str:
    return spell_function_path_as_imported(fault, path) or path


def format_soft_comparison(fault: FaultSite, node: Any) -> OptionalText:
    """Return a smooth replacement for a comparison, with values between 0 and 1.

    ``x > 0.5`` becomes ``tf.sigmoid((x - 0.5) / 0.1)``.

    Args:
        fault: The fault site, which provides the dialect and the program.
        node: The comparison, which may be an operator or a call such as ``greater(a, b)``.

    Returns:
        The text of the expression, or None if the node is not an ordering comparison of two values.
    """
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        comparison = _normalize_name(type(node.ops[0]).__name__)
    else:
        sides = getattr(node, "args", [])
        comparison = find_normalized_operation_or_node_kind(node)
    if len(sides) != 2 or not re.match("gt|lt|greater|less", comparison):
        return None
    above, below = reversed(sides) if comparison.startswith("l") else sides
    height = f"({unparse(above)})" if unparse(below) in ("0", "0.0") else f"(({unparse(above)}) - ({unparse(below)}))"
    return unparse(parse_expression(f"{_spell_path_or_keep(fault, fault.dialect.sigmoid)}({height} / 0.1)"))


def _is_not_maximum_or_are_indices_used(fault: FaultSite, node: Any) -> bool:
    """Return whether a node is not a max or min, or is a max or min whose indices are used.

    The indices are used in ``max(x, 1)[1]``, ``max(x).indices`` and ``_, i = max(x, 1)``.
    """
    is_unpacked = node is fault.statement.value and len(fault.statement.bound_names) == 2
    is_part_taken = any(getattr(n, "value", None) is node for n in fault.statement.nodes)
    return find_normalized_operation_or_node_kind(node) not in ("max", "min") or is_unpacked or is_part_taken


def _yields_truth_value(node: AST) -> bool:
    """Return whether an expression computes a truth value, which blocks the gradient in any case."""
    return isinstance(node, ast.Compare) or find_normalized_operation_or_node_kind(node) in ("equal", "notequal")


def _may_recorded_operation_match(fault: FaultSite, name_pattern: str) -> bool:
    """Return whether the recorded operation matches a pattern, or is a function whose operations are unknown."""
    return fault.row is None or bool(re.search(name_pattern + "|function", _normalize_name(fault.row.op)))


def _is_source_float(fault: FaultSite) -> bool:
    """Return whether the source has a floating-point type."""
    return "int" not in str(getattr(fault.question.source, "dtype", ""))


def _find_call_text_with_framework_function(fault: FaultSite, node: Any) -> OptionalText:
    """Return a call rewritten to use the framework's own function, or None if the node is not the call to rewrite."""
    call_and_text = find_convertible_call_and_new_text(fault)
    if call_and_text is None or call_and_text[0] is not node:
        return None
    return call_and_text[1]


def _normalize_name(name: str) -> str:
    return name.lower().replace("_", "")


# Each function returns the text for a field of a sentence. If it returns None, the sentence does not apply.
_FIELD_READERS: dict[str, Callable[[FaultSite, Any], OptionalText]] = {
    "it": lambda fault, node: unparse(node),
    "x": lambda fault, node: _to_source_text(find_step_function_operand(fault, node)),
    "high": lambda fault, node: _format_argument_negated_for_minimum(node, find_step_function_operand(fault, node)),
    "softmax": lambda fault, node: _spell_path_or_keep(fault, fault.dialect.softmax),
    "sigmoid": lambda fault, node: _spell_path_or_keep(fault, fault.dialect.sigmoid),
    "clip": lambda fault, node: _spell_path_or_keep(fault, fault.dialect.find_equivalent_function("clip")),
    "through": lambda fault, node: format_straight_through_estimator(
        fault, node, find_step_function_operand(fault, node)
    ),
    "soft": format_soft_comparison,
    "small": lambda fault, node: (
        "1e-12" if re.search("sqrt|norm", find_normalized_operation_or_node_kind(node)) else "1e-06"
    ),
    "below": lambda fault, node: _to_source_text(_find_second_operand_or_argument(node)),
    "code": lambda fault, node: fault.source_access_path_or_name,
    "new": _find_call_text_with_framework_function,
}

_NO_DERIVATIVE_CAUSES = "no_derivative nondifferentiable zero_derivative no_gradient_registered"
_INTEGER_CAUSES = "integer_cast integer_dtype"
_ESCAPE_CAUSES = "left_torch left_through_numpy"
OPERATION_FIXES = [
    OperationAdvice(
        "integer_dtype",
        r"\w*",
        "{code} is an index, and an index has no gradient. Ask for the gradient of the indexed tensor.",
        lambda fault, node: not _is_source_float(fault) and is_result_used_as_index(fault),
    ),
    OperationAdvice(
        _ESCAPE_CAUSES,
        "joinedstr|str|format|dumps|mod",
        "Keep both the number and the text, and use the number in the computation.",
        lambda fault, node: not isinstance(node, ast.BinOp) or isinstance(getattr(node.left, "value", None), str),
    ),
    OperationAdvice(
        _ESCAPE_CAUSES,
        "|".join(map(_normalize_name, FLAT_FUNCTIONS)),
        "`{it}` is a step function, even on tensors. Use `{softmax}` instead to weight all the elements, or "
        "compute with the values directly.",
    ),
    OperationAdvice("left_jax", r"\w+", "Write `{new}` instead of `{it}`."),
    OperationAdvice(_ESCAPE_CAUSES, r"\w+", "Write `{new}` instead of `{it}`, and use tensors throughout."),
    OperationAdvice(
        f"{_NO_DERIVATIVE_CAUSES} {_INTEGER_CAUSES}",
        "argmax|argmin|max|min|argsort|categorical|multinomial",
        "`{it}` returns integers, so its result changes only in jumps. Weight all the candidates with `{softmax}` of "
        "`{high}`, or with `{high}` itself if these are probabilities already. A classifier's scores can go to a "
        "cross-entropy loss instead.",
        lambda fault, node: _is_source_float(fault) and _is_not_maximum_or_are_indices_used(fault, node),
    ),
    OperationAdvice(
        f"{_NO_DERIVATIVE_CAUSES} {_INTEGER_CAUSES}",
        "long|int|short|astype|cast|to|type",
        "An index must remain an integer, so interpolate between the two neighboring elements. Write `low = {it}` (at "
        "most the size - 2) and `part = ({x}) - low`, and replace `table[...]` with `(1 - part) * table[low] + part * "
        "table[low + 1]`.",
        lambda fault, node: is_integer_cast(node) and is_result_used_as_index(fault),
    ),
    OperationAdvice(
        f"{_NO_DERIVATIVE_CAUSES} {_INTEGER_CAUSES}",
        "round|rint|floor|ceil|trunc|fix|sign|floordiv|floordivide",
        "During training, write `{x}` instead of `{it}`, or use the straight-through estimator: `{through}`.",
        lambda fault, node: not any(_yields_truth_value(n) and node in ast.walk(n) for n in fault.statement.nodes),
    ),
    OperationAdvice(
        _INTEGER_CAUSES,
        "long|int|short|astype|cast|to|type",
        "Remove the cast and compute with `{x}` directly, or pass the gradient through as if there were no cast. If "
        "the integers select elements, interpolate between the elements instead.",
        lambda fault, node: is_integer_cast(node) and _is_source_float(fault),
    ),
    OperationAdvice(
        _NO_DERIVATIVE_CAUSES,
        "compare|greater|greaterequal|less|lessequal",
        "Replace `{it}` with a number between 0 and 1: `{soft}`, where 0.1 is the width of the step. To blend a and b "
        "according to this number p, write `p * a + (1 - p) * b` instead of calling where.",
    ),
    OperationAdvice(
        _NO_DERIVATIVE_CAUSES,
        r"compare|equal|notequal|countnonzero|intopk|\w*accuracy",
        "No gradient flows through a truth value or through a count of truth values. Train with a loss on the values "
        "themselves, such as a cross entropy, and use the accuracy only for reports.",
    ),
    OperationAdvice(
        "branch python_branch",
        "compare",
        "The value has an effect only through the condition. Compute both branches, write `w = {soft}` instead of the "
        "`if`, and blend each pair of results with `w * a + (1 - w) * b`. Here, 0.1 is the width of the step.",
        lambda fault, node: fault.dialect.name != "jax",
    ),
    OperationAdvice(
        "saturated",
        "clip|clamp|clipbyvalue|clampmin|clampmax|hardtanh",
        "The elements of `{x}` that matter here lie outside the limits of `{it}`. Start with values inside the limits, "
        "or widen the limits. If the values should stay at the limit, nothing is wrong.",
        lambda fault, node: fault.row is None or not re.search("sigmoid|logistic|tanh|softmax|erf|exp", fault.row.op),
    ),
    OperationAdvice(
        "nan_forward",
        "softmax",
        "All elements of a row are -inf, so softmax divides 0 by 0. Leave at least one element in each row unmasked, "
        "or mask with a large negative number such as -1e9.",
        lambda fault, node: any(a is not None and np.isneginf(a).any() for a in fault.list_input_arrays()),
    ),
    OperationAdvice(
        "nan_forward",
        "crossentropy|nllloss",
        "No target counts here, for example because all of them are ignore_index, so the mean is 0 divided by 0. Leave "
        "out such batches, or write reduction='sum' and divide by at least 1.",
        lambda fault, node: all(a is not None and np.isfinite(a).all() for a in fault.list_input_arrays()),
    ),
    OperationAdvice(
        "no_grad",
        "loadstatedict",
        "load_state_dict() copies only values. To compute with these tensors as weights, and to keep their history, "
        "call torch.func.functional_call(module, state, inputs).",
    ),
    OperationAdvice(
        "zero_factor",
        "grucell|lstmcell|rnntanhcell|rnnrelucell",
        "The state that this cell receives is zero in each call. Pass it the state that the previous call returned.",
    ),
    OperationAdvice(
        "nan_forward",
        "std|var|stdmean|varmean",
        "With correction=1, which is the default, `{it}` is NaN if it gets a single element, because it divides by the "
        "number of elements minus one. A small number added to it does not help. Leave out groups with only one "
        "element (for a DataLoader, drop_last=True), or write correction=0 if no gradient has to flow through here.",
    ),
    OperationAdvice(
        "nan_forward nan_backward",
        "exp|exp2|cosh|sinh",
        "`{it}` is too large for its dtype. If it is divided by its sum, `{softmax}({x}, -1)` computes the same result "
        "without overflow. Otherwise, subtract the largest element first, or compute in a wider dtype.",
    ),
    OperationAdvice(
        "nan_forward",
        "log|log2|log10|rsqrt|reciprocal|pow|power",
        "`{it}` is not finite where `{x}` is zero. Add a small number such as {small} to `{x}`. If a later line masks "
        "these elements, replace them before this line as well.",
        lambda fault, node: (
            find_smallest_input_element_or_minus_inf(fault) == 0
            and _may_recorded_operation_match(fault, "log|sqrt|recip|pow|div")
            and not is_call_of(find_receiver_or_first_argument(fault, node), "softmax", "sigmoid")
        ),
    ),
    OperationAdvice(
        "nan_forward nan_backward",
        "log|log2|log10|sqrt",
        "`{x}` is negative for at least one element, and there `{it}` is NaN. Keep `{x}` above zero. If a later line "
        "masks these elements, replace them before this line as well.",
        lambda fault, node: -np.inf < find_smallest_input_element_or_minus_inf(fault) < 0,
    ),
    OperationAdvice(
        "nan_backward",
        "sqrt|pow|power|norm|vectornorm",
        "The derivative of `{it}` is not finite where `{x}` is zero. Add a small number such as {small} to `{x}` (for "
        "a norm, to the sum of squares). If a later line masks these elements, replace them before this line as well.",
        lambda fault, node: find_smallest_input_element_or_minus_inf(fault) == 0,
    ),
    OperationAdvice(
        "nan_forward nan_backward",
        "div|truediv|realdiv|divide",
        "`{below}` is zero for at least one element. Add a small number such as 1e-6 to `{below}`, or remove the "
        "elements that would be divided by zero before the division.",
        lambda fault, node: _may_recorded_operation_match(fault, "div|recip"),
    ),
    OperationAdvice(
        "nan_forward nan_backward",
        "a?r?c?acos|a?r?c?asin|arccos|arcsin|atanh|arctanh",
        "The derivative of `{it}` is not finite at 1 and -1. Clip its input to the open interval: write "
        "`{clip}({x}, -1 + 1e-6, 1 - 1e-6)` instead of `{x}`.",
    ),
    OperationAdvice(
        "nan_forward nan_backward nonfinite_value",
        r"\w*eigh?|\w*eigvalsh?|svd\w*|linalgsvd",
        "The derivative of `{it}` divides by the differences between the eigenvalues or singular values, so it is "
        "infinite if two of them are equal. Add different small numbers to the diagonal, or use a function of the "
        "matrix that does not need the vectors.",
    ),
    OperationAdvice(
        "nan_forward nan_backward nonfinite_value",
        "ctcloss",
        "A target sequence is too long for its input, so its loss is infinite. Write zero_infinity=True, or leave out "
        "such samples.",
    ),
    OperationAdvice(
        "nan_forward nan_backward",
        "scaleddotproductattention",
        "A whole row is masked. Leave at least one element in each row unmasked, or mask with a large negative number "
        "such as -1e4 instead of -inf.",
    ),
    OperationAdvice(
        "no_derivative",
        "topk|argsort|sort|argmax|argmin",
        "The indices that `{it}` returns have no gradient. Multiply the selected elements by the values that were "
        "compared (the scores), so that the gradient reaches these values.",
        lambda fault, node: (
            is_result_used_as_index(fault) or find_normalized_operation_or_node_kind(node) in ("topk", "sort")
        ),
    ),
    OperationAdvice(
        "not_selected",
        "minimum|maximum|gather|gathernd|take|where|subscript|indexselect|takealongaxis",
        "If this choice is intended, nothing is wrong: which elements `{it}` takes depends on the data, "
        "indices or conditions. Otherwise, use data for which `{it}` takes these elements, or use all elements.",
    ),
    OperationAdvice(
        "zero_cancels saturated",
        "softmax",
        "The softmax of a single value is always 1. If it should weight several elements, it runs over the wrong axis: "
        "choose the axis of these elements. For a yes-or-no answer with a single output, write `{sigmoid}({x})` "
        "instead of `{it}`, or use one output for each class.",
        lambda fault, node: is_softmax_of_single_elements(fault.find_result_array()),
    ),
]
