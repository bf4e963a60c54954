"""Read the names of an operation's operands and result from the program's text."""

import ast
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from types import CodeType
from typing import NamedTuple

from ..common.syntax import select_nodes
from ..engine.types import OptionalNumber, OptionalText
from .sites import read_source_lines, suppress_syntax_warnings

Span = tuple[OptionalNumber, OptionalNumber, OptionalNumber, OptionalNumber]


class ExpressionNames(NamedTuple):
    """The names in an expression that calls an operation.

    Attributes:
        function: The last part of the called function's name, such as "matmul", or the label of an operator, such as
            "×". The label is "" for a subscript or a function without a name.
        operands: The texts of the operands that are names, attributes or indexed names, such as "self.w" or "ws[0]".
            Other operands are None.
        result: The name to which the program assigns the result, or None.
    """

    function: str
    operands: tuple[OptionalText, ...]
    result: OptionalText

    def has_operands_of_operation_itself(self, operation: str, input_count: int) -> bool:
        """Return whether the operands belong to an operation, rather than to a function that runs the operation.

        Args:
            operation: The name of the operation.
            input_count: The number of the operation's inputs.
        """
        return self.function == operation if self.function.isidentifier() else len(self.operands) == input_count


# The labels or operation names that recordings of other frameworks use, keyed by the operator's syntax node.
OPERATOR_LABELS = {"Add": "+", "Sub": "−", "Mult": "×", "Div": "÷", "MatMult": "@", "Pow": "pow", "USub": "−x"}


def read_expression_names(code: CodeType, offset: int) -> ExpressionNames | None:
    """Return the names in the expression that a bytecode instruction evaluates.

    Args:
        code: The code object.
        offset: The offset of the instruction in bytes.

    Returns:
        The names, or None if the text is unknown or the instruction is neither an operator nor a call.
    """
    span = next(islice(code.co_positions(), offset // 2, None), (None,) * 4)
    names_by_span = _parse_expressions("".join(read_source_lines(code.co_filename)))
    return names_by_span.get(span) or names_by_span.get((None, span[1], None, span[3]))


def map_file_line_and_operation_to_result_name(files: Iterable[str]) -> dict[tuple[object, ...], str]:
    """Return the names to which statements assign the results of their last operations.

    A line that contains the same operation twice, such as ``y = a * b * c``, is left out, because a recording of
    another framework knows only the line of an operation.

    Args:
        files: The files to read.

    Returns:
        The names, keyed by the file, the expression's first line, and the operation, such as "sin" or "×".
    """
    all_names = [
        ((file, span[0], names.function), names.result)
        for file in files
        for span, names in _parse_expressions("".join(read_source_lines(file))).items()
    ]
    counts = Counter(key for key, _ in all_names)
    return {key: name for key, name in all_names if name and counts[key] == 1}


@lru_cache(64)
def _parse_expressions(program: str) -> dict[Span, ExpressionNames]:
    """Return the names in each operator and call of a program, or {} for a program with a syntax error.

    The keys are the expression's first line, last line, first column and last column. A call is also listed under its
    last line and column alone, because Python reports only these for a call that spans several lines.
    """
    names_by_span: dict[Span, ExpressionNames] = {}
    try:
        with suppress_syntax_warnings():
            tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError):
        return names_by_span
    result_names: dict[ast.AST, OptionalText] = {}
    for node in ast.walk(tree):  # Statements are visited before their expressions.
        if isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            result_names[node.value] = unparse_if_name_attribute_or_constant_item(node.target)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            result_names[node.value] = unparse_if_name_attribute_or_constant_item(node.targets[0])
        elif (operands := _list_operands_or_positional_arguments(node)) and isinstance(node, ast.expr):
            operator = OPERATOR_LABELS.get(type(getattr(node, "op", None)).__name__, "")
            function = (
                unparse_if_name_attribute_or_constant_item(node.func) or "" if isinstance(node, ast.Call) else operator
            )
            names = ExpressionNames(
                function.rpartition(".")[2],
                tuple(map(unparse_if_name_attribute_or_constant_item, operands)),
                result_names.get(node),
            )
            names_by_span[node.lineno, node.end_lineno, node.col_offset, node.end_col_offset] = names
            if isinstance(node, ast.Call):
                names_by_span[None, node.end_lineno, None, node.end_col_offset] = names
    return names_by_span


def _list_operands_or_positional_arguments(node: ast.AST) -> list[ast.expr]:
    """Return the operands of an operator or the positional arguments of a call, or [] for any other node."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Subscript):
        return [node.value]
    if isinstance(node, ast.Call) and not any(select_nodes(node.args, ast.Starred)):
        return node.args
    return []


def unparse_if_name_attribute_or_constant_item(node: ast.expr) -> OptionalText:
    """Return the text of a name, of an attribute or of an element with a constant index, or None for any other node.

    Args:
        node: The expression.

    >>> nodes = [ast.parse(text, mode="eval").body for text in ("self.w", "ws[0].b", "f(x).w", "ws[i]")]
    >>> [unparse_if_name_attribute_or_constant_item(node) for node in nodes]
    ['self.w', 'ws[0].b', None, None]
    """
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = unparse_if_name_attribute_or_constant_item(node.value)
        return owner and f"{owner}.{node.attr}"
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        owner = unparse_if_name_attribute_or_constant_item(node.value)
        return owner and f"{owner}[{node.slice.value!r}]"
    return None
