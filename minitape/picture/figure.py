"""The static picture of a snapshot as SVG text: nodes, edges, thumbnails, the products of a step, and what the gradient
gave.

It is always light, as figures are; any viewer shows it, and :mod:`.programs` makes a PDF of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from .marks import brief, rounded, shape_text, small_map, written
from .paths import Point, curve, way
from .placement import FAR, Placement, extents, lanes
from .short import elide, printable, short_name, wide
from .words import word

if TYPE_CHECKING:
    from .fields import Fields, Share, Shown, Snapshot, SnapshotStep, SourceFields

WIDTH, HEIGHT, COLUMN, HALF = 120, 52, 182, 35  # of a node; distance of columns and of half-slots
LONGEST = 40  # letters of a name among the results
WIDE = 226  # the distance of columns where products are between them
MARGIN, GAP = 16, 26
TALL = 8  # half-slots that a dashed way goes up or down
LANE, CORNER = 6, 8  # between two edges that go on in the next line; the radius of their corners
ROOM = 15  # characters of a value in a node
SOURCES = 12  # of a gradient whose results are drawn
ON_EDGE = 11  # characters of a number on an edge
LINE = 16  # height of a line of results
PER_LINE = 6  # columns in a line
PORTS = 50  # inputs of an operation that are drawn, and told in words
MOST = 60  # rows that are drawn; of a longer tape the first and the last ones

# Okabe-Ito colours, which colour-blind people can tell apart; the kinds differ in shape as well
COLOURS = {
    "source": ("#0072b2", "#e3f0f8"),
    "variable": ("#00805c", "#e2f4ee"),
    "constant": ("#7d858e", "#f2f3f5"),
    "operation": ("#59636e", "#ffffff"),
    "gap": ("#b3bac2", "#ffffff"),
}
INK, MUTED, EDGE, BACK, HERE, CUT, BROKEN = "#1f2328", "#57606a", "#97a0aa", "#b34700", "#fdeee4", "#a8447f", "#c62828"
SANS = "Helvetica, Arial, sans-serif"
MONO = "Menlo, Consolas, 'DejaVu Sans Mono', 'Courier New', monospace"


def title_of(row: Fields) -> str:
    """The name that a row goes by."""
    if row["kind"] == "operation":
        label = re.sub(r"\d+\.\d{5,}(e[-+]?\d+)?", lambda found: rounded(found[0]), row["label"] or row["op"])
        return f"{row['name']} = {label}" if row["name"] else label
    name = row["name"] or ("const" if row["kind"] == "constant" else row["label"])
    if row["kind"] == "variable":
        name = name.removesuffix(":0")
    return f"{name} v{row['version']}" if row["version"] else name


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
class _Node:
    row: Fields | None  # None for the gap in a long tape
    title: str
    inputs: list[int] = field(default_factory=list)  # nodes
    x: float = 0.0
    y: float = 0.0
    line: int = 0


class Drawing:
    """One SVG: nodes from rows, places from :class:`Placement`, wrapped into lines.

    ``step`` is how many steps of the sweep have been made: what the last one handed on stands on its edges. Where
    variables were assigned after the gradient, as an optimizer does, that is one step more. None is all of them.
    """

    def __init__(self, snapshot: Snapshot, step: int | None = None) -> None:
        self.snapshot = snapshot
        rows, total = snapshot["rows"], total_of(snapshot)
        steps = snapshot["sweep"]["steps"] if snapshot["sweep"] else []
        found = [
            source for call in snapshot["results"] if call.get("shown") for source in call["sources"] if source["now"]
        ]
        last = len(steps) + bool(found)
        if step is not None and not 0 <= step <= last:
            raise ValueError(
                f"step= is the number of a step of the backward sweep, from 0 to {last}, but received {step!r}."
            )
        self.updates = {source["rows"][-1]: source for source in found if step is None or step > len(steps)}
        self.current = steps[step - 1] if step and not self.updates else None
        self.column = COLUMN if self.current is None else WIDE
        self.per_line = PER_LINE if self.current is None else PER_LINE - 1
        self.before = final_adjoints(steps[: step - 1] if step else ())
        self.first = total if total <= MOST else MOST // 2
        self.tail = total if total <= MOST else total - MOST // 2
        self.nodes: list[_Node] = []
        self.at: dict[int, int] = {}  # row -> node
        self.gap = 0  # the node that stands for the rows between
        self.adjoints = final_adjoints(steps if step is None else steps[:step])
        self.sent = {(one["row"], edge["input"]) for one in steps[: step or 0] for edge in one["edges"]}
        self.placement = Placement()
        for row in rows:
            self._add(row)
        self.placement.settle()
        self._wrap()

    def _add(self, row: Fields) -> None:
        number = row["row"]
        if self.first <= number < self.tail:
            if number == self.first:
                self.gap = len(self.nodes)
                self.nodes.append(_Node(None, word("{n} rows", n=self.tail - self.first)))
                self.placement.add([self.gap - 1] if self.gap else [])
            self.at[number] = self.gap
            return
        self.at[number] = len(self.nodes)
        found = [self.at.get(i, self.gap) for i in row["inputs"]]
        inputs = found if len(found) <= PORTS else list(dict.fromkeys(found))[:PORTS]
        self.nodes.append(_Node(row, title_of(row), inputs))
        self.placement.add(inputs, leaf=row["kind"] != "operation" and not inputs, section=self._section(row))

    def _section(self, row: Fields) -> tuple[int | None, int, int | None]:
        number = row["row"]
        passed = sum(end <= number for tape in self.snapshot["tapes"] for span in tape["spans"] for end in span)
        last = row["op"] == "custom_gradient" and row["scope"][-1:] == [row["label"]]  # behind what the function did
        return (row["by"], passed, number if last else None)

    def _wrap(self) -> None:
        """Turns columns and slots into points, a new line every so many columns."""
        columns, slots = self.placement.column, self.placement.slot
        room = extents(
            columns, slots, (point for points in self.placement.via.values() for point in points), self.per_line
        )
        near = ((i, k) for k, node in enumerate(self.nodes) for i in self._read(k, node) if not self._is_far(i, k))
        self.lanes = lanes(near, columns, slots, self.per_line)
        self.tops: list[float] = []
        self.bottoms: list[float] = []
        top = float(MARGIN)
        for line, (low, high) in enumerate(room):
            self.tops.append(top - low * HALF)
            self.bottoms.append(top + (high - low) * HALF - (2 * HALF - HEIGHT))
            top = self.bottoms[-1] + GAP + LANE * (len(self.lanes[line]) if line < len(self.lanes) else 0)
        self.height = (self.bottoms[-1] if room else MARGIN) + MARGIN
        self.results = self._results()
        self.foot, self.height = self.height, self.height + (LINE * len(self.results) + 6 if self.results else 0)
        # left of a line's first node there is room for references and edges, on the right for edges
        ways = ((self.at[start], self.at[end], crossed) for start, end, crossed in links(self.snapshot))
        self.ways = [one for one in ways if one[0] != one[1] and self.nodes[one[1]].row is not None]
        self.indent = 84 if len(room) > 1 or any(self._is_away(start, end) for start, end, _ in self.ways) else 0
        self.lane_x = MARGIN + self.indent + (self.per_line - 1) * self.column + WIDTH + 16
        for node, column, slot in zip(self.nodes, columns, slots, strict=True):
            node.line = column // self.per_line
            node.x = MARGIN + self.indent + column % self.per_line * self.column
            node.y = self.tops[node.line] + slot * HALF
        self.width = MARGIN + max((n.x + WIDTH for n in self.nodes), default=120)
        if self.lanes:
            self.width = self.lane_x + LANE * max(map(len, self.lanes)) + MARGIN / 2

    def _read(self, index: int, node: _Node) -> list[int]:
        """The nodes that an edge leads from to this one."""
        return [index - 1] if node.row is None and index else node.inputs

    # -- SVG ---------------------------------------------------------------------------------------

    def svg(self, width: float | None = None) -> str:
        """The text; ``width`` is in millimetres."""
        self.width = (
            max(self.width, *(2 * MARGIN + 6.7 * wide(line) for line, _ in self.results), 0)
            if self.results
            else self.width
        )
        w, h = f"{self.width:g}", f"{max(self.height, 40):g}"
        size = (
            f'width="{w}" height="{h}"'
            if width is None
            else f'width="{width:g}mm" height="{width * max(self.height, 40) / self.width:.4g}mm"'
        )
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {w} {h}" font-family="{SANS}">',
            f'<rect width="{w}" height="{h}" rx="6" fill="#ffffff"/>',
        ]
        if not self.nodes:
            parts.append(f'<text x="{MARGIN}" y="25" font-size="12" fill="{MUTED}">{word("nothing recorded")}</text>')
        self.inked: list[Point] = []  # of the edges
        parts += [self._edges(index, node) for index, node in enumerate(self.nodes)]
        parts += [self._way(*one) for one in self.ways]
        parts += [self._node(node) for node in self.nodes]
        parts += self._products()
        for k, (line, value) in enumerate(self.results):
            y = self.foot + LINE * k + 8
            parts.append(_text(MARGIN, y, line, f'font-size="11" font-family="{MONO}" xml:space="preserve"'))
            parts.append(
                small_map(value, MARGIN + 6.62 * wide(line[: line.index(" = ") + 3]), y - 9, 54, 11) if value else ""
            )
        return "".join(parts) + "</svg>"

    def _results(self) -> list[tuple[str, Shown | None]]:
        """What the gradient that is shown gave, in lines under the graph, with the arrays that are drawn in them."""
        lines: list[tuple[str, Shown | None]] = []
        for call in self.snapshot.get("results", ()):
            if not call.get("shown") or not call["known"]:
                continue
            target = ", ".join(
                short_name(end["name"] or "", LONGEST) or word("row {row}", row=end["row"]) for end in call["target"]
            )
            of = "" if call.get("call", "gradient") == "gradient" else f"{call['call']}: "
            lines += [
                self._result(f"{of}∂{target} / ∂", source, source["gradient"]) for source in call["sources"][:SOURCES]
            ]
            if (more := len(call["sources"]) + call["more"] - SOURCES) > 0:
                lines.append((word("and {n} more", n=more), None))
        return lines + [
            self._result(f"{word('new value')}: ", source, source["now"])
            for source in list(self.updates.values())[:SOURCES]
        ]

    def _result(self, before: str, source: SourceFields, value: Shown | None) -> tuple[str, Shown | None]:
        row = (
            self.snapshot["rows"][source["rows"][-1]]
            if source["rows"] and source["rows"][-1] < len(self.snapshot["rows"])
            else None
        )
        name = short_name(str(source["name"] or (title_of(row) if row else word("a source"))), LONGEST)
        text = "None" if value is None else written(value, 40)
        sides = "" if text or not row else " " * 9 + shape_text(row["shape"], 40)  # behind its picture
        return f"{before}{name} = {text or sides}", value if sides else None

    # -- the products of a step --------------------------------------------------------------------

    def _products(self) -> list[str]:
        """Each product of the step beside its edge: local derivative, times what came in, the product, and the sum."""
        if self.current is None or self.current["row"] not in self.at:
            return []
        node = self.nodes[self.at[self.current["row"]]]
        boxes: list[tuple[float, list[str], Shown | None]] = []
        seen = set(self.before)
        for edge in self.current["edges"]:
            texts, shown = self._product(edge, edge["input"] in seen)
            seen.add(edge["input"])
            boxes.append((node.y + HEIGHT * (edge["port"] + 1) / (len(node.inputs) + 1), texts, shown))
        drawn, below = [], -1e9
        total = sum(_tall(texts, shown) for _, texts, shown in boxes)
        for y, texts, shown in sorted(boxes, key=lambda box: box[0]):
            height = _tall(texts, shown)
            top = max(y - height / 2 - (total - height) / 2 * (len(boxes) > 1), below)
            below = top + height + 3
            drawn.append(_card(node.x - 12, top, texts, shown))
        return drawn

    def _product(self, edge: Share, again: bool) -> tuple[list[str], Shown | None]:
        assert self.current is not None
        row, own = self.snapshot["rows"][edge["input"]], self.snapshot["rows"][self.current["row"]]
        product = edge["product"] and written(edge["product"], ON_EDGE)
        texts = [f"= {product}" if product else shape_text(row["shape"], ON_EDGE)]
        factors = [written(one, ON_EDGE) if one else None for one in (edge["local"], self.current["adjoint"])]
        if all(factors):
            texts[:0] = [str(factors[0]), f"× {factors[1]}"]
        if again:
            texts.append(f"Σ {brief(edge['sum'], row, ON_EDGE)}")
        return texts, None if product or not own else edge["product"]

    def _node(self, node: _Node) -> str:
        row, x, y = node.row, node.x, node.y
        if row is None:
            return self._box(node, "gap", *COLOURS["gap"], dash="2 3") + _title_text(x + 10, y, node.title, 12)
        kind, number = row["kind"], row["row"]
        pad, room = (16, 10) if kind == "source" else (10, 12)
        adjoint = self.adjoints.get(number)
        update = self.updates.get(number)
        here = self.current is not None and self.current["row"] == number
        value, before = (
            (row["value"], "")
            if update is None
            else (update["now"], "→ " if row["shape"] else f"{brief(row['value'], row, 6)} → ".lstrip())
        )
        return "".join(
            [
                self._border(node, row, here),
                _title_text(x + pad, y, node.title, room),
                _text(x + WIDTH - pad + 2, y + 16, str(number), f'font-size="9.5" text-anchor="end" fill="{MUTED}"'),
                _value(x, y + 32, pad, before, value, row, INK)
                or _text(
                    x + pad, y + 32, word("released") if row["released"] else "", f'font-size="11" font-family="{MONO}"'
                ),
                _value(x, y + 45.5, pad, "∂ ", adjoint, row, BACK),
            ]
        )

    def _border(self, node: _Node, row: Fields, here: bool) -> str:
        """The box of a row; its colour, width and dashes say what the row is."""
        sweep = self.snapshot["sweep"]
        colour, fill = colours_of(row)
        broken = row["row"] in self.snapshot.get("broken", ())  # where `explain` puts the blame
        colour = BROKEN if broken else CUT if row["cut"] else colour
        dash = "2 3" if row["status"] == "ghost" else "5 2" if row["by"] is not None else ""
        target = sweep is not None and row["row"] in sweep["target"]
        if here:
            colour, fill = BACK, HERE
        box = self._box(node, row["kind"], colour, fill, dash, 2.4 if target or broken or here else 1.3)
        if row["kind"] == "variable":
            box += (
                f'<rect x="{node.x + 3:g}" y="{node.y + 3:g}" width="{WIDTH - 6}" height="{HEIGHT - 6}" rx="1.5" '
                f'fill="none" stroke="{colour}" stroke-width="0.8"/>'
            )
        return box

    def _box(self, node: _Node, kind: str, colour: str, fill: str, dash: str, width: float = 1.3) -> str:
        radius = {"source": HEIGHT / 2, "operation": 9}.get(kind, 3)
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        return (
            f'<rect x="{node.x:g}" y="{node.y:g}" width="{WIDTH}" height="{HEIGHT}" rx="{radius:g}" fill="{fill}" '
            f'stroke="{colour}" stroke-width="{width}"{dashes}/>'
        )

    def _edges(self, index: int, node: _Node) -> str:
        parts = []
        count = len(node.inputs)
        far = [i for i in node.inputs if self._is_far(i, index)]
        many = len(far) > 3 or (far and count > 3)
        for port, source in enumerate(node.inputs):
            y = node.y + HEIGHT * (port + 1) / (count + 1)
            if source not in far:
                parts.append(self._curve(source, index, y))
            elif not many:
                parts.append(self._reference(node, y, self._name(self.nodes[source])))
        if many:
            parts.append(self._reference(node, node.y + HEIGHT / 2, word("{n} rows", n=len(far))))
        if node.row is None and index and not self._is_far(index - 1, index):
            parts.append(self._curve(index - 1, index, node.y + HEIGHT / 2))
        if node.row and node.row["cut"] and count:
            parts.append(_cross(node.x - 12, node.y + HEIGHT / (count + 1)))
        return "".join(parts)

    def _is_away(self, source: int, index: int) -> bool:
        """Whether a dashed way would lead into another line, or across much of the picture."""
        columns, slots = self.placement.column, self.placement.slot
        lines = [columns[k] // self.per_line for k in (source, index)]
        return (
            lines[0] != lines[1]
            or abs(columns[index] - columns[source]) > FAR
            or abs(slots[index] - slots[source]) > TALL
        )

    def _way(self, source: int, index: int, crossed: bool) -> str:
        """A dashed way to a variable's state: from the one before or, crossed, from what was assigned."""
        start, end = self.nodes[source], self.nodes[index]
        first, last = sorted((start.x, end.x))
        if self._is_away(source, index):
            y = end.y + HEIGHT * (2 if crossed else 1) / 3
            return self._reference(end, y, self._name(start), COLOURS["variable"][0]) + (
                _cross(end.x - 8, y) if crossed else ""
            )
        boxes = [
            _box_of(node)
            for node in self.nodes
            if node.line == start.line and abs(node.x - first) + abs(node.x - last) <= last - first + 2 * self.column
        ]
        path, cross = way(_box_of(start), _box_of(end), boxes, self.inked, (4, self.foot))
        green = (
            f'<path d="{path}" fill="none" stroke="{COLOURS["variable"][0]}" stroke-width="1.3" '
            'stroke-dasharray="4 4"/>'
        )
        return green + (_cross(*cross) if crossed else "")

    def _name(self, node: _Node) -> str:
        if node.row is None:
            return "…"
        if node.row["kind"] == "operation":
            return word("row {row}", row=node.row["row"])
        return short_name(node.title if node.title != "const" else brief(node.row["value"], node.row, 9), 10)

    def _is_far(self, source: int, index: int) -> bool:
        return self.placement.column[index] - self.placement.column[source] > FAR

    def _curve(self, source: int, index: int, y: float) -> str:
        start, end = self.nodes[source], self.nodes[index]
        line = start.line
        at = (start.x + WIDTH, start.y + HEIGHT / 2)
        path = f"M{at[0]:.4g} {at[1]:.5g}"
        stops = [
            (
                MARGIN + self.indent + column % self.per_line * self.column,
                self.tops[column // self.per_line] + slot * HALF + HALF / 2,
                column // self.per_line,
            )
            for column, slot in self.placement.via.get((source, index), ())
        ]
        for x, height, its_line in [*stops, (end.x + 8, y, end.line)]:
            if its_line > line:
                back, at = self._turn(source, line, at[1], height)
                path += back
                line = its_line
            path += _bent(at, (x - 10, height))
            self.inked += curve([at, ((at[0] + x) / 2, at[1]), ((at[0] + x) / 2, height), (x - 10, height)])
            at = (x + WIDTH + 10, height)
            if x != end.x + 8:
                path += f"L{at[0]:.5g} {at[1]:.5g}"
        # there the gradient went
        if start.row is not None and end.row is not None and (end.row["row"], start.row["row"]) in self.sent:
            x, y = start.x + WIDTH, start.y + HEIGHT / 2
            return _line(f"M{x + 7.5:.5g} {y - 3.5:.5g}l-5.5 3.5l5.5 3.5{path}", end.row, BACK)
        return _line(path + "m-5.5 -3.5l5.5 3.5l-5.5 3.5", end.row)

    def _turn(self, source: int, line: int, y: float, goal: float) -> tuple[str, tuple[float, float]]:
        """The way of an edge of ``source`` from a line to the next one, from height ``y`` to ``goal``."""
        rank = LANE * self.lanes[line].index(source)
        right, left, middle = self.lane_x + rank, MARGIN + rank, self.bottoms[line] + GAP / 2 + rank
        r = CORNER
        path = (
            f"H{right - r:.5g}q{r} 0 {r} {r}V{middle - r:.5g}q0 {r} {-r} {r}"
            f"H{left + r:.5g}q{-r} 0 {-r} {r}V{goal - r:.5g}q0 {r} {r} {r}"
        )
        return path, (left + r, goal)

    def _reference(self, node: _Node, y: float, text: str, colour: str = EDGE) -> str:
        w = 12 + 6.2 * wide(text)
        x = node.x - 14 - w
        return (
            _line(f"M{x + w:.5g} {y:.5g}L{node.x - 2:.5g} {y:.5g}m-5 -3.5l5 3.5l-5 3.5", node.row, colour)
            + f'<rect x="{x:.5g}" y="{y - 7.5:.5g}" width="{w:.5g}" height="15" rx="7.5" '
            'fill="#f3f4f6" stroke="#b3bac2" stroke-width="0.8"/>'
            + _text(x + w / 2, y + 3.5, text, f'font-size="10" text-anchor="middle" font-family="{MONO}"')
        )


def _box_of(node: _Node) -> tuple[float, float, float, float]:
    return node.x, node.y, node.x + WIDTH, node.y + HEIGHT


def _cross(x: float, y: float) -> str:
    """Where no gradient goes."""
    return f'<path d="M{x - 4.5:g} {y - 4.5:g}l9 9m0 -9l-9 9" stroke="{CUT}" stroke-width="2.2" fill="none"/>'


def _bent(start: tuple[float, float], end: tuple[float, float]) -> str:
    """From one point to another, level at both."""
    (x0, y0), (x1, y1) = start, end
    if abs(y1 - y0) < 0.5:
        return f"L{x1:.5g} {y1:.5g}"
    bend = max(14.0, (x1 - x0) / 2)
    return f"C{x0 + bend:.5g} {y0:.5g} {x1 - bend:.5g} {y1:.5g} {x1:.5g} {y1:.5g}"


def colours_of(row: Fields) -> tuple[str, str]:
    """Of a row's border and inside: a variable that no tape watches is a constant inside."""
    colour, fill = COLOURS[row["kind"]]
    return colour, fill if row["kind"] != "variable" or row["watched"] else COLOURS["constant"][1]


def _line(path: str, row: Fields | None, colour: str = EDGE) -> str:
    cut = row is not None and row["cut"]
    dash = ' stroke-dasharray="3 4"' if row is not None and (cut or row["status"] == "ghost") else ""
    return f'<path d="{path}" fill="none" stroke="{CUT if cut else colour}" stroke-width="1.3"{dash}/>'


def _title_text(x: float, y: float, title: str, room: int) -> str:
    return _text(x, y + 17, short_name(title, room), 'font-size="13" font-weight="600"')


def _text(x: float, y: float, text: str, style: str) -> str:
    fill = "" if "fill=" in style else f' fill="{INK}"'
    clean = printable(text)
    return f'<text x="{x:.5g}" y="{y:.5g}" {style}{fill}>{escape(clean)}</text>' if clean else ""


def _value(x: float, y: float, pad: int, before: str, value: Shown | None, row: Fields, colour: str) -> str:
    """A number, or a small array in a node; of a larger one its shape and its picture."""
    if value is None:
        return ""
    text = written(value, ROOM - len(before))
    if text is not None or not row["shape"]:
        return _text(
            x + pad,
            y,
            before + (text or elide(value.get("text", ""), ROOM)),
            f'font-size="11" font-family="{MONO}" fill="{colour}"' + (' font-weight="600"' if before else ""),
        )
    shape = before + shape_text(row["shape"], ROOM - 4 - len(before))
    left = max(68.0, pad + 6.7 * len(shape) + 4)
    picture = small_map(value, x + left, y - 9, WIDTH - left - 8, 10) if left < WIDTH - 24 else ""
    return _text(x + pad, y, shape, f'font-size="11" font-family="{MONO}" fill="{MUTED}"') + picture


def _tall(texts: list[str], shown: Shown | None) -> float:
    return 6 + 12 * len(texts) + (16 if shown else 0)


def _card(right: float, top: float, texts: list[str], shown: Shown | None) -> str:
    width = max(map(len, texts)) * 6.1 + 10
    x, height = right - width, _tall(texts, shown)
    lines = "".join(
        _text(
            right - 5, top + 13 + 12 * k, text, f'font-size="10" text-anchor="end" font-family="{MONO}" fill="{BACK}"'
        )
        for k, text in enumerate(texts)
    )
    box = (
        f'<rect x="{x:.5g}" y="{top:.5g}" width="{width:.5g}" height="{height:g}" rx="4" fill="#ffffff" '
        f'stroke="{BACK}" stroke-width="0.8"/>'
    )
    return box + lines + (small_map(shown, x + 5, top + height - 16, width - 10, 12) if shown else "")


def final_adjoints(steps: Iterable[SnapshotStep]) -> dict[int, Shown | None]:
    """By row what has arrived after these steps of a sweep."""
    found: dict[int, Shown | None] = {}
    for step in steps:
        found[step["row"]] = step["adjoint"]
        for edge in step["edges"]:
            found[edge["input"]] = edge["sum"]
    return found
