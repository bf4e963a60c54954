"""Where values of Python's can have come into a computation: as constants, as numbers beside tensors, as attributes.

An operation that reads tensors alone lets none in, whatever the names in its line held at other times.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from types import CodeType

from ..engine.recording.rows import CALL
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from .connection import Connection, is_leaf
from .nodes import Node, Place
from .source import source_of
from .statement import Statement, last_name
from .trace import Trace

Site = tuple[CodeType, int]  # code and offset of a user's frame
MAKES = ("constant", "convert_to_tensor", "zeros", "ones", "fill", "eye", "range", "linspace", "Variable")

ATTRIBUTES, PLACES, VALUES = range(3)  # what comes in at a point: an attribute, of any kind; an index, a size or a mask; a float


class Arrivals:
    """The points where a value may have arrived on the way to the targets, by these nodes, and the lines of all that ran on it."""

    def __init__(self, inquiry: Connection, nodes: Iterable[Node]) -> None:
        self.inquiry, self.trace = inquiry, inquiry.trace
        self.lines: set[tuple[str, int]] = set()  # of everything: a branch may have decided whether it runs
        self._sites: dict[tuple[Site, int | None], int] = {}  # with the most that comes in there
        for node in nodes:
            if not self.trace.is_number(node):  # one row for all 2.0 of a recording says nothing by its first use
                self._note(node)
        found = [(point, most) for site, most in self._sites.items() if (point := _point(*site)) is not None]
        self.points = [point for point, _ in found]
        self.values = [point for point, most in found if most != PLACES]

    def _note(self, node: Node) -> None:
        for place in (self.trace.place(node), self.trace.birth(node)):
            if place is not None:
                self.lines.update(place.outer())
        if is_leaf(node) or node.origin is not None:
            self._arrives(self.trace.birth(node) or self.trace.place(node), PLACES if _whole(self.trace, node) else VALUES)
        elif node.record is not None:
            self._of_row(node)

    def _comes_in(self, site: Site, what: int, side: int | None = None) -> None:
        self._sites[site, side] = max(what, self._sites.get((site, side), what))

    def _arrives(self, place: Place | None, what: int) -> None:
        """A constant or a variable was made here: of literals alone, or of what a call handed on."""
        if place is None:
            return
        first = _point(place.frames[0], None)
        if first is None or not _literal(first[1]):
            for frame in place.frames:
                self._comes_in(frame, what)

    def _of_row(self, node: Node) -> None:
        """A row takes Python's values in as attributes, or as a number beside a tensor."""
        record = node.record
        assert record is not None
        op, a, b, _ = record.cell(node.row)
        place = self.trace.place(node)
        if place is None:
            return
        if op == CALL:
            if a < len(record.calls) and record.calls[a].attrs:
                read = [parent for parent, _ in self.trace.edges(node)] if self.trace.label(node) != "cast" else []
                self._comes_in(place.frames[0], PLACES if any(is_leaf(one) and _whole(self.trace, one) for one in read) else ATTRIBUTES)
        elif op >= FIRST_CODE:
            two = len(BY_CODE[op - FIRST_CODE].texts) > 2
            for side, row in enumerate((a, b) if two else (a,)):
                if record.is_number(row):
                    self._comes_in(place.frames[0], VALUES, side if two else None)


def _whole(trace: Trace, node: Node) -> bool:
    """Whether a value is no float: an index, a size, a truth."""
    dtype = trace.dtype(node)
    return dtype is not None and not dtype.differentiable


def _point(site: Site, side: int | None) -> tuple[Statement, ast.AST | None] | None:
    """The statement at a frame, with the expression that ran or one side of it; None where there is no text."""
    place = Place((site,))
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
