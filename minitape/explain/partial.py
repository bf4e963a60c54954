"""Blocked paths of a source that also has an open one: its gradient lacks what would come along them.

Choices cut nothing: the condition of a ``tf.where``, an index, a shape. Nor does what a library stops inside of its
functions, nor a variable's step before the block: every training loop has one. Values of Python's come in as constants,
as numbers beside tensors, as attributes: an operation that reads tensors alone lets none in, whatever the names in its
line held at other times.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from types import CodeType
from typing import TYPE_CHECKING

from ..engine.recording.evidence import ValueOrigin
from ..engine.recording.rows import CALL
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from ..recording.bodies import outermost
from ..recording.nodes import Break, CodePlace, TapeNode, is_leaf
from ..recording.trace import Trace
from .source import source_of
from .statement import Statement, last_name

if TYPE_CHECKING:
    from ..engine.types import End
    from .inquiry import GradientInquiry
    from .tape_why import TapeQuestion

_VALUES = ("left_through_numpy", "recording_paused", "state")  # causes that cut values, and let them go on
VALUED = ("Round", "Floor", "Ceil", "Rint", "FloorDiv")  # operations whose result is a value, not a choice
_PASS = (*_VALUES, "outside_tape")
_CHOICES = ("bool", "index", "text")  # how a value leaves that comes back as none
MOST = 50  # exits that are looked at, the last first

Site = tuple[CodeType, int]  # code and offset of a user's frame
MAKES = ("constant", "convert_to_tensor", "zeros", "ones", "fill", "eye", "range", "linspace", "Variable")

# what comes in at a point: an attribute, of any kind; an index, a size or a mask; a float
ATTRIBUTES, PLACES, VALUES = range(3)


class Arrivals:
    """The points where a value may have arrived on the path to the targets, by these nodes, and the lines of all that
    ran on it.
    """

    def __init__(self, inquiry: GradientInquiry, nodes: Iterable[TapeNode]) -> None:
        self.inquiry, self.trace = inquiry, inquiry.trace
        self.lines: set[tuple[str, int]] = set()  # of everything: a branch may have decided whether it runs
        self._sites: dict[tuple[Site, int | None], int] = {}  # with the most that comes in there
        for node in nodes:
            if not self.trace.is_number(node):  # one row for all 2.0 of a recording says nothing by its first use
                self._note(node)
        found = [(point, most) for site, most in self._sites.items() if (point := _point(*site)) is not None]
        self.points = [point for point, _ in found]
        self.values = [point for point, most in found if most != PLACES]

    def _note(self, node: TapeNode) -> None:
        for place in (self.trace.place(node), self.trace.birth(node)):
            if place is not None:
                self.lines.update(place.outer())
        if is_leaf(node) or node.origin is not None:
            self._arrives(
                self.trace.birth(node) or self.trace.place(node), PLACES if _whole(self.trace, node) else VALUES
            )
        elif node.record is not None:
            self._of_row(node)

    def _comes_in(self, site: Site, what: int, side: int | None = None) -> None:
        self._sites[site, side] = max(what, self._sites.get((site, side), what))

    def _arrives(self, place: CodePlace | None, what: int) -> None:
        """A constant or a variable was made here: of literals alone, or of what a call handed on."""
        if place is None:
            return
        first = _point(place.frames[0], None)
        if first is None or not _literal(first[1]):
            for frame in place.frames:
                self._comes_in(frame, what)

    def _of_row(self, node: TapeNode) -> None:
        """A row takes Python's values in as attributes, or as a number beside a tensor."""
        record = node.record
        assert record is not None
        op, a, b, _ = record.cell(node.row)
        place = self.trace.place(node)
        if place is None:
            return
        if op == CALL:
            if record.call_at(node.row).attrs:
                read = [parent for parent, _ in self.trace.edges(node)] if self.trace.label(node) != "cast" else []
                self._comes_in(
                    place.frames[0],
                    PLACES if any(is_leaf(one) and _whole(self.trace, one) for one in read) else ATTRIBUTES,
                )
        elif op >= FIRST_CODE:
            two = len(BY_CODE[op - FIRST_CODE].texts) > 2
            for side, row in enumerate((a, b) if two else (a,)):
                if record.is_number(row):
                    self._comes_in(place.frames[0], VALUES, side if two else None)


def _whole(trace: Trace, node: TapeNode) -> bool:
    """Whether a value is no float: an index, a size, a truth."""
    dtype = trace.dtype(node)
    return dtype is not None and not dtype.differentiable


def _point(site: Site, side: int | None) -> tuple[Statement, ast.AST | None] | None:
    """The statement at a frame, with the expression that ran or one side of it; None where there is no text."""
    place = CodePlace((site,))
    source = source_of(place.filename)
    statement = None if source is None else source.at(place.filename, place.line, place.column)
    if statement is None:
        return None
    expression: ast.AST | None = statement.expression(place.span)
    if isinstance(expression, ast.BinOp) and side is not None:
        expression = expression.right if side else expression.left
    return statement, expression


def _literal(expression: ast.AST | None) -> bool:
    """Whether an expression makes a tensor of what is written there: ``tf.constant([1.0, 2.0])``."""
    if not isinstance(expression, ast.Call) or last_name(expression.func) not in MAKES:
        return False
    parts = [*expression.args, *(k.value for k in expression.keywords if k.arg not in ("dtype", "name"))]
    return not any(isinstance(n, (ast.Name, ast.Attribute, ast.Call)) for p in parts for n in ast.walk(p))


class Parts:
    """The cut ways to the connected sources of one question."""

    def __init__(self, inquiry: GradientInquiry) -> None:
        self.inquiry, self.trace = inquiry, inquiry.trace
        self._since = min((note[2] for note in inquiry.begins), default=0)

    @cached_property
    def _is_blocked(self) -> bool:
        """Whether a path to the targets is blocked at all, wherever it comes from."""
        recording, seen = self.inquiry.recording(False), set[int]()
        waiting = [recording.by_key[node.key] for node in self.inquiry.starts]
        while waiting:
            row = waiting.pop()
            for one, b in recording.edges(row) if row not in seen else ():
                if b is None:
                    waiting.append(one)
                elif b.cause != "integer_dtype" and self._is_meant(b):
                    return True
            seen.add(row)
        return False

    def of(self, source: End) -> list[Break]:
        """What breaks a path from a source, in the order of the program; behind each what else breaks that path."""
        from .tape_why import TapeQuestion

        if not (self._is_blocked or self.inquiry.in_time() or self.inquiry.watched_too_late(source)):
            return []
        asked, found = TapeQuestion(self.inquiry, source, ""), list[Break]()
        for row, given in asked.paths_beside():
            broken = next((b for one, b in asked.recording.edges(row) if one == given), None)
            if broken is not None and self._is_meant(broken):
                further = self.inquiry.path_of(asked.entries[row].node) or []  # what else breaks it, behind that
                found += self._merged([broken, *(b for _, _, b in further if b is not None)])
        found += [*self._by_python(source, asked), *self._before_watch(source, asked)]
        kept: dict[Hashable, Break] = {}
        for b in found:
            kept.setdefault((b.cause, b.at), b)
        return sorted(kept.values(), key=lambda b: b.at or ("", 0))

    def _is_meant(self, b: Break) -> bool:
        """Whether a break is the program's own: no variable's step before the block, which every training loop has, and
        nothing that a library stops inside of its functions.
        """
        made = b.subject
        if b.cause == "nondifferentiable_op":
            return b.what in VALUED
        if b.cause == "state":
            return not (isinstance(made, ValueOrigin) and made.when < self._since)
        found = next(iter(self.inquiry.statements(b.place)), None)
        written = None if found is None or b.place is None else found[0].expression(b.place.span)
        return b.cause != "stop_gradient" or (isinstance(written, ast.Call) and last_name(written.func) == b.cause)

    def _before_watch(self, source: End, asked: TapeQuestion) -> list[Break]:
        """The watch of a source that had been used before, and is used after it."""
        found, tape = self.inquiry.watched_too_late(source), self.inquiry.tape
        since = max((tape.watched.get(row, 0) for row in tape._rows_of(source)), default=0)
        uses = [asked.entries[row].node for row in asked._first_uses()]
        early = any(node.record is self.trace.record and outermost(node).row < since for node in uses)
        return [found] if found is not None and found.cause == "watched_late" and early else []

    def _values_behind(self, asked: TapeQuestion) -> Iterator[TapeNode]:
        """What the targets were computed from as values, and not as a choice."""
        seen, waiting = set[int](), list(asked.ends)
        while waiting:
            row = waiting.pop()
            if row not in seen:
                seen.add(row)
                yield asked.entries[row].node
                waiting += [one for one, b in asked.recording.edges(row) if b is None or b.cause in _PASS]

    def _merged(self, breaks: list[Break]) -> list[Break]:
        from .inquiry import merge

        return [self.inquiry.called_outside(b) for b in merge(breaks)]

    # -- through Python ----------------------------------------------------------------------------

    def _by_python(self, source: End, asked: TapeQuestion) -> list[Break]:
        """Values that left as numbers of Python's, and by the text came back on the path to the target."""
        found = []
        mine = {node.key for node in self.trace.of(source)}
        exits = [e for e in self.inquiry.in_time()[:MOST] if e.how not in _CHOICES and e.when > self._since and e.stack]
        arrivals = Arrivals(self.inquiry, self._values_behind(asked) if exits else ())
        exits = [exit for exit in exits if self.inquiry.may_return(exit, arrivals)]
        recording = self.inquiry.recording(True) if exits else None
        after = set() if recording is None else recording.computed_from(source)
        rows = {} if recording is None else {id(e): x.row for e, x in zip(recording.notes, recording.left, strict=True)}
        for exit in exits:
            if rows[id(exit)] not in after:
                continue
            left = self.trace.of_ref(exit.value)
            if all(node.record is left.record is not None and node.row <= left.row for node in self.inquiry.starts):
                continue  # a loss that was printed: what leaves a target cannot come back on the way to it
            path = self.inquiry.path(source, [left])
            before = [b for _, _, b in path or () if b is not None]
            if path is None or any(b.cause not in _VALUES for b in before) or (path and path[0][1].key not in mine):
                continue
            found += self._merged([*before, Break("left_through_numpy", CodePlace(exit.stack), exit.how, exit)])
        return found
