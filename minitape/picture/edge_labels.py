"""Place the numbers of a figure on their edges, where no other line or text runs through them.

Lengths are in pixels.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # Left, top, right and bottom.

LETTER_WIDTH, PLATE_HEIGHT = 6.7, 13.0  # The sizes of a digit and of the white plate below a number.
PLATE_PADDING = 2.0
CLEARANCE = np.array([-3.0, -3.0, 3.0, 3.0])  # Other edges and nodes are this far from the sides of a plate.
POINT_DISTANCE = 3.0  # Edges are tested at points this far apart.
SHIFTS = (3.0, -3.0, 6.0, -6.0)  # So far a number may lie below or above its edge, in front of the consumer.
MIDDLE = 27.0  # A number lies best this far from its consumer, between the arrowhead and the consumer.
ARROW_LENGTH = 9.0  # This much of an edge stays visible at the input, where the arrowhead is.
# The costs of a place: for each point of another edge below the plate, for each pixel of another plate or of a node,
# for each pixel of the arrowhead, for each pixel of distance from the middle, and for each pixel away from the edge.
EDGE_COST, PLATE_COST, NODE_COST, ARROW_COST, DISTANCE_COST, SHIFT_COST = 20.0, 3.0, 10.0, 2.0, 0.1, 0.5


class EdgeLabel(NamedTuple):
    """A number to place on an edge.

    Attributes:
        curve: The index of the edge's curve.
        text: The number.
        color: The color of the text.
    """

    curve: int
    text: str
    color: str


def sample_curve(points: Sequence[Point]) -> np.ndarray:
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
    half_width = LETTER_WIDTH * len(text) / 2 + PLATE_PADDING
    x, y = center
    return x - half_width, y - PLATE_HEIGHT / 2, x + half_width, y + PLATE_HEIGHT / 2


def place_edge_labels(
    curves: Sequence[Sequence[Point]], labels: Sequence[EdgeLabel], node_boxes: Sequence[Box]
) -> list[Point]:
    """Return the center of each label: on its own edge near the consumer, or just above or below the edge there.

    Args:
        curves: The points of each curve, from the input to the consumer.
        labels: The labels.
        node_boxes: The boxes of the nodes.
    """
    samples = [sample_curve(curve) for curve in curves]
    all_points = np.concatenate(samples) if samples else np.zeros((0, 2))
    owners = np.repeat(np.arange(len(samples)), [len(points) for points in samples])
    nodes = np.array(node_boxes).reshape(-1, 4) + CLEARANCE
    plates = np.zeros((0, 4))
    centers = []
    for label in labels:
        own_points = samples[label.curve]
        start_x, end_x = own_points[[0, -1], 0]
        near_points = own_points[abs(own_points[:, 0] - end_x) < 2 * MIDDLE]
        shifts = np.append(np.zeros(len(own_points)), np.repeat(SHIFTS, len(near_points)))
        places = np.concatenate([own_points, *[near_points] * len(SHIFTS)])
        places[:, 1] += shifts
        half_width = LETTER_WIDTH * len(label.text) / 2 + PLATE_PADDING
        half_size = half_width, PLATE_HEIGHT / 2
        boxes = np.concatenate([places - half_size, places + half_size], axis=1)
        others = all_points[owners != label.curve]
        grown = boxes + CLEARANCE
        is_near = (others > grown[:, :2].min(axis=0)) & (others < grown[:, 2:].max(axis=0))
        x, y = others[is_near.all(axis=1)].T
        left, top, right, bottom = grown.T[:, :, None]
        crossed = (x > left) & (x < right) & (y > top) & (y < bottom)
        cost = EDGE_COST * crossed.sum(axis=1)
        cost += PLATE_COST * _sum_common_areas(boxes, plates) + NODE_COST * _sum_common_areas(boxes, nodes)
        cost += ARROW_COST * np.maximum(0, half_width + ARROW_LENGTH - abs(places[:, 0] - start_x))
        cost += DISTANCE_COST * abs(abs(places[:, 0] - end_x) - MIDDLE) + SHIFT_COST * abs(shifts)
        best = int(np.argmin(cost))
        plates = np.concatenate([plates, boxes[best : best + 1]])
        centers.append(tuple(places[best].tolist()))
    return centers


def _sum_common_areas(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return for each box the area that it shares with the other boxes."""
    width = np.minimum(boxes[:, None, 2], others[:, 2]) - np.maximum(boxes[:, None, 0], others[:, 0])
    height = np.minimum(boxes[:, None, 3], others[:, 3]) - np.maximum(boxes[:, None, 1], others[:, 1])
    return (np.maximum(width, 0) * np.maximum(height, 0)).sum(axis=1)
