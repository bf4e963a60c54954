"""Pictures for lessons: curves, points and heights as a small SVG that is the same on every machine.

A lesson's outputs are compared with what is saved, byte by byte, and a page of the docs needs a text in place of each
picture. So a picture here is some text with rounded numbers, and cannot be made without words that say what it shows.
"""

from __future__ import annotations

import itertools
import time
from base64 import b64encode
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..common.texts import say
from ..common.write_beside import write
from ..picture.short import wide
from .compare import as_array
from .predict import WIDGET_VIEW

if TYPE_CHECKING:
    from .exercise import Answer

DASHES = ' stroke-dasharray="5 4"'
# Okabe and Ito's hues: 4.5 to 1 on white, 4.1 to 1 on a dark page
COLOURS = ("#007cc2", "#c25600", "#008764", "#b5548b", "#777777")
GREY = COLOURS[-1]
LOW, HIGH = np.array([0x1F, 0x4E, 0x79]), np.array([0xF7, 0xF4, 0xE6])
LEFT, TOP, BOTTOM, RIGHT = 46, 26, 36, 14
CELLS = 96, 44
LINE = 17  # from name to name in the legend
Range = tuple[float, float]


class Plot:
    """A picture with two axes; each method draws one more thing, and gives the picture back.

    >>> Plot("the square of x", x=(-2, 2), y=(0, 4)).curve(lambda x: x * x).points([1.0], [1.0])
    Picture: the square of x
    """

    def __init__(self, says: str, x: Range, y: Range, names: tuple[str, str] = ("x", "y"), size: Range = (820, 340)):
        """`says` is what the picture shows, in words; `x` and `y` are from where to where the axes go.

        It has no ground of its own: the page shows through, be it light or dark.
        """
        self.says, self.x, self.y, self.size = says, x, y, size
        self.names = tuple(names)
        self._parts: list[str] = []
        self._legend: list[tuple[str, str, bool]] = []
        self._drawn: list[np.ndarray] = []  # where something is, so that the legend is elsewhere
        self._is_map = False

    def curve(
        self, function: Callable[[Answer], Answer], name: str = "", colour: int = 0, dashed: bool = False
    ) -> Plot:
        """A function of one number, called once with all of them as an array, or with one after the other where it
        refuses an array.

        >>> Plot("a bend", x=(-1, 1), y=(0, 1)).curve(lambda x: x if x > 0 else 0.0)
        Picture: a bend
        """
        xs = np.linspace(*self.x, 161)
        try:
            ys = as_array(function(xs))
        except (TypeError, ValueError):  # as "if x > 0" and functions of the module math do
            ys = np.array([float(function(x)) for x in xs.tolist()])
        return self.line(xs, np.broadcast_to(ys, xs.shape), name, colour, dashed)

    def line(self, xs: Answer, ys: Answer, name: str = "", colour: int = 0, dashed: bool = False) -> Plot:
        """A line through points, in their order."""
        places = self._places(xs, ys)
        pairs = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        dashes = DASHES if dashed else ""
        if self._is_map:
            self._parts.append(f'<polyline points="{pairs}" fill="none" stroke="white" stroke-width="4"/>')
        self._parts.append(
            f'<polyline points="{pairs}" fill="none" stroke="{COLOURS[colour]}" stroke-width="2"{dashes}/>'
        )
        self._drawn.append(_dense(places))
        return self._named(name, colour, dashed)

    def points(self, xs: Answer, ys: Answer, name: str = "", colour: int = 1, radius: float = 4) -> Plot:
        """Points, without a line between them."""
        places = self._places(xs, ys)
        rim = ' stroke="white"' if self._is_map else ""
        dots = (f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{radius}" fill="{COLOURS[colour]}"{rim}/>' for a, b in places)
        self._parts.extend(dots)
        self._drawn.append(places)
        return self._named(name, colour)

    def heights(self, function: Callable[[Answer, Answer], Answer], levels: int = 14) -> Plot:
        """A function of two numbers as the shades of a map: lighter means higher. Each shade covers the same area."""
        self._is_map = True
        values = self._over_all(function)
        edges = np.quantile(values, np.linspace(0, 1, levels + 1)[1:-1])
        shades = LOW + (HIGH - LOW) * np.arange(levels)[:, np.newaxis] / (levels - 1)
        colours = ["#" + "".join(f"{int(v):02x}" for v in shade) for shade in shades]
        return self._painted(np.searchsorted(edges, values), colours)

    def regions(self, function: Callable[[Answer, Answer], Answer], colours: tuple[int, int] = (0, 1)) -> Plot:
        """Where a function of two numbers is above 0, the second colour, elsewhere the first; both are faint."""
        faint = [f'{COLOURS[colour]}" fill-opacity="0.22' for colour in colours]
        return self._painted((self._over_all(function) > 0).astype(int), faint)

    def _over_all(self, function: Callable[[Answer, Answer], Answer]) -> np.ndarray:
        """The values of a function in the middle of each cell of the picture, from top to bottom."""
        width, height = (self.x[1] - self.x[0]) / CELLS[0], (self.y[1] - self.y[0]) / CELLS[1]
        xs = self.x[0] + width * (np.arange(CELLS[0]) + 0.5)
        ys = self.y[1] - height * (np.arange(CELLS[1]) + 0.5)
        return np.asarray(as_array(function(*np.meshgrid(xs, ys))), np.float64)

    def _painted(self, shades: np.ndarray, colours: Sequence[str]) -> Plot:
        """The cells of the picture in these colours, each colour as one shape: so nothing shows between two boxes of
        it.
        """
        across, down = (self.size[0] - LEFT - RIGHT) / CELLS[0], (self.size[1] - TOP - BOTTOM) / CELLS[1]
        boxes: list[list[str]] = [[] for _ in colours]
        for line, row in enumerate(shades):
            ends = [0, *(np.flatnonzero(np.diff(row)) + 1), CELLS[0]]
            for start, end in itertools.pairwise(ends):
                wide, high = across * (end - start) + 0.4, down + 0.4
                boxes[row[start]].append(
                    f"M{LEFT + across * start:.1f} {TOP + down * line:.1f}h{wide:.1f}v{high:.1f}h{-wide:.1f}z"
                )
        shapes = zip(boxes, colours, strict=True)
        self._parts += [
            f'<path d="{"".join(parts)}" fill="{colour}" shape-rendering="crispEdges"/>'
            for parts, colour in shapes
            if parts
        ]
        return self

    def svg(self) -> str:
        """The picture as text."""
        width, height = self.size
        x0, x1, y0, y1 = LEFT, width - RIGHT, height - BOTTOM, TOP
        clip = f'<clipPath id="c"><rect x="{x0}" y="{y1}" width="{x1 - x0}" height="{y0 - y1}"/></clipPath>'
        text = f'font-family="Arial, sans-serif" font-size="13" fill="{GREY}"'
        marks = [f'<path d="M{x0} {y1}V{y0}H{x1}" fill="none" stroke="{GREY}"/>']
        for value in _ticks(*self.x):
            [[a, _]] = self._places([value], [self.y[0]])
            marks.append(f'<path d="M{a:.1f} {y0}v4" stroke="{GREY}"/>')
            marks.append(f'<text x="{a:.1f}" y="{y0 + 17}" text-anchor="middle" {text}>{value:g}</text>')
        for value in _ticks(*self.y):
            [[_, b]] = self._places([self.x[0]], [value])
            marks.append(f'<path d="M{x0} {b:.1f}h-4" stroke="{GREY}"/>')
            marks.append(f'<text x="{x0 - 7}" y="{b + 4:.1f}" text-anchor="end" {text}>{value:g}</text>')
        marks.append(
            f'<text x="{(x0 + x1) / 2:.0f}" y="{height - 3}" text-anchor="middle" {text}>{escape(self.names[0])}</text>'
        )
        marks.append(f'<text x="{x0 - 7}" y="{y1 - 10}" {text}>{escape(self.names[1])}</text>')
        body = f'<defs>{clip}</defs><g clip-path="url(#c)">{"".join(self._parts)}</g>'
        size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{body}{"".join(marks)}{self._names_of_lines()}</svg>'

    def _names_of_lines(self) -> str:
        """The legend, in the corner where the least is drawn; a map has a light ground under it."""
        if not self._legend:
            return ""
        width, height = self.size
        wide, high = 30 + max(_width(name) for name, *_ in self._legend), 8 + LINE * len(self._legend)
        corners = [(x, y) for y in (TOP + 4, height - BOTTOM - high - 4) for x in (width - RIGHT - wide - 4, LEFT + 8)]
        drawn = np.concatenate(self._drawn) if self._drawn else np.zeros((0, 2))

        def crowd(corner: Range) -> int:
            inside = (drawn >= np.array(corner) - 6) & (drawn <= np.array(corner) + np.array([wide, high]) + 6)
            return int(inside.all(axis=1).sum())

        x, y = min(corners, key=crowd)
        ground = (
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{high:.0f}" rx="4" fill="white" '
            'fill-opacity="0.9"/>'
        )
        parts = [ground] if self._is_map else []
        for row, (name, colour, dashed) in enumerate(self._legend):
            at = y + 4 + LINE * (row + 0.5)
            parts.append(
                f'<path d="M{x + 5:.0f} {at:.1f}h14" stroke="{colour}" stroke-width="4"{DASHES if dashed else ""}/>'
            )
            font = f'font-family="Arial, sans-serif" font-size="13" font-weight="bold" fill="{colour}"'
            parts.append(f'<text x="{x + 24:.0f}" y="{at + 4.5:.1f}" {font}>{escape(name)}</text>')
        return "".join(parts)

    def html(self) -> str:
        """The picture as an image for a page, with its words for who cannot see it."""
        return (
            f'<img style="width:100%;max-width:{self.size[0]}px" alt="{escape(self.says, quote=True)}" '
            f'src="{self.source()}">'
        )

    def source(self) -> str:
        """The picture as the address of an image."""
        return f"data:image/svg+xml;base64,{b64encode(self.svg().encode()).decode()}"

    def __repr__(self) -> str:
        return say("Picture: {says}", says=self.says)

    def _repr_mimebundle_(self, **options: Answer) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}

    def _named(self, name: str, colour: int, dashed: bool = False) -> Plot:
        if name:
            self._legend.append((name, COLOURS[colour], dashed))
        return self

    def _scale(self) -> np.ndarray:
        """How many pixels one unit is, across and down."""
        width, height = self.size
        across = (width - LEFT - RIGHT) / (self.x[1] - self.x[0])
        return np.array([across, (height - BOTTOM - TOP) / (self.y[1] - self.y[0])])

    def _places(self, xs: Answer, ys: Answer) -> np.ndarray:
        """Where points are in the picture; what is far outside stays within reach of a drawing program."""
        pairs = np.stack([np.ravel(np.asarray(as_array(v), np.float64)) for v in (xs, ys)], axis=1)
        across, down = self._scale()
        shown = (pairs - [self.x[0], self.y[1]]) * [across, -down] + [LEFT, TOP]
        return np.clip(np.nan_to_num(shown), -2000, 4000)


def _width(name: str) -> float:
    """How many pixels a name in the legend is wide at most; a Chinese letter is as wide as it is high."""
    return 2.2 * len(name) + 5.4 * wide(name)


def _dense(places: np.ndarray) -> np.ndarray:
    """The corners of a line, and points between them, so that it is known where the line runs."""
    steps = np.linspace(0, 1, 9)[:, np.newaxis, np.newaxis]
    between = places[:-1] + steps * (places[1:] - places[:-1])
    return np.concatenate([places, between.reshape(-1, 2)]) if len(places) < 60 else places


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from `low` to `high`, four to eleven of them: steps of 1, 2 or 5, and of their tenths."""
    step = 10.0 ** np.floor(np.log10(high - low))
    step = next(step * part for part in (1, 0.5, 0.2) if (high - low) / (step * part) >= 4)
    first = np.ceil(low / step - 1e-9)
    return [round(float(step * k), 10) + 0.0 for k in np.arange(first, np.floor(high / step + 1e-9) + 1)]


class Moving:
    """Pictures in a row, with a slider that goes through them and a button that plays them.

    All of them are made beforehand, so that the slider needs no kernel. Where nothing moves, as in a saved page, the
    picture at `start` is shown.

    >>> Moving("shift", [0.0, 1.0], lambda s: Plot(f"a line at {s}", x=(0, 1), y=(0, 2)).curve(lambda x: x + s))
    Picture: a line at 0.0
    (In JupyterLab, a slider moves it: shift from 0 to 1.)
    """

    def __init__(self, name: str, values: Sequence[float], draw: Callable[[float], Plot], start: int = 0):
        self.name, self.values, self.start = name, [float(value) for value in values], start
        self.pictures = [draw(value) for value in values]

    def __repr__(self) -> str:
        first, last = f"{self.values[0]:g}", f"{self.values[-1]:g}"
        moved = say(
            "(In JupyterLab, a slider moves it: {name} from {first} to {last}.)", name=self.name, first=first, last=last
        )
        return f"{self.pictures[self.start]!r}\n{moved}"

    def save(self, path: str | Path) -> None:
        """Write a page with the pictures and their slider, which needs no kernel."""
        from .moving import page

        write(path, page(self))

    def _repr_mimebundle_(self, **options: Answer) -> tuple[dict[str, Answer], dict[str, Answer]]:
        from .moving import Slider
        from .widget import MISSING

        bundle: Answer = Slider(self)._repr_mimebundle_() or {}
        live = bundle[0] if isinstance(bundle, tuple) else bundle
        view = {kind: data for kind, data in live.items() if kind == WIDGET_VIEW}
        html = self.pictures[self.start].html() + (f"<p>{escape(MISSING)}</p>" if MISSING else "")
        texts = {"text/plain": repr(self), "text/html": html}
        return {**view, **texts}, {WIDGET_VIEW: {"shown": time.time()}}
