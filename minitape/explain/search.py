"""Paths from targets back to a value, with the fewest breaks: one search that goes on where the last one stopped, for a
tape and for the rows of every framework.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Generic, TypeVar

from ..recording.chains import LIMIT
from .causes import row_of

if TYPE_CHECKING:
    from ..recording.nodes import Break

SHAPES = ("OnesLike", "ZerosLike", "Shape", "ShapeN", "Size", "Rank")
_OF_SHAPE = 1.5  # what has a value's shape alone was not meant to carry its gradient, where anything else is cut
# what a break costs more that only goes on with the one before it; a step further outside the tape is one further away
_AGAIN = 0.001
WHOLE = "a whole number"  # what a row of a framework holds where one breaks
PLACE = " that chooses"  # in a target to which nothing passes a gradient
_NEARER = 0.95  # what a function stored in a variable in the call at hand, not in one before

Point = TypeVar("Point")  # a value: a node of a tape's graph, or the number of a row


class Search(Generic[Point]):
    """Dijkstra's search from some points on to what they were computed from; many may be asked for, one after the
    other.

    ``edges`` says from what a point was computed, and what breaks there. ``key`` is what a point is known by, and
    ``names`` what it stands for.
    """

    def __init__(
        self,
        starts: Iterable[Point],
        edges: Callable[[Point], Iterable[tuple[Point, Break | None]]],
        key: Callable[[Point], Hashable] = attrgetter("key"),
        names: Callable[[Point], Iterable[Hashable]] = lambda point: (),
    ) -> None:
        self._edges, self._key, self._names = edges, key, names
        self._number = count()
        self._heap: list[tuple[float, int, Point]] = [(0.0, next(self._number), point) for point in starts]
        self._best: dict[Hashable, float] = {key(point): 0.0 for _, _, point in self._heap}
        self._before: dict[Hashable, tuple[Point, Break | None]] = {}
        self._done: dict[Hashable, int] = {}  # the key of each point that was visited -> how many were before
        self.visited: dict[Hashable, Point] = {}  # what a point stands for -> the first such point

    def path(self, wanted: Iterable[Hashable]) -> list[tuple[Point, Point, Break | None]] | None:
        """The edges (made value, what from, break) from what has one of these names to a start; None: there is no
        path.
        """
        found = [point for name in wanted if (point := self.visited.get(name)) is not None]
        if found:
            return self._walk(min(found, key=lambda point: self._done[self._key(point)]))
        while self._heap and len(self._done) < LIMIT:
            point = self._visit()
            if point is not None and any(self.visited.get(name) is point for name in wanted):
                return self._walk(point)
        return None

    def path_of(self, point: Point) -> list[tuple[Point, Point, Break | None]] | None:
        """The same from a point; None where the search ends before it comes there."""
        key = self._key(point)
        while key not in self._done and self._heap and len(self._done) < LIMIT:
            self._visit()
        return self._walk(point) if key in self._done else None

    def _visit(self) -> Point | None:
        """Visits the next point; None when it was visited before."""
        cost, _, point = heapq.heappop(self._heap)
        key = self._key(point)
        if key in self._done:
            return None
        self._done[key] = len(self._done)
        _, after = self._before.get(key, (None, None))
        for name in self._names(point):
            self.visited.setdefault(name, point)
        for parent, broken in self._edges(point):
            total = cost + (0.0 if broken is None else _cost(broken, after))
            at = self._key(parent)
            if total < self._best.get(at, 1e9):
                self._best[at] = total
                self._before[at] = (point, broken)
                heapq.heappush(self._heap, (total, next(self._number), parent))
        return point

    def _walk(self, point: Point) -> list[tuple[Point, Point, Break | None]]:
        steps = []
        while (before := self._before.get(self._key(point))) is not None:
            steps.append((before[0], point, before[1]))
            point = before[0]
        return steps


def _cost(broken: Break, after: Break | None) -> float:
    if after is not None and continues_break(broken, after) and broken.cause != "outside_tape":
        return _AGAIN
    if broken.cause == "state" and getattr(broken.subject, "caller", None) is not None:
        return _NEARER
    if broken.what in SHAPES or PLACE in broken.what:
        return _OF_SHAPE
    return row_of(broken.cause).weight


def continues_break(before: Break, after: Break) -> bool:
    """Whether a break has the same reason as the one before it, so that only the first is reported: both have the same
    cause, the second is about integers, or its operation was not recorded because its input was computed too early."""
    return (
        before.cause == after.cause
        or WHOLE in after.what
        or (before.cause, after.cause) == ("computed_before_tape", "not_recorded")
    )


def breaks_of(steps: Iterable[tuple[Point, Point, Break | None]]) -> list[Break]:
    """The breaks of a way, of each run the first."""
    found: list[Break] = []
    before = None
    for _, _, broken in steps:
        if broken is not None and not (before is not None and continues_break(before, broken)):
            found.append(broken)
        before = broken
    return found
