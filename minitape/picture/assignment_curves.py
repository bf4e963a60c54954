"""Find a curve for an assignment that no node hides. Lengths are in pixels."""

from collections.abc import Sequence
from itertools import product
from operator import itemgetter

import numpy as np
from numpy import ndarray

from .edge_labels import Box

LEAST_BEND = 25.6  # The minimum distance by which a curve swings out.
SAMPLE_COUNT = 40
# The costs of a curve: for each point behind a node or outside of the figure, and for each pixel of length.
HIDDEN_COST, LENGTH_COST = 10.0, 0.02
ARROWHEADS = {
    "bottom": "m-3.5 5.5l3.5 -5.5l3.5 5.5",
    "top": "m-3.5 -5.5l3.5 5.5l3.5 -5.5",
    "left": "m-5.5 -3.5l5.5 3.5l-5.5 3.5",
}
# Where a curve meets each side of a node, as shares of the node's width and height, and the direction away from there.
SIDES = {
    "bottom": ((0.5, 1), (0, 1)),
    "top": ((0.5, 0), (0, -1)),
    "left": ((0, 0.85), (-1, 0)),
    "right": ((1, 0.85), (1, 0)),
}


def choose_assignment_curve(start: Box, end: Box, node_boxes: Sequence[Box], bottom: float) -> tuple[str, ndarray]:
    """Return the curve between two nodes that other nodes hide least, or the shortest one if there are several.

    Args:
        start: The box of the node at which the curve begins.
        end: The box of the node at which it ends.
        node_boxes: The boxes of all nodes.
        bottom: The height of the figure.

    Returns:
        The curve with its arrowhead as an SVG path, and the point in its middle.
    """
    boxes = np.array(node_boxes)
    t = np.linspace(0, 1, SAMPLE_COUNT + 1)[:, None]
    candidates = []
    for start_side, end_side in product(("bottom", "top", "right"), ("bottom", "top", "left")):
        ends = first, second, third, fourth = _compute_curve_points(start, end, start_side, end_side)
        curve = (1 - t) ** 3 * first + 3 * t * (1 - t) ** 2 * second + 3 * t * t * (1 - t) * third + t**3 * fourth
        points = curve[1:-1]
        y = points[:, 1]
        hidden = np.all((points[:, None] > boxes[:, :2]) & (points[:, None] < boxes[:, 2:]), axis=2).any(axis=1)
        outside = (y < 0) | (y > bottom)
        length = np.hypot(*np.diff(points, axis=0).T).sum()
        cost = HIDDEN_COST * (hidden.sum() + outside.sum()) + LENGTH_COST * length
        path = "M{} {}C{} {} {} {} {} {}".format(*ends.flat) + ARROWHEADS[end_side]
        candidates.append((cost, path, curve[SAMPLE_COUNT // 2]))
    return min(candidates, key=itemgetter(0))[1:]


def _compute_curve_points(start: Box, end: Box, start_side: str, end_side: str) -> ndarray:
    """Return the start, the two control points and the end of a cubic Bézier curve, as an array of shape (4, 2)."""
    corners = np.array([start, end])
    shares, directions = np.array([SIDES[start_side], SIDES[end_side]]).swapaxes(0, 1)
    first, last = points = corners[:, :2] + shares * (corners[:, 2:] - corners[:, :2])
    is_sideways = start_side == "right" or end_side == "left"
    controls = points + directions * max(LEAST_BEND, 0.4 * abs(last[0] - first[0]) * is_sideways)
    if start_side == end_side:
        controls[:, 1] = controls[:, 1].max() if end_side == "bottom" else controls[:, 1].min()
    return np.array([first, *controls, last + 2 * directions[1]])
