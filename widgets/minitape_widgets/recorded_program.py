"""Find the lines of a lesson that recorded a tape, so that a page can run them again without Python.

The browser's evaluator knows only a small part of Python. Therefore, the lines that do not contribute to the tape are
left out: imports, ``print``, the view itself, and everything that an earlier cell computed for other purposes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

VIEW_CLASS = "TapeView"


class SourceStatement(NamedTuple):
    """A statement of a cell.

    Attributes:
        tree: The syntax tree.
        text: The lines of the statement.
    """

    tree: ast.stmt
    text: str


def extract_program(cells: Iterable[str]) -> str | None:
    r"""Return the part of a lesson that records the tape shown by the last cell, and that asks it for gradients.

    Starting with the view, the function reads the statements backward. It keeps each statement that assigns or changes
    a name that a kept statement reads.

    >>> cell = "import minitape as tf\nk = 5\nx = tf.Variable(3.0)\nwith tf.GradientTape() as tape:\n    y = x * x"
    >>> print(extract_program([cell, "print(tape.gradient(y, x))\nTapeView(tape)"]))
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    gradient = tape.gradient(y, x)
    >>> extract_program(["TapeView(recording.tape)"])

    Args:
        cells: The sources of the lesson's code cells up to the cell that shows the view.

    Returns:
        The program, or None if the last cell does not show a tape by its name.
    """
    statements: list[SourceStatement] = []
    tape = None
    for source in cells:
        cell = list(iter_statements(source))
        tape = find_shown_tape(cell)
        statements += cell
    if tape is None:
        return None
    modules = {name for tree, _ in statements for name in list_imported_names(tree)}
    wanted, kept = {tape}, list[str]()
    for tree, text in reversed(statements):
        gradient_call = find_gradient_call(tree, tape) if tape in wanted else None
        if isinstance(tree, ast.Expr) and gradient_call:
            kept.append(f"gradient = {ast.unparse(gradient_call)}")
            wanted |= list_read_names(gradient_call) - modules
        elif (gradient_call and isinstance(tree, ast.Assign)) or is_needed(tree, wanted):
            kept.append(text)
            wanted = (wanted - list_settled_names(tree)) | (list_free_names(tree) - modules)
    return "\n".join(reversed(kept))


def iter_statements(source: str) -> Iterator[SourceStatement]:
    """Yield the statements of a cell, or none if the cell is not plain Python, for instance because of a magic."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return
    lines = source.splitlines()
    for tree in body:
        first_line = min([tree.lineno, *(line.lineno for line in getattr(tree, "decorator_list", ()))])
        yield SourceStatement(tree, "\n".join(lines[first_line - 1 : tree.end_lineno]))


def find_shown_tape(cell: list[SourceStatement]) -> str | None:
    """Return the name of the tape in a cell's last call of ``TapeView``, or None if it shows something else."""
    calls = [
        node
        for statement in cell
        for node in ast.walk(statement.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == VIEW_CLASS and node.args
    ]
    shown = calls[-1].args[0] if calls else None
    return shown.id if isinstance(shown, ast.Name) else None


def find_gradient_call(tree: ast.stmt, tape: str) -> ast.Call | None:
    """Return the first call of the tape's ``gradient`` in a statement."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"{tape}.gradient":
            return node
    return None


def is_needed(tree: ast.stmt, wanted: set[str]) -> bool:
    """Return whether a statement assigns one of the names, or calls a method of one, such as ``x.assign(2.0)``."""
    if isinstance(tree, ast.Expr):
        call = tree.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return False
        return bool(list_read_names(call.func) & wanted)
    return bool(list_assigned_names(tree) & wanted)


def list_imported_names(tree: ast.stmt) -> list[str]:
    """Return the names that an import statement binds."""
    if not isinstance(tree, ast.Import | ast.ImportFrom):
        return []
    return [alias.asname or alias.name.partition(".")[0] for alias in tree.names]


def list_assigned_names(tree: ast.AST) -> set[str]:
    """Return the names that a statement assigns or defines."""
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return names | {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def list_read_names(tree: ast.AST) -> set[str]:
    """Return the names that a statement or expression reads."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def list_settled_names(tree: ast.stmt) -> set[str]:
    """Return the names whose earlier values do not matter after a statement, because it always assigns them."""
    if isinstance(tree, ast.FunctionDef):
        return {tree.name}
    return list_assigned_names(tree) if isinstance(tree, ast.Assign | ast.AnnAssign | ast.With) else set()


def list_free_names(tree: ast.stmt) -> set[str]:
    """Return the names that a statement reads and that earlier statements define."""
    names = list_read_names(tree)
    if isinstance(tree, ast.Assign | ast.AnnAssign):
        return names
    if isinstance(tree, ast.AugAssign):
        return names | list_assigned_names(tree)
    parameters = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    is_block = isinstance(tree, ast.FunctionDef | ast.With)
    return names - parameters - (list_assigned_names(tree) if is_block else set())
