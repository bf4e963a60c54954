"""Text becomes code here, and nowhere else: formulas, operators, programs of graphs, what numba compiles.

minitape writes all of these texts itself, from its own tables. No text of a user or of a file comes here.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..typed import Function, Object

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


def parsed(text: str) -> ast.expr:
    """The tree of an expression."""
    return ast.parse(text, mode="eval").body


def names_in(text: str) -> set[str]:
    """The names in an expression.

    >>> sorted(names_in("g * cos(x)"))
    ['cos', 'g', 'x']
    """
    return {node.id for node in ast.walk(parsed(text)) if isinstance(node, ast.Name)}


class Renamed(ast.NodeTransformer):
    """Puts expressions, given as text or as trees, in the place of variables."""

    def __init__(self, names: dict[str, str | ast.expr]) -> None:
        self.names = {name: parsed(value) if isinstance(value, str) else value for name, value in names.items()}

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return copy.deepcopy(self.names.get(node.id, node))


def with_operands(text: str, operands: Sequence[str]) -> str:
    """A formula of x and y with other expressions in their places.

    >>> with_operands("x * cos(y)", ["a[i]", "2.0"])
    'a[i] * cos(2.0)'
    """
    return ast.unparse(Renamed(dict(zip("xy", operands, strict=False))).visit(parsed(text)))
