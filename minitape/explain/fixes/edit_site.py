"""Where a program is fixed: the statement to blame, what is known of it, and how text is put into its place.

What fixes which cause is in :mod:`table`. A fix changes exactly one place of a line, or several lines, and the
program still parses with it: no fix is better than one that does not help.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from ...common.texts import paragraph
from ...engine.recording.frames import lines_of
from ...recording.values import numbers_of
from ..sentences import fill
from ..source import CALLED, Source
from ..statement import Statement, form, last_name, parsed, rewritten, unparse

if TYPE_CHECKING:
    from ..words import Explanation

SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)
_OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare)
REBUILDS = set("tensor as_tensor from_numpy Variable Parameter constant array asarray FloatTensor".split())
# beside axes and sizes
_SIZED = set("StridedSlice Reshape ExpandDims Squeeze Transpose Tile Sum Mean Max Min Prod".split())
_DRAWS = set("rand randn randint rand_like randn_like normal uniform bernoulli sample rsample dropout".split())
_INDICES = set(
    (
        "embedding Embedding gather index_select one_hot range arange bincount cross_entropy take gather_nd "
        "embedding_lookup switch_case"
    ).split()
)


class EditStep(NamedTuple):
    """Lines of a program, and what is in their place; no text: nothing."""

    first: int
    last: int
    text: str


def quoted(lines: list[str], step: EditStep) -> EditStep:
    """A step with the quotes of the lines that it replaces, where a rewritten expression has Python's single ones.

    >>> quoted(['h = params["w"].round()'], EditStep(1, 1, "h = params['w']")).text
    'h = params["w"]'
    """
    before = "".join(lines[step.first - 1 : step.last])
    text = re.sub(r"'([^'\"\\]*)'", r'"\1"', step.text) if '"' in before and "'" not in before else step.text
    try:
        same = ast.dump(ast.parse(textwrap.dedent(text))) == ast.dump(ast.parse(textwrap.dedent(step.text)))
    except SyntaxError:  # a part of a statement
        return step
    return step._replace(text=text) if same else step


class Fix(NamedTuple):
    """What changes in a program; without words one line of it, which is the patch."""

    steps: list[EditStep]
    words: str = ""


Change = str | tuple[ast.AST, str]  # what is in a node's place, or in another's
Edit = Callable[["Spot", Any], "Change | None"]


@dataclass(frozen=True)
class Whole:
    """An edit that looks at the whole program."""

    plan: Callable[[Spot], Fix | None]
    several: bool = False  # whether it also fixes what breaks the path in the same manner on other lines


def edit_with(write: Callable[..., Change | None]) -> Callable[..., Edit]:
    """An edit that has more to know: ``keyword("trainable", True)`` is the edit that ``keyword`` writes with these."""
    return lambda *words, **named: lambda spot, node: write(spot, node, *words, **named)


def plan_with(write: Callable[..., Fix | None]) -> Callable[..., Whole]:
    """The same of an edit that looks at the whole program."""
    return lambda *words, **named: Whole(lambda spot: write(spot, *words, **named))


class Spot:
    """The program, the statement to blame, and what the program calls things."""

    call: ast.expr | None = None  # the expression to blame, where it is known
    instead = ""  # the statement in its place, where the words know it
    node: Any = None  # of a tape's graph: what the break is about

    def __init__(
        self,
        inquiry: Any,
        answer: Explanation,
        source: Source,
        filename: str,
        statement: Statement | None,
        cause: str = "",
    ) -> None:
        self.inquiry, self.answer, self.source, self.filename, self._statement = (
            inquiry,
            answer,
            source,
            filename,
            statement,
        )
        self.cause = cause or answer.cause
        self.dialect = inquiry.dialect

    @cached_property
    def names(self) -> set[str]:
        """What the program calls anything."""
        return {name for s in self.source.statements for name in s.mentions()} | set(self.source.imported)

    @cached_property
    def lines(self) -> list[str]:
        """Those of the file."""
        return [line.rstrip("\n") for line in lines_of(self.filename)]

    @cached_property
    def roots(self) -> set[str]:
        """The names of variables and modules in it, without those of attributes."""
        return {n.id for s in self.source.statements for n in s.walk() if isinstance(n, ast.Name)} | set(
            self.source.imported
        )

    @cached_property
    def entry(self) -> Any:
        """What was recorded of the operation to blame, if it is known."""
        rows = [self.inquiry.row_of(self.node)] if self.node is not None else self.answer._rows
        return self.inquiry.entries[rows[0]] if rows and rows[0] is not None else None

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
        """``jnp.log`` as the program would write it; None where it does not know the module, or is written for another
        framework.
        """
        root, _, rest = path.partition(".")
        module = self.dialect.modules.get(root)
        if module is None:
            return None
        known = [name for name, full in self.source.imported.items() if full == module]
        if root in self.roots and self.source.imported.get(root, module) in (module, module.rpartition(".")[0]):
            known.insert(0, root)
        above = module.partition(".")[0]
        if not known and above in self.names:
            known = [module]
        return f"{known[0]}.{rest}" if known else None

    def is_module(self, node: ast.AST) -> bool:
        root, _, rest = unparse(node).partition(".")
        held = any(isinstance(space.get(root), ModuleType) for space in self.inquiry._spaces())
        return "(" not in rest and (held or root in self.source.imported or root in self.dialect.modules)

    def operand(self, call: ast.Call) -> ast.expr | None:
        """``x`` of ``f(x)``, ``module.f(x)``, ``x.f()`` and of a layer ``self.f(x)``."""
        if (
            isinstance(call.func, ast.Attribute)
            and not self.is_module(call.func.value)
            and unparse(call.func.value) != "self"
        ):
            return call.func.value
        return call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else None

    def through(self, call: ast.expr, rounded: ast.expr | None) -> str | None:
        """A call whose derivative is that of what it rounds; None where that must not run a second time."""
        if rounded is None or any(
            isinstance(n, ast.Call) and (isinstance(n.func, ast.Name) or last_name(n.func) in _DRAWS)
            for n in ast.walk(rounded)
        ):
            return None
        if not self.dialect.stop:
            return form("{x} + ({call} - {x}).detach()", x=rounded, call=call)
        stop = self.spelled(self.dialect.stop)
        return None if stop is None else form(f"{{x}} + {stop}({{call}} - {{x}})", x=rounded, call=call)

    def meets_again(self) -> bool:
        """Whether the row to blame has another beside it, of the same line and the same input: what one of them needs
        the other must not have.
        """
        entry = self.entry
        return (
            entry is not None
            and sum((e.op, e.site, e.inputs) == (entry.op, entry.site, entry.inputs) for e in self.inquiry.entries) > 1
        )

    def readers(self) -> list[Statement]:
        """The other statements that read what this one binds; where it returns something, those that name its function,
        if that is called by its name.
        """
        bound, end = set(self.statement.binds()), isinstance(self.statement.node, ast.Return)
        others = [s for s in self.source.statements if s is not self.statement]
        function = self.statement.function.name if end and self.statement.function is not None else ""
        return (
            [s for s in others if function in (*CALLED, "") or function in s.mentions()]
            if end
            else [s for s in others if bound & {unparse(n) for n in s.reads()}]
        )

    def is_index(self) -> bool:
        """Whether what the statement binds is used as an index, by the text or in a layer that looks something up."""
        way = self.inquiry._way(self.entry.row) if self.entry else []
        lookups = ((given, self.inquiry.entries[row]) for given, row in pairwise(way))
        if any(
            re.search("gather|embedding", entry.op, re.I)
            and (entry.inputs[0] != given or self.looked_up(entry) is not None)
            for given, entry in lookups
        ):
            return True
        bound = set(self.statement.binds())
        for s in [self.statement, *self.readers()]:
            for node in s.walk():
                inside = (
                    [node.slice]
                    if isinstance(node, ast.Subscript)
                    else list(node.args)
                    if isinstance(node, ast.Call) and last_name(node.func) in _INDICES
                    else []
                )
                if any(
                    unparse(n) in bound or self._whole(n)
                    for part in inside
                    for n in ast.walk(part)
                    if isinstance(n, ast.expr)
                ):
                    return True
        return False

    def looked_up(self, entry: Any) -> int | None:
        """What an operation takes elements of, where the source tells which."""
        given = [row for row in entry.inputs if "float" in str(self.inquiry.entries[row].dtype)]
        chosen = re.search(
            "gather|embedding|index_?select|take", entry.op, re.I
        ) and not self.inquiry._after().isdisjoint({*entry.inputs} - {*given})
        return given[0] if chosen and given else None

    def among_integers(self) -> bool:
        """Whether an operation takes the source together with other whole numbers."""
        rows, entries = list(self.inquiry.rows), self.inquiry.entries
        own = [self.numbers(row) for row in rows if entries[row].kind == "variable"]  # which each reading of it has
        rows += [
            e.row
            for e in entries
            if e.kind == "constant"
            and (array := self.numbers(e.row)) is not None
            and any(one is not None and np.array_equal(array, one) for one in own)
        ]
        after = self.inquiry._computed_from(rows) if rows else set()
        beside = [
            (entries[given], e.site)
            for e in entries
            if after & set(e.inputs) and e.op not in _SIZED
            for given in e.inputs
            if given not in after
        ]
        # of Python, which become floats
        numbers = [
            given for given, site in beside if given.kind == "constant" and given.site == site and not given.shape
        ]
        return any("int" in str(given.dtype) and given not in numbers for given, _ in beside)

    def _whole(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and node in self.statement.walk()

    def makes_source(self, node: ast.AST) -> bool:
        """Whether an expression is the one that makes the source."""
        names = {self.inquiry.name, self.inquiry.path}
        return node is self.call or (node is self.statement.value() and bool(names & set(self.statement.binds())))

    def names_of_source(self) -> list[str]:
        """What the program may call the source: no name that is another object's where the question is asked."""
        other = [
            name
            for name in (self.inquiry.name, self.inquiry.path)
            for space in self.inquiry._spaces()[:1]
            if space.get(name, self.inquiry.source) is not self.inquiry.source
        ]
        return [name for name in dict.fromkeys((self.inquiry.path, self.inquiry.name)) if name and name not in other]

    def only_name(self) -> str:
        """The one name that the statement binds, where the name of the source is unknown."""
        return (
            "".join(self.statement.binds()) if self.inquiry.name in ("the tensor", "the array") else self.inquiry.name
        )

    def numbers(self, row: int) -> np.ndarray | None:
        """The elements of a row's value; None where they are gone, or are no numbers."""
        return numbers_of(self.inquiry.entries[row].value)

    def least(self) -> float:
        """The smallest element of the first float input of the row."""
        found = [self.numbers(row) for row in (self.entry.inputs if self.entry else [])]
        elements = [float(np.min(a)) for a in found if a is not None and a.size]
        return min(elements, default=-np.inf)

    def underflows(self) -> bool:
        """Whether the input of the row is made with exp or a product, and not a share of the sum of such."""
        given = [self.inquiry.entries[row] for row in (self.entry.inputs if self.entry else [])]
        for entry in given:  # where zeros come from
            given += [
                self.inquiry.entries[row]
                for row in entry.inputs
                if (array := self.numbers(row)) is not None and not array.all()
            ][: 20 - len(given)]
        return any(
            word in text.lower()
            for entry in given
            for text in (entry.op, *entry.scope)
            for word in ("exp", "sigmoid", "logistic", "prod")
        )

    # -- text --------------------------------------------------------------------------------------

    def edit_one(self, edit: Edit) -> Fix | None:
        """Applies an edit to the statement, at the one node that it changes; None if there is none, or several."""
        changes = [(node, new) for node in self.statement.walk() if (new := edit(self, node)) is not None]
        changes = [change for change in changes if change[0] is self.call] or changes
        if not changes or not all(other in ast.walk(changes[0][0]) for other, _ in changes):
            return None
        node, new = changes[0]
        if (
            isinstance(node, ast.stmt)
            and sum(s.line <= node.lineno <= s.last and s.block == self.statement.block for s in self.statements) > 1
        ):
            return None
        return self.replace([(node, new) if isinstance(new, str) else new])

    def replace(self, changes: Sequence[tuple[Any, str]]) -> Fix | None:
        """Replaces nodes by texts: statements, or expressions within one line. None if the result is no program."""
        steps: dict[int, EditStep] = {}
        for node, text in sorted(changes, key=lambda change: (-change[0].lineno, -change[0].col_offset)):
            first, last = node.lineno, node.end_lineno
            if first != last and not isinstance(node, ast.stmt):
                return None
            old = steps[first].text if first in steps else self.lines[first - 1]
            indent = old[: len(old) - len(old.lstrip())]
            after = self.lines[last - 1] if last != first else old
            before, rest = old.encode()[: node.col_offset], after.encode()[node.end_col_offset :]
            text = self._in_brackets(node, text, before, rest)
            steps[first] = EditStep(first, last, (before + text.replace("\n", "\n" + indent).encode() + rest).decode())
        steps = {first: step._replace(text="") if _is_itself(step.text) else step for first, step in steps.items()}
        return self.checked(
            [
                steps[first]
                for first in sorted(steps)
                if steps[first].text != "\n".join(self.lines[first - 1 : steps[first].last])
            ]
        )

    def _in_brackets(self, node: Any, text: str, before: bytes, after: bytes) -> str:
        """An expression as it must be in the place of another: in brackets, where it is an operand and there are
        none.
        """
        if isinstance(node, ast.stmt) or "\n" in text or (new := _expression(text)) is None:
            return text
        around = [
            n
            for s in self.statements
            if s.line <= node.lineno <= s.last
            for n in s.walk()
            if any(part is node for part in ast.iter_child_nodes(n))
        ]
        taken = any(
            isinstance(n, _OPERATIONS) or getattr(n, "func", None) is node or getattr(n, "value", None) is node is not n
            for n in around
            if not isinstance(n, (ast.stmt, ast.keyword))
        )
        alone = isinstance(
            new, (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Subscript, ast.List, ast.Dict)
        ) or (before[-1:] == b"(" and after[:1] == b")")
        if not taken or alone:
            return unparse(new)
        bare = _statement((before + unparse(new).encode() + after).decode().strip())
        whole = next(
            (s.node for s in self.statements if s.line == s.last == node.lineno and any(n is node for n in s.walk())),
            None,
        )
        same = (
            bare is not None
            and whole is not None
            and ast.dump(bare) == ast.dump(rewritten(whole, lambda n: new if n is node else None))
        )
        return unparse(new) if same else f"({unparse(new)})"

    def checked(self, steps: list[EditStep], words: str = "") -> Fix | None:
        """What changes, where something does and the program still parses."""
        try:
            ast.parse(stepped("\n".join(self.lines), steps))
        except SyntaxError:
            return None
        return Fix(steps, words) if steps else None


def stepped(text: str, steps: Iterable[EditStep]) -> str:
    """A program with some of its lines changed."""
    lines = text.split("\n")
    for step in sorted(steps, reverse=True):
        lines[step.first - 1 : step.last] = step.text.split("\n") if step.text else []
    return "\n".join(lines)


def _is_itself(text: str) -> bool:
    """Whether a statement gives a name its own value: ``h = h``."""
    left, equals, right = text.strip().partition(" = ")
    return bool(equals) and left == right and left.isidentifier()


def lines_said(first: int, last: int) -> str:
    """Lines of a program in words.

    >>> lines_said(2, 2), lines_said(2, 4)
    ('line 2', 'lines 2 to 4')
    """
    return fill("line {line}", line=first) if first == last else fill("lines {first} to {last}", first=first, last=last)


def steps_text(steps: list[EditStep]) -> str:
    """Describes the steps of an edit in sentences, for a reader who edits by hand.

    >>> steps_text([EditStep(3, 3, "    y = x"), EditStep(5, 6, "")])
    'Line 3 should be `y = x`. Delete lines 5 to 6.'
    """
    said = []
    for first, last, text in steps:
        where, lines = lines_said(first, last), [line.strip() for line in text.split("\n")]
        code = fill("` and then `").join(lines)
        said.append(
            fill("{lines} should be `{code}`.", lines=where.capitalize(), code=code)
            if text
            else fill("Delete {lines}.", lines=where)
        )
    return paragraph(*said)


def _statement(text: str) -> ast.stmt | None:
    """The syntax of a text, if it is one statement."""
    try:
        return ast.parse(text).body[0]
    except (SyntaxError, IndexError):
        return None


def _expression(text: str) -> ast.expr | None:
    """The syntax of a text, if it is an expression."""
    try:
        return parsed(text)
    except SyntaxError:
        return None


def is_call(node: ast.AST | None, *names: str) -> TypeGuard[ast.Call]:
    """Whether a node calls a function by one of these names, anywhere inside it."""
    return isinstance(node, ast.Call) and last_name(node.func) in names


def builds(node: ast.AST) -> bool:
    """Whether a node makes a new tensor of something that was computed."""
    return is_call(node, *REBUILDS) and any(
        not isinstance(n, (ast.Constant, ast.UnaryOp, ast.List, ast.Tuple, ast.Load, ast.USub))
        for a in node.args
        for n in ast.walk(a)
    )
