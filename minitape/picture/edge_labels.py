"""Place the numbers of a figure on their edges, where no other line or text runs through them.

Lengths are in pixels.
"""

from collections.abc import Sequence
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .truncation import measure_width

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # Left, top, right and bottom.

LETTER_WIDTH, PLATE_HEIGHT = 6.7, 13.0  # The sizes of a digit and of the white plate below a number.
LETTER_HEIGHT = 10.0
PLATE_PADDING = 2.0
CLEARANCE = np.array([-3.0, -3.0, 3.0, 3.0])  # Other edges and nodes are this far from the sides of a plate.
POINT_DISTANCE = 3.0  # Edges are tested at points this far apart.
# So far a number may lie below or above its edge, in front of the consumer.
SHIFTS = np.array([(0, 3), (0, -3), (0, 6), (0, -6)])
NARROW_SHIFTS = np.append(SHIFTS, [(0, 10), (0, -10), (0, 24), (0, -24)], axis=0)  # The last leave the edge whole.
REFERENCE_SHIFTS = np.array([(0, -16), (0, 16)])  # The same for an edge that is drawn as the name of its input.
NARROW_MIN_LENGTH = 30.0  # For each pixel less of the edge, a number on it costs as much as two pixels of shift.
MIDDLE = 27.0  # A number lies best this far from its consumer, between the arrowhead and the consumer.
ARROW_LENGTH = 9.0  # This much of an edge stays visible at the input, where the arrowhead is.
# The costs of a place: for each point of another edge below the plate, for each pixel of another plate or of a node,
# for each pixel of the arrowhead, for each pixel of distance from the middle, and for each pixel away from the edge.
# A pixel outside of the figure costs as much as a column of pixels of a node.
EDGE_COST, PLATE_COST, NODE_COST, ARROW_COST, DISTANCE_COST, SHIFT_COST = 20.0, 3.0, 10.0, 2.0, 0.1, 0.5
# So far the label of a cross may lie from the cross, where the first of several equally good places is taken.
CROSS_SHIFTS = np.array([*product(range(150, -151, -6), range(-150, 151, 3))])


class EdgeLabel(NamedTuple):
    """A number to place on an edge, or the label of a cross, whose curve only consists of the cross.

    Attributes:
        curve: The index of the edge's curve.
        text: The text.
        color: The color of the text.
        style: SVG attributes of the text.
        shifts: How far the label may lie from the edge, in each direction.
        height: The room that the label needs, which is less for a label that must fit between two nodes.
        min_length: How much of the edge should remain visible. A cross may lie next to its label, so any will do.
    """

    curve: int
    text: str
    color: str
    style: str
    shifts: ndarray = SHIFTS
    height: float = PLATE_HEIGHT
    min_length: float = 0.0


def reverse_pair(point: Point) -> Point:
    """Return the point with its coordinates exchanged, as it lies in a turned figure."""
    x, y = point
    return y, x


def sample_curve(points: Sequence[Point]) -> ndarray:
    """Return points on the curve that ``build_edge_path`` draws, as an array of shape (number, 2).

    Args:
        points: The points that the curve passes with a horizontal tangent.
    """
    pieces = []
    for (x0, y0), (x1, y1) in pairwise(points):
        t = np.linspace(0, 1, 2 + int((abs(x1 - x0) + abs(y1 - y0)) / POINT_DISTANCE))
        # A cubic Bézier curve whose inner control points are half-way between the ends, at the heights of the ends.
        blend = t * t * (3 - 2 * t)
        x = x0 + (x1 - x0) * (1.5 * t * (1 - t) + t**3)
        pieces.append(np.stack([x, y0 + (y1 - y0) * blend], axis=1))
    return np.concatenate(pieces)


def compute_plate(center: Point, text: str) -> Box:
    """Return the box of the plate below a number.

    Args:
        center: The center of the number.
        text: The number.

    >>> compute_plate((100.0, 50.0), "1.0")
    (87.95, 43.5, 112.05, 56.5)
    """
    half_width = LETTER_WIDTH * measure_width(text) / 2 + PLATE_PADDING
    x, y = center
    return x - half_width, y - PLATE_HEIGHT / 2, x + half_width, y + PLATE_HEIGHT / 2


def place_edge_labels(
    curves: Sequence[Sequence[Point]],
    labels: Sequence[EdgeLabel],
    node_boxes: Sequence[Box],
    room: Point,
    is_turned: bool,
) -> list[Point]:
    """Return the center of each label: on its own edge near the consumer, or just above or below the edge there.

    Args:
        curves: The points of each curve, from the input to the consumer.
        labels: The labels.
        node_boxes: The boxes of the nodes.
        room: The width and the height of the figure.
        is_turned: Whether the edges run down the page.
    """
    # Below, the first coordinate runs along the edges, and the second one across them.
    order = [1, 0] if is_turned else [0, 1]
    samples = [sample_curve([*map(reverse_pair, curve)] if is_turned else curve) for curve in curves]
    nodes = np.array(node_boxes).reshape(-1, 2, 2)[..., order].reshape(-1, 4) + CLEARANCE
    plates = np.zeros((0, 4))
    centers = []
    for label in labels:
        own_points = samples[label.curve]
        start_x, end_x = own_points[[0, -1], 0]
        near_points = own_points[abs(own_points[:, 0] - end_x) < 2 * MIDDLE]
        shifts = np.append(0 * own_points, np.repeat(label.shifts, len(near_points), axis=0), axis=0)
        places = np.concatenate([own_points, *[near_points] * len(label.shifts)]) + shifts
        half_size = np.array([compute_plate((0, 0), label.text)[2], label.height / 2])[order]
        boxes = np.concatenate([places - half_size, places + half_size], axis=1)
        other_samples = [points for curve, points in enumerate(samples) if curve != label.curve]
        others = np.concatenate([*other_samples, np.zeros((0, 2))]).T.copy()[:, None]
        starts, ends = (boxes + CLEARANCE).T.copy().reshape(2, 2, -1, 1)
        is_within_x, is_within_y = (others > starts) & (others < ends)
        cost = EDGE_COST * (is_within_x & is_within_y).sum(axis=1)
        cost += PLATE_COST * _sum_common_areas(boxes, plates) + NODE_COST * _sum_common_areas(boxes, nodes)
        cost += ARROW_COST * np.maximum(0, half_size[0] + ARROW_LENGTH - abs(places[:, 0] - start_x))
        cost += DISTANCE_COST * abs(abs(places[:, 0] - end_x) - MIDDLE)
        outside = np.maximum(-boxes[:, :2], boxes[:, 2:] - np.array(room)[order])
        cost += NODE_COST * PLATE_HEIGHT * outside.max(axis=1, initial=0)
        cost += SHIFT_COST * abs(shifts).sum(axis=1)
        hidden_length = 2 * half_size[0] * (abs(shifts[:, 1]) < half_size[1])
        cost += np.maximum(0, hidden_length + label.min_length - POINT_DISTANCE * len(own_points))
        best = int(np.argmin(cost))
        plates = np.concatenate([plates, boxes[best : best + 1]])
        centers.append(tuple(places[best, order].tolist()))
    return centers


def _sum_common_areas(boxes: ndarray, others: ndarray) -> ndarray:
    """Return for each box the area that it shares with the other boxes."""
    starts, ends = boxes.T.copy().reshape(2, 2, -1, 1)
    other_starts, other_ends = others.T.copy().reshape(2, 2, 1, -1)
    width, height = np.maximum(np.minimum(ends, other_ends) - np.maximum(starts, other_starts), 0)
    return (width * height).sum(axis=1)
