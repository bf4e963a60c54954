"""``draw``: the static picture of a tape, laid out here, so that it is the same on every machine.

The picture is an SVG that any viewer shows. Long tapes are wrapped into lines like text; an edge that would cross
many columns is drawn as a small reference to the row it comes from.
"""

from __future__ import annotations

import base64
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from .placement import FAR, Placement, extents, lanes
from .reading import reader_of, spaces
from .short import printable, short_name, some
from .stepping import sweep_steps

if TYPE_CHECKING:
    import graphviz

    from ..engine.tape import GradientTape
    from ..engine.typed import Structure
    from .fields import Fields, Shown, Snapshot, SweepFields

WIDTH, HEIGHT, COLUMN, HALF = 120, 52, 182, 35  # of a node; distance of columns and of half-slots
MARGIN, GAP = 16, 26
LANE, CORNER = 6, 8  # between two edges that go on in the next line; the radius of their corners
ROOM = 15  # characters of a value in a node
PER_LINE = 6  # columns in a line
MOST = 60  # rows that are drawn; of a longer tape the first and the last ones
WHOLE = 2000  # rows that are read at all, in the same way: the DOT text has them
PORTS = 50  # inputs of an operation that are drawn, and told in words

# Okabe-Ito colours, which colour-blind people can tell apart; the kinds differ in shape as well
COLOURS = {
    "source": ("#0072b2", "#e3f0f8"), "variable": ("#00805c", "#e2f4ee"), "constant": ("#7d858e", "#f2f3f5"),
    "operation": ("#59636e", "#ffffff"), "gap": ("#b3bac2", "#ffffff"),
}  # fmt: skip
INK, MUTED, EDGE, BACK, CUT, BROKEN = "#1f2328", "#57606a", "#97a0aa", "#b34700", "#a8447f", "#c62828"
SANS = "Helvetica, Arial, sans-serif"
MONO = "Menlo, Consolas, 'DejaVu Sans Mono', 'Courier New', monospace"


def draw(tape: GradientTape, target: Structure = None, sources: Structure = None) -> Picture:
    """The static picture of what ``tape`` recorded, with the adjoints of its last gradient or of ``target``.

    As the last expression of a cell it is shown; ``save(path)`` writes it, ``source`` is its DOT text. Raises TypeError
    when ``tape`` is no GradientTape.

    >>> import minitape as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> picture = tf.draw(tape)
    >>> picture
    Picture(2 rows, 1 tape)
    >>> picture.svg.startswith("<svg")
    True
    >>> print(picture.source.splitlines()[0])
    digraph tape {
    """
    reader = reader_of(tape, spaces(sys._getframe(1)), "draw() takes")
    reader.recompute()
    rows = reader.read_ends(WHOLE)
    reader.name_rows(rows)
    snapshot = reader.frame_of([row.full() for row in rows], 0)
    snapshot["sweep"] = sweep_steps(tape, target, sources, reader.held)
    return Picture(snapshot)


class Picture:
    """A static picture of a snapshot: ``svg``, ``source`` (DOT), ``save(path)``; a notebook shows it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    @property
    def svg(self) -> str:
        """The picture as SVG text."""
        return _Drawing(self.snapshot).svg()

    @property
    def source(self) -> str:
        """The graph as DOT text, for Graphviz."""
        return _digraph(self.snapshot).source

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the picture: ``.svg``, DOT text (``.dot``, ``.gv``), or what Graphviz can make (``.pdf``, ``.png``).

        Raises ValueError for a file name without a known ending, FileNotFoundError when Graphviz is needed and its
        program ``dot`` is not installed.
        """
        path = Path(path)
        ending = path.suffix.lower()
        if ending == ".svg":
            path.write_text(self.svg, encoding="utf-8")
        elif ending in (".dot", ".gv"):
            path.write_text(self.source, encoding="utf-8")
        elif ending in (".pdf", ".png"):
            if shutil.which("dot") is None:
                raise FileNotFoundError(
                    f"Writing {ending} needs the program 'dot' of Graphviz, which was not found. Save as .svg instead, "
                    "which needs nothing, or install Graphviz (https://graphviz.org)."
                )
            path.write_bytes(_digraph(self.snapshot).pipe(format=ending[1:]))
        else:
            raise ValueError(
                "save() knows the endings .svg, .dot, .gv, .pdf and .png, and that of a TapeView also .html, "
                f"but received {str(path)!r}."
            )

    def html(self) -> str:
        """An ``<img>`` that holds the whole picture; it needs no script and stays in a saved notebook."""
        data = base64.b64encode(self.svg.encode()).decode()
        return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(self.alt)}" style="max-width:100%">'

    @property
    def alt(self) -> str:
        """The picture in words: of each of the first rows its value, its adjoint, and what its shape and colour say."""
        rows = self.snapshot["rows"]
        total = _total(self.snapshot)
        adjoints, broken = _final_adjoints(self.snapshot["sweep"]), self.snapshot.get("broken", ())
        words = [_words(row, adjoints.get(row["row"]), row["row"] in broken) for row in rows[:12]]
        if total > 12:
            words.append(f"and {total - 12} more rows")
        return printable(f"Tape of {_count(total, 'row')}: " + "; ".join(words)) if rows else "Empty tape"

    def __repr__(self) -> str:
        return f"Picture({_count(_total(self.snapshot), 'row')}, {_count(len(self.snapshot['tapes']), 'tape')})"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}


def _total(snapshot: Snapshot) -> int:
    return max(snapshot.get("total", 0), len(snapshot["rows"]))


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _words(row: Fields, adjoint: Shown | None, broken: bool) -> str:
    inputs = f" of {some(row['inputs'], PORTS)}" if row["inputs"] else ""
    value, arrived = (f"{' '.join(v['text'].split())[:40]}" if v else "" for v in (row["value"], adjoint))
    notes = {
        "on no tape": row["status"] == "ghost",
        "watched": row["kind"] in ("source", "variable") and row["watched"],
        "not watched": row["kind"] == "variable" and not row["watched"],
        "no gradient passes": row["cut"],
        "here the way breaks": broken,
    }
    said = ", ".join(note for note, holds in notes.items() if holds)
    parts = [f" = {value}" if value else "", f", ∂ {arrived}" if arrived else "", f" ({said})" if said else ""]
    return f"{row['row']} {_title(row).replace(' = ', ': ')}{inputs}{''.join(parts)}"


def _title(row: Fields) -> str:
    if row["kind"] == "operation":
        label = row["label"] or row["op"]
        return f"{row['name']} = {label}" if row["name"] else label
    name = row["name"] or ("const" if row["kind"] == "constant" else row["label"])
    if row["kind"] == "variable":
        name = name.removesuffix(":0")
    return f"{name} v{row['version']}" if row["version"] else name


def _shape(row: Fields) -> str:
    short = row["dtype"].replace("bfloat", "bf").replace("float", "f").replace("uint", "u").replace("int", "i")
    return f"{short}[{','.join(map(str, row['shape']))}]"


def _brief(value: Shown | None, row: Fields, room: int = ROOM) -> str:
    if value is None:
        return ""
    text = value["text"]
    if "\n" in text or len(text) > room:
        text = _shape(row) if row["shape"] else text
    if len(text) > room and not row["shape"]:
        with suppress(ValueError):  # no real number
            return next(shorter for digits in range(16, 0, -1) if len(shorter := f"{float(text):.{digits}g}") <= room)
    return _elide(text, room)


def _elide(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"


@dataclass
class _Node:
    row: Fields | None  # None for the gap in a long tape
    title: str
    inputs: list[int] = field(default_factory=list)  # nodes
    x: float = 0.0
    y: float = 0.0
    line: int = 0


class _Drawing:
    """One SVG: nodes from rows, places from :class:`Placement`, wrapped into lines."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        rows, total = snapshot["rows"], _total(snapshot)
        self.first = total if total <= MOST else MOST // 2
        self.tail = total if total <= MOST else total - MOST // 2
        self.nodes: list[_Node] = []
        self.at: dict[int, int] = {}  # row -> node
        self.gap = 0  # the node that stands for the rows between
        self.adjoints = _final_adjoints(snapshot["sweep"])
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
                self.nodes.append(_Node(None, f"{self.tail - self.first:,} rows"))
                self.placement.add([self.gap - 1] if self.gap else [])
            self.at[number] = self.gap
            return
        self.at[number] = len(self.nodes)
        found = [self.at.get(i, self.gap) for i in row["inputs"]]
        inputs = found if len(found) <= PORTS else list(dict.fromkeys(found))[:PORTS]
        self.nodes.append(_Node(row, _title(row), inputs))
        self.placement.add(inputs, leaf=row["kind"] != "operation" and not inputs, section=self._section(row))

    def _section(self, row: Fields) -> tuple[int | None, int]:
        number = row["row"]
        passed = sum(end <= number for tape in self.snapshot["tapes"] for span in tape["spans"] for end in span)
        return (row["by"], passed)

    def _wrap(self) -> None:
        """Turns columns and slots into points, a new line every PER_LINE columns."""
        columns, slots = self.placement.column, self.placement.slot
        room = extents(columns, slots, (point for points in self.placement.via.values() for point in points), PER_LINE)
        near = ((i, k) for k, node in enumerate(self.nodes) for i in self._read(k, node) if not self._is_far(i, k))
        self.lanes = lanes(near, columns, slots, PER_LINE)
        self.tops: list[float] = []
        self.bottoms: list[float] = []
        top = float(MARGIN)
        for line, (low, high) in enumerate(room):
            self.tops.append(top - low * HALF)
            self.bottoms.append(top + (high - low) * HALF - (2 * HALF - HEIGHT))
            top = self.bottoms[-1] + GAP + LANE * (len(self.lanes[line]) if line < len(self.lanes) else 0)
        self.height = (self.bottoms[-1] if room else MARGIN) + MARGIN
        # left of a line's first node there is room for references and edges, on the right for edges
        self.indent = 84 if len(room) > 1 else 0
        self.lane_x = MARGIN + self.indent + (PER_LINE - 1) * COLUMN + WIDTH + 16
        for node, column, slot in zip(self.nodes, columns, slots, strict=True):
            node.line = column // PER_LINE
            node.x = MARGIN + self.indent + column % PER_LINE * COLUMN
            node.y = self.tops[node.line] + slot * HALF
        self.width = MARGIN + max((n.x + WIDTH for n in self.nodes), default=120)
        if self.lanes:
            self.width = self.lane_x + LANE * max(map(len, self.lanes)) + MARGIN / 2

    def _read(self, index: int, node: _Node) -> list[int]:
        """The nodes that an edge leads from to this one."""
        return [index - 1] if node.row is None and index else node.inputs

    # -- SVG ----------------------------------------------------------------------------------------------------------

    def svg(self) -> str:
        w, h = f"{self.width:g}", f"{max(self.height, 40):g}"
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" '
            f'font-family="{SANS}">',
            f'<rect width="{w}" height="{h}" rx="6" fill="#ffffff"/>',
        ]
        if not self.nodes:
            parts.append(f'<text x="{MARGIN}" y="25" font-size="12" fill="{MUTED}">nothing recorded</text>')
        parts += [self._edges(index, node) for index, node in enumerate(self.nodes)]
        parts += [self._node(node) for node in self.nodes]
        return "".join(parts) + "</svg>"

    def _node(self, node: _Node) -> str:
        row, x, y = node.row, node.x, node.y
        if row is None:
            return self._box(node, "gap", *COLOURS["gap"], dash="2 3") + _title_text(x + 10, y, node.title, 12)
        kind, number = row["kind"], row["row"]
        pad, room = (16, 10) if kind == "source" else (10, 12)
        value = _brief(row["value"], row) or ("released" if row["released"] else "")
        adjoint = self.adjoints.get(number)
        arrived = f"∂ {_brief(adjoint, row, ROOM - 2)}" if adjoint else ""
        return "".join([
            self._border(node, row),
            _title_text(x + pad, y, node.title, room),
            _text(x + WIDTH - pad + 2, y + 16, str(number), f'font-size="9.5" text-anchor="end" fill="{MUTED}"'),
            _text(x + pad, y + 32, value, f'font-size="11" font-family="{MONO}"'),
            _text(x + pad, y + 45.5, arrived, f'font-size="11" font-weight="600" font-family="{MONO}" fill="{BACK}"'),
        ])  # fmt: skip

    def _border(self, node: _Node, row: Fields) -> str:
        """The box of a row; its colour, width and dashes say what the row is."""
        sweep = self.snapshot["sweep"]
        colour, fill = _colours(row)
        broken = row["row"] in self.snapshot.get("broken", ())  # where `explain` puts the blame
        colour = BROKEN if broken else CUT if row["cut"] else colour
        dash = "2 3" if row["status"] == "ghost" else "5 2" if row["by"] is not None else ""
        target = sweep is not None and row["row"] in sweep["target"]
        box = self._box(node, row["kind"], colour, fill, dash, 2.4 if target or broken else 1.3)
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
            parts.append(self._reference(node, node.y + HEIGHT / 2, f"{len(far)} rows"))
        if node.row is None and index and not self._is_far(index - 1, index):
            parts.append(self._curve(index - 1, index, node.y + HEIGHT / 2))
        if node.row and node.row["cut"] and count:
            x, y = node.x - 12, node.y + HEIGHT / (count + 1)
            parts.append(
                f'<path d="M{x - 4.5:g} {y - 4.5:g}l9 9m0 -9l-9 9" stroke="{CUT}" stroke-width="2.2" fill="none"/>'
            )
        return "".join(parts)

    def _name(self, node: _Node) -> str:
        if node.row is None:
            return "…"
        if node.row["kind"] == "operation":
            return f"row {node.row['row']}"
        return short_name(node.title if node.title != "const" else _brief(node.row["value"], node.row, 9), 10)

    def _is_far(self, source: int, index: int) -> bool:
        return self.placement.column[index] - self.placement.column[source] > FAR

    def _curve(self, source: int, index: int, y: float) -> str:
        start, end = self.nodes[source], self.nodes[index]
        line = start.line
        at = (start.x + WIDTH, start.y + HEIGHT / 2)
        path = f"M{at[0]:.4g} {at[1]:.5g}"
        stops = [(MARGIN + self.indent + column % PER_LINE * COLUMN, self.tops[column // PER_LINE] + slot * HALF + HALF / 2,
                  column // PER_LINE) for column, slot in self.placement.via.get((source, index), ())]  # fmt: skip
        for x, height, its_line in [*stops, (end.x + 8, y, end.line)]:
            if its_line > line:
                back, at = self._turn(source, line, at[1], height)
                path += back
                line = its_line
            path += _bent(at, (x - 10, height))
            at = (x + WIDTH + 10, height)
            if x != end.x + 8:
                path += f"L{at[0]:.5g} {at[1]:.5g}"
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

    def _reference(self, node: _Node, y: float, text: str) -> str:
        w = 12 + 6.2 * len(text)
        x = node.x - 14 - w
        return (
            _line(f"M{x + w:.5g} {y:.5g}L{node.x - 2:.5g} {y:.5g}m-5 -3.5l5 3.5l-5 3.5", node.row)
            + f'<rect x="{x:.5g}" y="{y - 7.5:.5g}" width="{w:.5g}" height="15" rx="7.5" '
            'fill="#f3f4f6" stroke="#b3bac2" stroke-width="0.8"/>'
            + _text(x + w / 2, y + 3.5, text, f'font-size="10" text-anchor="middle" font-family="{MONO}"')
        )


def _bent(start: tuple[float, float], end: tuple[float, float]) -> str:
    """From one point to another, level at both."""
    (x0, y0), (x1, y1) = start, end
    if abs(y1 - y0) < 0.5:
        return f"L{x1:.5g} {y1:.5g}"
    bend = max(14.0, (x1 - x0) / 2)
    return f"C{x0 + bend:.5g} {y0:.5g} {x1 - bend:.5g} {y1:.5g} {x1:.5g} {y1:.5g}"


def _colours(row: Fields) -> tuple[str, str]:
    """Of a row's border and inside: a variable that no tape watches is a constant inside."""
    colour, fill = COLOURS[row["kind"]]
    return colour, fill if row["kind"] != "variable" or row["watched"] else COLOURS["constant"][1]


def _line(path: str, row: Fields | None) -> str:
    cut = row is not None and row["cut"]
    dash = ' stroke-dasharray="3 4"' if row is not None and (cut or row["status"] == "ghost") else ""
    return f'<path d="{path}" fill="none" stroke="{CUT if cut else EDGE}" stroke-width="1.3"{dash}/>'


def _title_text(x: float, y: float, title: str, room: int) -> str:
    return _text(x, y + 17, short_name(title, room), 'font-size="13" font-weight="600"')


def _text(x: float, y: float, text: str, style: str) -> str:
    fill = "" if "fill=" in style else f' fill="{INK}"'
    clean = printable(text)
    return f'<text x="{x:.5g}" y="{y:.5g}" {style}{fill}>{escape(clean)}</text>' if clean else ""


def _final_adjoints(sweep: SweepFields | None) -> dict[int, Shown | None]:
    found: dict[int, Shown | None] = {}
    for step in sweep["steps"] if sweep else ():
        found[step["row"]] = step["adjoint"]
        for edge in step["edges"]:
            found[edge["input"]] = edge["sum"]
    return found


def _digraph(snapshot: Snapshot) -> graphviz.Digraph:
    """The graph for Graphviz."""
    import graphviz

    graph = graphviz.Digraph(
        "tape", graph_attr={"rankdir": "LR"}, node_attr={"fontname": "Helvetica", "fontsize": "11"}
    )
    shapes = {"source": "ellipse", "variable": "box", "constant": "plaintext", "operation": "box"}
    for row in snapshot["rows"]:
        kind = row["kind"]
        colour, fill = _colours(row)
        style = "filled,rounded" if kind == "operation" else "filled"
        lines = printable(_title(row)), printable(_brief(row["value"], row))
        label = r"\n".join(graphviz.escape(line) for line in lines if line)
        graph.node(f"r{row['row']}", label, shape=shapes[kind], color=colour, fillcolor=fill,
                   style=f"{style},dashed" if row["status"] == "ghost" else style,
                   peripheries="2" if kind == "variable" else "1")  # fmt: skip
        for source in row["inputs"][:PORTS]:
            graph.edge(f"r{source}", f"r{row['row']}", style="dashed" if row["cut"] else "solid")
        if (more := len(row["inputs"]) - PORTS) > 0:
            graph.node(f"r{row['row']}_more", f"{more:,} more inputs", shape="plaintext")
            graph.edge(f"r{row['row']}_more", f"r{row['row']}")
    return graph
