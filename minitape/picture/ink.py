"""The pieces of SVG that a figure is made of: texts, boxes, lines, crosses."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isfinite, log10
from typing import TYPE_CHECKING

from .lines import HEIGHT, WIDTH
from .marks import shape_text, small_map, written
from .short import elide, printable

if TYPE_CHECKING:
    from .fields import Fields, Shown
    from .figure import Node

ROOM = 15  # characters of a value in a node
DECADES = 3  # powers of ten that fill the height of a profile, at least

# Okabe-Ito colours, which colour-blind people can tell apart; the kinds differ in shape as well
COLOURS = {
    "source": ("#0072b2", "#e3f0f8"),
    "variable": ("#00805c", "#e2f4ee"),
    "constant": ("#7d858e", "#f2f3f5"),
    "operation": ("#59636e", "#ffffff"),
    "gap": ("#b3bac2", "#ffffff"),
}
INK, MUTED, EDGE, BACK, HERE, CUT, BROKEN = "#1f2328", "#57606a", "#97a0aa", "#b34700", "#fdeee4", "#a8447f", "#c62828"
SENT = "#c9703c"  # an edge over which an earlier step went
SANS = "Helvetica, Arial, sans-serif"
SERIF = "'Times New Roman', Times, serif"
MONO = "Menlo, Consolas, 'DejaVu Sans Mono', 'Courier New', monospace"


def cross(x: float, y: float) -> str:
    """Where no gradient goes."""
    return f'<path d="M{x - 4.5} {y - 4.5}l9 9m0 -9l-9 9" stroke="{CUT}" stroke-width="2.2" fill="none"/>'


def colours_of(row: Fields) -> tuple[str, str]:
    """Of a row's border and inside: a variable that no tape watches is a constant inside."""
    colour, fill = COLOURS[row["kind"]]
    return colour, fill if row["kind"] != "variable" or row["watched"] else COLOURS["constant"][1]


def line_at(path: str, row: Fields | None, sent: bool | None = None, now: bool = False) -> str:
    """An edge; ``sent`` says that the sweep went over it, and whether it carried zeros, ``now`` that this step did."""
    cut = row is not None and row["cut"]
    dash = ' stroke-dasharray="3 4"' if row is not None and (cut or row["status"] == "ghost") else ""
    dash = ' stroke-dasharray="1 4"' if sent else dash
    colour = CUT if cut else EDGE if sent is None else BACK if now else SENT
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{2.2 if now else 1.3}"{dash}/>'


def text_at(x: float, y: float, text: str, style: str) -> str:
    fill = "" if "fill=" in style else f' fill="{INK}"'
    clean = printable(text)
    return f'<text x="{x}" y="{y}" {style}{fill}>{escape(clean)}</text>' if clean else ""


def value_at(x: float, y: float, pad: float, before: str, value: Shown | None, row: Fields, colour: str) -> str:
    """A number, or a small array in a node; of a larger one its shape and its picture."""
    if value is None:
        return ""
    text = written(value, ROOM - len(before))
    if text is not None or not row["shape"]:
        return text_at(
            x + pad,
            y,
            before + (text or elide(value.get("text", ""), ROOM)),
            f'font-size="11" font-family="{MONO}" fill="{colour}"' + (' font-weight="600"' if before else ""),
        )
    shape = before + shape_text(row["shape"], ROOM - 4 - len(before))
    left = max(68.0, pad + 6.7 * len(shape) + 4)
    picture = small_map(value, x + left, y - 10, WIDTH - left - 8, 12) if left < WIDTH - 24 else ""
    return text_at(x + pad, y, shape, f'font-size="11" font-family="{MONO}" fill="{MUTED}"') + picture


def box_of(node: Node, kind: str, colour: str, fill: str, dash: str, width: float = 1.3) -> str:
    """The border of a node."""
    radius = {"source": node.h / 2 if node.h == HEIGHT else 10.5, "operation": 9}.get(kind, 3)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<rect x="{node.x}" y="{node.y}" width="{node.w}" height="{node.h}" rx="{radius}" fill="{fill}" '
        f'stroke="{colour}" stroke-width="{width}"{dashes}/>'
    )


def sparkline(sizes: Sequence[float], x: float, y: float, w: float, h: float) -> str:
    """Magnitudes as a line of logarithms, at least three powers of ten high; 0 is at its foot, what is not finite at
    its top (widgets/frontend/src/profile.ts).
    """
    known = [log10(size) for size in sizes if size > 0 and isfinite(size)]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    if high - low < DECADES:
        low, high = (low + high - DECADES) / 2, (low + high + DECADES) / 2
    heights = [1 if size == 0 else (1 - (log10(size) - low) / (high - low)) if isfinite(size) else 0 for size in sizes]
    points = (f"{x + k * w / max(1, len(sizes) - 1)} {y + h * one}" for k, one in enumerate(heights))
    return f'<path d="M{"L".join(points)}" fill="none" stroke="{BACK}" stroke-width="1.4"/>'
