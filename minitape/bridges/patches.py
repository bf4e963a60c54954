"""What mends a program, line by line: ``Explanation.patch`` of the bridges where it is one line, else words that name the lines.

Each cause has edits, tried in turn. An edit looks at one piece of the syntax of the statement to blame, and says what should stand in
its place, or None; or it looks at the whole program, see :class:`Whole`. A patch is given where exactly one place of the line changes,
and the program still parses with it: no patch is better than one that does not mend.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from ..engine.recording.frames import lines_of
from ..explain.patches import slim
from ..explain.source import Source, read_again, source_of
from ..explain.statement import Statement, last_name, unparse
from ..explain.values import numbers_of
from .operations import words
from .trial import Derive, holds

if TYPE_CHECKING:
    from ..explain.words import Explanation
    from .inquiry import Inquiry

REBUILDS = {"tensor", "as_tensor", "from_numpy", "Variable", "Parameter", "constant", "array", "asarray", "FloatTensor"}
_DRAWS = {"rand", "randn", "randint", "rand_like", "randn_like", "normal", "uniform", "bernoulli", "sample", "rsample", "dropout"}
_INDICES = {"embedding", "Embedding", "gather", "index_select", "one_hot", "range", "arange", "bincount", "cross_entropy", "take", "gather_nd", "embedding_lookup"}


class Step(NamedTuple):
    """Lines of a program, and what stands in their place; no text: nothing."""

    first: int
    last: int
    text: str


class Mend(NamedTuple):
    """What changes in a program; without words one line of it, which is the patch."""

    steps: list[Step]
    words: str = ""


Change = str | tuple[ast.AST, str]  # what stands in a node's place, or in another's
Edit = Callable[["Spot", Any], "Change | None"]


@dataclass(frozen=True)
class Whole:
    """An edit that looks at the whole program."""

    plan: Callable[[Spot], Mend | None]
    several: bool = False  # whether it also mends what breaks the way in the same manner on other lines
    unplaced: bool = False  # whether it needs no line to blame


def edit_with(write: Callable[..., Change | None]) -> Callable[..., Edit]:
    """An edit that has more to know: ``keyword("trainable", True)`` is the edit that ``keyword`` writes with these."""
    return lambda *words, **named: lambda spot, node: write(spot, node, *words, **named)


def plan_with(write: Callable[..., Mend | None]) -> Callable[..., Whole]:
    """The same of an edit that looks at the whole program."""
    return lambda *words, **named: Whole(lambda spot: write(spot, *words, **named))


@dataclass(frozen=True)
class Dialect:
    """How a framework writes what patches need."""

    modules: dict[str, str]  # as programs mostly call a module -> the module
    function: Callable[[str], str]  # the function that does what NumPy's of this name does; empty: there is none
    stop: str  # the function through which no gradient passes; empty: the method detach
    sigmoid: str
    softmax: str
    where: str
    sums: str
    largest: str  # the function of the largest element
    root: str
    variance: str
    diagonal: str  # a matrix of its diagonal, and numbers in even steps
    floor: str  # keeps {x} above 0
    finite: str  # puts numbers in the place of what is not finite in {x}
    small: str  # makes numbers that are not 0
    softplus: str
    leaky: dict[str, str]  # what to take for a relu
    derive: Derive | None = None  # computes a function of arrays, and its derivatives
    edits: dict[str, list[Edit | Whole]] = field(default_factory=dict)


class Spot:
    """The program, the statement to blame, and what the program calls things."""

    def __init__(self, inquiry: Inquiry, answer: Explanation, source: Source, filename: str, statement: Statement | None) -> None:
        self.inquiry, self.answer, self.source, self.filename, self._statement = inquiry, answer, source, filename, statement
        self.dialect = inquiry.dialect
        self.names = {name for s in self.source.statements for name in s.mentions()} | set(self.source.imported)
        self.entry = inquiry.entries[answer._rows[0]] if answer._rows else None
        self.lines = [line.rstrip("\n") for line in lines_of(filename)]

    @property
    def statement(self) -> Statement:
        """The statement to blame, where there is one."""
        assert self._statement is not None
        return self._statement

    @property
    def blamed(self) -> bool:
        """Whether there is one."""
        return self._statement is not None

    @property
    def statements(self) -> list[Statement]:
        """Those of the file."""
        return [s for s in self.source.statements if s.filename == self.filename]

    def on(self, statement: Statement) -> Spot:
        """The same for another statement of the program."""
        other = copy(self)
        other._statement = statement
        return other

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
        root, _, rest = unparse(node).partition(".")
        return "(" not in rest and (root in self.source.imported or root in self.dialect.modules)

    def operand(self, call: ast.Call) -> ast.expr | None:
        """``x`` of ``f(x)``, ``module.f(x)`` and ``x.f()``."""
        if isinstance(call.func, ast.Attribute) and not self.is_module(call.func.value):
            return call.func.value
        return call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else None

    def through(self, call: ast.expr, rounded: ast.expr | None) -> str | None:
        """A call whose derivative is that of what it rounds; None where that must not run a second time."""
        if rounded is None or any(isinstance(n, ast.Call) and (isinstance(n.func, ast.Name) or last_name(n.func) in _DRAWS) for n in ast.walk(rounded)):
            return None
        smooth = unparse(rounded) if isinstance(rounded, ast.BinOp) and isinstance(rounded.op, ast.Div) else slim(rounded)
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
        """Whether the input of the row is made with exp or a product, and not a share of the sum of such."""
        given = [self.inquiry.entries[row] for row in (self.entry.inputs if self.entry else [])]
        return any(word in text.lower() for entry in given for text in (entry.op, *entry.scope) for word in ("exp", "sigmoid", "logistic", "prod"))

    # -- text -------------------------------------------------------------------------------------------------------------

    def here(self, edit: Edit) -> Mend | None:
        """The statement with the one place changed that an edit knows."""
        changes = [(node, new) for node in self.statement.walk() if (new := edit(self, node)) is not None]
        if not changes or not all(other in ast.walk(changes[0][0]) for other, _ in changes):
            return None
        node, new = changes[0]
        if isinstance(node, ast.stmt) and sum(s.line <= node.lineno <= s.last and s.block == self.statement.block for s in self.statements) > 1:
            return None
        return self.put([(node, new) if isinstance(new, str) else new])

    def put(self, changes: Sequence[tuple[Any, str]]) -> Mend | None:
        """The program with nodes replaced, each on one line of its own or a whole statement; None where it is none then."""
        steps: dict[int, Step] = {}
        for node, text in sorted(changes, key=lambda change: (-change[0].lineno, -change[0].col_offset)):
            first, last = node.lineno, node.end_lineno
            if first != last and not isinstance(node, ast.stmt):
                return None
            old = steps[first].text if first in steps else self.lines[first - 1]
            indent = old[: len(old) - len(old.lstrip())]
            after = self.lines[last - 1] if last != first else old
            before, rest = old.encode()[: node.col_offset], after.encode()[node.end_col_offset :]
            text = self._slim(node, text, before, rest)
            steps[first] = Step(first, last, (before + text.replace("\n", "\n" + indent).encode() + rest).decode())
        steps = {first: step._replace(text="") if _is_itself(step.text) else step for first, step in steps.items()}
        return self.checked([steps[first] for first in sorted(steps) if steps[first].text != "\n".join(self.lines[first - 1 : steps[first].last])])

    def _slim(self, node: Any, text: str, before: bytes, after: bytes) -> str:
        """A text without the brackets that it does not need where it stands."""
        whole = any(node is getattr(s.node, "value", None) for s in self.statements)
        argument = text[:1] == "(" and before[-1:] == b"(" and after[:1] in (b")", b",")
        return text[1:-1] if (whole or argument) and _in_brackets(text) else text

    def checked(self, steps: list[Step], words: str = "") -> Mend | None:
        """What changes, where something does and the program still parses."""
        try:
            ast.parse(stepped("\n".join(self.lines), steps))
        except SyntaxError:
            return None
        return Mend(steps, words) if steps else None


def stepped(text: str, steps: Iterable[Step]) -> str:
    """A program with some of its lines changed."""
    lines = text.split("\n")
    for step in sorted(steps, reverse=True):
        lines[step.first - 1 : step.last] = step.text.split("\n") if step.text else []
    return "\n".join(lines)


def mend(inquiry: Inquiry, answer: Explanation) -> None:
    """Adds to an answer the patch, or to its words what to write on which line; nothing where nobody can tell."""
    if answer.cause == "connected" or answer._steps is not None:  # it was answered inside of a function
        return
    answer._steps = []
    filename = answer.filename or (inquiry.entries[inquiry.end].site[0] if inquiry.end is not None else None)
    if filename is None:
        return
    if any(other.kind == "zero" and other.line == answer.line for other in answer.others):
        return  # a step on the same line would stop the gradient again
    alone = all((other.filename, other.line) == (answer.filename, answer.line) for other in answer.others)
    alike = all(other.cause == answer.cause for other in answer.others)
    read_again()
    source: Source | None = source_of(filename)
    if source is None:
        return
    spot = Spot(inquiry, answer, source, filename, source.at(filename, answer.line) if answer.line is not None else None)
    if spot.blamed or answer.line is None:
        answer.fix = words(spot) or answer.fix
    for edit in inquiry.dialect.edits.get(answer.cause, ()):
        if not alone and not (alike and isinstance(edit, Whole) and edit.several):
            continue
        if not spot.blamed and not (isinstance(edit, Whole) and edit.unplaced):
            continue
        found = edit.plan(spot) if isinstance(edit, Whole) else spot.here(edit)
        if found is not None:
            step, number = found.steps[0], answer.kind == "nonfinite"
            one = len(found.steps) == 1 and step.first == step.last and bool(step.text) and not found.words
            tried = holds(spot, found.steps) if one and answer.kind != "error" else None
            if tried is False and number:
                continue  # it would change other numbers, or leave the derivative infinite
            answer._steps = found.steps
            if one and tried is not False and (tried or not number):
                indent = step.text[: len(step.text) - len(step.text.lstrip())]
                answer.patch = "\n".join(line.removeprefix(indent) for line in step.text.split("\n"))
                answer.patch_line = step.first
            answer.fix += " " + (found.words or told(found.steps))
            return


def _is_itself(text: str) -> bool:
    """Whether a statement gives a name its own value: ``h = h``."""
    left, equals, right = text.strip().partition(" = ")
    return bool(equals) and left == right and left.isidentifier()


def told(steps: list[Step]) -> str:
    """Which lines become what.

    >>> told([Step(3, 3, "    y = x"), Step(5, 6, "")])
    'Line 3 should be `y = x`. Delete lines 5 to 6.'
    """
    said = []
    for first, last, text in steps:
        where = f"ine {first}" if first == last else f"ines {first} to {last}"
        lines = [line.strip() for line in text.split("\n")]
        said.append(f"L{where} should be `{'` and then `'.join(lines)}`." if text else f"Delete l{where}.")
    return " ".join(said)


def _in_brackets(text: str) -> bool:
    """Whether the brackets around a text belong together."""
    try:
        return text.startswith("(") and text.endswith(")") and bool(ast.parse(text[1:-1], mode="eval"))
    except SyntaxError:
        return False


def is_call(node: ast.AST | None, *names: str) -> TypeGuard[ast.Call]:
    """Whether a node calls a function by one of these names, wherever it stands."""
    return isinstance(node, ast.Call) and last_name(node.func) in names


def builds(node: ast.AST) -> bool:
    """Whether a node makes a new tensor of something that was computed."""
    return is_call(node, *REBUILDS) and any(not isinstance(n, (ast.Constant, ast.UnaryOp, ast.List, ast.Tuple, ast.Load, ast.USub)) for a in node.args for n in ast.walk(a))
