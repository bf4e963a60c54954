"""Text becomes code here, and nowhere else: formulas, operators, programs of functions, what numba compiles.

minitape writes all of these texts itself, from its own tables. No text of a user or of a file comes here.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..types import Function, Object

ARGUMENTS = "g, z, x, y=None"  # of a formula: the adjoint of the output, the output, the inputs


def compile_expression(text: str, functions: dict[str, Function], arguments: str = ARGUMENTS) -> Function:
    """Compile the function ``(g, z, x, y)``, or of other arguments, that computes ``text`` with these functions.

    >>> compile_expression("twice(x) + y", {"twice": lambda v: 2 * v}, "x, y")(3, 1)
    7
    """
    return eval(compile(f"lambda {arguments}: {text}", f"<formula {text}>", "eval"), dict(functions))


def execute_definitions(text: str, file_label: str, namespace: dict[str, Object]) -> dict[str, Object]:
    """Run the statements of ``text``, and return ``namespace`` with what they define; tracebacks show the
    ``file_label`` as the file.

    >>> execute_definitions("def f(x):\\n    return x + one\\n", "<formula f>", {"one": 1})["f"](2)
    3
    """
    exec(compile(text, file_label, "exec"), namespace)
    return namespace


def parse_expression(text: str) -> ast.expr:
    """Parse an expression into its tree."""
    return ast.parse(text, mode="eval").body


def find_names(text: str) -> set[str]:
    """Find the names in an expression.

    >>> sorted(find_names("g * cos(x)"))
    ['cos', 'g', 'x']
    """
    return {node.id for node in ast.walk(parse_expression(text)) if isinstance(node, ast.Name)}


class Substitution(ast.NodeTransformer):
    """Puts expressions, given as text or as trees, in the place of variables."""

    def __init__(self, replacements: dict[str, str | ast.expr]) -> None:
        self.replacements = {
            name: parse_expression(value) if isinstance(value, str) else value for name, value in replacements.items()
        }

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return copy.deepcopy(self.replacements.get(node.id, node))


OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
}


class _OperatorCalls(ast.NodeTransformer):
    """Puts calls in the place of operators."""

    def __init__(self, leading_arguments: list[ast.expr]) -> None:
        self.leading_arguments = leading_arguments

    def _build_call(self, name: str, *operands: ast.expr) -> ast.expr:
        return ast.Call(ast.Name(name), [*self.leading_arguments, *map(self.visit, operands)], [])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return self._build_call(ast.unparse(node.func), *node.args)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if type(node.op) not in OPERATORS:
            raise ValueError(
                f"{ast.unparse(node)}: a formula may use + - * / and functions, such as pow(x, y) for x ** y"
            )
        name, x, y = OPERATORS[type(node.op)], node.left, node.right
        if not find_names(ast.unparse(x)):
            return self._build_call(f"reflected_{name}", y, x)
        return self._build_call(name if find_names(ast.unparse(y)) else f"{name}_number", x, y)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return self._build_call("negative", node.operand) if find_names(ast.unparse(node)) else node


def replace_operators_with_calls(text: str, *leading_arguments: str) -> str:
    """Write a formula with functions in the place of operators, which take ``leading_arguments`` before their operands.

    With a number on the right they have another name, and with one on the left they take it last.

    >>> replace_operators_with_calls("g * (1 - x * cos(z / 2))")
    'multiply(g, reflected_subtract(multiply(x, cos(divide_number(z, 2))), 1))'
    """
    return ast.unparse(_OperatorCalls([*map(parse_expression, leading_arguments)]).visit(parse_expression(text)))


def replace_operands(text: str, operands: Sequence[str]) -> str:
    """Write a formula of x and y with other expressions in their places.

    >>> replace_operands("x * cos(y)", ["a[i]", "2.0"])
    'a[i] * cos(2.0)'
    """
    return ast.unparse(Substitution(dict(zip("xy", operands, strict=False))).visit(parse_expression(text)))
