"""The static picture of a snapshot as SVG: its nodes and edges, with what has arrived at the end of the sweep.

:mod:`.lines` says where everything is, :mod:`.ink` how it looks, :mod:`.gradients` what stands below. A figure is
always light; any viewer shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby
from math import ceil, inf
from typing import TYPE_CHECKING

from .expressions import Expressions, title_of
from .folds import Part, parts_of
from .gradients import gradient_lines, written_gradients
from .ink import (
    BACK,
    BOLD,
    BROKEN,
    CENTRED,
    COLOURS,
    CUT,
    EDGE,
    MONO,
    MUTED,
    NUMBER,
    SANS,
    SENT,
    SMALL,
    TITLE,
    box_of,
    colours_of,
    cross,
    ink_of,
    line_at,
    text_at,
    value_at,
)
from .lines import HEIGHT, WIDTH, Lines, Piece, Places, path_of, points_of
from .marks import brief, size_of, small_map
from .placement import Item, Placement, place
from .short import elide, short_name, wide
from .torn import is_zero
from .words import word

if TYPE_CHECKING:
    from .fields import Fields, Shown, Snapshot, SnapshotStep

MARGIN = 8
PORTS = 50  # inputs of an operation that are drawn, and told in words
MOST = 60  # nodes that are drawn; of a longer tape the first and the last ones
ONE_LINE, PER = 6, 5  # columns: in one line, and in each of several
GAP = 16  # around a figure of several tapes
LETTER = 6.7  # width of a letter on an edge
ASIDE = (0, 6, -6, 12, -12, 20, -20, 30, -30, 42, -42)  # how far the words of a torn edge may be from it
FREE = 100  # a number on an edge that would cost more is left out
TAPES = ("#0072b2", "#a34a7e", "#00805c", "#8a5c00")  # the frames of tapes


def links(snapshot: Snapshot) -> Iterator[tuple[int, int, bool]]:
    """To each state of a variable: from the row of the one before (False), and of what was assigned (True)."""
    known = {row["row"] for row in snapshot["rows"]}
    for event in snapshot["events"]:
        for start, crossed in ((event.get("from", -1), False), (event.get("row", -1), True)):
            if start in known and event.get("to", start) != start and event["to"] in known:
                yield start, event["to"], crossed


def total_of(snapshot: Snapshot) -> int:
    """How many rows the recording has."""
    return max(snapshot.get("total", 0), len(snapshot["rows"]))


@dataclass
class Node:
    """A box of the figure."""

    part: Part
    row: Fields | None  # None for what is folded
    last: Fields | None  # the row itself, or the last operation in what is folded
    title: str
    inputs: list[tuple[int, int]]  # nodes, each with the port of the row
    x: float = 0.0
    y: float = 0.0


class Figure:
    """The figure of a snapshot: its nodes, with what is folded, where they are, and what has arrived at them."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        steps = snapshot["sweep"]["steps"] if snapshot["sweep"] else []
        self.adjoints = final_adjoints(steps)
        self.sent = {(step["row"], edge["port"]): edge for step in steps for edge in step["edges"]}
        self.calls = [call for call in snapshot["results"] if call.get("shown")]
        sources = [(call["known"], source) for call in self.calls for source in call["sources"]]
        self.updates = {source["rows"][-1]: source for _, source in sources if source["now"]}
        self.nones = {one["at"] for known, one in sources if known and one["gradient"] is None}
        self.torn = snapshot.get("torn", [])
        rows = snapshot["rows"]
        # numbers of the program are part of the text of their reader
        self.rows = [row for row in rows if not row.get("literal")] or rows
        self.expressions = Expressions(rows)
        gap = total_of(snapshot) > len(rows)
        jump = next((k for k in range(1, len(self.rows)) if gap and self.rows[k]["row"] > len(rows) // 2), None)
        self.nodes: list[Node] = []
        self.at: dict[int, int] = {}  # row -> node
        for part in parts_of(self.rows, MOST, jump):
            self._add(part)
        self._place()
        self.curves = {
            (start, index, port): self.lines.curve(start, index, port, len(node.inputs))
            for index, node in enumerate(self.nodes)
            for port, (start, _) in enumerate(node.inputs)
            if not self.lines.is_far(start, index)
        }

    def _add(self, part: Part) -> None:
        rows = self.rows
        inside = [row for row in rows[part.first : part.end] if row["row"] not in self.at]
        row = None if part.title else inside[0]
        last = row or next((one for one in reversed(inside) if one["kind"] == "operation"), None)
        number = len(self.nodes)
        numbers = [one["row"] for one in inside]
        if part.title and part.sign is None and not part.turns:  # rows between, which may not have been read
            numbers = [k for k in range(rows[part.first - 1]["row"] + 1, rows[part.end]["row"]) if k not in self.at]
        self.at |= dict.fromkeys(numbers, number)
        found = [(self.at[i], port) for one in inside for port, i in enumerate(one["inputs"]) if i in self.at]
        if row is None or len(found) > PORTS:
            ports: dict[int, int] = {}
            for start, port in found:
                ports.setdefault(start, port)
            found = [one for one in ports.items() if one[0] != number][:PORTS]
        self.nodes.append(Node(part, row, last, part.title or title_of(inside[0]), found))

    # -- where everything is -------------------------------------------------------------------------------------

    def _place(self) -> None:
        """Gives each node its place, and the figure its size."""
        storeys = self._storeys()
        placed = self._placement(storeys)
        if max(placed.column, default=0) >= ONE_LINE and any(storeys):  # two storeys are in one line
            placed = self._placement([0] * len(storeys))
        columns = 1 + max(placed.column, default=0)
        per = inf if columns <= ONE_LINE else ceil(columns / ceil(columns / PER))
        tapes = len(self.snapshot["tapes"]) > 1
        corner = (MARGIN + GAP * tapes, MARGIN + (GAP + 14) * tapes)
        edges = [(start, index) for index, node in enumerate(self.nodes) for start, _ in node.inputs]
        self.lines = Lines(placed, edges, per, corner)
        for node, (x, y) in zip(self.nodes, self.lines.at, strict=True):
            node.x, node.y = x, y
        self.width, self.foot = self.lines.right + corner[0], self.lines.bottom + corner[0]

    def _placement(self, storeys: Iterable[int]) -> Placement:
        items = []
        for node, storey in zip(self.nodes, storeys, strict=True):
            leaf = node.row is not None and node.row["kind"] != "operation" and not node.inputs
            below = self.at.get(node.row.get("below", -1), -1) if storey and node.row else -1
            items.append(Item([start for start, _ in node.inputs], leaf, self._section(node), storey, below))
        return place(items)

    def _storeys(self) -> list[int]:
        """Of each node: 0, or the lower storey that it is in. What a gradient wrote is in one where each of its
        operations is below one that no gradient wrote.
        """
        found: list[int] = []
        for by, group in groupby((node.last for node in self.nodes), lambda row: row and row["by"]):
            rows = [*group]
            below = [self.expressions.rows.get(row.get("below", -1)) for row in rows if row and row["inputs"]]
            fits = by is not None and all(under is not None and under["by"] is None for under in below)
            found += [len(found) if fits else 0] * len(rows)
        return found

    def _section(self, node: Node) -> tuple[int | None, int, int | None]:
        row = node.last
        if row is None:
            return (None, 0, None)
        number = self.rows[node.part.first]["row"] if node.row is None else row["row"]
        passed = sum(end <= number for tape in self.snapshot["tapes"] for span in tape["spans"] for end in span)
        last = row["op"] == "custom_gradient" and row["scope"][-1:] == [row["label"]]  # behind what the function did
        return (row["by"], passed, number if last else None)

    # -- drawing -------------------------------------------------------------------------------------------------

    def svg(self, title: str = "", said: str = "") -> str:
        """The text; ``title`` and ``said`` are the picture in a line, and in words."""
        lines = [*gradient_lines(self.calls, self.updates, self.expressions)]
        width, height, below = written_gradients(lines, self.width, self.foot)
        high = max(height, 40)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{high}" '
            f'viewBox="0 0 {width} {high}" font-family="{SANS}" role="img">'
            f"<title>{escape(title)}</title><desc>{escape(said)}</desc>"
            f'<rect width="{width}" height="{high}" rx="6" fill="#ffffff"/>',
        ]
        if not self.nodes:
            parts.append(f'<text x="{MARGIN}" y="25" font-size="12" fill="{MUTED}">{word("nothing recorded")}</text>')
        middles = ((node.x + WIDTH / 2, node.y + HEIGHT / 2, WIDTH, HEIGHT) for node in self.nodes)
        places = Places(middles, 2, self.width - 2)
        places.points |= {key: points_of(curve) for key, curve in self.curves.items()}
        places.down |= {key for key in self.curves if self.lines.placed.is_down(*key[:2])}
        on_edges = self._torn(places), self._numbers(places)
        for layer in (self._frames(), self._edges(), self._ways(), self._nodes(), *on_edges, below):
            parts += layer
        return re.sub("<[^>]+>", _with_short_numbers, "".join(parts)) + "</svg>"

    def _frames(self) -> Iterator[str]:
        """A frame around what each tape recorded, where there are several; in each line a part."""
        tapes = self.snapshot["tapes"]
        for k, tape in enumerate(tapes if len(tapes) > 1 else []):
            away = 4 + 4 * (len(tapes) - k)
            lines: dict[int, list[Node]] = {}
            for node, line in zip(self.nodes, self.lines.line, strict=True):
                number = self.rows[node.part.first]["row"]
                if any(first <= number < last for first, last in tape["spans"]):
                    lines.setdefault(line, []).append(node)
            colour, name = TAPES[k % len(TAPES)], short_name(tape["name"], 9)
            for inside in lines.values():
                x, y = min(node.x for node in inside) - away, min(node.y for node in inside) - away - 8
                w = max(node.x for node in inside) + WIDTH + away - x
                h = max(node.y for node in inside) + HEIGHT + away - y
                yield (
                    f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="9" fill="none" stroke="{colour}" '
                    'stroke-width="1"/>'
                )
                yield text_at(x + 8 + 60 * k, y + 10, name, SMALL + BOLD, colour)
                name = ""

    def _nodes(self) -> Iterator[str]:
        for node in self.nodes:
            row, x, y = node.row, node.x, node.y
            pad = 16 if row and row["kind"] == "source" else 10
            number = row["row"] if row else None
            yield self._border(node)
            yield self._titled(node, x + pad, y + 17, x + WIDTH - (8 if row is None else pad + 7 * len(str(number))))
            if row:
                end = f'{SMALL} text-anchor="end"'
                yield text_at(x + WIDTH - pad + 2, y + 16, str(number), end, MUTED)
            if node.last and (row or node.part.turns or node.part.sign):
                yield self._value(node, node.last, pad) + self._arrived(node, node.last["row"], pad)

    def _border(self, node: Node) -> str:
        """The box of a node; its colour, width and dashes say what the row is."""
        row, sweep, x, y = node.row, self.snapshot["sweep"], node.x, node.y
        if row is None:
            return box_of(x, y, "gap", *COLOURS["operation" if node.part.turns else "gap"], "2 3")
        colour, fill = colours_of(row)
        broken = row["row"] in self.snapshot.get("broken", ())  # where `explain` puts the blame
        colour = BROKEN if broken else CUT if row["cut"] or ink_of(row) == CUT else colour
        dash = "2 3" if row["status"] == "ghost" else "5 2" if row["by"] is not None else ""
        target = sweep is not None and row["row"] in sweep["target"]
        box = box_of(x, y, row["kind"], colour, fill, dash, 2.4 if target or broken else 1.3)
        if row["kind"] == "variable":
            box += (
                f'<rect x="{x + 3}" y="{y + 3}" width="{WIDTH - 6}" height="{HEIGHT - 6}" rx="1.5" '
                f'fill="none" stroke="{colour}" stroke-width="0.8"/>'
            )
        return box

    def _titled(self, node: Node, x: float, y: float, right: float) -> str:
        """The name, and small beside it the operation."""
        row = node.row
        name, texts = node.title or None, [""]
        if row and row["kind"] == "operation":
            name, texts = row["name"], self.expressions.of(row)
        if not name:
            return text_at(x, y, fitting(texts, (right - x) / 6.6), TITLE)
        title = short_name(name, max(3, int((right - x) / 7.4)))
        left = x + 7.4 * wide(title) + 6
        bold = BOLD if row is None or row["name"] else ""
        return text_at(x, y, title, TITLE + bold) + text_at(left, y, fitting(texts, (right - left) / 6.4), SMALL, MUTED)

    def _value(self, node: Node, row: Fields, pad: int) -> str:
        """The value; of a variable that was assigned after the gradient what it held, and what it holds now."""
        x, y, update = node.x, node.y + 32, self.updates.get(row["row"]) if node.row else None
        if row["released"] and node.row and not update:
            return text_at(x + pad, y, word("released"), NUMBER)
        if update is None:
            return value_at(x, y, pad, "", row["value"], row, ink_of(row) if node.row else MUTED)
        before = "" if row["shape"] else f"{brief(row['value'], row, 6)} "
        return value_at(x, y, pad, f"{before}→ ", update["now"], row, ink_of(row))

    def _arrived(self, node: Node, number: int, pad: int) -> str:
        """The adjoint: how large an array is, with its picture."""
        adjoint, none = self.adjoints.get(number), number in self.nones
        text = "None" if none else size_of(adjoint, 13) if adjoint else ""
        if not text:
            return ""
        text = f"∂ {text}"
        left = max(58.0, 6.7 * len(text) + 4)
        x, y = node.x + pad, node.y + 45.5
        map_ = "" if none or left > 84 else small_map(adjoint, x + left, y - 10, WIDTH - pad - left - 8, 12)
        return text_at(x, y, text, NUMBER, CUT if none else BACK, True) + map_

    # -- edges ---------------------------------------------------------------------------------------------------

    def _edges(self) -> Iterator[str]:
        for index, node in enumerate(self.nodes):
            row, ports = node.row, len(node.inputs)
            cut = row is not None and row["cut"]
            for port, (start, _) in enumerate(node.inputs):
                curve, product = self.curves.get((start, index, port)), self._product(start, index, port)
                if curve is None:
                    yield self._reference(start, index, port)
                    continue
                back = self.lines.is_back(index if product is None else start)
                dash = "3 4" if row is not None and (cut or row["status"] == "ghost") else ""
                dash = "1 4" if product and is_zero(product) else dash
                colour = CUT if cut else EDGE if product is None else SENT
                yield line_at(path_of(curve, product is not None, back), colour, dash)
            torn = any(self.at.get(one["to"]) == index and one["kind"] == "cut" for one in self.torn)
            if cut and ports and not torn:
                yield cross(*self.lines.entry(index, 0, ports, 12))

    def _product(self, start: int, index: int, port: int) -> Shown | None:
        """What the sweep has sent over an edge; of what is folded the sum."""
        node = self.nodes[index]
        if node.row and self.nodes[start].row:
            edge = self.sent.get((node.row["row"], node.inputs[port][1]))
            return edge["product"] if edge else None
        found = [
            edge
            for (reader, _), edge in self.sent.items()
            if self.at.get(reader) == index and self.at.get(edge["input"]) == start
        ]
        return found[-1]["product" if len(found) == 1 else "sum"] if found else None

    def _reference(self, start: int, index: int, port: int) -> str:
        """An edge that comes from far away: the name of its row, or the number."""
        row = self.nodes[start].row
        text = "…" if row is None else short_name((row["name"] or str(row["row"])).removesuffix(":0"), 6)
        x, y = self.lines.entry(index, port, len(self.nodes[index].inputs), 2)
        w = 6.2 * wide(text) + 8
        box = f'<rect x="{x - w - 9}" y="{y - 8}" width="{w}" height="16" rx="8" fill="#f2f3f5" stroke="#b3bac2"/>'
        line = line_at(f"M{x - 9} {y}L{x} {y}m-5.5 -3.5l5.5 3.5l-5.5 3.5", EDGE, width=1.2)
        return line + box + text_at(x - w / 2 - 9, y + 4, text, f'{SMALL} text-anchor="middle"', MUTED)

    def _ways(self) -> Iterator[str]:
        """Dashed curves to states of variables, below the nodes; crossed where they come from what was assigned."""
        for first, last, crossed in links(self.snapshot):
            start, end = self.at.get(first), self.at.get(last)
            if start is None or end is None or start == end or self.nodes[end].row is None:
                continue
            (x0, y0), (x1, y1) = ((self.nodes[k].x + WIDTH / 2, self.nodes[k].y + HEIGHT) for k in (start, end))
            low = max(y0, y1) + 24
            path = f"M{x0} {y0}C{x0} {low} {x1} {low} {x1} {y1 + 2}m-3.5 5.5l3.5 -5.5l3.5 5.5"
            yield line_at(path, COLOURS["variable"][0], "4 4", 1.2)
            if crossed:
                yield cross((x0 + x1) / 2, (y0 + y1) / 8 + 0.75 * low)

    def _torn(self, places: Places) -> Iterator[str]:
        """Where a gradient ends: the torn edge, and what did it."""
        for number, one in enumerate(self.torn):
            start, end = self.at.get(one["from"]), self.at.get(one["to"])
            if one["kind"] == "zero" or start is None or start == end:
                continue
            key: object = next((key for key in self.curves if key[:2] == (start, end)), None)
            if key is None:
                piece = self._tear(self.nodes[start], None if end is None else self.nodes[end])
                places.points[key := ("torn", number)] = points_of([piece])
                (a, b), (c, d) = piece[:2]
                yield line_at(f"M{a} {b}L{c} {d}", CUT, "4 4", 1.4)
            line = word("line {0}").replace("{0}", str(one["line"]))
            w = LETTER * max(wide(one["text"]), wide(line)) + 6
            x, y = places.find(key, w, 38, ASIDE) or places.points[key][0]
            style = f'{SMALL}{BOLD} font-family="{MONO}" text-anchor="middle"'
            yield f'<rect x="{x - w / 2}" y="{y - 19}" width="{w}" height="38" fill="#ffffff"/>' + cross(x, y - 11)
            yield text_at(x, y + 5, one["text"], style, CUT) + text_at(x, y + 17, line, style, CUT)

    def _tear(self, node: Node, other: Node | None) -> Piece:
        """From a node to the one as which its value came back; to nowhere where that is not known."""
        if other is None:
            return Piece((node.x + WIDTH, node.y + HEIGHT / 2), (node.x + WIDTH + 30, node.y + HEIGHT / 2))
        y = other.y - 2 if other.y > node.y else other.y + HEIGHT + 2
        return Piece((node.x + WIDTH / 2, node.y + HEIGHT), (other.x + WIDTH / 2, y))

    def _numbers(self, places: Places) -> Iterator[str]:
        """On each edge over which the sweep went what it carried."""
        for key in self.curves:
            product = self._product(*key)
            if product is None:
                continue
            text = size_of(product, 7)
            w = LETTER * len(text) + 4
            at = places.find(key, w, 13, most=FREE)
            if at is not None:
                yield f'<rect x="{at[0] - w / 2}" y="{at[1] - 7}" width="{w}" height="14" fill="#ffffff"/>'
                yield text_at(at[0], at[1] + 4, text, CENTRED, BACK)


def _with_short_numbers(tag: re.Match[str]) -> str:
    return re.sub(r"\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.5g}", tag[0])


def fitting(texts: list[str], room: float) -> str:
    """The first of these that has so many letters; of the last one what fits."""
    return next(
        (text for text in texts if wide(text) <= room), elide(texts[-1], int(room)) if texts and room > 2 else ""
    )


def final_adjoints(steps: Iterable[SnapshotStep]) -> dict[int, Shown | None]:
    """By row what has arrived after these steps of a sweep."""
    found: dict[int, Shown | None] = {}
    for step in steps:
        found[step["row"]] = step["adjoint"]
        for edge in step["edges"]:
            found[edge["input"]] = edge["sum"]
    return found
