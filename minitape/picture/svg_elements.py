"""Draw the SVG elements of a figure: texts, boxes, lines and crosses. Lengths are in pixels."""

import re
from html import escape

from ..engine.types import TextPair
from .edge_labels import Box
from .snapshot_types import OptionalValue, RowFields
from .truncation import elide_text, replace_unprintable
from .value_display import draw_thumbnail, format_magnitude, format_shape, format_value

NODE_WIDTH, NODE_HEIGHT = 120, 52
MAX_VALUE_LETTERS = 15  # The number of characters for which a node has room in a value.

# Border and fill of each kind of node. Color-blind people can distinguish these Okabe-Ito colors, and the kinds also
# differ in shape.
NODE_COLORS = {
    "source": ("#0072b2", "#e3f0f8"),
    "variable": ("#00805c", "#e2f4ee"),
    "constant": ("#7d858e", "#f2f3f5"),
    "operation": ("#59636e", "#ffffff"),
    "gap": ("#b3bac2", "#ffffff"),
}
TEXT_COLOR = "#1f2328"
MUTED_COLOR = "#57606a"
EDGE_COLOR = "#97a0aa"
ADJOINT_COLOR = "#b34700"
CUT_COLOR = "#a8447f"
BROKEN_COLOR = "#c62828"
SWEPT_EDGE_COLOR = "#c9703c"  # The color of edges along which the sweep has sent a share.
TAPE_COLORS = ("#0072b2", "#a34a7e", "#00805c", "#8a5c00")  # The colors of tape frames.
SANS_FONT = "Helvetica, Arial, sans-serif"
SERIF_FONT = "'Times New Roman', Times, serif"
MONO_FONT = "Menlo, Consolas, 'DejaVu Sans Mono', 'Courier New', monospace"
TITLE_STYLE = 'font-size="12"'
SMALL_STYLE = 'font-size="11"'
NUMBER_STYLE = f'font-size="11" font-family="{MONO_FONT}"'
BOLD_STYLE = ' font-weight="600"'
RING = "c0 -2.93 -4.4 -2.93 -4.4 0c0 2.93 4.4 2.93 4.4 0z"
# The shapes of marks, from their center.
SCISSORS = f"m-2.8 -2.6{RING}m0 5.2{RING}m-0.5 -4l10 5.4m-10 -2.6l10 -5.4"
CROSS = "m-4.5 -4.5l9 9m0 -9l-9 9"
CORNER_RADII = {"source": NODE_HEIGHT / 2, "operation": 9}


def draw_text(x: float, y: float, text: str, style: str, fill: str = TEXT_COLOR, is_bold: bool = False) -> str:
    """Return the SVG for a piece of text, or "" if the text is empty.

    Args:
        x: The horizontal position of the text's start, or of its end or center if the style has a ``text-anchor``.
        y: The baseline.
        text: The text, in which unprintable characters are replaced by spaces.
        style: SVG attributes, such as TITLE_STYLE.
        fill: The color.
        is_bold: Whether the text is bold.
    """
    clean = replace_unprintable(text)
    if not clean:
        return ""
    return f'<text x="{x}" y="{y}" {style} fill="{fill}"{BOLD_STYLE if is_bold else ""}>{escape(clean)}</text>'


def draw_mark(x: float, y: float, shape: str) -> str:
    """Return the mark of a place that no gradient passes.

    Args:
        x: The horizontal position of the center.
        y: The vertical position of the center.
        shape: CROSS, or SCISSORS where a value left the tape.
    """
    return draw_path(f"M{x} {y}{shape}", CUT_COLOR, width=2.2)


def draw_plate(box: Box) -> str:
    """Return a white plate, which keeps a text legible on an edge.

    Args:
        box: The left, top, right and bottom of the plate.
    """
    left, top, right, bottom = box
    return f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" rx="2" fill="#ffffff"/>'


def draw_node_box(
    x: float, y: float, kind: str, color: str, fill: str, dash_pattern: str = "", width: float = 1.3
) -> str:
    """Return the box of a node.

    Args:
        x: The left edge.
        y: The top edge.
        kind: The kind of the row, which determines how round the corners are.
        color: The color of the border.
        fill: The color inside, or "none".
        dash_pattern: The dashes of the border, as SVG's ``stroke-dasharray``, or "" for a solid border.
        width: The width of the border.
    """
    radius = CORNER_RADII.get(kind, 3)
    box = f'<rect x="{x}" y="{y}" width="{NODE_WIDTH}" height="{NODE_HEIGHT}" rx="{radius}" fill="{fill}"'
    return box + _format_stroke_and_tag_end(color, dash_pattern, width)


def draw_path(path: str, color: str, dash_pattern: str = "", width: float = 1.3) -> str:
    """Return a line along an SVG path.

    Args:
        path: The path, as SVG's attribute ``d``.
        color: The color of the line.
        dash_pattern: The dashes, as SVG's ``stroke-dasharray``, or "" for a solid line.
        width: The width of the line.
    """
    return f'<path d="{path}" fill="none"' + _format_stroke_and_tag_end(color, dash_pattern, width)


def _format_stroke_and_tag_end(color: str, dash_pattern: str, width: float) -> str:
    dashes = f' stroke-dasharray="{dash_pattern}"' if dash_pattern else ""
    return f' stroke="{color}" stroke-width="{width}"{dashes}/>'


def choose_border_and_fill_colors(row: RowFields, is_broken: bool = False) -> TextPair:
    """Return the border and fill colors of a row's node, where an unwatched variable is filled like a constant.

    Args:
        row: The fields of the row.
        is_broken: Whether the path to the target breaks at the row.
    """
    color, fill = NODE_COLORS[row["kind"]]
    if row["kind"] == "variable" and not row["watched"]:
        fill = NODE_COLORS["constant"][1]
    if is_broken or row["cut"]:
        return BROKEN_COLOR if is_broken else CUT_COLOR, fill
    return choose_text_color(row["value"], color), fill


def choose_text_color(value: OptionalValue, default_color: str = TEXT_COLOR) -> str:
    """Return the color for the text of a value.

    Args:
        value: The value, which may be None.
        default_color: The color of a value without NaN. The color of a value that contains NaN is CUT_COLOR.
    """
    return CUT_COLOR if value and re.search(r"\bnan\b", value.get("text", "")) else default_color


def draw_value_in_node(x: float, y: float, padding: float, prefix: str, value: OptionalValue, row: RowFields) -> str:
    """Return the text of a value in a node. A large array has a thumbnail, behind its shape or, if new, its size.

    Args:
        x: The left edge of the node.
        y: The baseline of the text.
        padding: The distance of the text from the left edge.
        prefix: Text in front of the value. If there is a prefix, a number is bold.
        value: The value, or None to draw nothing.
        row: The row of the node.
    """
    if value is None:
        return ""
    text = format_value(value, MAX_VALUE_LETTERS - len(prefix))
    if text is not None or not row["shape"]:
        text = prefix + (text or elide_text(value.get("text", ""), MAX_VALUE_LETTERS))
        return draw_text(x + padding, y, text, NUMBER_STYLE, choose_text_color(value), bool(prefix))
    max_letters = MAX_VALUE_LETTERS - 4 - len(prefix)
    text = prefix + format_magnitude(value, max_letters) if prefix else format_shape(row["shape"], max_letters)
    return draw_text_with_thumbnail(x, y, padding, text, value, MUTED_COLOR)


def draw_text_with_thumbnail(
    x: float, y: float, padding: float, text: str, value: OptionalValue, color: str, is_bold: bool = False
) -> str:
    """Return a text in a node and, if there is room to its right, the thumbnail of an array.

    Args:
        x: The left edge of the node.
        y: The baseline of the text.
        padding: The distance of the text from the left edge.
        text: The text.
        value: The value of the thumbnail.
        color: The color of the text.
        is_bold: Whether the text is bold.
    """
    thumbnail_left = max(68.0, padding + 6.7 * len(text) + 4)
    thumbnail = (
        draw_thumbnail(value, x + thumbnail_left, y - 10, NODE_WIDTH - thumbnail_left - 8, 12)
        if thumbnail_left < NODE_WIDTH - 26
        else ""
    )
    return draw_text(x + padding, y, text, NUMBER_STYLE, color, is_bold) + thumbnail
