"""Paths from targets back to a value, with the fewest breaks: one search that goes on where the last one stopped.

Long runs of scalar rows are walked in one tight loop, so that it meets only their ends.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable
from itertools import count
from typing import TYPE_CHECKING

from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE

if TYPE_CHECKING:
    from ..engine.recording.record import Record
    from ..engine.typed import End
    from .nodes import Break, Node
    from .trace import Trace

LONG = 20_000  # rows from which on runs of scalar rows are contracted

_RULES: list[tuple[str, ...]] = [()] * FIRST_CODE + [p.texts[1:] for p in BY_CODE]


class Chains:
    """The rows of one long recording as plain lists, and what a run of them is made of."""

    def __init__(self, record: Record, spans: list[tuple[int, int]], wanted: set[int]) -> None:
        self.op, self.a, self.b, _, _ = record.columns()
        self.inside = bytearray(len(self.op))
        for first, last in spans:
            self.inside[first:last] = b"\x01" * (min(last, len(self.op)) - first)
        self.wanted = wanted

    def plain(self, row: int) -> bool:
        """Whether a row is a scalar operation that the tape recorded, with a rule for each input."""
        op = self.op[row]
        return op >= FIRST_CODE and bool(self.inside[row]) and "-" not in _RULES[op]

    def ends(self, start: int) -> dict[int, set[int]]:
        """Where the run that ends in ``start`` comes from: rows that read something else -> what they read."""
        first: dict[int, int] = {}  # what is read from outside the run -> the lowest row that reads it
        seen = bytearray(len(self.op))
        waiting = [start]
        op, left, right, plain, wanted = self.op, self.a, self.b, self.plain, self.wanted
        while waiting:
            row = waiting.pop()
            if seen[row]:
                continue
            seen[row] = 1
            one = len(_RULES[op[row]]) == 1
            for parent in (left[row],) if one else (left[row], right[row]):
                if parent not in wanted and plain(parent):
                    if not seen[parent]:
                        waiting.append(parent)
                elif row < first.get(parent, row + 1):
                    first[parent] = row
        found: dict[int, set[int]] = {}
        for parent, row in first.items():
            found.setdefault(row, set()).add(parent)
        return found


LIMIT = 400_000  # nodes that a search visits at most
_COST = {"outside_tape": 0.5, "recording_paused": 0.5, "integer_dtype": 0.9}
SHAPES = ("OnesLike", "ZerosLike", "Shape", "ShapeN", "Size", "Rank")
_OF_SHAPE = 1.5  # what has a value's shape alone was not meant to carry its gradient, where anything else is cut
_NEARER = 0.95  # what a function stored in a variable in the call at hand, not in one before

Steps = list[tuple["Node", "Node", "Break | None"]]


class Search:
    """Dijkstra's search over one trace from some nodes on; many values may be asked for, one after the other."""

    def __init__(self, trace: Trace, starts: list[Node]) -> None:
        self.trace = trace
        self._number = count()
        self._heap: list[tuple[float, int, Node]] = [(0.0, next(self._number), node) for node in starts]
        self._best: dict[Hashable, float] = {node.key: 0.0 for node in starts}
        self._before: dict[Hashable, tuple[Node, Break | None]] = {}
        self._done: dict[Hashable, int] = {}  # the key of each node that was visited -> how many were before
        self.visited: dict[Hashable, Node] = {}  # what a node stands for -> the first such node

    def path(self, value: End) -> Steps | None:
        """The edges (made value, what from, break) from ``value`` to a start; None: there is no path."""
        wanted = self.trace.names(value)
        found = [node for name in wanted if (node := self.visited.get(name)) is not None]
        if found:
            return self._walk(min(found, key=lambda node: self._done[node.key]))
        while self._heap and len(self._done) < LIMIT:
            node = self._visit()
            if node is not None and any(self.visited.get(name) is node for name in wanted):
                return self._walk(node)
        return None

    def path_of(self, node: Node) -> Steps | None:
        """The same from a node; None where the search ends before it comes there."""
        while node.key not in self._done and self._heap and len(self._done) < LIMIT:
            self._visit()
        return self._walk(node) if node.key in self._done else None

    def _visit(self) -> Node | None:
        """Visits the next node; None when it was visited before."""
        cost, _, node = heapq.heappop(self._heap)
        if node.key in self._done:
            return None
        self._done[node.key] = len(self._done)
        for name in self.trace.stands_for(node):
            self.visited.setdefault(name, node)
        for parent, broken in self.trace.edges(node):
            total = cost + (0.0 if broken is None else _cost(broken))
            if total < self._best.get(parent.key, 1e9):
                self._best[parent.key] = total
                self._before[parent.key] = (node, broken)
                heapq.heappush(self._heap, (total, next(self._number), parent))
        return node

    def _walk(self, node: Node) -> Steps:
        steps = []
        while node.key in self._before:
            child, broken = self._before[node.key]
            steps.append((child, node, broken))
            node = child
        return steps


def _cost(broken: Break) -> float:
    if broken.cause == "state" and getattr(broken.subject, "caller", None) is not None:
        return _NEARER
    if broken.what in SHAPES:
        return _OF_SHAPE
    return _COST.get(broken.cause, 1.0)
