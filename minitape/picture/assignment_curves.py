"""Find a curve for an assignment that no node hides. Lengths are in pixels."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from .edge_labels import Box, Point

LEAST_BEND = 25.6  # The minimum distance by which a curve swings out.
CORNER_SHARE = 0.85  # Where a curve leaves a node on its right or enters it on its left, as a share of the height.
SAMPLE_COUNT = 40
# The costs of a curve: for each point behind a node or outside of the figure, and for each pixel of length.
HIDDEN_COST, LENGTH_COST = 10.0, 0.02
ARROWHEADS = {
    "bottom": "m-3.5 5.5l3.5 -5.5l3.5 5.5",
    "top": "m-3.5 -5.5l3.5 5.5l3.5 -5.5",
    "left": "m-5.5 -3.5l5.5 3.5l-5.5 3.5",
}


class AssignmentCurve(NamedTuple):
    """A cubic Bézier curve from one node to another.

    Attributes:
        points: The start, the two control points and the end.
        end_side: The side on which the curve enters its last node: "bottom", "top" or "left".
    """

    points: tuple[Point, Point, Point, Point]
    end_side: str

    def build_path(self) -> str:
        """Return the curve with its arrowhead as an SVG path."""
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = self.points
        return f"M{x0} {y0}C{x1} {y1} {x2} {y2} {x3} {y3}{ARROWHEADS[self.end_side]}"

    def sample_points(self) -> np.ndarray:
        """Return points of the curve, as an array of shape (SAMPLE_COUNT + 1, 2)."""
        t = np.linspace(0, 1, SAMPLE_COUNT + 1)[:, None]
        start, first, second, end = map(np.array, self.points)
        return (1 - t) ** 3 * start + 3 * t * (1 - t) ** 2 * first + 3 * t * t * (1 - t) * second + t**3 * end


def choose_assignment_curve(start: Box, end: Box, node_boxes: Sequence[Box], bottom: float) -> AssignmentCurve:
    """Return the curve between two nodes that other nodes hide least, or the shortest one if there are several.

    Args:
        start: The box of the node at which the curve begins.
        end: The box of the node at which it ends.
        node_boxes: The boxes of all nodes.
        bottom: The height of the figure.
    """
    curves = [
        _build_curve(start, end, start_side, end_side)
        for start_side, end_side in product(("bottom", "top", "right"), ("bottom", "top", "left"))
    ]
    boxes = np.array(node_boxes)

    def compute_cost(curve: AssignmentCurve) -> float:
        points = curve.sample_points()[1:-1]
        y = points[:, 1]
        hidden = np.all((points[:, None] > boxes[:, :2]) & (points[:, None] < boxes[:, 2:]), axis=2).any(axis=1)
        outside = (y < 0) | (y > bottom)
        length = np.hypot(*np.diff(points, axis=0).T).sum()
        return float(HIDDEN_COST * (hidden.sum() + outside.sum()) + LENGTH_COST * length)

    return min(curves, key=compute_cost)


def _build_curve(start: Box, end: Box, start_side: str, end_side: str) -> AssignmentCurve:
    x0, y0 = _find_side_point(start, start_side)
    x3, y3 = _find_side_point(end, end_side)
    bend = max(LEAST_BEND, 0.4 * abs(x3 - x0)) if start_side == "right" or end_side == "left" else LEAST_BEND
    x1, y1 = _move_outwards((x0, y0), start_side, bend)
    x2, y2 = _move_outwards((x3, y3), end_side, bend)
    if start_side == end_side == "bottom":
        y1 = y2 = max(y1, y2)
    if start_side == end_side == "top":
        y1 = y2 = min(y1, y2)
    return AssignmentCurve(((x0, y0), (x1, y1), (x2, y2), _move_outwards((x3, y3), end_side, 2)), end_side)


def _find_side_point(box: Box, side: str) -> Point:
    left, top, right, bottom = box
    if side in ("bottom", "top"):
        return (left + right) / 2, bottom if side == "bottom" else top
    return right if side == "right" else left, top + CORNER_SHARE * (bottom - top)


def _move_outwards(point: Point, side: str, distance: float) -> Point:
    """Return the point at this distance from a side of a node, outside of the node."""
    x, y = point
    dx, dy = {"bottom": (0, 1), "top": (0, -1), "left": (-1, 0), "right": (1, 0)}[side]
    return x + dx * distance, y + dy * distance
