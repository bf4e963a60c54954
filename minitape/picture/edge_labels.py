"""Place the numbers of a figure on their edges, where no other line or text runs through them.

Lengths are in pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # Left, top, right and bottom.

LETTER_WIDTH, PLATE_HEIGHT = 6.7, 13.0  # The sizes of a digit and of the white plate below a number.
PLATE_PADDING = 2.0
CLEARANCE = 3.0  # Other edges keep this distance from a plate.
POINT_DISTANCE = 3.0  # Edges are tested at points this far apart.
ARROW_LENGTH = 9.0  # This much of an edge stays visible at the input, where the arrowhead is.
# The costs of a place: for each point of another edge below the plate, for each pixel of another plate or of a node,
# for each pixel of the arrowhead, and for each pixel of distance from the consumer.
EDGE_COST, PLATE_COST, NODE_COST, ARROW_COST, DISTANCE_COST = 20.0, 3.0, 10.0, 2.0, 0.1


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
    """Return the center of each label: on its own edge, as near to the consumer as other lines and texts allow.

    Args:
        curves: The points of each curve, from the input to the consumer.
        labels: The labels.
        node_boxes: The boxes of the nodes.
    """
    samples = [sample_curve(curve) for curve in curves]
    all_points = np.concatenate(samples) if samples else np.zeros((0, 2))
    owners = np.repeat(np.arange(len(samples)), [len(points) for points in samples])
    nodes = np.array(node_boxes).reshape(-1, 4)
    plates = np.zeros((0, 4))
    centers = []
    for label in labels:
        own_points = samples[label.curve]
        start_x, _ = curves[label.curve][0]
        end_x, _ = curves[label.curve][-1]
        left, top, right, bottom = np.array([compute_plate((x, y), label.text) for x, y in own_points]).T
        others = all_points[owners != label.curve]
        crossed = (
            (others[:, 0] > left[:, None] - CLEARANCE)
            & (others[:, 0] < right[:, None] + CLEARANCE)
            & (others[:, 1] > top[:, None] - CLEARANCE)
            & (others[:, 1] < bottom[:, None] + CLEARANCE)
        )
        boxes = np.stack([left, top, right, bottom], axis=1)
        half_widths = (right - left) / 2
        cost = EDGE_COST * crossed.sum(axis=1)
        cost += PLATE_COST * _sum_common_areas(boxes, plates) + NODE_COST * _sum_common_areas(boxes, nodes)
        cost += ARROW_COST * np.maximum(0, half_widths + ARROW_LENGTH - abs(own_points[:, 0] - start_x))
        cost += DISTANCE_COST * abs(own_points[:, 0] - end_x)
        best = int(np.argmin(cost))
        plates = np.concatenate([plates, boxes[best : best + 1]])
        centers.append((float(own_points[best, 0]), float(own_points[best, 1])))
    return centers


def _sum_common_areas(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return for each box the area that it shares with the other boxes."""
    width = np.minimum(boxes[:, None, 2], others[:, 2]) - np.maximum(boxes[:, None, 0], others[:, 0])
    height = np.minimum(boxes[:, None, 3], others[:, 3]) - np.maximum(boxes[:, None, 1], others[:, 1])
    return (np.maximum(width, 0) * np.maximum(height, 0)).sum(axis=1)
