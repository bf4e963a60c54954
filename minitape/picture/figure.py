"""What every figure of a snapshot has: nodes, with what is folded, the adjoints of a step, and what the gradient gave.

:mod:`.graph` and :mod:`.listing` place the nodes and draw what is between them. A figure is always light; any viewer
shows it, :mod:`.programs` makes a PDF of it, and :mod:`.tikz` a picture for LaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .folds import Part, parts_of
from .ink import (
    BACK,
    BROKEN,
    COLOURS,
    CUT,
    HEIGHT,
    HERE,
    MONO,
    MUTED,
    SANS,
    SERIF,
    WIDTH,
    box_of,
    colours_of,
    sparkline,
    text_at,
    title_of,
)
from .marks import brief, magnitude, shape_text, small_map, written
from .short import elide, short_name, wide
from .words import word

if TYPE_CHECKING:
    from .fields import Fields, Share, Shown, Snapshot, SnapshotStep, SourceFields

LONGEST = 60  # letters of a name among the results
MARGIN = 8
SOURCES = 12  # of a gradient whose results are drawn
ON_EDGE = 11  # characters of a number on an edge
LINE, ITALIC = 16, 6.6  # height of a line of results, and width of a letter there
PORTS = 50  # inputs of an operation that are drawn, and told in words
MOST = 60  # nodes that are drawn; of a longer tape the first and the last ones
FEW_INPUTS = 4  # of a function, which are named
SIGNS = {sign: f" {sign} " for sign in "×+÷/><≥≤@"}  # between two inputs
SIGNS |= {"-": " − ", "xʸ": "^", "@ᵀ": " @ ", "ᵀ@": "ᵀ @ ", "ᵀ@ᵀ": "ᵀ @ "}
POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
FEW = 24  # where the figure has a width: more are folded


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
    last: Fields | None  # the last operation in it
    title: str
    inputs: list[int] = field(default_factory=list)  # nodes
    x: float = 0.0
    y: float = 0.0
    w: float = WIDTH
    h: float = HEIGHT


class Drawing:
    """One SVG of a snapshot; a subclass places the nodes.

    ``step`` is how many steps of the sweep have been made: the edges of the last one show what it passed on. Where
    variables were assigned after the gradient, as an optimizer does, that is one step more. None is all of them.
    ``room`` is the width for which it is laid out, in pixels, None for as wide as it gets; ``fold`` is what
    :func:`.folds.parts_of` takes; ``rows`` are the numbers of the rows that are drawn, with what they read.
    """

    says_inputs = False  # also of what has no name

    def __init__(
        self,
        snapshot: Snapshot,
        step: int | None = None,
        room: float | None = None,
        fold: str = "auto",
        rows: Iterable[int] | None = None,
    ) -> None:
        self.snapshot, self.room = snapshot, room
        steps = snapshot["sweep"]["steps"] if snapshot["sweep"] else []
        calls = [call for call in snapshot["results"] if call.get("shown")]
        found = [source for call in calls for source in call["sources"] if source["now"]]
        last = len(steps) + bool(found)
        if step is not None and not 0 <= step <= last:
            raise ValueError(
                f"step= is the number of a step of the backward sweep, from 0 to {last}, but received {step!r}."
            )
        self.updates = {source["rows"][-1]: source for source in found if step is None or step > len(steps)}
        self.current = steps[step - 1] if step and not self.updates else None
        self.before = final_adjoints(steps[: step - 1] if step else ())
        self.adjoints = final_adjoints(steps if step is None else steps[:step])
        self.final = final_adjoints(steps)
        self.sent = {(one["row"], edge["input"]) for one in steps[: step or 0] for edge in one["edges"]}
        self.nodes: list[Node] = []
        self.at: dict[int, int] = {}  # row -> node
        all_rows = snapshot["rows"]
        self.by_number = {row["row"]: row for row in all_rows}
        chosen = all_rows if rows is None else _chosen(all_rows, set(rows))
        # with a fixed width, constants are part of the text of their reader
        self.rows = [row for row in chosen if room is None or not row.get("literal")] or chosen
        gap = rows is None and total_of(snapshot) > len(all_rows)
        jump = next((k for k in range(1, len(self.rows)) if gap and self.rows[k]["row"] > len(all_rows) // 2), None)
        for part in parts_of(self.rows, fold, MOST if room is None or rows is not None else FEW, jump):
            self._add(part)
        ways = ((self.at.get(start), self.at.get(end), crossed) for start, end, crossed in links(snapshot))
        self.ways = [
            (start, end, crossed)
            for start, end, crossed in ways
            if start is not None and end is not None and start != end and self.nodes[end].row is not None
        ]
        self.results = self._results()
        self.width = self.height = self.foot = 0.0
        self.place()

    def _add(self, part: Part) -> None:
        rows = self.rows
        inside = [row for row in rows[part.first : part.end] if row["row"] not in self.at]
        row = None if part.title else inside[0]
        last = next((one for one in reversed(inside) if one["kind"] == "operation"), None)
        number = len(self.nodes)
        numbers = [one["row"] for one in inside]
        if part.title and part.sign is None and not part.turns:  # rows between, which may not have been read
            numbers = [k for k in range(rows[part.first - 1]["row"] + 1, rows[part.end]["row"]) if k not in self.at]
        self.at |= dict.fromkeys(numbers, number)
        found = [self.at[i] for one in inside for i in one["inputs"] if i in self.at]
        if row is None or len(found) > PORTS:
            found = [i for i in dict.fromkeys(found) if i != number][:PORTS]
        self.nodes.append(Node(part, row, last, part.title or title_of(inside[0]), found))

    def place(self) -> None:
        """Gives each node its place, and the figure its size."""
        raise NotImplementedError

    def body(self) -> Iterator[str]:
        """The SVG of nodes, edges and products."""
        raise NotImplementedError

    def svg(self, width: float | None = None) -> str:
        """The text; ``width`` is in millimetres."""
        results = list(self._written_results())
        high = max(self.height, 40)
        size = f'width="{self.width}" height="{high}"'
        if width is not None:
            size = f'width="{width}mm" height="{width * high / self.width}mm"'
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {self.width} {high}" font-family="{SANS}">',
            f'<rect width="{self.width}" height="{high}" rx="6" fill="#ffffff"/>',
        ]
        if not self.nodes:
            parts.append(f'<text x="{MARGIN}" y="25" font-size="12" fill="{MUTED}">{word("nothing recorded")}</text>')
        return re.sub("<[^>]+>", _with_short_numbers, "".join([*parts, *self.body(), *results])) + "</svg>"

    def _written_results(self) -> Iterator[str]:
        """What the gradient gave, as many in a line as fit."""
        lengths = [
            (ITALIC * wide(name) + 4, 6.05 * wide(number) + 14, 44 if value else 0)
            for name, number, value in self.results
        ]
        self.width = self.room or max(self.width, *(2 * MARGIN + sum(one) for one in lengths), 0)
        if any(2 * sum(one) > self.width for one in lengths):  # one in each line, with its sign below that of the last
            most = max(lengths)[0]
            lengths = [(most, text, picture) for _, text, picture in lengths]
        x, y = float(MARGIN), self.foot + 8
        for (name, number, value), (before, text, picture) in zip(self.results, lengths, strict=True):
            if x > MARGIN and x + before + text + picture > self.width - MARGIN:
                x, y = float(MARGIN), y + LINE
            x += before
            style = f'font-size="12" font-style="italic" text-anchor="end" font-family="{SERIF}"'
            yield text_at(x - 6 * bool(number), y, name, style)
            if number:
                yield text_at(x, y, "=" if value else f"= {number}", f'font-size="10.5" font-family="{MONO}"')
            if value:
                yield small_map(value, x + 14, y - 10, 40, 13)
                yield text_at(x + 58, y, number, f'font-size="10.5" font-family="{MONO}" fill="{MUTED}"')
            x += text + picture + 16
        self.height = y + 14 if self.results else self.foot

    def _results(self) -> list[tuple[str, str, Shown | None]]:
        """What the gradient that is shown gave: of what, the number or the shape, and the array."""
        lines: list[tuple[str, str, Shown | None]] = []
        for call in self.snapshot.get("results", ()):
            if not call.get("shown") or not call["known"]:
                continue
            target = ", ".join(
                short_name(end["name"] or "", LONGEST) or word("row {row}", row=end["row"]) for end in call["target"]
            )
            of = "" if call.get("call", "gradient") == "gradient" else f"{call['call']}: "
            lines += [
                self._result(f"{of}∂{target}/∂", source, source["gradient"]) for source in call["sources"][:SOURCES]
            ]
            if (more := len(call["sources"]) + call["more"] - SOURCES) > 0:
                lines.append((word("and {n} more", n=more), "", None))
        return lines + [
            self._result(f"{word('new value')}: ", source, source["now"])
            for source in list(self.updates.values())[:SOURCES]
        ]

    def _result(self, before: str, source: SourceFields, value: Shown | None) -> tuple[str, str, Shown | None]:
        row = self.by_number.get(source["rows"][-1]) if source["rows"] else None
        room = LONGEST if self.room is None else int((self.room - 2 * MARGIN) / ITALIC) - 19
        name = str(source["name"] or (title_of(row) if row else word("a source")))
        text = "None" if value is None else written(value, 40 if self.room is None else 15)
        return (
            before + short_name(name, room - wide(before)),
            text or (shape_text(row["shape"], 1000 if self.room is None else 10) if row else ""),
            None if text else value,
        )

    # -- what both layouts draw of a node --------------------------------------------------------------------------

    def border(self, node: Node) -> str:
        """The box of a node; its colour, width and dashes say what the row is."""
        row, sweep = node.row, self.snapshot["sweep"]
        at = None if self.current is None else self.at.get(self.current["row"])
        here = at is not None and self.nodes[at] is node
        if row is None:
            return box_of(
                node, "gap", *((BACK, HERE) if here else COLOURS["operation" if node.part.turns else "gap"]), "2 3"
            )
        colour, fill = colours_of(row)
        broken = row["row"] in self.snapshot.get("broken", ())  # where `explain` puts the blame
        colour = BROKEN if broken else CUT if row["cut"] else colour
        dash = "2 3" if row["status"] == "ghost" else "5 2" if row["by"] is not None else ""
        target = sweep is not None and row["row"] in sweep["target"]
        if here:
            colour, fill = BACK, HERE
        box = box_of(node, row["kind"], colour, fill, dash, 2.4 if target or broken or here else 1.3)
        if row["kind"] == "variable":
            box += (
                f'<rect x="{node.x + 3}" y="{node.y + 3}" width="{node.w - 6}" height="{node.h - 6}" rx="1.5" '
                f'fill="none" stroke="{colour}" stroke-width="0.8"/>'
            )
        return box

    def titled(self, node: Node, x: float, y: float, right: float) -> str:
        """The name, and small beside it the operation."""
        row = node.row
        name, texts = node.title or None, [""]
        if row and row["kind"] == "operation":
            name, texts = row["name"], [title_of({**row, "name": None})]
            if name or self.says_inputs or self.room is not None:
                texts.insert(0, self.operation(row))
        if not name:
            return text_at(x, y, fitting(texts, (right - x) / 6.6), 'font-size="12"')
        title = short_name(name, max(3, int((right - x) / 7.4)))
        left = x + 7.4 * wide(title) + 6
        bold = ' font-weight="600"' if row is None or row["name"] else ""
        return text_at(x, y, title, f'font-size="12"{bold}') + text_at(
            left, y, fitting(texts, (right - left) / 5.6), f'font-size="10" fill="{MUTED}"'
        )

    def operation(self, row: Fields) -> str:
        """What an operation does to its inputs: `x × w`; what has no name is its row's number, `(3) × w`."""
        label = title_of({**row, "name": None})
        names = []
        for number in row["inputs"]:
            one = self.by_number.get(number)
            name = "" if one is None else brief(one["value"], one, 6) if one.get("literal") else one["name"] or ""
            names.append(short_name(name.rpartition("/")[2].removesuffix(":0"), 9) if name else f"({number})")
        if label in SIGNS and len(names) == 2:
            power = names[1].removesuffix(".0")
            if label == "xʸ" and power.isdigit():
                return names[0] + power.translate(POWERS)
            return SIGNS[label].join(names) + "ᵀ" * label.endswith("@ᵀ")
        if len(names) == 1 and names[0].startswith("("):
            return f"{label} {names[0]}"
        return f"{label}({', '.join(names)})" if 0 < len(names) < FEW_INPUTS else label

    def profile(self, node: Node, x: float, y: float, w: float, h: float) -> str:
        """The adjoint of each turn of a folded loop as a line of logarithms; "" where there is none."""
        ends = [*node.part.turns[1:], node.part.end]
        sizes = []
        for first, end in zip(node.part.turns, ends, strict=False):
            arrived = (self.final.get(self.rows[k]["row"]) for k in range(end - 1, first - 1, -1))
            sizes.append(next((magnitude(one) for one in arrived if one), 0.0))
        return sparkline(sizes, x, y, w, h) if any(sizes) else ""

    def shares(self) -> Iterator[tuple[Share, list[str], Shown | None]]:
        """The products of the step: local derivative, times what came in, the product, and the sum where paths meet."""
        seen = set(self.before)
        for edge in self.current["edges"] if self.current else ():
            if edge["input"] in self.by_number:  # else it is between the ends of a long tape
                yield edge, *self._product(edge, edge["input"] in seen)
            seen.add(edge["input"])

    def _product(self, edge: Share, again: bool) -> tuple[list[str], Shown | None]:
        assert self.current is not None
        row = self.by_number[edge["input"]]
        product = edge["product"] and written(edge["product"], ON_EDGE)
        texts = [f"= {product}" if product else shape_text(row["shape"], ON_EDGE)]
        factors = [written(one, ON_EDGE) if one else None for one in (edge["local"], self.current["adjoint"])]
        if all(factors):
            texts[:0] = [str(factors[0]), f"× {factors[1]}"]
        if again:
            texts.append(f"Σ {brief(edge['sum'], row, ON_EDGE)}")
        return texts, None if product else edge["product"]


def _with_short_numbers(tag: re.Match[str]) -> str:
    return re.sub(r"\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.5g}", tag[0])


def fitting(texts: list[str], room: float) -> str:
    """The first of these that has so many letters; of the last one what fits."""
    return next(
        (text for text in texts if wide(text) <= room), elide(texts[-1], int(room)) if texts and room > 2 else ""
    )


def _chosen(rows: Sequence[Fields], wanted: set[int]) -> list[Fields]:
    """These rows, and what they read, which itself reads nothing here."""
    if not wanted & {row["row"] for row in rows}:
        raise ValueError(
            f"rows= are numbers of rows that the tape recorded, from 0 to {len(rows) - 1}, but received "
            f"{sorted(wanted)!r}."
        )
    read = {i for row in rows if row["row"] in wanted for i in row["inputs"]}
    return [row if row["row"] in wanted else {**row, "inputs": []} for row in rows if row["row"] in wanted | read]


def final_adjoints(steps: Iterable[SnapshotStep]) -> dict[int, Shown | None]:
    """By row what has arrived after these steps of a sweep."""
    found: dict[int, Shown | None] = {}
    for step in steps:
        found[step["row"]] = step["adjoint"]
        for edge in step["edges"]:
            found[edge["input"]] = edge["sum"]
    return found
