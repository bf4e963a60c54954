"""The pieces of SVG that a figure is made of: texts, boxes, lines, crosses."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from .marks import shape_text, small_map, written
from .short import elide, printable

if TYPE_CHECKING:
    from .fields import Fields, Shown

WIDTH, HEIGHT = 120, 52  # of a node
ROOM = 15  # characters of a value in a node

# Okabe-Ito colours, which colour-blind people can tell apart; the kinds differ in shape as well
COLOURS = {
    "source": ("#0072b2", "#e3f0f8"),
    "variable": ("#00805c", "#e2f4ee"),
    "constant": ("#7d858e", "#f2f3f5"),
    "operation": ("#59636e", "#ffffff"),
    "gap": ("#b3bac2", "#ffffff"),
}
INK, MUTED, EDGE, BACK, CUT, BROKEN = "#1f2328", "#57606a", "#97a0aa", "#b34700", "#a8447f", "#c62828"
SENT = "#c9703c"  # an edge over which the sweep went
SANS = "Helvetica, Arial, sans-serif"
SERIF = "'Times New Roman', Times, serif"
MONO = "Menlo, Consolas, 'DejaVu Sans Mono', 'Courier New', monospace"
# the type of texts
TITLE, SMALL, NUMBER = 'font-size="12"', 'font-size="11"', f'font-size="11" font-family="{MONO}"'
BOLD, OVER = ' font-weight="600"', ' paint-order="stroke" stroke="#ffffff" stroke-width="9"'  # over an edge
RADII = {"source": HEIGHT / 2, "operation": 9}  # of the corners of a node


def text_at(x: float, y: float, text: str, style: str, fill: str = INK, bold: bool = False) -> str:
    """A text in this type."""
    clean = printable(text)
    return f'<text x="{x}" y="{y}" {style} fill="{fill}"{BOLD * bold}>{escape(clean)}</text>' if clean else ""


def cross(x: float, y: float) -> str:
    """Where no gradient goes."""
    return f'<path d="M{x - 4.5} {y - 4.5}l9 9m0 -9l-9 9" stroke="{CUT}" stroke-width="2.2" fill="none"/>'


def box_of(x: float, y: float, kind: str, colour: str, fill: str, dash: str = "", width: float = 1.3) -> str:
    """The border of a node."""
    box = f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="{RADII.get(kind, 3)}" fill="{fill}"'
    return box + _stroke(colour, dash, width)


def line_at(path: str, colour: str, dash: str = "", width: float = 1.3) -> str:
    """An edge."""
    return f'<path d="{path}" fill="none"' + _stroke(colour, dash, width)


def _stroke(colour: str, dash: str, width: float) -> str:
    return f' stroke="{colour}" stroke-width="{width}"' + f' stroke-dasharray="{dash}"' * bool(dash) + "/>"


def colours_of(row: Fields) -> tuple[str, str]:
    """Of a row's border and inside: a variable that no tape watches is a constant inside."""
    colour, fill = COLOURS[row["kind"]]
    return colour, fill if row["kind"] != "variable" or row["watched"] else COLOURS["constant"][1]


def ink_of(value: Shown | None, ink: str = INK) -> str:
    """The colour of a value: one that is not a number is marked."""
    return CUT if value and re.search(r"\bnan\b", value.get("text", "")) else ink


def value_at(x: float, y: float, pad: float, before: str, value: Shown | None, row: Fields) -> str:
    """A number, or a small array in a node; of a larger one its shape and its picture."""
    if value is None:
        return ""
    text = written(value, ROOM - len(before))
    if text is not None or not row["shape"]:
        text = before + (text or elide(value.get("text", ""), ROOM))
        return text_at(x + pad, y, text, NUMBER, ink_of(value), bool(before))
    return with_map(x, y, pad, before + shape_text(row["shape"], ROOM - 4 - len(before)), value, MUTED)


def with_map(x: float, y: float, pad: float, text: str, value: Shown | None, colour: str, bold: bool = False) -> str:
    """A text in a node, and beside it the picture of its array where there is room."""
    left = max(68.0, pad + 6.7 * len(text) + 4)
    picture = small_map(value, x + left, y - 10, WIDTH - left - 8, 12) if left < WIDTH - 26 else ""
    return text_at(x + pad, y, text, NUMBER, colour, bold) + picture
