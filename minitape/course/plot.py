"""Draw pictures for lessons. Curves, points and heights become a small SVG that is the same on every machine.

A lesson's outputs are compared with the saved outputs, byte by byte, so the numbers in a picture are rounded. A page of
the docs needs a text in place of each picture, so a picture cannot be created without words that say what it shows.
"""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Callable
from html import escape
from pathlib import Path

import numpy as np
from numpy import float64, ndarray

from ..common.atomic_write import write_file
from ..common.translation import say
from ..engine.types import FloatList, FloatSequence, NumberPair, TextList, TextPair, TextsByName
from .answer_comparison import to_numpy_value
from .exercise import Answer, NamedValues, Program
from .predict import build_widget_mimebundle

# Okabe and Ito's hues: 4.5 to 1 on white, 4.1 to 1 on a dark page
COLORS = ("#007cc2", "#c25600", "#008764", "#b5548b", "#777777")
GRAY = COLORS[-1]
LOW = np.array([0x1F, 0x4E, 0x79])
HIGH = np.array([0xF7, 0xF4, 0xE6])
SHADES = 14
LEFT, TOP, BOTTOM, RIGHT = 46, 26, 36, 14
CELLS = 96, 44
Range = tuple[float, float]


class Plot:
    """A plot with two axes. Each method draws one more thing and returns the plot, so calls can be chained.

    The background is transparent, so the plot suits light and dark pages.

    Args:
        says: What the plot shows, in words.
        x: The ends of the horizontal axis.
        y: The ends of the vertical axis.
        names: The names of the axes.
        size: The width and height in pixels.

    >>> Plot("the square of x", x=(-2, 2), y=(0, 4)).curve(lambda x: x * x).points([1.0], [1.0])
    Picture: the square of x
    """

    def __init__(self, says: str, x: Range, y: Range, names: TextPair = ("x", "y"), size: Range = (820, 340)):
        """Create an empty plot. The class describes the arguments."""
        self.says = says
        self.x = x
        self.y = y
        self.size = size
        self.names = tuple(names)
        self._elements: TextList = []
        self._legend: TextList = []
        self._is_map = False

    def curve(self, function: Program, name: str = "", colour: int = 0, dashed: bool = False) -> Plot:
        """Draw a function of one number.

        Args:
            function: The function. It is called with an array, or with one number after another if it refuses arrays.
            name: The name in the legend.
            colour: The number of the color.
            dashed: Whether the line is dashed.

        Returns:
            The plot.

        >>> Plot("a bend", x=(-1, 1), y=(0, 1)).curve(lambda x: x if x > 0 else 0.0)
        Picture: a bend
        """
        xs = np.linspace(*self.x, 161)
        try:
            ys = to_numpy_value(function(xs))
        except (TypeError, ValueError):  # The function accepts only numbers, for example because of "if x > 0".
            ys = np.array([float(function(x)) for x in xs.tolist()])
        return self.line(xs, np.broadcast_to(ys, xs.shape), name, colour, dashed)

    def line(self, xs: Answer, ys: Answer, name: str = "", colour: int = 0, dashed: bool = False) -> Plot:
        """Draw a line through points in their order.

        Args:
            xs: The first coordinates.
            ys: The second coordinates.
            name: The name in the legend.
            colour: The number of the color.
            dashed: Whether the line is dashed.

        Returns:
            The plot.
        """
        pairs = " ".join(f"{a:.1f},{b:.1f}" for a, b in self._to_pixels(xs, ys))
        strokes = ['"white" stroke-width="4"'] if self._is_map else []
        strokes.append(f'"{COLORS[colour]}" stroke-width="2"' + (' stroke-dasharray="5 4"' if dashed else ""))
        self._elements += [f'<polyline points="{pairs}" fill="none" stroke={stroke}/>' for stroke in strokes]
        return self._add_legend_entry(name, colour, "╌╌" if dashed else "━")

    def points(self, xs: Answer, ys: Answer, name: str = "", colour: int = 1, radius: float = 4) -> Plot:
        """Draw points without a line between them.

        Args:
            xs: The first coordinates.
            ys: The second coordinates.
            name: The name in the legend.
            colour: The number of the color.
            radius: The radius in pixels.

        Returns:
            The plot.
        """
        attributes = f'r="{radius}" fill="{COLORS[colour]}"' + (' stroke="white"' if self._is_map else "")
        self._elements += [f'<circle cx="{a:.1f}" cy="{b:.1f}" {attributes}/>' for a, b in self._to_pixels(xs, ys)]
        return self._add_legend_entry(name, colour, "●")

    def heights(self, function: Program) -> Plot:
        """Draw a function of two numbers as a map whose shades are lighter for larger values.

        Each shade covers the same area.

        Args:
            function: The function, which is called with two arrays.

        Returns:
            The plot.
        """
        self._is_map = True
        values = self._sample_function_at_cells(function)
        edges = np.quantile(values, np.linspace(0, 1, SHADES + 1)[1:-1])
        return self._paint_cells(np.linspace(LOW, HIGH, SHADES)[np.searchsorted(edges, values)])

    def regions(self, function: Program, colours: NumberPair = (0, 1)) -> Plot:
        """Color the plane faintly by the sign of a function of two numbers.

        Args:
            function: The function, which is called with two arrays.
            colours: The numbers of two colors: for values up to 0, and for positive values.

        Returns:
            The plot.
        """
        rgb_colors = np.array([[*bytes.fromhex(COLORS[colour][1:])] for colour in colours])
        return self._paint_cells(rgb_colors[(self._sample_function_at_cells(function) > 0).astype(int)], "0.22")

    def _sample_function_at_cells(self, function: Program) -> ndarray:
        """Compute the values of a function in the middle of each cell of the picture, from bottom to top."""
        xs, ys = (
            np.interp((np.arange(count) + 0.5) / count, (0, 1), ends)
            for count, ends in zip(CELLS, (self.x, self.y), strict=True)
        )
        return np.asarray(to_numpy_value(function(*np.meshgrid(xs, ys))), float64)

    def _paint_cells(self, colours: ndarray, opacity: str = "1") -> Plot:
        """Draw the cells of the picture in their colors as a bitmap, whose rows run upward."""
        width = self.size[0] - LEFT - RIGHT
        height = self.size[1] - TOP - BOTTOM
        self._elements.append(
            f'<image x="{LEFT}" y="{TOP}" width="{width}" height="{height}" preserveAspectRatio="none" '
            f'opacity="{opacity}" style="image-rendering:pixelated" '
            f'href="{build_bitmap_address(colours)}"/>'
        )
        return self

    def svg(self) -> str:
        """Return the picture as SVG text. The legend is above the axes, so it covers nothing."""
        width, height = self.size
        right = width - RIGHT
        bottom = height - BOTTOM
        axis_path = f"M{LEFT} {TOP}V{bottom}H{right}"
        labels = [
            _build_svg_text((LEFT + right) / 2, height - 3, escape(self.names[0]), "middle"),
            _build_svg_text(LEFT - 7, TOP - 10, escape(self.names[1]), "start"),
            _build_svg_text(right, TOP - 10, "".join(self._legend), 'end" font-weight="bold'),
        ]
        for value in _compute_ticks(*self.x):
            [[position, _]] = self._to_pixels(value, self.y[0])
            axis_path += f"M{position:.1f} {bottom}v4"
            labels.append(_build_svg_text(position, bottom + 17, f"{value:g}", "middle"))
        for value in _compute_ticks(*self.y):
            [[_, position]] = self._to_pixels(self.x[0], value)
            axis_path += f"M{LEFT} {position:.1f}h-4"
            labels.append(_build_svg_text(LEFT - 7, position + 4, f"{value:g}", "end"))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
            f'<clipPath id="c"><rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}"/></clipPath>'
            f'<g clip-path="url(#c)">{"".join(self._elements)}</g><path d="{axis_path}" fill="none" stroke="{GRAY}"/>'
            f'<g font-family="Arial, sans-serif" font-size="13" fill="{GRAY}">{"".join(labels)}</g></svg>'
        )

    def html(self) -> str:
        """Return the picture as an HTML image, whose alternative text describes it."""
        return (
            f'<img style="width:100%;max-width:{self.size[0]}px" alt="{escape(self.says, quote=True)}" '
            f'src="{self.source()}">'
        )

    def source(self) -> str:
        """Return the picture as a data URL."""
        return f"data:image/svg+xml;base64,{b64encode(self.svg().encode()).decode()}"

    def __repr__(self) -> str:
        """Return the description of the picture."""
        return say("Picture: {says}", says=self.says)

    def _repr_mimebundle_(self, **options: Answer) -> TextsByName:
        return {"text/plain": repr(self), "text/html": self.html()}

    def _add_legend_entry(self, name: str, colour: int, symbol: str) -> Plot:
        """Add a name to the legend, and return the picture."""
        if name:
            self._legend.append(f'<tspan fill="{COLORS[colour]}">\u2003{symbol} {escape(name)}</tspan>')
        return self

    def _to_pixels(self, xs: Answer, ys: Answer) -> ndarray:
        """Compute the positions of points in the picture. Positions far outside are limited, for drawing programs."""
        x, y = (np.ravel(np.asarray(to_numpy_value(values), float64)) for values in (xs, ys))
        width, height = self.size
        x_pixels = LEFT + (x - self.x[0]) / (self.x[1] - self.x[0]) * (width - LEFT - RIGHT)
        y_pixels = TOP + (self.y[1] - y) / (self.y[1] - self.y[0]) * (height - BOTTOM - TOP)
        return np.clip(np.nan_to_num(np.stack([x_pixels, y_pixels], axis=1)), -2000, 4000)


def build_bitmap_address(colours: ndarray) -> str:
    """Encode a bitmap as the data URL of an image.

    Args:
        colours: The red, green and blue of each pixel from 0 to 255, of shape (rows, columns, 3). The lowest row is
            first, and the number of columns is divisible by four.
    """
    rows, columns, _ = colours.shape
    pixels = colours[..., ::-1].astype(np.uint8).tobytes()
    header = struct.pack(
        "<2sIIIIIIHHIIIIII", b"BM", 54 + len(pixels), 0, 54, 40, columns, rows, 1, 24, 0, len(pixels), *[0] * 4
    )
    return f"data:image/bmp;base64,{b64encode(header + pixels).decode()}"


def _build_svg_text(x: float, y: float, content: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{content}</text>'


def _compute_ticks(low: float, high: float) -> FloatList:
    """Compute four to eleven round numbers from `low` to `high`. The step is 1, 2 or 5 times a power of ten."""
    step = 10.0 ** np.floor(np.log10(high - low))
    step *= next(factor for factor in (1, 0.5, 0.2) if (high - low) / (step * factor) >= 4)
    multiples = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)
    return [round(float(step * multiple), 10) + 0.0 for multiple in multiples]


class Moving:
    """A series of pictures, with a slider that moves through them and a button that plays them.

    All pictures are drawn in advance, so the slider needs no kernel. Where nothing can move, such as in a notebook on a
    code host, only the picture at `start` is shown.

    Args:
        name: The name of the value, which is shown next to the slider.
        values: The values, with a picture for each.
        draw: The function that draws the picture for a value.
        start: The index of the picture that is shown first.

    >>> Moving("shift", [0.0, 1.0], lambda s: Plot(f"a line at {s}", x=(0, 1), y=(0, 2)).curve(lambda x: x + s))
    Picture: a line at 0.0
    (In JupyterLab, a slider moves shift from 0 to 1.)
    """

    def __init__(self, name: str, values: FloatSequence, draw: Callable[[float], Plot], start: int = 0):
        """Draw a picture for each value.

        Args:
            name: The name of the value, next to the slider.
            values: The values.
            draw: The function that draws the picture for a value.
            start: The index of the picture that is shown first.
        """
        self.name = name
        self.values = [float(value) for value in values]
        self.start = start
        self.pictures = [draw(value) for value in values]

    def __repr__(self) -> str:
        """Return the description of the pictures."""
        ends = {"first": f"{self.values[0]:g}", "last": f"{self.values[-1]:g}"}
        slider_note = say("(In JupyterLab, a slider moves {name} from {first} to {last}.)", name=self.name, **ends)
        return f"{self.pictures[self.start]!r}\n{slider_note}"

    def save(self, path: str | Path) -> None:
        """Write a web page with the pictures and their slider, which needs no kernel.

        Args:
            path: The file to write.
        """
        from .slideshow import build_slider_page

        write_file(path, build_slider_page(self))

    def _repr_mimebundle_(self, **options: Answer) -> tuple[NamedValues, NamedValues]:
        from .slideshow import Slider

        return build_widget_mimebundle(Slider(self), repr(self), self.pictures[self.start].html())
