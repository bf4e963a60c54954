"""The statement to blame, as an edit sees it, and how text is put into the lines of its program."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple, TypeGuard

from ...recording.sites import lines_of
from ...recording.values import numbers_of
from ..reasons.names import find_access_path
from ..reasons.question import OptionalArray, Question, RecordedRow
from ..reasons.text import ProgramText, Statement, last_name, parsed, program, unparse
from .dialects import Dialect

SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)
REBUILDS = set("tensor as_tensor from_numpy Variable Parameter constant array asarray FloatTensor".split())
_OPERANDS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Attribute, ast.Subscript)
_TAKES = re.compile("(?i)embedding|gather|getitem|slice|index|take|one_?hot|range|cross_?entropy|nll").search


class Fix(NamedTuple):
    """A line of a program, and what is in its place, which may be several; no text: nothing. With words of its own it
    is no patch.
    """

    line: int
    text: str
    words: str = ""


@dataclass
class Spot:
    """What is to blame: the cause and the statement, and of its operation what is known."""

    question: Question
    cause: str
    statement: Statement
    entry: RecordedRow | None = None  # the recorded operation
    call: ast.expr | None = None  # its expression
    instead: str = ""  # the statement in its place, where the words know it

    @property
    def dialect(self) -> Dialect:
        """How the framework writes it."""
        return self.question.adapter.dialect

    @cached_property
    def names(self) -> dict[str, Any]:
        """The names of the program, and what they hold."""
        return dict(reversed([*self.question.adapter.names()]))

    @cached_property
    def path(self) -> str:
        """How the program reaches the source."""
        return (
            find_access_path(self.question, self.question.adapter.to_handle(self.question.source)) or self.question.name
        )

    @property
    def program(self) -> ProgramText:
        """The text around it."""
        return program(self.statement.file)

    @property
    def statements(self) -> list[Statement]:
        """Those of its file."""
        return [s for s in self.program.statements if s.file == self.statement.file]

    @property
    def lines(self) -> list[str]:
        """Those of its file."""
        return [line.rstrip("\n") for line in lines_of(self.statement.file)]

    def inputs(self) -> list[OptionalArray]:
        """The elements of what the operation took; None where they are gone."""
        return [numbers_of(self.question.rows[row].value) for row in (self.entry.inputs if self.entry else [])]

    def result(self) -> OptionalArray:
        """The elements of what the operation gave; None where they are gone."""
        return None if self.entry is None else numbers_of(self.entry.value)

    def readers(self, *names: str) -> list[Statement]:
        """The other statements that read what this one binds, or these names; of an attribute by any name of its
        object.
        """
        bound = {*names, *(last_name(t) or unparse(t) for t in self.statement.targets)}
        others = [s for s in self.program.statements if s is not self.statement]
        return [s for s in others if bound & {last_name(n) or unparse(n) for n in s.nodes if isinstance(n, ast.expr)}]


Change = str | tuple[ast.AST, str] | None  # what is in a node's place, or in another's; None: nothing changes
Edit = Callable[[Spot, Any], Change]  # of one piece of the statement's syntax
Plan = Callable[[Spot], Fix | None]  # of the whole program


# -- what is there ---------------------------------------------------------------------------------


def is_call(node: ast.AST | None, *names: str) -> TypeGuard[ast.Call]:
    """Whether a node calls a function of one of these names."""
    return isinstance(node, ast.Call) and last_name(node.func) in names


def is_module(spot: Spot, node: ast.AST) -> bool:
    """Whether an expression is a module, or a part of one: ``np``, ``tf.math``."""
    root, _, rest = unparse(node).partition(".")
    known = root in spot.program.imported or root in spot.dialect.modules
    return "(" not in rest and (known or isinstance(spot.names.get(root), ModuleType))


def operand(spot: Spot, call: ast.AST | None) -> ast.expr | None:
    """``x`` of ``f(x)``, ``module.f(x)``, ``x.f()`` and of a layer ``self.f(x)``."""
    if not isinstance(call, ast.Call):
        return None
    of = call.func.value if isinstance(call.func, ast.Attribute) else None
    if of is not None and unparse(of) != "self" and not is_module(spot, of):
        return of
    return call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else None


def spelled(spot: Spot, path: str) -> str | None:
    """``jnp.log`` as the program would write it; None where it does not know the module."""
    root, _, rest = path.partition(".")
    module, imported = spot.dialect.modules.get(root, root), spot.program.imported
    used = {n.id for s in spot.program.statements for n in s.nodes if isinstance(n, ast.Name)} | set(imported)
    if root in used and imported.get(root, module) in (module, module.rpartition(".")[0]):
        return path
    return f"{module}.{rest}" if module.partition(".")[0] in used else None


def is_index(spot: Spot) -> bool:
    """Whether what the operation gives says which elements are taken, by itself or by other whole numbers."""
    rows, found = spot.question.rows, {spot.entry.index} if spot.entry else set()
    for one in rows[min(found, default=len(rows)) :]:
        if not found.isdisjoint(one.inputs):
            if _TAKES(one.op):
                return True
            found |= {one.index} if "int" in one.dtype else set()
    return False


# -- what is written -------------------------------------------------------------------------------


def replaced(spot: Spot, node: Any, text: str) -> Fix | None:
    """A line with another text for one node, a statement or an expression; None where that has several lines, where
    nothing changes, or where the program would not parse any more.
    """
    lines = spot.lines
    line = lines[node.lineno - 1]
    if node.lineno != node.end_lineno:
        return None
    if isinstance(node, ast.expr):
        text = _with_brackets(spot, node, text)
    text = re.sub(r"'([^'\"\\]*)'", r'"\1"', text) if '"' in line and "'" not in line else text
    before, rest = line.encode()[: node.col_offset], line.encode()[node.end_col_offset :]
    indent = line[: len(line) - len(line.lstrip())]
    new = (before + text.replace("\n", "\n" + indent).encode() + rest).decode()
    left, equals, right = new.strip().partition(" = ")
    new = "" if equals and left == right and left.isidentifier() else new  # ``h = h`` goes
    try:
        ast.parse("\n".join([*lines[: node.lineno - 1], new, *lines[node.lineno :]]))
    except SyntaxError:
        return None
    return None if new == line else Fix(node.lineno, new)


def _with_brackets(spot: Spot, node: ast.expr, text: str) -> str:
    """The text of an expression, in brackets where a part of the operation around it would take it apart."""
    try:
        new = parsed(text)
    except SyntaxError:  # a part of a call: ``x, dim=0``
        return text
    around = (n for n in spot.statement.nodes for part in ast.iter_child_nodes(n) if part is node)
    apart = any(isinstance(n, _OPERANDS) or (isinstance(n, ast.Call) and n.func is node) for n in around)
    whole = isinstance(new, (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.List))
    return f"({unparse(new)})" if apart and not whole else unparse(new)


def edited(spot: Spot, edit: Edit) -> Fix | None:
    """An edit of the statement, at the one node that it changes; None where that is none, or several."""
    changes = [(node, new) for node in spot.statement.nodes if (new := edit(spot, node)) is not None]
    changes = [change for change in changes if change[0] is spot.call] or changes
    if not changes or not all(other in ast.walk(changes[0][0]) for other, _ in changes):
        return None
    node, new = changes[0]
    return replaced(spot, node, new) if isinstance(new, str) else replaced(spot, *new)
