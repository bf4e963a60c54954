"""Where the nodes and edges of a figure are: columns in one line, in several as text, or turned below each other.

widgets/frontend/src/graph.ts and wrap.ts have the same rules; tests/widgets/placements.json holds both to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, dist, hypot, inf
from typing import NamedTuple

from .placement import Placement

Point = tuple[float, float]

WIDTH, HEIGHT = 120, 52  # of a node
HALF = 35  # height of a half-slot
GUTTER, LANE, INDENT = 34.0, 6.0, 30.0  # between two lines, between two edges there, and left of the lines
DOWN, BETWEEN, APART, THIN, CHIP = 58.0, 40.0, 12.0, 10.0, 50.0  # the same of a turned graph, see graph.ts
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
    """The places of nodes in lines of ``per`` columns, and the curves of edges between them.

    >>> from minitape.picture.placement import Item, place
    >>> placed = place([Item([], leaf=True), Item([0])])
    >>> lines = Lines(placed, [(0, 1)], 182.0)
    >>> lines.at, lines.curve(0, 1, 0, 1)
    ([(0.0, 0.0), (182.0, 0.0)], [Piece(start=(120.0, 26.0), end=(180.0, 26.0), bend=None)])
    """

    turned = False

    def __init__(self, placed: Placement, edges: Sequence[tuple[int, int]], pitch: float, per: float = inf) -> None:
        self.placed, self.pitch, self.per = placed, pitch, per
        column, slot = placed.column, placed.slot
        self.line = [int(c // per) if per < inf else 0 for c in column]
        passed = [point for points in placed.via.values() for point in points]
        reach = extents(column, slot, passed, per) or [[0, 2]]
        near = [edge for edge in edges if not self.is_far(*edge)]
        self._lanes = lanes([edge for edge in near if not placed.is_down(*edge)], column, slot, per)
        self.tops: list[float] = []
        self.bottoms: list[float] = []
        for line, (low, high) in enumerate(reach):
            gutter = GUTTER + LANE * len(self._lanes[line - 1]) if 0 < line <= len(self._lanes) else GUTTER
            top = self.bottoms[-1] + gutter if line else 0.0
            self.tops.append(top - low * HALF)
            self.bottoms.append(top + max((high - low - 2) * HALF + HEIGHT, HALF))
        across = column if per == inf else [c % per for c in column]
        self.at: list[Point] = [
            (x * pitch, self.tops[line] + s * HALF) for x, s, line in zip(across, slot, self.line, strict=True)
        ]
        self._drops = {
            start: DROP * (k % DROPS) for k, start in enumerate({a: 0 for a, b in near if placed.is_down(a, b)})
        }
        self.left = -INDENT if len(reach) > 1 else 0.0
        self.right = max((x for x, _ in self.at), default=0.0) + WIDTH
        if len(reach) > 1:
            self.right += 16 + LANE * max(map(len, self._lanes), default=0)
            self.left -= LANE * max(map(len, self._lanes), default=0)
        self.top, self.bottom = 0.0, self.bottoms[-1]

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
            return self._between(start, leaves, goal, via, self.line[start], self.line[end])
        found = self._between(start, goal, leaves, via[::-1], self.line[end], self.line[start])
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

    def _between(
        self, start: int, at: Point, goal: Point, via: Sequence[tuple[int, int]], line: int, last: int
    ) -> list[Piece]:
        """The curve from a point to one that is right of it, through ``via``; in the lanes of ``start``."""
        found: list[Piece] = []
        for column, slot in via:
            to = 0 if self.per == inf else int(column // self.per)
            x = (column if self.per == inf else column % self.per) * self.pitch
            y = self.tops[to] + slot * HALF + HALF / 2
            if to > line:
                at, line = self._wrap(found, at, y, start, line)
            found += [_bent(at, (x - AWAY, y)), Piece((x - AWAY, y), (x + WIDTH + AWAY, y))]
            at = found[-1].end
        while last > line:
            at, line = self._wrap(found, at, goal[1], start, line)
        return [*found, _bent(at, goal)]

    def _wrap(self, found: list[Piece], at: Point, y: float, start: int, line: int) -> tuple[Point, int]:
        """To the height of ``y`` in the next line, left of its first column."""
        rank = self._lanes[line].index(start) if start in self._lanes[line] else 0
        right, left = self.right - 8 - LANE * rank, self.left + 8 + LANE * rank
        low = self.bottoms[line] + GUTTER / 2 + LANE * rank
        found += _through(at, [(right, at[1]), (right, low), (left, low), (left, y), (left + CORNER, y)])
        return found.pop().start, line + 1


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


class TurnedLines(Lines):
    """The same with the columns below each other: of each the nodes side by side, and the edges that pass it."""

    turned = True

    def __init__(self, placed: Placement, edges: Sequence[tuple[int, int]], room: float, down: float = DOWN) -> None:
        self.placed, self.down = placed, down
        count = len(placed.column)
        columns: list[list[int]] = [[] for _ in range(1 + max(placed.column, default=-1))]
        for i in sorted(range(count), key=lambda i: placed.slot[i]):
            columns[placed.column[i]].append(i)
        passed: list[set[int]] = [set() for _ in columns]
        for points in placed.via.values():
            for column, slot in points:
                passed[column].add(slot)
        self.line = list(placed.column)
        self._chips = {end for start, end in edges if self.is_far(start, end)}
        self._passing: dict[tuple[int, int], float] = {}
        self._around: dict[int, float] = {}
        self._reach: list[tuple[float, float]] = []
        self.at = [(0.0, 0.0)] * count
        self.left = self.right = self.bottom = self.top = 0.0
        for column, nodes in enumerate(columns):
            self._put(column, nodes, sorted(passed[column]), room)
        self.tops, self.bottoms = [self.top], [self.bottom]

    def _put(self, column: int, nodes: list[int], slots: list[int], room: float) -> None:
        chip = {i: CHIP * (i in self._chips) for i in nodes}
        rows = list(_rows(nodes, [chip[i] + WIDTH for i in nodes], room - len(slots) * (THIN + APART)))
        inside = slots if len(rows) < 2 else []
        widths = [sum(chip[i] + WIDTH + APART for i in row) + len(inside) * (THIN + APART) - APART for row in rows]
        left, right = -max(widths, default=0) / 2, max(widths, default=0) / 2
        y = self.bottom + self.down if column else 0.0
        slot_of = self.placed.slot
        for k, row in enumerate(rows):
            x, waiting = -widths[k] / 2, list(inside)
            for i in row:
                while waiting and waiting[0] < slot_of[i]:
                    self._passing[column, waiting.pop(0)] = x + THIN / 2
                    x += THIN + APART
                self.at[i] = (x + chip[i], y + k * (HEIGHT + BETWEEN))
                x += chip[i] + WIDTH + APART
            for slot in waiting:
                self._passing[column, slot] = x + THIN / 2
                x += THIN + APART
        middle = slot_of[nodes[len(nodes) // 2]] if nodes else 0
        beside = [(i, self.at[i][0] + WIDTH / 2 < 0) for i in nodes] if len(rows) > 1 else []
        for i, on_left in beside:
            left, right = (left - THIN, right) if on_left else (left, right + THIN)
            self._around[i] = left if on_left else right
        for slot in slots if len(rows) > 1 else []:
            left, right = (left - THIN, right) if slot < middle else (left, right + THIN)
            self._passing[column, slot] = left if slot < middle else right
        self.left, self.right = min(self.left, left), max(self.right, right)
        self.bottom = y + max(0, len(rows) - 1) * (HEIGHT + BETWEEN) + HEIGHT
        self._reach.append((y, self.bottom))

    def entry(self, index: int, port: int, ports: int, away: float) -> Point:
        """A point so far above the place at which an edge enters a node."""
        x, y = self.at[index]
        return x + WIDTH * (port + 1) / (ports + 1), y - away

    def curve(self, start: int, end: int, port: int, ports: int) -> list[Piece]:
        """The curve of an edge in parts."""
        found: list[Piece] = []
        at = (self.at[start][0] + WIDTH / 2, self.at[start][1] + HEIGHT)

        def go(to: Point) -> Point:
            bend = max(14.0, (to[1] - at[1]) / 2)
            found.append(Piece(at, to, ((at[0], at[1] + bend), (to[0], to[1] - bend))))
            return to

        column = self.placed.column
        places = [(self._around.get(start), self.at[start][1] + HEIGHT + 2 * AWAY, self._reach[column[start]][1])]
        places += [
            (self._passing.get((one, slot)), *self._reach[one]) for one, slot in self.placed.via.get((start, end), ())
        ]
        places.append((self._around.get(end), self._reach[column[end]][0], self.at[end][1] - 2 * AWAY))
        for x, high, low in places:
            if x is not None and low - high >= HEIGHT:
                at = go((x, high - AWAY))
                found.append(Piece(at, (x, low + AWAY)))
                at = (x, low + AWAY)
        go(self.entry(end, port, ports, 2))
        return found


def _rows(nodes: list[int], widths: list[float], room: float) -> Iterator[list[int]]:
    """Nodes in rows that are no wider than there is room."""
    row: list[int] = []
    left = room
    for node, width in zip(nodes, widths, strict=True):
        if row and left < width:
            yield row
            row, left = [], room
        row.append(node)
        left -= width + APART
    if row:
        yield row


def _bent(start: Point, end: Point) -> Piece:
    """From one point to another, level at both."""
    if abs(end[1] - start[1]) < 0.5:
        return Piece(start, end)
    bend = max(14.0, (end[0] - start[0]) / 2)
    return Piece(start, end, ((start[0] + bend, start[1]), (end[0] - bend, end[1])))


def path_of(curve: Sequence[Piece], turned: bool, tip: int, signs: Sequence[int]) -> str:
    """The SVG path of a curve with an arrowhead at its beginning (``tip`` 0), where the gradient goes, or its end (-1).
    ``signs`` are 1 for each of the two that looks right or down, else -1.
    """
    (x, y), end = curve[0].start, curve[-1].end
    d = f"M{x} {y}"
    for _, to, bend in curve:
        d += f"L{to[0]} {to[1]}" if bend is None else f"C{' '.join(f'{a} {b}' for a, b in (*bend, to))}"
    one = signs[tip]
    x, y = end if tip else (x, y + 2 * one) if turned else (x + 2 * one, y)
    one = one if tip else -one
    if turned:
        return f"{d}M{x - 3.5} {y - 5.5 * one}l3.5 {5.5 * one}l3.5 {-5.5 * one}"
    return f"{d}M{x - 5.5 * one} {y - 3.5}l{5.5 * one} 3.5l{-5.5 * one} 3.5"


def points_of(curve: Sequence[Piece]) -> list[Point]:
    """Points of a curve at about equal distances."""
    found = [curve[0].start]
    for (x0, y0), (x1, y1), bend in curve:
        count = max(1, ceil(hypot(x1 - x0, y1 - y0) / STEP))
        (ax, ay), (bx, by) = bend or ((x0, y0), (x1, y1))
        for k in range(1, count + 1):
            t = k / count
            a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
            if bend is None:
                found.append((x0 + t * (x1 - x0), y0 + t * (y1 - y0)))
            else:
                found.append((a * x0 + b * ax + c * bx + d * x1, a * y0 + b * ay + c * by + d * y1))
    return found


class Places:
    """Finds room for texts: on their edges, off nodes, other texts and other edges."""

    SHARES = (0.5, 0.58, 0.42, 0.66, 0.34, 0.74, 0.26, 0.82, 0.18)

    def __init__(
        self, boxes: Iterable[tuple[float, float, float, float]], left: float, right: float, turned: bool
    ) -> None:
        self.boxes = list(boxes)  # (middle x, middle y, width, height)
        self.left, self.right, self.turned = left, right, turned
        self.points: dict[object, list[Point]] = {}
        self.down: set[object] = set()  # edges to a lower storey

    def find(self, key: object, w: float, h: float, away: Sequence[float] = (0,), most: float = inf) -> Point | None:
        """The middle of a free box of this size at the edge ``key``; None where the best is worse than ``most``."""
        curve = self.last_turn(key, w) or self.points[key]
        best, least = None, most
        for share in self.SHARES:
            x, y = curve[round(share * (len(curve) - 1))]
            for off in away:
                across, down = (2 * off, 0) if self.turned else (0, off)
                at = (min(max(x + across, self.left + w / 2), self.right - w / 2), y + down)
                cost = 60 * abs(share - 0.5) + abs(off) + self._cost(at, w, h, key)
                if cost < least:
                    best, least = at, cost
        if best is not None:
            self.boxes.append((*best, w, h))
        return best

    def last_turn(self, key: object, w: float) -> list[Point]:
        """Beside the last turn of an edge to a lower storey, which has company before; none of another edge."""
        if key not in self.down:
            return []
        _, level = self.points[key][-1]
        return [(next(x for x, y in self.points[key] if abs(y - level) < CORNER + 1) + w / 2 + 3, level)]

    def _cost(self, at: Point, w: float, h: float, own: object) -> float:
        cost = 0.0
        for x, y, wide, high in self.boxes:
            over = min((w + wide) / 2 + 2 - abs(at[0] - x), (h + high) / 2 + 2 - abs(at[1] - y))
            cost += 200 + 40 * over if over > 0 else 0
        for key, points in self.points.items():
            if key != own:
                cost += 12 * sum(abs(x - at[0]) < w / 2 + 1 and abs(y - at[1]) < h / 2 + 1 for x, y in points)
        return cost
