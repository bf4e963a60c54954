"""Pictures for lessons: curves, points and heights as a small SVG that is the same on every machine.

A lesson's outputs are compared with what is saved, byte by byte, and a page of the docs needs a text in place of each
picture. So a picture here is some text with rounded numbers, and cannot be made without words that say what it shows.
"""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import numpy as np

from ..common.texts import say
from ..common.write_beside import write
from .compare import as_array
from .exercise import Answer, Named, Program
from .predict import live_bundle

# Okabe and Ito's hues: 4.5 to 1 on white, 4.1 to 1 on a dark page
COLOURS = ("#007cc2", "#c25600", "#008764", "#b5548b", "#777777")
GREY = COLOURS[-1]
LOW, HIGH = np.array([0x1F, 0x4E, 0x79]), np.array([0xF7, 0xF4, 0xE6])
SHADES = 14
LEFT, TOP, BOTTOM, RIGHT = 46, 26, 36, 14
CELLS = 96, 44
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
        self._legend: list[str] = []
        self._is_map = False

    def curve(self, function: Program, name: str = "", colour: int = 0, dashed: bool = False) -> Plot:
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
        pairs = " ".join(f"{a:.1f},{b:.1f}" for a, b in self._places(xs, ys))
        strokes = ['"white" stroke-width="4"'] if self._is_map else []
        strokes.append(f'"{COLOURS[colour]}" stroke-width="2"' + (' stroke-dasharray="5 4"' if dashed else ""))
        self._parts += [f'<polyline points="{pairs}" fill="none" stroke={stroke}/>' for stroke in strokes]
        return self._named(name, colour, "╌╌" if dashed else "━")

    def points(self, xs: Answer, ys: Answer, name: str = "", colour: int = 1, radius: float = 4) -> Plot:
        """Points, without a line between them."""
        end = f'r="{radius}" fill="{COLOURS[colour]}"' + (' stroke="white"' if self._is_map else "")
        self._parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" {end}/>' for a, b in self._places(xs, ys)]
        return self._named(name, colour, "●")

    def heights(self, function: Program) -> Plot:
        """A function of two numbers as the shades of a map: lighter means higher. Each shade covers the same area."""
        self._is_map = True
        values = self._over_all(function)
        edges = np.quantile(values, np.linspace(0, 1, SHADES + 1)[1:-1])
        return self._painted(np.linspace(LOW, HIGH, SHADES)[np.searchsorted(edges, values)])

    def regions(self, function: Program, colours: tuple[int, int] = (0, 1)) -> Plot:
        """Where a function of two numbers is above 0, the second colour, elsewhere the first; both are faint."""
        both = np.array([[*bytes.fromhex(COLOURS[colour][1:])] for colour in colours])
        return self._painted(both[(self._over_all(function) > 0).astype(int)], "0.22")

    def _over_all(self, function: Program) -> np.ndarray:
        """The values of a function in the middle of each cell of the picture, from bottom to top."""
        across, up = ((np.arange(count) + 0.5) / count for count in CELLS)
        xs, ys = self.x[0] + (self.x[1] - self.x[0]) * across, self.y[0] + (self.y[1] - self.y[0]) * up
        return np.asarray(as_array(function(*np.meshgrid(xs, ys))), np.float64)

    def _painted(self, colours: np.ndarray, opacity: str = "1") -> Plot:
        """The cells of the picture in their colours, as a bitmap: its rows go up."""
        pixels = colours[..., ::-1].astype(np.uint8).tobytes()
        head = struct.pack(
            "<2sIIIIIIHHIIIIII", b"BM", 54 + len(pixels), 0, 54, 40, *CELLS, 1, 24, 0, len(pixels), *[0] * 4
        )
        width, height = self.size[0] - LEFT - RIGHT, self.size[1] - TOP - BOTTOM
        self._parts.append(
            f'<image x="{LEFT}" y="{TOP}" width="{width}" height="{height}" preserveAspectRatio="none" '
            f'opacity="{opacity}" style="image-rendering:pixelated" '
            f'href="data:image/bmp;base64,{b64encode(head + pixels).decode()}"/>'
        )
        return self

    def svg(self) -> str:
        """The picture as text. The legend is above it, so that it covers nothing."""
        width, height = self.size
        right, bottom = width - RIGHT, height - BOTTOM
        marks = f"M{LEFT} {TOP}V{bottom}H{right}"
        words = [
            _text((LEFT + right) / 2, height - 3, escape(self.names[0]), "middle"),
            _text(LEFT - 7, TOP - 10, escape(self.names[1]), "start"),
            _text(right, TOP - 10, "".join(self._legend), 'end" font-weight="bold'),
        ]
        for value in _ticks(*self.x):
            [[at, _]] = self._places(value, self.y[0])
            marks += f"M{at:.1f} {bottom}v4"
            words.append(_text(at, bottom + 17, f"{value:g}", "middle"))
        for value in _ticks(*self.y):
            [[_, at]] = self._places(self.x[0], value)
            marks += f"M{LEFT} {at:.1f}h-4"
            words.append(_text(LEFT - 7, at + 4, f"{value:g}", "end"))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
            f'<clipPath id="c"><rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}"/></clipPath>'
            f'<g clip-path="url(#c)">{"".join(self._parts)}</g><path d="{marks}" fill="none" stroke="{GREY}"/>'
            f'<g font-family="Arial, sans-serif" font-size="13" fill="{GREY}">{"".join(words)}</g></svg>'
        )

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

    def _named(self, name: str, colour: int, sign: str) -> Plot:
        """The picture, with a name in its legend."""
        if name:
            self._legend.append(f'<tspan fill="{COLOURS[colour]}">\u2003{sign} {escape(name)}</tspan>')
        return self

    def _places(self, xs: Answer, ys: Answer) -> np.ndarray:
        """Where points are in the picture; what is far outside stays within reach of a drawing program."""
        x, y = (np.ravel(np.asarray(as_array(v), np.float64)) for v in (xs, ys))
        width, height = self.size
        across = LEFT + (x - self.x[0]) / (self.x[1] - self.x[0]) * (width - LEFT - RIGHT)
        down = TOP + (self.y[1] - y) / (self.y[1] - self.y[0]) * (height - BOTTOM - TOP)
        return np.clip(np.nan_to_num(np.stack([across, down], axis=1)), -2000, 4000)


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from `low` to `high`, four to eleven of them: steps of 1, 2 or 5, and of their tenths."""
    step = 10.0 ** np.floor(np.log10(high - low))
    step *= next(part for part in (1, 0.5, 0.2) if (high - low) / (step * part) >= 4)
    places = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)
    return [round(float(step * place), 10) + 0.0 for place in places]


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
        ends = {"first": f"{self.values[0]:g}", "last": f"{self.values[-1]:g}"}
        moved = say("(In JupyterLab, a slider moves it: {name} from {first} to {last}.)", name=self.name, **ends)
        return f"{self.pictures[self.start]!r}\n{moved}"

    def save(self, path: str | Path) -> None:
        """Write a page with the pictures and their slider, which needs no kernel."""
        from .moving import page

        write(path, page(self))

    def _repr_mimebundle_(self, **options: Answer) -> tuple[Named, Named]:
        from .moving import Slider

        return live_bundle(Slider(self), repr(self), self.pictures[self.start].html())
