"""The pieces of SVG that a figure is made of: texts, boxes, lines, crosses."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from .truncation import elide_text, replace_unprintable
from .value_display import draw_thumbnail, format_shape, format_value

if TYPE_CHECKING:
    from .snapshot_types import RowFields, ValueFields

NODE_WIDTH, NODE_HEIGHT = 120, 52  # of a node
MAX_VALUE_LETTERS = 15  # characters of a value in a node

# Okabe-Ito colours, which colour-blind people can tell apart; the kinds differ in shape as well
NODE_COLORS = {
    "source": ("#0072b2", "#e3f0f8"),
    "variable": ("#00805c", "#e2f4ee"),
    "constant": ("#7d858e", "#f2f3f5"),
    "operation": ("#59636e", "#ffffff"),
    "gap": ("#b3bac2", "#ffffff"),
}
TEXT_COLOR, MUTED_COLOR, EDGE_COLOR, ADJOINT_COLOR, CUT_COLOR, BROKEN_COLOR = (
    "#1f2328",
    "#57606a",
    "#97a0aa",
    "#b34700",
    "#a8447f",
    "#c62828",
)
SWEPT_EDGE_COLOR = "#c9703c"  # an edge over which the sweep went
SANS_FONT = "Helvetica, Arial, sans-serif"
SERIF_FONT = "'Times New Roman', Times, serif"
MONO_FONT = "Menlo, Consolas, 'DejaVu Sans Mono', 'Courier New', monospace"
# the type of texts
TITLE_STYLE, SMALL_STYLE, NUMBER_STYLE = 'font-size="12"', 'font-size="11"', f'font-size="11" font-family="{MONO_FONT}"'
BOLD_STYLE, OUTLINE_STYLE = (
    ' font-weight="600"',
    ' paint-order="stroke" stroke="#ffffff" stroke-width="9"',
)  # over an edge
CORNER_RADII = {"source": NODE_HEIGHT / 2, "operation": 9}  # of the corners of a node


def draw_text(x: float, y: float, text: str, style: str, fill: str = TEXT_COLOR, is_bold: bool = False) -> str:
    """Return a text in this style."""
    clean = replace_unprintable(text)
    return f'<text x="{x}" y="{y}" {style} fill="{fill}"{BOLD_STYLE * is_bold}>{escape(clean)}</text>' if clean else ""


def draw_cross(x: float, y: float) -> str:
    """Return a cross: here no gradient passes."""
    return f'<path d="M{x - 4.5} {y - 4.5}l9 9m0 -9l-9 9" stroke="{CUT_COLOR}" stroke-width="2.2" fill="none"/>'


def draw_node_box(
    x: float, y: float, kind: str, color: str, fill: str, dash_pattern: str = "", width: float = 1.3
) -> str:
    """Return the border of a node."""
    radius = CORNER_RADII.get(kind, 3)
    box = f'<rect x="{x}" y="{y}" width="{NODE_WIDTH}" height="{NODE_HEIGHT}" rx="{radius}" fill="{fill}"'
    return box + _format_stroke_and_tag_end(color, dash_pattern, width)


def draw_path(path: str, color: str, dash_pattern: str = "", width: float = 1.3) -> str:
    """Return an edge."""
    return f'<path d="{path}" fill="none"' + _format_stroke_and_tag_end(color, dash_pattern, width)


def _format_stroke_and_tag_end(color: str, dash_pattern: str, width: float) -> str:
    return (
        f' stroke="{color}" stroke-width="{width}"' + f' stroke-dasharray="{dash_pattern}"' * bool(dash_pattern) + "/>"
    )


def choose_border_and_fill_colors(row: RowFields) -> tuple[str, str]:
    """Return the colours of a row's border and inside: a variable that no tape watches is a constant inside."""
    color, fill = NODE_COLORS[row["kind"]]
    return color, fill if row["kind"] != "variable" or row["watched"] else NODE_COLORS["constant"][1]


def choose_text_color(value: ValueFields | None, default_color: str = TEXT_COLOR) -> str:
    """Return the colour of a value: one that is not a number is marked."""
    return CUT_COLOR if value and re.search(r"\bnan\b", value.get("text", "")) else default_color


def draw_value_in_node(
    x: float, y: float, padding: float, prefix: str, value: ValueFields | None, row: RowFields
) -> str:
    """Return a number, or a small array in a node; of a larger one its shape and its picture."""
    if value is None:
        return ""
    text = format_value(value, MAX_VALUE_LETTERS - len(prefix))
    if text is not None or not row["shape"]:
        text = prefix + (text or elide_text(value.get("text", ""), MAX_VALUE_LETTERS))
        return draw_text(x + padding, y, text, NUMBER_STYLE, choose_text_color(value), bool(prefix))
    return draw_text_with_thumbnail(
        x, y, padding, prefix + format_shape(row["shape"], MAX_VALUE_LETTERS - 4 - len(prefix)), value, MUTED_COLOR
    )


def draw_text_with_thumbnail(
    x: float, y: float, padding: float, text: str, value: ValueFields | None, color: str, is_bold: bool = False
) -> str:
    """Return a text in a node, and beside it the picture of its array where there is room."""
    thumbnail_left = max(68.0, padding + 6.7 * len(text) + 4)
    thumbnail = (
        draw_thumbnail(value, x + thumbnail_left, y - 10, NODE_WIDTH - thumbnail_left - 8, 12)
        if thumbnail_left < NODE_WIDTH - 26
        else ""
    )
    return draw_text(x + padding, y, text, NUMBER_STYLE, color, is_bold) + thumbnail
