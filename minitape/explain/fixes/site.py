"""The statement to blame, as an edit sees it, and how text is put into the lines of its program."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from ...common.texts import paragraph
from ...recording.sites import lines_of
from ...recording.values import numbers_of
from ..reasons.names import path_to
from ..reasons.question import Question, RecordedRow
from ..reasons.text import ProgramText, Statement, last_name, parsed, program, rewritten, unparse
from ..sentences import fill
from .dialects import Dialect

SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)
REBUILDS = set("tensor as_tensor from_numpy Variable Parameter constant array asarray FloatTensor".split())
_OPERANDS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Attribute, ast.Subscript)
_LOOKS_UP = set("embedding Embedding gather index_select one_hot range arange cross_entropy take gather_nd".split())


class EditStep(NamedTuple):
    """Lines of a program, and what is in their place; no text: nothing."""

    first: int
    last: int
    text: str


class Fix(NamedTuple):
    """What changes in a program; without words one line of it, which is the patch."""

    steps: list[EditStep]
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
        return path_to(self.question, self.question.adapter.handle(self.question.source)) or self.question.name

    @property
    def program(self) -> ProgramText:
        """The text around it."""
        return program(self.statement.file)

    def aliases(self, *packages: str) -> set[str]:
        """What the program calls these packages, their parts, and what it imports from them."""
        return {name for name, module in self.program.imported.items() if module.partition(".")[0] in packages}

    @property
    def statements(self) -> list[Statement]:
        """Those of its file."""
        return [s for s in self.program.statements if s.file == self.statement.file]

    @property
    def lines(self) -> list[str]:
        """Those of its file."""
        return [line.rstrip("\n") for line in lines_of(self.statement.file)]

    def inputs(self) -> list[np.ndarray | None]:
        """The elements of what the operation took; None where they are gone."""
        rows = self.entry.inputs if self.entry is not None else []
        return [numbers_of(self.question.rows[row].value) for row in rows]

    def result(self) -> np.ndarray | None:
        """The elements of what the operation gave; None where they are gone."""
        return None if self.entry is None else numbers_of(self.entry.value)

    def readers(self) -> list[Statement]:
        """The other statements that read what this one binds; an attribute by any name of its object."""
        bound = {last_name(t) or unparse(t) for t in self.statement.targets}
        others = (s for s in self.program.statements if s is not self.statement)
        return [s for s in others if bound & {last_name(n) or unparse(n) for n in s.nodes if isinstance(n, ast.expr)}]


Change = str | tuple[ast.AST, str]  # what is in a node's place, or in another's
Edit = Callable[[Spot, Any], "Change | None"]  # of one piece of the statement's syntax
Plan = Callable[[Spot], "Fix | None"]  # of the whole program


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
    known = next((name for name, full in imported.items() if full == module), "")
    return f"{known or module}.{rest}" if known or module.partition(".")[0] in used else None


def is_index(spot: Spot) -> bool:
    """Whether what the statement computes says which elements are taken, as far as its text tells."""
    bound = set(spot.statement.binds)
    for s in [spot.statement, *spot.readers()]:
        for node in s.nodes:
            given = node.args if is_call(node, *_LOOKS_UP) else []
            if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
                given = [node.slice]
            parts = [n for part in given for n in ast.walk(part)]
            if any(n is spot.call or (s is not spot.statement and unparse(n) in bound) for n in parts):
                return True
            if s is spot.statement and any(is_call(n, "int", "long", "cast", "astype", "argmax") for n in parts):
                return True
    return False


# -- what is written -------------------------------------------------------------------------------


def replaced(spot: Spot, changes: Iterable[tuple[Any, str]]) -> Fix | None:
    """The program with other texts for some of its nodes: statements, or expressions within one line."""
    lines, steps = spot.lines, dict[int, EditStep]()
    for node, text in sorted(changes, key=lambda change: (-change[0].lineno, -change[0].col_offset)):
        first, last, whole = node.lineno, node.end_lineno, isinstance(node, ast.stmt)
        if first != last and not whole:
            return None
        node, text = (node, text) if whole else _with_operands(spot, node, text)
        old = steps[first].text if first in steps else lines[first - 1]
        text = re.sub(r"'([^'\"\\]*)'", r'"\1"', text) if '"' in old and "'" not in old else text
        after = lines[last - 1] if last != first else old
        before, rest = old.encode()[: node.col_offset], after.encode()[node.end_col_offset :]
        indent = old[: len(old) - len(old.lstrip())]
        steps[first] = EditStep(first, last, (before + text.replace("\n", "\n" + indent).encode() + rest).decode())
    return checked(spot, [_unless_itself(steps[first]) for first in sorted(steps)])


def _with_operands(spot: Spot, node: ast.expr, text: str) -> tuple[ast.expr, str]:
    """A node, or the operation that it is a part of, and its new text: with brackets where they are needed."""
    try:
        new = parsed(text)
    except SyntaxError:  # a part of a call: ``x, dim=0``
        return node, text
    above = {id(part): n for s in spot.statements for n in s.nodes for part in ast.iter_child_nodes(n)}
    while not isinstance(new, (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.List)) and (
        isinstance(up := above.get(id(node)), _OPERANDS) or (isinstance(up, ast.Call) and up.func is node)
    ):
        new, node = _with(up, node, new), up
    return node, unparse(ast.fix_missing_locations(new))


def _with(whole: ast.AST, old: ast.AST, new: ast.AST) -> Any:
    """A copy of a syntax tree with one node swapped for another."""
    return rewritten(whole, lambda n: new if n is old else None)


def _unless_itself(step: EditStep) -> EditStep:
    """A line that would give a name its own value, ``h = h``, goes."""
    left, equals, right = step.text.strip().partition(" = ")
    return step._replace(text="") if equals and left == right and left.isidentifier() else step


def checked(spot: Spot, steps: list[EditStep], words: str = "") -> Fix | None:
    """The steps, where they change something and the program still parses."""
    before = "\n".join(spot.lines)
    after = stepped(before, steps)
    try:
        ast.parse(after)
    except SyntaxError:
        return None
    return None if after == before else Fix(steps, words)


def edited(spot: Spot, edit: Edit) -> Fix | None:
    """An edit of the statement, at the one node that it changes; None where that is none, or several."""
    changes = [(node, new) for node in spot.statement.nodes if (new := edit(spot, node)) is not None]
    changes = [change for change in changes if change[0] is spot.call] or changes
    if not changes or not all(other in ast.walk(changes[0][0]) for other, _ in changes):
        return None
    node, new = changes[0]
    beside = [s for s in spot.statements if s.line <= spot.statement.line <= s.last and s.block == spot.statement.block]
    if isinstance(node, ast.stmt) and len(beside) > 1:  # two statements on one line
        return None
    return replaced(spot, [(node, new) if isinstance(new, str) else new])


def stepped(text: str, steps: Iterable[EditStep]) -> str:
    """A program with some of its lines changed.

    >>> stepped("a\\nb\\nc", [EditStep(2, 3, "d")])
    'a\\nd'
    """
    lines = text.split("\n")
    for step in sorted(steps, reverse=True):
        lines[step.first - 1 : step.last] = step.text.split("\n") if step.text else []
    return "\n".join(lines)


def lines_said(first: int, last: int) -> str:
    """Lines of a program in words.

    >>> lines_said(2, 2), lines_said(2, 4)
    ('line 2', 'lines 2 to 4')
    """
    return fill("line {line}", line=first) if first == last else fill("lines {first} to {last}", first=first, last=last)


def steps_text(steps: list[EditStep]) -> str:
    """The steps of an edit in sentences, for a reader who edits by hand.

    >>> steps_text([EditStep(3, 3, "    y = x"), EditStep(5, 6, "")])
    'Line 3 should be `y = x`. Delete lines 5 to 6.'
    """
    said = []
    for first, last, text in steps:
        where = lines_said(first, last)
        code = fill("` and then `").join(line.strip() for line in text.split("\n"))
        said.append(
            fill("{lines} should be `{code}`.", lines=where.capitalize(), code=code)
            if text
            else fill("Delete {lines}.", lines=where)
        )
    return paragraph(*said)
