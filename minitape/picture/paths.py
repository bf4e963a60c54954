"""The dashed ways to a state of a variable: around the nodes, and where a cross on one is; as
widgets/frontend/src/links.ts has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import dist

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom

SIDES = ((1, 0), (0, 1), (0, -1), (-1, 0))  # of a node; a way leaves its left side, where inputs are, only to go left
BENDS = (30, 70, 140)  # how far it goes straight on there
POINTS = 12  # of a piece of a way that are looked at
MARGIN = 6  # from a node
EDGE = 20  # a cross so far from an edge stands well


def way(
    start: Box, end: Box, boxes: Sequence[Box], edges: Sequence[Point], room: tuple[float, float]
) -> tuple[str, Point]:
    """The path from box to box that meets the fewest ``boxes``, the shortest of them, and its point furthest from boxes
    and ``edges``.

    ``room`` is between which heights it stays.

    >>> path, cross = way((0, 0, 120, 52), (180, 0, 300, 52), [(0, 0, 120, 52), (180, 0, 300, 52)], [], (-20, 70))
    >>> path, cross[1]
    ('M120 26C150 26 150 26 178 26m-5 -3.5l5 3.5l-5 3.5', 26.0)
    """

    def met(point: Point) -> bool:
        return any(a - MARGIN < point[0] < c + MARGIN and b - MARGIN < point[1] < d + MARGIN for a, b, c, d in boxes)

    def cost(points: list[Point]) -> float:
        inside = sum(not room[0] < point[1] < room[1] or met(point) for point in points[1:-1])
        return 1000 * inside + sum(map(dist, points, points[1:]))

    def free(point: Point) -> float:
        return -1 if met(point) else min((dist(point, other) for other in edges), default=EDGE)

    ways = [(through, curve(through), into) for through, into in _ways(start, end, boxes)]
    through, points, (x, y) = min(ways, key=lambda one: cost(one[1]))
    numbers = [f"{a:.5g} {b:.5g}" for a, b in through]
    tip = (
        f"m{5 * x - 3.5 * y:g} {5 * y + 3.5 * x:g}l{3.5 * y - 5 * x:g} {-3.5 * x - 5 * y:g}l{5 * x + 3.5 * y:g} "
        f"{5 * y - 3.5 * x:g}"
    )
    return f"M{numbers[0]}C{' '.join(numbers[1:])}{tip}", max(points[3:-2], key=lambda point: min(free(point), EDGE))


def _ways(start: Box, end: Box, boxes: Sequence[Box]) -> Iterator[tuple[list[Point], tuple[int, int]]]:
    """The points of curves from a side to a side, and of those over and under what stands between."""
    for bend, out, into in product(BENDS, SIDES[: 4 if end[0] < start[0] else 3], SIDES):
        yield [_at(start, out, 0), _at(start, out, bend), _at(end, into, bend), _at(end, into, 2)], into
    if inner := [box for box in boxes if start[2] < box[0] and box[2] < end[0]]:
        left, right = min(box[0] for box in inner) - MARGIN, max(box[2] for box in inner) + MARGIN
        a, b = _at(start, SIDES[0], 0), _at(end, SIDES[3], 2)
        p, q = (a[0] + left) / 2, (b[0] + right) / 2
        for level in (level for box in inner for level in (box[1] - 9, box[3] + 9)):
            yield (
                [a, (p, a[1]), (p, level), *[(left, level)] * 2, *[(right, level)] * 2, (q, level), (q, b[1]), b],
                SIDES[3],
            )


def _at(box: Box, side: tuple[int, int], away: float) -> Point:
    """The middle of a side of a box, or a point before it."""
    left, top, right, bottom = box
    return (
        left + (right - left) / 2 * (1 + side[0]) + away * side[0],
        top + (bottom - top) / 2 * (1 + side[1]) + away * side[1],
    )


def curve(through: Sequence[Point]) -> list[Point]:
    """Points of the cubic curves through every third of these, which the others bend."""
    points = [through[0]]
    for k in range(0, len(through) - 1, 3):
        for t in (step / POINTS for step in range(1, POINTS + 1)):
            shares = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            x, y = (
                sum(share * point[axis] for share, point in zip(shares, through[k : k + 4], strict=True))
                for axis in (0, 1)
            )
            points.append((x, y))
    return points
