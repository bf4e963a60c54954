"""Blocked paths of a source that also has an open one: its gradient lacks what would come along them.

Choices cut nothing: the condition of a ``tf.where``, an index, a shape. Nor does what a library stops inside of its
functions, nor a variable's step before the block: every training loop has one. Values of Python's come in as constants,
as numbers beside tensors, as attributes: an operation that reads tensors alone lets none in, whatever the names in its
line held at other times.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable
from functools import cached_property
from types import CodeType
from typing import TYPE_CHECKING, cast

import numpy as np

from ..engine.recording.evidence import ValueLeft, ValueOrigin
from ..engine.recording.rows import CALL
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from ..recording.bodies import outermost
from ..recording.chains import LIMIT
from ..recording.nodes import Break, CodePlace, TapeNode, is_leaf
from ..recording.trace import Trace
from ..recording.values import facts_of
from .replay import MOST as ROWS
from .replay import shown, starts_of, sweep_of
from .search import SHAPES
from .sentences import fill
from .source import source_of
from .statement import Statement, last_name, unparse

if TYPE_CHECKING:
    from ..engine.types import Array, End
    from .inquiry import GradientInquiry

# causes that cut values, whatever the text says
_VALUES = ("left_through_numpy", "recording_paused", "outside_tape", "state")
VALUED = ("Round", "Floor", "Ceil", "Rint", "FloorDiv")  # operations whose result is a value, not a choice
# what hands a term on
_ADDED = ("add", "subtract", "squared_difference", "negative", "cast", "reduce_sum", "reduce_mean", "identity")
_CHOICES = ("bool", "index", "text")  # how a value leaves that comes back as none
MOST = 50  # exits that are looked at, the last first

Edge = tuple[TapeNode, TapeNode, "Break | None"]
_AS_IT_WAS = ("stop_gradient", "state", "left_through_numpy")  # causes of which the value goes on
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
        self._edges = self._walk()
        self._cuts = [edge for edge in self._edges if edge[2] is not None]
        self._into: dict[Hashable, list[TapeNode]] = {}  # by the key of a node: what came from it without a break
        for child, parent, broken in self._edges if self._cuts else ():
            if broken is None:
                self._into.setdefault(parent.key, []).append(child)

    def of(self, source: End) -> list[Break]:
        """What breaks a path from a source, in the order of the program; behind each what else breaks that path."""
        found: list[Break] = []
        clean = self._from(source)
        for child, parent, broken in self._cuts:
            if (
                broken is not None
                and not self._shifts(child, broken)
                and (parent.key in clean or self._same(parent, source))
            ):
                further = self.inquiry.path_of(child) or []  # what else breaks the path, behind it
                cut = self._merged([broken, *(b for _, _, b in further if b is not None)])
                cut[0].ways = [(child, parent)] if len(cut) == 1 else []
                found += cut
        found += [*self._by_python(source), *self._before_watch(source)]
        kept: dict[Hashable, Break] = {}
        for b in found:
            first = kept.setdefault((b.cause, b.at), b)
            first.ways += b.ways if first is not b else []
        return sorted(kept.values(), key=lambda b: b.at or ("", 0))

    def _shifts(self, stopped: TapeNode, broken: Break) -> bool:
        """Whether a stop is that of the largest value, which is taken off before ``exp``: the result does not depend on
        it.
        """
        if broken.cause != "stop_gradient":
            return False
        less = {
            child.key for child, parent, _ in self._edges if parent is stopped and self.trace.label(child) == "subtract"
        }
        return any(parent.key in less and self.trace.label(child) == "exp" for child, parent, _ in self._edges)

    def _same(self, node: TapeNode, source: End) -> bool:
        """Whether a value of an earlier recording is that which the source still holds: it was used there as well."""
        held = getattr(source, "_state", source)
        return (
            node.record is not None
            and node.record is not self.trace.record
            and node.tensor is not None
            and node.tensor is held
        )

    def _before_watch(self, source: End) -> list[Break]:
        """The watch of a source that had been used before, and is used after it."""
        found = self.inquiry.watched_too_late(source)
        if found is None or found.cause != "watched_late":
            return []
        rows = {
            row: since for row, since in self.inquiry.tape.watched.items() if row in self.inquiry.tape._rows_of(source)
        }
        early = (
            child
            for child, parent, broken in self._edges
            if broken is None
            and parent.record is self.trace.record
            and parent.caller is None
            and outermost(child).row < rows.get(parent.row, 0)
        )
        return [found] if next(early, None) is not None else []

    # -- the graph ---------------------------------------------------------------------------------

    def _walk(self) -> list[Edge]:
        """The edges on all ways that carry values to the targets."""
        edges: list[Edge] = []
        seen: dict[Hashable, bool] = {}
        # a term? None: it divides
        waiting: list[tuple[TapeNode, bool | None]] = [(node, True) for node in self.inquiry.starts]
        while waiting and len(seen) < LIMIT:
            node, term = waiting.pop()
            if node.key in seen:
                continue
            seen[node.key] = True
            for parent, broken in self.trace.edges(node):
                counted = bool(term) and broken is not None and self._is_flat(node, broken)
                if broken is None or counted or self._carries(broken):
                    edges.append((node, parent, broken))
                    waiting.append((parent, counted or self._is_term(node, parent, term)))
        return edges

    def _is_flat(self, node: TapeNode, broken: Break) -> bool:
        """Whether a result has no derivative at all: a truth, a count, a place. It chooses, but where it is a term it
        counts.
        """
        flat = broken.cause == "nondifferentiable_op" and broken.what not in SHAPES
        return flat and all(b is not None for _, b in self.trace.edges(node))

    def _is_term(self, node: TapeNode, parent: TapeNode, term: bool | None) -> bool | None:
        """Whether what is computed from a value counts as it is: a truth among such terms is no mask. None where it
        divides.
        """
        name = self.trace.label(node)
        if name in ("divide", "div_no_nan") and parent is not self.trace.edges(node)[0][0]:
            return None
        if term is None:  # how many there are, which a mean divides by
            return None if name in (*_ADDED, "maximum") else False
        begins = self._meets(node, parent) or name in ("reduce_sum", "reduce_mean")
        return (term or begins) and self._hands_on(node, parent)

    def _meets(self, node: TapeNode, parent: TapeNode) -> bool:
        """Whether a value is added to another one that is computed, or compared with it: it is no mask then, and counts
        itself.
        """
        if self.trace.label(node) not in ("add", "subtract", "squared_difference"):
            return False
        return any(self.trace.edges(other) for other, _ in self.trace.edges(node) if other is not parent)

    def _hands_on(self, node: TapeNode, parent: TapeNode) -> bool:
        """Whether a value is a sum of which ``parent`` is a term, as it is or times a constant."""
        name = self.trace.label(node)
        if name in _ADDED:
            return True
        others = [other for other, _ in self.trace.edges(node) if other is not parent]
        return name in ("multiply", "divide") and all(
            not self.trace.edges(other) and other.variable is None for other in others
        )

    def _carries(self, b: Break) -> bool:
        """Whether a value passes the break of a path, and is more than a choice, an earlier step or a library's own."""
        if b.cause in _VALUES:
            made = b.subject
            if isinstance(made, ValueLeft):
                return made.how not in _CHOICES
            return not (b.cause == "state" and isinstance(made, ValueOrigin) and made.when < self._since)
        node = b.subject
        if b.cause == "integer_dtype":
            return isinstance(node, TapeNode) and (self.trace.label(node) in _ADDED or _elementwise(node))
        written = self._written(b.place)
        if b.cause == "stop_gradient":
            stops = isinstance(written, ast.Call) and last_name(written.func) == "stop_gradient"
            return stops and not self._passes_through(b.place, cast("ast.Call", written))
        if b.cause == "nondifferentiable_op" and b.what in VALUED:
            return isinstance(written, ast.BinOp) or (
                isinstance(written, ast.Call) and isinstance(written.func, ast.Attribute)
            )
        return False

    def _written(self, place: CodePlace | None) -> ast.expr | None:
        """The expression that is at a place."""
        found = next(iter(self.inquiry.statements(place)), None)
        return None if found is None or place is None else found[0].expression(place.span)

    def _passes_through(self, place: CodePlace | None, call: ast.Call) -> bool:
        """Whether a stop is part of ``x + tf.stop_gradient(f(x) - x)``, or of ``f(x) - tf.stop_gradient(x) + x``:
        nothing is lost there.
        """
        statement = next(iter(self.inquiry.statements(place)))[0]
        given = call.args[0] if len(call.args) == 1 else None
        if isinstance(given, ast.BinOp) and isinstance(given.op, ast.Sub):
            given = given.right
        wanted = None if given is None else unparse(given)
        sums = [node for node in statement.walk() if isinstance(node, ast.BinOp) and call in _terms(node)]
        return any(
            unparse(part) == wanted
            for whole in sums
            for part in (whole.left, whole.right, *_terms(whole))
            if part is not call
        )

    def _from(self, source: End) -> set[Hashable]:
        """The nodes that were computed from a source as it is now, without a break."""
        found: set[Hashable] = set()
        waiting = self.trace.of(source) if self._cuts else []
        while waiting:
            node = waiting.pop()
            if node.key not in found:
                found.add(node.key)
                waiting += self._into.get(node.key, [])
        return found

    def _merged(self, breaks: list[Break]) -> list[Break]:
        from .inquiry import merge

        return [self.inquiry.called_outside(b) for b in merge(breaks)]

    @cached_property
    def _arrivals(self) -> Arrivals:
        """Where values may have come in on these ways."""
        return Arrivals(self.inquiry, {node.key: node for edge in self._edges for node in edge[:2]}.values())

    # -- through Python ----------------------------------------------------------------------------

    def _by_python(self, source: End) -> list[Break]:
        """Values that left as numbers of Python's, and by the text came back on the path to the target."""
        found = []
        mine = {node.key for node in self.trace.of(source)}
        exits = [e for e in self.inquiry.in_time()[:MOST] if e.how not in _CHOICES and e.when > self._since and e.stack]
        exits = [exit for exit in exits if self.inquiry.may_return(exit, self._arrivals)]
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
            if (
                path is None
                or any(b.cause == "outside_tape" or not self._carries(b) for b in before)
                or (path and path[0][1].key not in mine)
            ):
                continue
            found += self._merged([*before, Break("left_through_numpy", CodePlace(exit.stack), exit.how, exit)])
        return found


def _terms(node: ast.expr) -> list[ast.expr]:
    """The terms of a sum."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        return [*_terms(node.left), *_terms(node.right)]
    return [node]


def _elementwise(node: TapeNode) -> bool:
    return node.record is not None and node.record.cell(node.row)[0] > CALL


# -- what it would have added: the adjoint that arrives behind the cut is handed on before it ------


def added(inquiry: GradientInquiry, source: End, b: Break) -> str:
    """What a path from a source would add to its gradient if it were not blocked; empty where that is unknown."""
    record = inquiry.record
    if len(record) > ROWS or not (b.cause in _AS_IT_WAS or b.what in VALUED):
        return ""
    found = [_along(inquiry, source, b, *way) for way in b.ways]
    shares = [share for share in found if share is not None]
    if not found or len(shares) < len(found):
        return (
            fill("What it would add cannot be told: no tape follows what NumPy and Python compute.")
            if isinstance(b.subject, ValueLeft)
            else ""
        )
    total = np.asarray(sum(shares[1:], start=shares[0]))
    if not facts_of(total)[1]:
        return ""
    if not np.any(total):
        return fill("It would add nothing here.")
    if b.cause == "nondifferentiable_op":
        return fill("Taken for the identity, it would add {value} to the gradient.", value=shown(total))
    return fill("It would add {value} to the gradient.", value=shown(total))


def _along(inquiry: GradientInquiry, source: End, b: Break, child: TapeNode, parent: TapeNode) -> Array | None:
    """The share of one cut way; None where the value behind the cut is not the one before it."""
    record = inquiry.record
    if child.record is not record or child.caller is not None or not _keeps_value(inquiry, b, child, parent):
        return None
    behind = _arrives(inquiry, starts_of(inquiry), {child.row})
    if behind is None:
        return np.zeros(tuple(source.shape))
    if parent.record is not record:
        return behind if parent in inquiry.trace.of(source) else None
    return _arrives(inquiry, {parent.row: behind}, set(inquiry.tape._rows_of(source)))


def _keeps_value(inquiry: GradientInquiry, b: Break, child: TapeNode, parent: TapeNode) -> bool:
    """Whether an operation that blocks the gradient returns the value of its input, or one near it."""
    behind, before = inquiry.value(child), inquiry.value(parent)
    if behind is None or before is None or np.shape(behind) != np.shape(before):
        return False
    return b.cause == "nondifferentiable_op" or bool(np.array_equal(behind, before))


def _arrives(inquiry: GradientInquiry, starts: dict[int, Array], wanted: set[int]) -> Array | None:
    """The adjoint that a sweep brings to these rows together; None where none arrives."""
    found = [adjoint for row, adjoint in starts.items() if row in wanted]
    for step in sweep_of(inquiry, starts, wanted) or ():
        found += [share for row, share, _ in step.shares if row in wanted]
    return sum(found[1:], start=found[0]) if found else None
