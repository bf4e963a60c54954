"""The static picture of a snapshot as SVG: its nodes and edges, with what has arrived at the end of the sweep.

:mod:`.placement` gives each node its column, :mod:`.ink` says how it looks, :mod:`.gradients` what stands below. Many
columns continue in the next line, like text; an edge from another line, or from far away, is the name of where it
begins. A figure is always light; any viewer shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import chain, groupby, product
from math import ceil
from typing import TYPE_CHECKING

from .expressions import Expressions, circled, title_of
from .gradients import gradient_lines, written_gradients
from .ink import (
    BACK,
    BOLD,
    BROKEN,
    COLOURS,
    CUT,
    EDGE,
    HEIGHT,
    MUTED,
    NUMBER,
    OVER,
    SANS,
    SENT,
    SMALL,
    TITLE,
    WIDTH,
    box_of,
    colours_of,
    cross,
    ink_of,
    line_at,
    text_at,
    value_at,
    with_map,
)
from .marks import size_of
from .placement import Item, Placement
from .short import elide, short_name, wide
from .torn import is_zero
from .words import word

if TYPE_CHECKING:
    from ..engine.types import Object
    from .fields import Fields, Shown, Snapshot, SnapshotStep

MARGIN, FRAME, HEAD = 8, 16, 12  # around a figure and around the frames of several tapes, and of a frame's name
PITCH, HALF = 182, 35  # of a column, and of a half-slot
GUTTER, INDENT, AWAY = 34, 56, 10  # between two lines, left of them, and from a node that an edge passes
DEEP = 16  # below nodes, of ways to states of variables
ONE_LINE, PER = 6, 5  # columns: in one line, and in each of several
MOST, ENDS = 60, 15  # nodes that are drawn; of a longer tape so many of the first and of the last ones
PORTS = 50  # inputs of an operation that are drawn, and told in words
NUMBERED = 5  # inputs whose edges have room for numbers
TAPES = ("#0072b2", "#a34a7e", "#00805c", "#8a5c00")  # the frames of tapes

Point = tuple[float, float]


@dataclass
class Node:
    """A box of the figure."""

    row: Fields | None  # None for the rows that are left out
    inputs: list[tuple[int, int]]  # nodes, each with the port of the row
    storey: int = 0  # a lower one runs from right to left
    line: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def way(self) -> int:
        """1 where edges run to the right, -1 where to the left."""
        return -1 if self.storey else 1

    def at(self, across: float, down: float = 0.5) -> Point:
        """A point of it, at these shares of its width and height."""
        return self.x + WIDTH * across, self.y + HEIGHT * down

    def entry(self, port: int) -> Point:
        """The place before it at which an edge enters."""
        x, y = self.at((1 - self.way) / 2, (port + 1) / (len(self.inputs) + 1))
        return x - 2 * self.way, y


class Figure:
    """The figure of a snapshot: its nodes, where they are, and what has arrived at them."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        steps = snapshot["sweep"]["steps"] if snapshot["sweep"] else []
        self.adjoints = final_adjoints(steps)
        self.sent = {(step["row"], edge["port"]): edge["product"] for step in steps for edge in step["edges"]}
        self.calls = [call for call in snapshot["results"] if call.get("shown")]
        sources = [(call["known"], source) for call in self.calls for source in call["sources"]]
        self.updates = {source["rows"][-1]: source for _, source in sources if source["now"]}
        self.nones = {one["at"] for known, one in sources if known and one["gradient"] is None}
        self.expressions = Expressions(snapshot["rows"])
        self._choose()
        self._place()

    def _choose(self) -> None:
        """The rows that are nodes: numbers of the program are part of the text of their reader."""
        rows = self.snapshot["rows"]
        shown = [row for row in rows if not row.get("literal")] or rows
        gap = ENDS if len(shown) > MOST else -1
        chosen = [*shown[:ENDS], None, *shown[-ENDS:]] if gap > 0 else shown
        self.at = {row["row"]: k for k, row in enumerate(chosen) if row}  # row -> node
        numbers = {row["row"] for row in rows if row.get("literal")} - self.at.keys()
        self.nodes: list[Node] = []
        for k, row in enumerate(chosen):
            read = row["inputs"] if row else []
            inputs = [(self.at.get(i, gap), port) for port, i in enumerate(read) if i not in numbers]
            self.nodes.append(Node(row, [one for one in inputs if 0 <= one[0] < k][:PORTS]))
            self.at |= dict.fromkeys(numbers.intersection(read) - self.at.keys(), k)  # a number is in its first reader

    # -- where everything is -------------------------------------------------------------------------------------

    def _place(self) -> None:
        """Gives each node its place, each edge its curve, and the figure its size."""
        for by, nodes in groupby(self.nodes, lambda node: node.row and node.row["by"]):
            self._lower([*nodes] if by is not None else [])
        placed = Placement([*map(self._item, self.nodes)])
        columns = 1 + max(placed.column, default=0)
        per = columns if columns <= ONE_LINE else ceil(columns / ceil(columns / PER))
        for node, column in zip(self.nodes, placed.column, strict=True):
            node.line = column // per
        near = {ends for ends in placed.via if self.nodes[ends[0]].line == self.nodes[ends[1]].line}
        taken = [(n, c, s + k) for n, c, s in zip(self.nodes, placed.column, placed.slot, strict=True) for k in (0, 1)]
        taken += [(self.nodes[ends[1]], *point) for ends in near for point in placed.via[ends]]
        tapes, storeys = len(self.snapshot["tapes"]), sorted({node.storey for node in self.nodes})
        frame, indent = FRAME * (tapes > 1), INDENT * (per < columns)
        left, top = MARGIN + frame + indent, MARGIN + frame + HEAD * tapes * (tapes > 1)
        tops: dict[tuple[int, int], float] = {}  # of each part of a line that has a storey
        for part in product(range(ceil(columns / per)), storeys):
            if inside := [slot for node, column, slot in taken if (column // per, node.storey) == part]:
                tops[part] = top - min(inside) * HALF
                top += (max(inside) - min(inside) - 1) * HALF + HEIGHT + GUTTER + frame
        self.foot = top - GUTTER + MARGIN
        self.width = left + (per - 1) * PITCH + WIDTH + frame + MARGIN + indent * any(storeys)  # of a lower one, too

        def at(column: int, slot: float, storey: int) -> Point:
            return left + column % per * PITCH, tops[column // per, storey] + slot * HALF

        for node, column, slot in zip(self.nodes, placed.column, placed.slot, strict=True):
            node.x, node.y = at(column, slot, node.storey)
        self.curves: dict[tuple[int, int, int], list[Point]] = {}  # start, end and place among its edges -> points
        for k, node in enumerate(self.nodes):
            for port, (start, _) in enumerate(node.inputs):
                before = self.nodes[start]
                if (before.line, before.storey) == (node.line, node.storey):
                    passed = (at(column, slot + 0.5, node.storey) for column, slot in placed.via.get((start, k), ()))
                    ends = (((x - AWAY, y), (x + WIDTH + AWAY, y))[:: node.way] for x, y in passed)
                    self.curves[start, k, port] = [before.at((1 + node.way) / 2), *chain(*ends), node.entry(port)]

    def _lower(self, nodes: list[Node]) -> None:
        """Puts what a gradient wrote into a storey of its own, where each operation is below one that none wrote."""
        rows = [self.expressions.rows.get(node.row.get("below", -1)) for node in nodes if node.row and node.inputs]
        if rows and all(row is not None and row["by"] is None for row in rows):
            for node in nodes:
                node.storey = 1 + self.nodes.index(nodes[0])

    def _item(self, node: Node) -> Item:
        """What is placed; its section changes where a tape ends, and where its gradient begins to write."""
        row = node.row
        if row is None:
            return Item([], True, "left out")
        below = self.at.get(row.get("below", -1), -1) if node.storey else -1
        ended = sum(end <= row["row"] for tape in self.snapshot["tapes"] for span in tape["spans"] for end in span)
        leaf = row["kind"] != "operation" and not node.inputs
        return Item([start for start, _ in node.inputs], leaf, (row["by"], ended), node.storey, below)

    # -- drawing -------------------------------------------------------------------------------------------------

    def svg(self, title: str = "", said: str = "") -> str:
        """The text; ``title`` and ``said`` are the picture in a line, and in words."""
        lines, ways = [*gradient_lines(self.calls, self.expressions)], [*self._ways()]
        width, height, below = written_gradients(lines, self.width, self.foot + DEEP * bool(ways))
        high = max(height, 40)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{high}" '
            f'viewBox="0 0 {width} {high}" font-family="{SANS}" role="img">'
            f"<title>{escape(title)}</title><desc>{escape(said)}</desc>"
            f'<rect width="{width}" height="{high}" rx="6" fill="#ffffff"/>',
        ]
        if not self.nodes:
            parts.append(text_at(MARGIN, 25, word("nothing recorded"), TITLE, MUTED))
        torn, nodes = [*self._torn()], map(self._node, self.nodes)
        for layer in (self._frames(), torn[::2], self._edges(), ways, nodes, torn[1::2], below):
            parts += layer
        # with five digits in tags
        return re.sub(r"\d+\.\d+(e-?\d+)?(?=[^<]*>)", lambda one: f"{float(one[0]):.5g}", "".join(parts)) + "</svg>"

    def _frames(self) -> Iterator[str]:
        """A frame around what each tape recorded, where there are several, and around each lower storey."""
        tapes = self.snapshot["tapes"]
        names = [short_name(tape["name"], 12) for tape in tapes]
        rows = [(node, node.row) for node in self.nodes if node.row]
        for k, tape in enumerate(tapes if len(tapes) > 1 else []):
            inside = [node for node, row in rows if any(first <= row["row"] < last for first, last in tape["spans"])]
            yield from framed(inside, names[k], len(tapes) - k, TAPES[k % len(TAPES)])
        storeys = {node.storey: row["by"] or 0 for node, row in rows if node.storey}
        for storey, by in storeys.items():
            yield from framed(
                [node for node in self.nodes if node.storey == storey], f"{names[by]}.gradient", 1, MUTED, "5 2"
            )

    def _node(self, node: Node) -> str:
        row, x, y = node.row, node.x, node.y
        if row is None:
            before, after = (self.nodes[ENDS + k].row or {"row": 0} for k in (-1, 1))
            text = word("{n} rows", n=after["row"] - before["row"] - 1)
            return box_of(x, y, "gap", *COLOURS["gap"], "2 3") + text_at(x + 10, y + 30, text, TITLE)
        pad = 16 if row["kind"] == "source" else 10
        number = text_at(x + WIDTH - pad + 2, y + 16, str(row["row"]), f'{SMALL} text-anchor="end"', MUTED)
        name = self._titled(row, x + pad, y + 17, x + WIDTH - pad - 4 - 7 * len(str(row["row"])))
        return self._border(row, x, y) + name + number + self._value(node, row, pad) + self._arrived(node, row, pad)

    def _border(self, row: Fields, x: float, y: float) -> str:
        """The box of a node; its colour, width and dashes say what the row is."""
        sweep = self.snapshot["sweep"]
        colour, fill = colours_of(row)
        broken = row["row"] in self.snapshot.get("broken", ())  # where `explain` puts the blame
        colour = BROKEN if broken else CUT if row["cut"] else ink_of(row["value"], colour)
        dash = "2 3" if row["status"] == "ghost" else "5 2" if row["by"] is not None else ""
        twice = row["kind"] == "variable"  # it has two lines
        width = 4.6 if twice else 2.4 if broken or (sweep and row["row"] in sweep["target"]) else 1.3
        box = box_of(x, y, row["kind"], colour, fill, dash, width)
        return box + box_of(x, y, row["kind"], fill, "none", "", 2.2) * twice

    def _titled(self, row: Fields, x: float, y: float, right: float) -> str:
        """The name, and small beside it the operation; beside that of a weight its layer."""
        operation, room = row["kind"] == "operation", max(3, int((right - x) / 7.4))
        name, texts = (row["name"], self.expressions.of(row)) if operation else (title_of(row), [""])
        if not name:
            return text_at(x, y, fitting(texts, (right - x) / 7.0), TITLE)
        if row["kind"] == "variable" and wide(name) > room:
            layer, _, name = name.replace("/", ".").rpartition(".")
            texts = [layer.rpartition(".")[2]]
        title = short_name(name, room)
        left = x + 7.4 * wide(title) + 6
        beside = text_at(left, y, fitting(texts, (right - left) / 6.4), SMALL, MUTED)
        return text_at(x, y, title, TITLE + BOLD * bool(row["name"])) + beside

    def _value(self, node: Node, row: Fields, pad: int) -> str:
        """The value; of a variable that was assigned after the gradient what it held, and what it holds now."""
        x, y, update = node.x, node.y + 32, self.updates.get(row["row"])
        if row["released"] and not update:
            return text_at(x + pad, y, word("released"), NUMBER)
        if update is None:
            return value_at(x, y, pad, "", row["value"], row)
        before = "" if row["shape"] else f"{size_of(row['value'] or {}, 6)} "
        return value_at(x, y, pad, f"{before}→ ", update["now"], row)

    def _arrived(self, node: Node, row: Fields, pad: int) -> str:
        """The adjoint: how large an array is, with its picture."""
        adjoint, none = self.adjoints.get(row["row"]), row["row"] in self.nones
        text = "None" if none else size_of(adjoint, 12) if adjoint else ""
        colour = CUT if none else ink_of(adjoint, BACK)
        return with_map(node.x, node.y + 45.5, pad, f"∂ {text}", adjoint, colour, True) if text else ""

    # -- edges ---------------------------------------------------------------------------------------------------

    def _edges(self) -> Iterator[str]:
        """The edges into each node, and behind them the number that the sweep has sent over each."""
        numbers = []
        for index, node in enumerate(self.nodes):
            row = node.row
            if row is None or not node.inputs:
                continue
            for port, (start, own) in enumerate(node.inputs):
                way, product = self.curves.get((start, index, port)), self.sent.get((row["row"], own))
                if way is None:
                    yield reference(self.nodes[start].row, *node.entry(port), node.way, product is not None)
                    continue
                dash = "3 4" if row["cut"] or row["status"] == "ghost" else ""
                dash = "1 4" if product and is_zero(product) else dash
                yield line_at(path_of(way, product is not None), CUT if row["cut"] else SENT if product else EDGE, dash)
                if product and len(node.inputs) <= NUMBERED:
                    lane = len(way) > 2  # where no other edge crosses it
                    x, y = way[-1 - lane]
                    x -= (4 + 46 * port * lane) * node.way
                    numbers.append(
                        text_at(
                            x,
                            y + 4,
                            size_of(product, 7),
                            f'{NUMBER} text-anchor="{"end" if node.way > 0 else "start"}"{OVER}',
                            ink_of(product, BACK),
                        )
                    )
            if row["cut"]:
                x, y = node.entry(0)
                yield cross(x - 5 * node.way, y)
        yield from numbers

    def _ways(self) -> Iterator[str]:
        """Dashed curves to states of variables, below the nodes; crossed where they come from what was assigned."""
        events: Object = self.snapshot["events"]
        for event in events:
            end = self.at.get(event.get("to"))
            for way in ("from", "row"):
                start = self.at.get(event.get(way))
                if start is None or end is None or start == end:
                    continue
                (x0, y0), (x1, y1) = (self.nodes[k].at(0.5, 1) for k in (start, end))
                low = max(y0, y1) + 1.6 * DEEP
                path = f"M{x0} {y0}C{x0} {low} {x1} {low} {x1} {y1 + 2}m-3.5 5.5l3.5 -5.5l3.5 5.5"
                yield line_at(path, COLOURS["variable"][0], "4 4", 1.2)
                if way == "row":
                    yield cross((x0 + x1) / 2, (y0 + y1) / 8 + 0.75 * low)

    def _torn(self) -> Iterator[str]:
        """Where a value left: a torn edge to the node as which it came back; and what took it, and where."""
        for one in self.snapshot.get("torn", []):
            start, end = self.at.get(one["from"]), self.at.get(one["to"])
            if one["kind"] != "left" or start is None:
                continue
            x, y = self.nodes[start].at(0.5)
            to_x, to_y = (x, y + HEIGHT) if end is None else self.nodes[end].at(0.5)
            middle, level = (x + to_x) / 2, (y + to_y) / 2
            text = f"{one['text']}, {word('line {0}').replace('{0}', str(one['line']))}"
            yield line_at(f"M{x} {y}L{to_x} {to_y}", CUT, "4 4", 1.4)
            yield cross(middle, level) + text_at(middle + 10, level + 4, text, f"{SMALL}{BOLD}{OVER}", CUT)


def framed(nodes: list[Node], name: str, depth: int, colour: str, dash: str = "") -> Iterator[str]:
    """A frame around nodes, and around ``depth`` - 1 others; in each line a part, the first one with the name."""
    away, head = 4 + 4 * depth, HEAD * depth
    for line in sorted({node.line for node in nodes}):
        xs, ys = zip(*((node.x, node.y) for node in nodes if node.line == line), strict=True)
        x, y = min(xs) - away, min(ys) - away - head
        w, h = max(xs) + WIDTH + away - x, max(ys) + HEIGHT + away - y
        yield line_at(f"M{x} {y}h{w}v{h}h{-w}z", colour, dash, 1)
        yield text_at(x + 8, y + 12, name if head else "", SMALL + BOLD, colour)
        head = 0


def reference(row: Fields | None, x: float, y: float, way: int, sent: bool) -> str:
    """An edge from another line or storey, or from far away: the name of its row, or the number."""
    text = "…" if row is None else short_name((row["name"] or circled(row["row"])).removesuffix(":0"), 6)
    w = 6.2 * wide(text) + 8
    middle = x - way * (w / 2 + 9)
    box = f'<rect x="{middle - w / 2}" y="{y - 8}" width="{w}" height="16" rx="8" fill="#f2f3f5" stroke="#b3bac2"/>'
    line = line_at(path_of([(x - 9 * way, y), (x, y)], sent), SENT if sent else EDGE, width=1.2)
    return line + box + text_at(middle, y + 4, text, f'{SMALL} text-anchor="middle"', MUTED)


def head(way: int) -> str:
    """The head of an arrow that ends here, and came to the right or to the left."""
    return f"m{-5.5 * way} -3.5l{5.5 * way} 3.5l{-5.5 * way} 3.5"


def path_of(points: list[Point], sent: bool) -> str:
    """The SVG path through these points, level at each, with an arrowhead at its end, or at its beginning where the
    sweep was ``sent`` over it.

    >>> path_of([(0, 0), (60, 20)], sent=False)
    'M0 0C30.0 0 30.0 20 60 20m-5.5 -3.5l5.5 3.5l-5.5 3.5'
    """
    (x, y), *others = points
    way = 1 if others[-1][0] > x else -1
    start, path = f"M{x + 2 * way} {y}{head(-way)}", f"M{x} {y}"
    for to_x, to_y in others:
        middle = (x + to_x) / 2
        path += f"C{middle} {y} {middle} {to_y} {to_x} {to_y}"
        x, y = to_x, to_y
    return start + path if sent else path + head(way)


def fitting(texts: list[str], room: float) -> str:
    """The first of these that has so many letters; of the last one what fits."""
    return next((text for text in texts if wide(text) <= room), elide(texts[-1], int(room)) if room > 2 else "")


def final_adjoints(steps: Iterable[SnapshotStep]) -> dict[int, Shown | None]:
    """By row what has arrived after these steps of a sweep."""
    found: dict[int, Shown | None] = {}
    for step in steps:
        found |= {step["row"]: step["adjoint"]} | {edge["input"]: edge["sum"] for edge in step["edges"]}
    return found
