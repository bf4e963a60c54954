"""Draw the edges of a figure: as curves, or abbreviated to the name of the row at which they begin.

Lengths are in pixels.
"""

import re

from .edge_labels import ARROW_LENGTH, Point, reverse_pair
from .expressions import format_row_reference
from .snapshot_types import RowFields
from .svg_elements import (
    EDGE_COLOR,
    MUTED_COLOR,
    SMALL_STYLE,
    SWEPT_EDGE_COLOR,
    draw_path,
    draw_text,
)
from .truncation import measure_width, shorten_name

MAX_REFERENCE_LETTERS = 6


def format_reference(input_row: RowFields, room: float) -> str:
    """Return the short name of a row, or its number.

    Args:
        input_row: The row.
        room: The space in which a short edge with the name must fit. Otherwise it has the number.
    """
    name = input_row["name"] or "∂"
    # The beginning of an adjoint's long name, or of a layer's path, says less than its number.
    says_less = name.startswith("∂") or (re.search(r"[./[]", name) and measure_width(name) > MAX_REFERENCE_LETTERS)
    name = shorten_name(name.removesuffix(":0"), MAX_REFERENCE_LETTERS)
    return format_row_reference(input_row["row"]) if says_less or measure_reference(name) > room else name


def measure_reference(text: str) -> float:
    """Return how much room a short edge needs beside its node.

    Args:
        text: The name or number at which the edge starts.
    """
    return 6.6 * measure_width(text) + 8 + ARROW_LENGTH + 4


def draw_abbreviated_edge(text: str, x: float, y: float, direction: int, is_swept: bool) -> str:
    """Return a short edge that starts at the name or number of its input.

    The short edge replaces an edge from another line or tier, or from a distant column.

    Args:
        text: The name or number.
        x: The horizontal position of the edge's end, in pixels.
        y: The vertical position of the edge's end, in pixels.
        direction: 1 if the edge runs to the right, or -1 if it runs to the left.
        is_swept: Whether the sweep has sent a share along the edge.
    """
    width = measure_reference(text) - ARROW_LENGTH - 4
    middle = x - direction * (width / 2 + ARROW_LENGTH)
    box_colors = 'fill="#f2f3f5" stroke="#b3bac2"'
    box = f'<rect x="{middle - width / 2}" y="{y - 8}" width="{width}" height="16" rx="8" {box_colors}/>'
    line = draw_path(
        build_edge_path([(x - ARROW_LENGTH * direction, y), (x, y)], is_swept),
        SWEPT_EDGE_COLOR if is_swept else EDGE_COLOR,
        width=1.2,
    )
    return line + box + draw_text(middle, y + 4, text, f'{SMALL_STYLE} text-anchor="middle"', MUTED_COLOR)


def build_arrowhead_path(direction: int) -> str:
    """Return the SVG path of an arrowhead at the current point, for an arrow to the right (1) or to the left (-1).

    Args:
        direction: 1 for an arrow to the right, or -1 for an arrow to the left.
    """
    return f"m{-5.5 * direction} -3.5l{5.5 * direction} 3.5l{-5.5 * direction} 3.5"


def build_edge_path(points: list[Point], is_swept: bool, is_turned: bool = False) -> str:
    """Return the SVG path of an edge through the given points, with a horizontal tangent at each point.

    Args:
        points: At least two points, from the input to the consumer.
        is_swept: Whether the sweep has sent a share along the edge. If true, the arrowhead is at the input, otherwise
            at the consumer.
        is_turned: Whether the edge runs down the page, with vertical tangents.

    >>> build_edge_path([(0, 0), (60, 20)], is_swept=False)
    'M0 0C30.0 0 30.0 20 60 20m-5.5 -3.5l5.5 3.5l-5.5 3.5'
    """
    if is_turned:  # The path consists of pairs of coordinates.
        path = build_edge_path([*map(reverse_pair, points)], is_swept)
        return re.sub(r"([-.\d]+) ([-.\d]+)", r"\2 \1", path)
    (x, y), *other_points = points
    direction = 1 if other_points[-1][0] > x else -1
    start = f"M{x + 2 * direction} {y}{build_arrowhead_path(-direction)}"
    path = f"M{x} {y}"
    for to_x, to_y in other_points:
        middle = (x + to_x) / 2
        path += f"C{middle} {y} {middle} {to_y} {to_x} {to_y}"
        x = to_x
        y = to_y
    return start + path if is_swept else path + build_arrowhead_path(direction)
