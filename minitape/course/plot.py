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
from typing import TYPE_CHECKING

import numpy as np

from .compare import as_array
from .predict import WIDGET_VIEW
from .texts import say

if TYPE_CHECKING:
    from .exercise import Answer

COLOURS = ("#0072b2", "#d55e00", "#007a5a", "#a3467b", "#5b5b5b")  # Okabe and Ito's, darker: 4.5 to 1 on white
LOW, HIGH = np.array([0x1F, 0x4E, 0x79]), np.array([0xF7, 0xF4, 0xE6])
LEFT, TOP, BOTTOM, RIGHT = 46, 26, 36, 14
CELLS = 64, 44
Range = tuple[float, float]


class Plot:
    """A picture with two axes; each method draws one more thing, and gives the picture back.

    >>> Plot("the square of x", x=(-2, 2), y=(0, 4)).curve(lambda x: x * x).points([1.0], [1.0])
    Picture: the square of x
    """

    def __init__(self, says: str, x: Range, y: Range, names: tuple[str, str] = ("x", "y"), size: Range = (440, 270)):
        """`says` is what the picture shows, in words; `x` and `y` are from where to where the axes go."""
        self.says, self.x, self.y, self.names, self.size = says, x, y, names, size
        self._parts: list[str] = []
        self._legend: list[tuple[str, str]] = []

    def curve(self, function: Callable[[Answer], Answer], name: str = "", colour: int = 0, dashed: bool = False) -> Plot:
        """A function of one number, called once with all of them, as an array."""
        xs = np.linspace(*self.x, 161)
        return self.line(xs, np.broadcast_to(as_array(function(xs)), xs.shape), name, colour, dashed)

    def line(self, xs: Answer, ys: Answer, name: str = "", colour: int = 0, dashed: bool = False) -> Plot:
        """A line through points, in their order."""
        pairs = " ".join(f"{a:.1f},{b:.1f}" for a, b in self._places(xs, ys))
        dashes = ' stroke-dasharray="5 4"' if dashed else ""
        for stroke in (
            '"white" stroke-width="4"',
            f'"{COLOURS[colour]}" stroke-width="2"{dashes}',
        ):  # set off from a map
            self._parts.append(f'<polyline points="{pairs}" fill="none" stroke={stroke}/>')
        return self._named(name, colour)

    def points(self, xs: Answer, ys: Answer, name: str = "", colour: int = 1, radius: float = 4) -> Plot:
        """Points, without a line between them."""
        dots = (
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{radius}" fill="{COLOURS[colour]}" stroke="white"/>'
            for a, b in self._places(xs, ys)
        )
        self._parts.extend(dots)
        return self._named(name, colour)

    def heights(self, function: Callable[[Answer, Answer], Answer], levels: int = 14) -> Plot:
        """A function of two numbers as the shades of a map: dark is low. Each shade covers the same area."""
        width, height = (self.x[1] - self.x[0]) / CELLS[0], (self.y[1] - self.y[0]) / CELLS[1]
        xs = self.x[0] + width * (np.arange(CELLS[0]) + 0.5)
        ys = self.y[1] - height * (np.arange(CELLS[1]) + 0.5)
        values = np.asarray(as_array(function(*np.meshgrid(xs, ys))), np.float64)
        edges = np.quantile(values, np.linspace(0, 1, levels + 1)[1:-1])
        shades = np.searchsorted(edges, values)
        for line, row in enumerate(shades):
            ends = [0, *(np.flatnonzero(np.diff(row)) + 1), CELLS[0]]
            for start, end in itertools.pairwise(ends):
                corner = self._places([self.x[0] + start * width], [self.y[1] - line * height])[0]
                across, down = self._scale() * (width * (end - start), height)
                colour = "".join(f"{int(v):02x}" for v in LOW + (HIGH - LOW) * row[start] / (levels - 1))
                box = f'width="{across + 0.4:.1f}" height="{down + 0.4:.1f}" fill="#{colour}" shape-rendering="crispEdges"'
                self._parts.append(f'<rect x="{corner[0]:.1f}" y="{corner[1]:.1f}" {box}/>')
        return self

    def svg(self) -> str:
        """The picture as text."""
        width, height = self.size
        x0, x1, y0, y1 = LEFT, width - RIGHT, height - BOTTOM, TOP
        clip = f'<clipPath id="c"><rect x="{x0}" y="{y1}" width="{x1 - x0}" height="{y0 - y1}"/></clipPath>'
        text = 'font-family="Arial, sans-serif" font-size="12" fill="#333"'
        marks = [f'<path d="M{x0} {y1}V{y0}H{x1}" fill="none" stroke="#555"/>']
        for value in _ticks(*self.x):
            [[a, _]] = self._places([value], [self.y[0]])
            marks.append(
                f'<path d="M{a:.1f} {y0}v4" stroke="#555"/><text x="{a:.1f}" y="{y0 + 16}" text-anchor="middle" {text}>{value:g}</text>'
            )
        for value in _ticks(*self.y):
            [[_, b]] = self._places([self.x[0]], [value])
            marks.append(
                f'<path d="M{x0} {b:.1f}h-4" stroke="#555"/><text x="{x0 - 7}" y="{b + 4:.1f}" text-anchor="end" {text}>{value:g}</text>'
            )
        marks.append(
            f'<text x="{(x0 + x1) / 2:.0f}" y="{height - 4}" text-anchor="middle" {text}>{escape(self.names[0])}</text>'
        )
        marks.append(f'<text x="{x0 - 7}" y="{y1 - 12}" {text}>{escape(self.names[1])}</text>')
        apart = ("", *[' dx="14"'] * len(self._legend))  # a distance before the first would push them all over the edge
        names = (f'<tspan{dx} fill="{colour}">{escape(name)}</tspan>' for dx, (name, colour) in zip(apart, self._legend, strict=False))
        marks.append(  # above the picture, where no curve runs
            f'<text x="{x1}" y="{y1 - 12}" text-anchor="end" font-weight="bold" {text}>{"".join(names)}</text>'
        )
        body = f'<defs>{clip}</defs><rect width="{width}" height="{height}" rx="6" fill="white"/><g clip-path="url(#c)">{"".join(self._parts)}</g>'
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{body}{"".join(marks)}</svg>'

    def html(self) -> str:
        """The picture as an image for a page, with its words for who cannot see it."""
        return f'<img style="max-width:100%" alt="{escape(self.says, quote=True)}" src="{self.source()}">'

    def source(self) -> str:
        """The picture as the address of an image."""
        return f"data:image/svg+xml;base64,{b64encode(self.svg().encode()).decode()}"

    def __repr__(self) -> str:
        return say("Picture: {says}", says=self.says)

    def _repr_mimebundle_(self, **options: Answer) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}

    def _named(self, name: str, colour: int) -> Plot:
        if name:
            self._legend.append((name, COLOURS[colour]))
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
        moved = say("(In JupyterLab, a slider moves it: {name} from {first} to {last}.)", name=self.name, first=first, last=last)
        return f"{self.pictures[self.start]!r}\n{moved}"

    def _repr_mimebundle_(self, **options: Answer) -> tuple[dict[str, Answer], dict[str, Answer]]:
        from .moving import Slider

        bundle: Answer = Slider(self)._repr_mimebundle_() or {}
        live = bundle[0] if isinstance(bundle, tuple) else bundle
        view = {kind: data for kind, data in live.items() if kind == WIDGET_VIEW}
        texts = {"text/plain": repr(self), "text/html": self.pictures[self.start].html()}
        return {**view, **texts}, {WIDGET_VIEW: {"shown": time.time()}}
