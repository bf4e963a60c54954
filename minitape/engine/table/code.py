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


def compile_text(text: str, functions: dict[str, Function], arguments: str = ARGUMENTS) -> Function:
    """Makes the function ``(g, z, x, y)``, or of other arguments, that computes ``text`` with these functions.

    >>> compile_text("twice(x) + y", {"twice": lambda v: 2 * v}, "x, y")(3, 1)
    7
    """
    return eval(compile(f"lambda {arguments}: {text}", f"<formula {text}>", "eval"), dict(functions))


def define(text: str, label: str, space: dict[str, Object]) -> dict[str, Object]:
    """``space`` with what the statements of ``text`` define; tracebacks show the ``label`` as the file.

    >>> define("def f(x):\\n    return x + one\\n", "<formula f>", {"one": 1})["f"](2)
    3
    """
    exec(compile(text, label, "exec"), space)
    return space


def parse(text: str) -> ast.expr:
    """The tree of an expression."""
    return ast.parse(text, mode="eval").body


def names_in(text: str) -> set[str]:
    """The names in an expression.

    >>> sorted(names_in("g * cos(x)"))
    ['cos', 'g', 'x']
    """
    return {node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)}


class Substitution(ast.NodeTransformer):
    """Puts expressions, given as text or as trees, in the place of variables."""

    def __init__(self, names: dict[str, str | ast.expr]) -> None:
        self.names = {name: parse(value) if isinstance(value, str) else value for name, value in names.items()}

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return copy.deepcopy(self.names.get(node.id, node))


OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
}


class _Called(ast.NodeTransformer):
    """Puts calls in the place of operators."""

    def __init__(self, first: list[ast.expr]) -> None:
        self.first = first

    def _call(self, name: str, *operands: ast.expr) -> ast.expr:
        return ast.Call(ast.Name(name), [*self.first, *map(self.visit, operands)], [])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return self._call(ast.unparse(node.func), *node.args)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if type(node.op) not in OPERATORS:
            raise ValueError(
                f"{ast.unparse(node)}: a formula may use + - * / and functions, such as pow(x, y) for x ** y"
            )
        name, x, y = OPERATORS[type(node.op)], node.left, node.right
        if not names_in(ast.unparse(x)):
            return self._call(f"reflected_{name}", y, x)
        return self._call(name if names_in(ast.unparse(y)) else f"{name}_number", x, y)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return self._call("negative", node.operand) if names_in(ast.unparse(node)) else node


def with_calls(text: str, *first: str) -> str:
    """A formula with functions in the place of operators, which take ``first`` before their operands.

    With a number on the right they have another name, and with one on the left they take it last.

    >>> with_calls("g * (1 - x * cos(z / 2))")
    'multiply(g, reflected_subtract(multiply(x, cos(divide_number(z, 2))), 1))'
    """
    return ast.unparse(_Called([*map(parse, first)]).visit(parse(text)))


def with_operands(text: str, operands: Sequence[str]) -> str:
    """A formula of x and y with other expressions in their places.

    >>> with_operands("x * cos(y)", ["a[i]", "2.0"])
    'a[i] * cos(2.0)'
    """
    return ast.unparse(Substitution(dict(zip("xy", operands, strict=False))).visit(parse(text)))
