"""The line to blame as it should be, where one changed line is a mend: ``Explanation.patch`` of the bridges.

Each cause has edits, tried in turn. An edit looks at one piece of the syntax of the statement to blame, and says what should stand in
its place, or None. A patch is given where exactly one place of the line changes, and the program still parses with it: no patch is
better than one that does not mend.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.frames import lines_of
from ..explain.source import Source, read_again, source_of
from ..explain.statement import Statement, last_name, unparse
from .recording import numbers_of

if TYPE_CHECKING:
    from ..explain.words import Explanation
    from .inquiry import Inquiry

Change = str | tuple[ast.AST, str]  # what stands in a node's place, or in another's
Edit = Callable[["Spot", Any], "Change | None"]
REBUILDS = {"tensor", "as_tensor", "from_numpy", "Variable", "Parameter", "constant", "array", "asarray", "FloatTensor"}
_INDICES = {"embedding", "Embedding", "gather", "index_select", "one_hot", "range", "arange", "bincount", "cross_entropy", "take", "gather_nd", "embedding_lookup"}


@dataclass(frozen=True)
class Dialect:
    """How a framework writes what patches need."""

    modules: dict[str, str]  # as programs mostly call a module -> the module
    function: Callable[[str], str]  # the function that does what NumPy's of this name does; empty: there is none
    stop: str  # the function through which no gradient passes; empty: the method detach
    sigmoid: str
    edits: dict[str, list[Edit]] = field(default_factory=dict)


class Spot:
    """The statement to blame, and what its program calls things."""

    def __init__(self, inquiry: Inquiry, answer: Explanation, statement: Statement) -> None:
        self.inquiry, self.answer, self.statement = inquiry, answer, statement
        self.dialect, self.source = inquiry.dialect, statement.source
        self.names = {name for s in self.source.statements for name in s.mentions()} | set(self.source.imported)
        self.entry = inquiry.entries[answer._rows[0]] if answer._rows else None

    def spelled(self, path: str) -> str | None:
        """``jnp.log`` as the program would write it; None where it does not know the module."""
        root, _, rest = path.partition(".")
        module = self.dialect.modules[root]
        known = [name for name, full in self.source.imported.items() if full == module]
        if root in self.names and self.source.imported.get(root, module) in (module, module.rpartition(".")[0]):
            known.insert(0, root)
        above = module.partition(".")[0]
        if not known and above in self.names:
            known = [module]
        return f"{known[0]}.{rest}" if known else None

    def is_module(self, node: ast.AST) -> bool:
        root = unparse(node).partition(".")[0]
        return root in self.source.imported or root in self.dialect.modules

    def operand(self, call: ast.Call) -> ast.expr | None:
        """``x`` of ``f(x)``, ``module.f(x)`` and ``x.f()``."""
        if isinstance(call.func, ast.Attribute) and not self.is_module(call.func.value):
            return call.func.value
        return call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else None

    def through(self, call: ast.expr, smooth: str) -> str | None:
        """A call whose derivative is that of what it rounds."""
        difference, stop = f"({unparse(call)} - {smooth})", self.dialect.stop
        if not stop:
            return f"({smooth} + {difference}.detach())"
        spelled = self.spelled(stop)
        return None if spelled is None else f"({smooth} + {spelled}{difference})"

    def readers(self) -> list[Statement]:
        """The other statements that read what this one binds; all others where it returns something."""
        bound = set(self.statement.binds())
        others = [s for s in self.source.statements if s is not self.statement]
        return others if isinstance(self.statement.node, ast.Return) else [s for s in others if bound & {unparse(n) for n in s.reads()}]

    def rebuilt(self) -> bool:
        """Whether the value is made a new tensor of afterwards: one changed line does not mend that."""
        return any(builds(n) for s in self.readers() for n in s.walk()) or any(s.calls("numpy", "item", "extend") for s in self.readers())

    def is_index(self) -> bool:
        """Whether what the statement binds is used as an index."""
        bound = set(self.statement.binds())
        for s in [self.statement, *self.readers()]:
            for node in s.walk():
                inside = [node.slice] if isinstance(node, ast.Subscript) else list(node.args) if isinstance(node, ast.Call) and last_name(node.func) in _INDICES else []
                if any(unparse(n) in bound or self._whole(n) for part in inside for n in ast.walk(part) if isinstance(n, ast.expr)):
                    return True
        return False

    def _whole(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and node in self.statement.walk()

    def only_name(self) -> str:
        """The one name that the statement binds, where nobody knows what the source is called."""
        return "".join(self.statement.binds()) if self.inquiry.name in ("the tensor", "the array") else self.inquiry.name

    def least(self) -> float:
        """The smallest element of the first float input of the row."""
        found = [numbers_of(self.inquiry.entries[row].value) for row in (self.entry.inputs if self.entry else [])]
        elements = [float(np.min(a)) for a in found if a is not None and a.size]
        return min(elements, default=-np.inf)

    def underflows(self) -> bool:
        """Whether the input of the row is made with exp."""
        given = [self.inquiry.entries[row] for row in (self.entry.inputs if self.entry else [])]
        return any(word in text.lower() for entry in given for text in (entry.op, *entry.scope) for word in ("exp", "softmax", "sigmoid", "logistic"))

    # -- text -------------------------------------------------------------------------------------------------------------

    def put(self, node: Any, text: str) -> str | None:
        """The line to blame with a node replaced, without its indentation; None where that is no line of its own."""
        assert self.answer.filename is not None and self.answer.line is not None
        lines, at = [line.rstrip("\n") for line in lines_of(self.answer.filename)], self.answer.line - 1
        old = lines[at].encode()
        if node.lineno != self.answer.line or node.end_lineno != self.answer.line:
            return None
        if isinstance(node, ast.stmt) and sum(s.line <= self.answer.line <= s.last for s in self.source.statements if s.filename == self.answer.filename and s.block == self.statement.block) > 1:
            return None
        whole = node is getattr(self.statement.node, "value", None)
        text = text[1:-1] if whole and _in_brackets(text) else text
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        start, end = node.col_offset, node.end_col_offset
        if text[:1] == "(" and _in_brackets(text) and old[start - 1 : start] == b"(" and old[end : end + 1] in (b")", b","):
            text = text[1:-1]  # an argument
        new = (old[:start] + text.replace("\n", "\n" + indent).encode() + old[end:]).decode()
        if new == lines[at]:
            return None
        try:
            ast.parse("\n".join([*lines[:at], new, *lines[at + 1 :]]))
        except SyntaxError:
            return None
        return "\n".join(line.removeprefix(indent) for line in new.split("\n"))


def patch_of(inquiry: Inquiry, answer: Explanation) -> str | None:
    """What the line to blame should be; None where one line is not enough, or nobody can tell."""
    if answer.connected or answer.others or answer.line is None or answer.filename is None:
        return None
    read_again()
    source: Source | None = source_of(answer.filename)
    statement = None if source is None else source.at(answer.filename, answer.line)
    if statement is None:
        return None
    spot = Spot(inquiry, answer, statement)
    for edit in inquiry.dialect.edits.get(answer.cause, ()):
        changes = [(node, new) for node in statement.walk() if (new := edit(spot, node)) is not None]
        if changes:
            node, new = changes[0]
            at, text = (node, new) if isinstance(new, str) else new
            if all(other in ast.walk(node) for other, _ in changes):
                return spot.put(at, text)
    return None


def _in_brackets(text: str) -> bool:
    """Whether the brackets around a text belong together."""
    try:
        return text.startswith("(") and text.endswith(")") and bool(ast.parse(text[1:-1], mode="eval"))
    except SyntaxError:
        return False


def is_call(node: ast.AST, *names: str) -> bool:
    """Whether a node calls a function by one of these names, wherever it stands."""
    return isinstance(node, ast.Call) and last_name(node.func) in names


def builds(node: ast.AST) -> bool:
    """Whether a node makes a new tensor of something that was computed."""
    return is_call(node, *REBUILDS) and any(not isinstance(n, (ast.Constant, ast.UnaryOp, ast.List, ast.Tuple, ast.Load, ast.USub)) for a in node.args for n in ast.walk(a))
