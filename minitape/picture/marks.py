"""How numbers and arrays look in a picture: four digits, shapes, and small pictures in blue and vermilion.

widgets/frontend/src/value.ts and heatmap.ts have the same rules for the live picture.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from .short import elide, wide
from .words import word

if TYPE_CHECKING:
    from .fields import Plain, Shown

DIGITS = 4
EXACT = 6  # characters of a number that is short as it is
ELEMENTS = 8  # of an array that is written out
MINUS, ZERO, PLUS, BAD = (0, 114, 178), (242, 242, 242), (213, 94, 0), (168, 68, 127)
LEAST, CELL, LEVELS = 5, 1.6, 5  # pixels of a small picture and of its cells, and its colours on each side of zero


def rounded(text: str, digits: int = DIGITS) -> str:
    """A number with fewer digits; what is short, whole or no real number stays as it is.

    >>> [rounded(text) for text in ("0.10000000149011612", "-1.7e-05", "123456.78", "3.0", "12345678.0", "nan")]
    ['0.1', '-1.7e-5', '123457', '3.0', '1.235e7', 'nan']
    """
    if not any(mark in text for mark in ".e"):
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number) or (len(text) <= EXACT and digits == DIGITS):
        return text
    if number and not 1e-4 <= abs(number) < 1e6:
        mantissa, power = f"{number:.{digits - 1}e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(power)}"
    whole = int(math.log10(abs(number))) + 1 if abs(number) >= 1 else 0
    short = repr(float(f"{number:.{max(digits, whole)}g}"))
    return short if number.is_integer() else short.removesuffix(".0")  # "2.0" is exact, "2" is not


def written(value: Shown, room: int) -> str | None:
    """A number, or a small array in a line, with as many digits as fit; None where there is no room.

    >>> written({"text": "[0.5 2.  18.25]", "data": [0.5, 2.0, 18.25]}, 15)
    '[0.5 2. 18.25]'
    """
    text, data = value.get("text", ""), value.get("data", "")
    if "thumb" in value or _count(data) > ELEMENTS:
        return None
    if isinstance(data, list):
        found = (_list(data, digits) for digits in range(DIGITS, 1, -1))
    else:
        found = (rounded(text, digits) for digits in range(DIGITS, 0, -1))
    return next((one for one in found if len(one) <= room), None)


def shape_text(shape: Iterable[int], room: int = 1000) -> str:
    """The lengths of an array's sides; of many the first and the last.

    >>> shape_text([16]), shape_text([4, 12, 12, 3], 10)
    ('(16,)', '(4, …, 3)')
    """
    sides = tuple(shape)
    text = str(sides)
    if len(text) > room and len(sides) > 2:
        text = f"({sides[0]}, …, {sides[-1]})"
    return elide(text, room)


def size_of(value: Shown, room: int) -> str:
    """A number, or a small array written out; of a larger one how large its numbers are (value.ts: ``sizeOf``).

    >>> size_of({"text": "", "data": [[0.5, -2.0]] * 5}, 9), size_of({"text": "0.25", "data": 0.25}, 9)
    ('±2', '0.25')
    >>> size_of({"text": "", "data": [0.0] * 9}, 9)
    'each 0'
    """
    text = written(value, room)
    if text is not None or ("stats" not in value and not isinstance(value.get("data"), list)):
        return text or elide(value.get("text", ""), room)
    size, (low, high) = magnitude(value), _ends(value)
    if low == high:
        one = rounded(repr(low + 0.0)).removesuffix(".0")
        if wide(same := word("each {0}").replace("{0}", one)) <= room:
            return same
    return f"±{rounded(repr(float(f'{size:.3g}')), 3).removesuffix('.0')}" if math.isfinite(size) else "NaN"


def magnitude(value: Shown) -> float:
    """The largest magnitude in a value, NaN where it is not known.

    >>> magnitude({"text": "", "data": [1.0, -3.0]})
    3.0
    """
    with suppress(ValueError):
        return math.nan if value.get("stats", {}).get("nans") else max(map(abs, _ends(value)))
    return math.nan


def _ends(value: Shown) -> tuple[float, float]:
    """The least and the greatest number in a value; ValueError where it has none."""
    stats, lines = value.get("stats"), _lines(value)
    if stats is None and lines.size:
        return float(lines.min()), float(lines.max())
    least, most = (stats["min"], stats["max"]) if stats else (value.get("text", ""),) * 2
    return float(str(least)), float(str(most))


def _count(data: Plain) -> int:
    return sum(map(_count, data)) if isinstance(data, list) else 1


def _list(data: Plain, digits: int) -> str:
    if isinstance(data, list):
        return f"[{' '.join(_list(one, digits) for one in data)}]"
    if not isinstance(data, float):
        return str(data)
    text = rounded(repr(data), digits)
    return text.removesuffix("0") if text.endswith(".0") else text


# -- arrays as small pictures ----------------------------------------------------------------------


def small_map(value: Shown | None, x: float, y: float, w: float, h: float) -> str:
    """The SVG of an array as a small picture, at its own proportions and from the left of this room: the strongest
    number of each part; empty for what is no array.

    >>> small_map({"text": "", "data": [1.0, -1.0]}, 0, 0, 20, 10).count("fill=")
    3
    """
    lines = _lines(value)
    if value is None or lines.size < 2:
        return ""
    across = lines.shape[1] * value.get("cell", 1.0)
    unit = min(w / across, h / len(lines))
    wide, high = max(LEAST, across * unit), max(LEAST, len(lines) * unit)
    y += (h - high) / 2
    rows, columns = min(len(lines), int(high / CELL)), min(lines.shape[1], int(wide / CELL))
    top, left = (np.arange(n) * m // n for n, m in zip((rows, columns), lines.shape, strict=True))
    most, least = (f.reduceat(f.reduceat(lines, top), left, 1) for f in (np.maximum, np.minimum))
    strongest = np.where(most < -least, least, most)
    largest = np.abs(lines[np.isfinite(lines)]).max(initial=0.0) or 1.0
    share, dx, dy = strongest / largest, wide / columns, high / rows
    levels = np.where(np.isfinite(share), np.rint(LEVELS * np.sign(share) * np.sqrt(abs(share))), np.inf)
    cells = ""
    for level in np.unique(levels):
        d = "".join(f"M{x + c * dx} {y + r * dy}h{dx}v{dy}h{-dx}z" for r, c in np.argwhere(levels == level))
        cells += f'<path d="{d}" fill="{_colour(level)}"/>'
    return (
        f'{cells}<rect x="{x}" y="{y}" width="{wide}" height="{high}" fill="none" stroke="#b3bac2" stroke-width="0.6"/>'
    )


def _colour(level: float) -> str:
    share = min(1.0, abs(level) / LEVELS) ** 0.7
    end = BAD if level == math.inf else MINUS if level < 0 else PLUS
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(ZERO, end, strict=True))


def _lines(value: Shown | None) -> np.ndarray:
    """The numbers as lines of a picture: a vector is one, more than two axes are stacked; none of what is no array of
    real numbers.
    """
    data = None if value is None else value.get("thumb", value.get("data"))
    if isinstance(data, list) and data:
        with suppress(TypeError, ValueError):
            array = np.array(data, float)
            return array.reshape(-1, array.shape[-1] or 1)
    return np.zeros((0, 0))
