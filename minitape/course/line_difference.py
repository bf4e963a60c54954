"""Find the line in which a learner's function first differs from the solution, in the learner's names."""

import ast
import textwrap
from dataclasses import dataclass
from difflib import SequenceMatcher

from ..common.syntax import list_nodes, select_nodes
from ..engine.types import NameList, TextList

MIN_SIMILARITY = 0.5
"""Programs that are less similar take different approaches, so comparing their lines would explain nothing."""
MAX_LINES = 2


@dataclass(frozen=True)
class LineDifference:
    """The first lines in which two programs differ, indented relative to each other.

    Attributes:
        own_lines: The lines of the learner's function. Empty if only the solution has lines there.
        solution_lines: The lines of the solution in the learner's names. Empty if only the learner's function has lines
            there.
    """

    own_lines: TextList
    solution_lines: TextList


def find_line_difference(source: str, solution: str) -> LineDifference | None:
    r"""Find the first lines in which a learner's function differs from the solution.

    Args:
        source: The source of the learner's function.
        solution: The program of the solution.

    Returns:
        The lines, or None if the functions agree or have so little in common that a single line would explain nothing.

    >>> solution = "def f(x):\n    y = x * x\n    return y"
    >>> find_line_difference("def g(a):\n    b = a + a\n    return b", solution)
    LineDifference(own_lines=['b = a + a'], solution_lines=['b = a * a'])
    """
    own_function = find_last_function(source)
    solution_function = find_last_function(rename_as_learner(solution, source))
    if own_function is None or solution_function is None:
        return None
    own_lines = _list_body_lines(own_function)
    solution_lines = _list_body_lines(solution_function)
    matcher = SequenceMatcher(None, own_lines, solution_lines, autojunk=False)
    if matcher.ratio() < MIN_SIMILARITY:
        return None
    for tag, begin, end, solution_begin, solution_end in matcher.get_opcodes():
        if tag != "equal":
            own_part = own_lines[begin:end]
            solution_part = solution_lines[solution_begin:solution_end]
            if max(len(own_part), len(solution_part)) > MAX_LINES:
                return None
            lines = textwrap.dedent("\n".join([*own_part, *solution_part])).split("\n")
            return LineDifference(lines[: len(own_part)], lines[len(own_part) :])
    return None


def rename_as_learner(solution: str, source: str) -> str:
    r"""Rewrite a solution with the names in a learner's function.

    Args:
        solution: The program of the solution.
        source: The source of the learner's function.

    Returns:
        The program. It keeps the names that both functions have, and all of its names if the functions do not have the
        same number of names.

    >>> rename_as_learner("def f(x):\n    y = x * x\n    return y", "def g(a):\n    b = a\n    return b")
    'def f(a):\n    b = a * a\n    return b'
    """
    own_function = find_last_function(source)
    solution_function = find_last_function(solution)
    if own_function is None or solution_function is None:
        return solution
    own_names, solution_names = map(_list_names_in_order, (own_function, solution_function))
    own_names, solution_names = (
        [name for name in names if name not in other_names]  # Names in both functions stay unchanged.
        for names, other_names in ((own_names, solution_names), (solution_names, own_names))
    )
    names = dict(zip(solution_names, own_names, strict=False)) if len(own_names) == len(solution_names) else {}
    tree = ast.parse(solution)
    for name in list_nodes(tree, ast.Name):
        name.id = names.get(name.id, name.id)
    for argument in list_nodes(tree, ast.arg):
        argument.arg = names.get(argument.arg, argument.arg)
    return ast.unparse(tree)


def find_last_function(program: str) -> ast.FunctionDef | None:
    """Find the last function that a program defines, or return None if it defines none or is not Python.

    Args:
        program: The text of the program.
    """
    try:
        tree = ast.parse(program)
    except SyntaxError:
        return None
    functions = select_nodes(tree.body, ast.FunctionDef)
    return functions[-1] if functions else None


def _list_body_lines(function: ast.FunctionDef) -> TextList:
    """List the lines of a function's body in a uniform format."""
    body = [node for node in function.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    return [line for node in body for line in ast.unparse(node).split("\n")]


def _list_names_in_order(function: ast.FunctionDef) -> NameList:
    """List a function's arguments, followed by the names that it assigns, in the order of its lines."""
    arguments = [argument.arg for argument in function.args.args]
    stored = [node for node in list_nodes(function, ast.Name) if isinstance(node.ctx, ast.Store)]
    stored.sort(key=lambda node: (node.lineno, node.col_offset))
    return [*dict.fromkeys([*arguments, *(node.id for node in stored)])]
