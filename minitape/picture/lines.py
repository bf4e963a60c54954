"""Where the nodes and edges of a figure are: columns in one line, or in several as text.

widgets/frontend/src/graph.ts and wrap.ts have the same rules; tests/widgets/placements.json holds both to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, dist, inf
from typing import NamedTuple

from .placement import Placement

Point = tuple[float, float]

WIDTH, HEIGHT = 120, 52  # of a node
PITCH, HALF = 182, 35  # of a column, and of a half-slot
GUTTER, LANE, INDENT = 34.0, 6.0, 30.0  # between two lines, between two edges there, and left of the lines
AWAY, CORNER, STEP = 10.0, 8.0, 8.0
BESIDE, FLOOR, DROP, DROPS = 8.0, 14.0, 5.0, 5  # of edges to a lower storey: from a node, from all, apart, how many


class Piece(NamedTuple):
    """A part of an edge's curve: a straight line, or one with two control points."""

    start: Point
    end: Point
    bend: tuple[Point, Point] | None = None


def extents(column: Sequence[int], slot: Sequence[int], passed: Iterable[Point], per: float) -> list[list[float]]:
    """Of each line of ``per`` columns the first half-slot, and the first one below it; ``passed`` are points of edges.

    >>> extents([0, 1, 2], [0, 1, -1], [(1, 4)], per=2)
    [[0, 5], [-1, 1]]
    """
    found: list[list[float]] = []
    taken = [*((c, s, s + 2) for c, s in zip(column, slot, strict=True)), *((c, s, s + 1) for c, s in passed)]
    for at, low, high in sorted(taken):
        if at // per == len(found):
            found.append([low, high])
        line = found[int(at // per)]
        line[:] = min(line[0], low), max(line[1], high)
    return found


def lanes(edges: Iterable[tuple[int, int]], column: Sequence[int], slot: Sequence[int], per: float) -> list[list[int]]:
    """Below each line the nodes whose edges go on in the next one, in the order of their lanes: the lowest has the
    first.

    >>> lanes([(0, 2), (1, 2)], [0, 1, 2], [0, 1, -1], per=2)
    [[1, 0]]
    """
    found: dict[int, set[int]] = {}
    for start, end in edges:
        first, last = sorted((int(column[start] // per), int(column[end] // per)))
        for line in range(first, last):
            found.setdefault(line, set()).add(start)
    return [sorted(found.get(line, ()), key=lambda i: (-slot[i], i)) for line in range(max(found, default=-1) + 1)]


class Lines:
    """The places of nodes in lines of ``per`` columns, the first of them at ``corner``, and the curves of edges.

    >>> from minitape.picture.placement import Item, place
    >>> placed = place([Item([], leaf=True), Item([0])])
    >>> lines = Lines(placed, [(0, 1)])
    >>> lines.at, lines.curve(0, 1, 0, 1)
    ([(0.0, 0.0), (182.0, 0.0)], [Piece(start=(120.0, 26.0), end=(180.0, 26.0), bend=None)])
    """

    def __init__(
        self, placed: Placement, edges: Sequence[tuple[int, int]], per: float = inf, corner: Point = (0.0, 0.0)
    ) -> None:
        self.placed, self.per = placed, per
        column, slot = placed.column, placed.slot
        self.line = [int(c // per) for c in column]
        passed = [point for points in placed.via.values() for point in points]
        reach = extents(column, slot, passed, per) or [[0, 2]]
        near = [edge for edge in edges if not self.is_far(*edge)]
        self._lanes = lanes([edge for edge in near if not placed.is_down(*edge)], column, slot, per)
        beside = LANE * max(map(len, self._lanes), default=0)
        self.left, self.bottom = corner
        self._first = self.left + (INDENT + beside if len(reach) > 1 else 0)  # the first column
        self._tops, self._bottoms = [], []
        for line, (low, high) in enumerate(reach):
            gutter = GUTTER + LANE * len(self._lanes[line - 1]) if 0 < line <= len(self._lanes) else GUTTER
            top = self.bottom + gutter * bool(line)
            self.bottom = top + max((high - low - 2) * HALF + HEIGHT, HALF)
            self._tops.append(top - low * HALF)
            self._bottoms.append(self.bottom)
        self.at = [self._place(c, s) for c, s in zip(column, slot, strict=True)]
        self.right = max((x for x, _ in self.at), default=self._first) + WIDTH
        self.right += 16 + beside if len(reach) > 1 else 0
        downs = dict.fromkeys(start for start, end in near if placed.is_down(start, end))
        self._drops = {start: DROP * (k % DROPS) for k, start in enumerate(downs)}

    def _place(self, column: int, slot: float) -> Point:
        line, across = divmod(column, self.per)
        return self._first + across * PITCH, self._tops[int(line)] + slot * HALF

    def is_far(self, start: int, end: int) -> bool:
        """Whether an edge is drawn as a reference: it comes from too many columns away, or down from another line."""
        down = self.placed.is_down(start, end) and self.line[start] != self.line[end]
        return down or self.placed.is_far(start, end)

    def is_back(self, index: int) -> bool:
        """Whether a node is in a lower storey, into which edges come from the right."""
        return self.placed.items[index].storey > 0

    def entry(self, index: int, port: int, ports: int, away: float) -> Point:
        """A point so far before the place at which an edge enters a node."""
        x, y = self.at[index]
        return x + WIDTH + away if self.is_back(index) else x - away, y + HEIGHT * (port + 1) / (ports + 1)

    def curve(self, start: int, end: int, port: int, ports: int) -> list[Piece]:
        """The curve of an edge in parts; in a lower storey it is that of one which runs the other way."""
        goal, (x, y) = self.entry(end, port, ports, 2), self.at[start]
        leaves = (x if self.is_back(start) else x + WIDTH, y + HEIGHT / 2)
        via = self.placed.via.get((start, end), [])
        if self.placed.is_down(start, end):
            return list(_through(leaves, [*self._down(start, end, goal), goal]))
        if not self.is_back(start):
            return self._between(start, leaves, goal, via, self.line[end])
        found = self._between(start, goal, leaves, via[::-1], self.line[end])
        return [Piece(piece.end, piece.start, piece.bend and piece.bend[::-1]) for piece in reversed(found)]

    def _down(self, start: int, end: int, goal: Point) -> list[Point]:
        """The corners of an edge to a lower storey: beside its node, between the storeys, and beside the other node."""
        aside, line = self._drops[start], self.line[start]
        upper = [y for k, (_, y) in enumerate(self.at) if self.line[k] == line and not self.is_back(k)]
        low = max(upper) + HEIGHT + FLOOR + aside
        left, right = (self.at[index][0] + WIDTH + BESIDE + aside for index in (start, end))
        y = self.at[start][1] + HEIGHT / 2
        return (
            [(left, y), (left, goal[1])] if left == right else [(left, y), (left, low), (right, low), (right, goal[1])]
        )

    def _between(self, start: int, at: Point, goal: Point, via: Sequence[tuple[int, int]], last: int) -> list[Piece]:
        """The curve from a point to one that is right of it, through ``via``; in the lanes of ``start``."""
        found: list[Piece] = []
        line = self.line[start]
        for column, slot in via:
            (x, y), to = self._place(column, slot + 0.5), int(column // self.per)
            at, line = self._wrap(found, at, y, start, range(line, to)), to
            found += [_bent(at, (x - AWAY, y)), Piece((x - AWAY, y), (x + WIDTH + AWAY, y))]
            at = found[-1].end
        at = self._wrap(found, at, goal[1], start, range(line, last))
        return [*found, _bent(at, goal)]

    def _wrap(self, found: list[Piece], at: Point, y: float, start: int, lines: Iterable[int]) -> Point:
        """From these lines each into the next one, to the height of ``y``, left of its first column."""
        for line in lines:
            rank = self._lanes[line].index(start) if start in self._lanes[line] else 0
            right, left = self.right - 8 - LANE * rank, self.left + 8 + LANE * rank
            low = self._bottoms[line] + GUTTER / 2 + LANE * rank
            found += _through(at, [(right, at[1]), (right, low), (left, low), (left, y), (left + CORNER, y)])
            at = found.pop().start
        return at


def _through(at: Point, points: Sequence[Point]) -> Iterator[Piece]:
    """Straight lines through these points, with round corners."""
    for k, point in enumerate(points):
        ends = [point, point]
        for side, to in enumerate([at, points[k + 1]] if k + 1 < len(points) else ()):
            share = CORNER / (dist(to, point) or 1.0)
            ends[side] = point[0] + (to[0] - point[0]) * share, point[1] + (to[1] - point[1]) * share
        yield Piece(at, ends[0])
        if k + 1 < len(points):
            yield Piece(ends[0], ends[1], (point, point))
        at = ends[1]


def _bent(start: Point, end: Point) -> Piece:
    """From one point to another, level at both."""
    if abs(end[1] - start[1]) < 0.5:
        return Piece(start, end)
    bend = max(14.0, (end[0] - start[0]) / 2)
    return Piece(start, end, ((start[0] + bend, start[1]), (end[0] - bend, end[1])))


def path_of(curve: Sequence[Piece], sent: bool, back: bool) -> str:
    """The SVG path of a curve with an arrowhead at its end, or at its beginning where the sweep was ``sent`` over it;
    ``back`` says that the node there is one of a lower storey, which looks left.
    """
    (x, y), ahead = curve[0].start, -1 if back else 1
    d = f"M{x} {y}"
    for _, to, bend in curve:
        d += f"L{to[0]} {to[1]}" if bend is None else f"C{' '.join(f'{a} {b}' for a, b in (*bend, to))}"
    x, y, ahead = (x + 2 * ahead, y, -ahead) if sent else (*curve[-1].end, ahead)
    return f"{d}M{x - 5.5 * ahead} {y - 3.5}l{5.5 * ahead} 3.5l{-5.5 * ahead} 3.5"


def points_of(curve: Sequence[Piece]) -> list[Point]:
    """Points of a curve at about equal distances."""
    found = [curve[0].start]
    for start, end, bend in curve:
        count = max(1, ceil(dist(start, end) / STEP))
        for k in range(1, count + 1):
            t = k / count
            shares = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3) if bend else (1 - t, t)
            parts = [*zip(shares, (start, *(bend or ()), end), strict=True)]
            found.append((sum(s * x for s, (x, _) in parts), sum(s * y for s, (_, y) in parts)))
    return found


class Places:
    """Finds room for texts: on their edges, off nodes, other texts and other edges."""

    SHARES = (0.5, 0.58, 0.42, 0.66, 0.34, 0.74, 0.26, 0.82, 0.18)

    def __init__(self, boxes: Iterable[tuple[float, float, float, float]], left: float, right: float) -> None:
        self.boxes = list(boxes)  # (middle x, middle y, width, height)
        self.left, self.right = left, right
        self.points: dict[object, list[Point]] = {}
        self.down: set[object] = set()  # edges to a lower storey

    def find(self, key: object, w: float, h: float, away: Sequence[float] = (0,), most: float = inf) -> Point | None:
        """The middle of a free box of this size at the edge ``key``; None where the best is worse than ``most``."""
        curve = self.points[key]
        if key in self.down:  # beside its last turn: before that it has company
            _, level = curve[-1]
            curve = [(next(x for x, y in curve if abs(y - level) < CORNER + 1) + w / 2 + 3, level)]
        best, least = None, most
        for share in self.SHARES:
            x, y = curve[round(share * (len(curve) - 1))]
            x = min(max(x, self.left + w / 2), self.right - w / 2)
            for off in away:
                cost = 60 * abs(share - 0.5) + abs(off) + self._cost((x, y + off), w, h, key)
                if cost < least:
                    best, least = (x, y + off), cost
        if best is not None:
            self.boxes.append((*best, w, h))
        return best

    def _cost(self, at: Point, w: float, h: float, own: object) -> float:
        cost = 0.0
        for x, y, wide, high in self.boxes:
            over = min((w + wide) / 2 + 2 - abs(at[0] - x), (h + high) / 2 + 2 - abs(at[1] - y))
            cost += 200 + 40 * over if over > 0 else 0
        for key, points in self.points.items():
            if key != own:
                cost += 12 * sum(abs(x - at[0]) < w / 2 + 1 and abs(y - at[1]) < h / 2 + 1 for x, y in points)
        return cost
