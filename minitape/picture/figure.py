"""What every figure of a snapshot has: nodes, with what is folded, the adjoints of a step, and what the gradient gave.

:mod:`.graph` places the nodes and draws what is between them. A figure is always light; any viewer shows it,
:mod:`.programs` makes a PDF of it, and :mod:`.tikz` a picture for LaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from .expressions import LONGEST, Expressions, title_of
from .folds import Part, parts_of
from .ink import (
    BACK,
    BROKEN,
    COLOURS,
    CUT,
    HERE,
    INK,
    MONO,
    MUTED,
    SANS,
    SERIF,
    box_of,
    colours_of,
    sparkline,
    text_at,
)
from .lines import HEIGHT, WIDTH
from .marks import magnitude, shape_text, size_of, small_map, written
from .short import elide, short_name, wide
from .words import word

if TYPE_CHECKING:
    from .fields import Fields, ResultFields, Share, Shown, Snapshot, SnapshotStep, SourceFields

MARGIN = 8
SOURCES = 12  # of a gradient whose results are drawn
ON_EDGE = 11  # characters of a number on an edge
LINE, ITALIC = 16, 6.6  # height of a line of results, and width of a letter there
PORTS = 50  # inputs of an operation that are drawn, and told in words
MOST = 60  # nodes that are drawn; of a longer tape the first and the last ones
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
        made = steps if step is None else steps[:step]
        self.sent = {(one["row"], edge["port"]): edge for one in made for edge in one["edges"]}
        come = {edge["input"] for one in steps[len(made) :] for edge in one["edges"]}
        self.waiting = {number for number in self.adjoints if number in come}  # a later step adds to them
        sources = [source for call in calls if call["known"] for source in call["sources"]]
        done = len(made) == len(steps)
        self.nones = {one["at"] for one in sources if done and one["gradient"] is None and one["at"] >= 0}
        self.torn = snapshot.get("torn", [])
        self._carded: set[tuple[int, int, int]] = set()
        self.nodes: list[Node] = []
        self.at: dict[int, int] = {}  # row -> node
        all_rows = snapshot["rows"]
        chosen = all_rows if rows is None else _chosen(all_rows, set(rows))
        # numbers of the program are part of the text of their reader
        self.rows = [row for row in chosen if not row.get("literal")] or chosen
        self.expressions = Expressions(all_rows)
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
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {self.width} {high}" font-family="{SANS}" '
            'role="img">',
            f"<title>{escape(self.title)}</title><desc>{escape(self.said)}</desc>",
            f'<rect width="{self.width}" height="{high}" rx="6" fill="#ffffff"/>',
        ]
        if not self.nodes:
            parts.append(f'<text x="{MARGIN}" y="25" font-size="12" fill="{MUTED}">{word("nothing recorded")}</text>')
        return re.sub("<[^>]+>", _with_short_numbers, "".join([*parts, *self.body(), *results])) + "</svg>"

    title = said = ""  # the picture in a line, and in words

    def _written_results(self) -> Iterator[str]:
        """What the gradient gave, as many in a line as fit."""
        lengths = [
            (ITALIC * wide(name) + 4, 6.7 * wide(number) + 14, 44 if value else 0)
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
                yield text_at(x, y, "=" if value else f"= {number}", f'font-size="11" font-family="{MONO}"')
            if value:
                yield small_map(value, x + 14, y - 10, 40, 13)
                yield text_at(x + 58, y, number, f'font-size="11" font-family="{MONO}" fill="{MUTED}"')
            x += text + picture + 16
        self.height = y + 14 if self.results else self.foot

    def _results(self) -> list[tuple[str, str, Shown | None]]:
        """What the gradient that is shown gave: of what, the number or the shape, and the array."""
        lines: list[tuple[str, str, Shown | None]] = []
        for call in self.snapshot.get("results", ()):
            if not call.get("shown") or not call["known"]:
                continue
            target = ", ".join(
                short_name(end["name"] or "", LONGEST) or self.expressions.called(end["row"]) for end in call["target"]
            )
            of = "" if call.get("call", "gradient") == "gradient" else f"{word(call['call'])}: "
            if element := call.get("element"):  # it has a sweep for each: whose adjoints these are
                lines.append(
                    (
                        word("{target}: the steps are those of this element", target=f"{target}{element}"),
                        "",
                        None,
                    )
                )
            lines += [
                self._result(f"{of}∂{target}/∂", source, source["gradient"], call)
                for source in call["sources"][:SOURCES]
            ]
            if (more := len(call["sources"]) + call["more"] - SOURCES) > 0:
                lines.append((word("and {n} more", n=more), "", None))
        return lines + [
            self._result(f"{word('new value')}: ", source, source["now"])
            for source in list(self.updates.values())[:SOURCES]
        ]

    def _result(
        self, before: str, source: SourceFields, value: Shown | None, call: ResultFields | None = None
    ) -> tuple[str, str, Shown | None]:
        row = self.expressions.rows.get(source["rows"][-1] if source["rows"] else source["at"])
        shape = list(row["shape"]) if row else []
        kind = call.get("call") if call else None
        first = self.expressions.rows.get(call["target"][0]["row"]) if call and call["target"] else None
        if first and kind == "jacobian":
            shape = [*first["shape"], *shape]
        elif first and kind == "batch_jacobian":
            shape = [*first["shape"], *shape[1:]]
        room = LONGEST if self.room is None else int((self.room - 2 * MARGIN) / ITALIC) - 19
        name = str(source["name"] or (title_of(row) if row else word("a source")))
        text = "None" if value is None else written(value, 40 if self.room is None else 15)
        return (
            before + short_name(name, room - wide(before)),
            text or (shape_text(shape, 1000 if self.room is None else 10) if row else ""),
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
        colour = BROKEN if broken else CUT if row["cut"] or self.ink_of(row) == CUT else colour
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
            name, texts = row["name"], self.expressions.of(row)
        if not name:
            return text_at(x, y, fitting(texts, (right - x) / 6.6), 'font-size="12"')
        title = short_name(name, max(3, int((right - x) / 7.4)))
        left = x + 7.4 * wide(title) + 6
        bold = ' font-weight="600"' if row is None or row["name"] else ""
        return text_at(x, y, title, f'font-size="12"{bold}') + text_at(
            left, y, fitting(texts, (right - left) / 6.4), f'font-size="11" fill="{MUTED}"'
        )

    def ink_of(self, row: Fields) -> str:
        """The colour of a row's value: one that is not a number is marked."""
        return CUT if row["value"] and re.search(r"\bnan\b", row["value"].get("text", "")) else INK

    def _product_over(self, start: int, index: int, port: int) -> Shown | None:
        """What the sweep has sent over an edge by now; of what is folded the sum."""
        node, source = self.nodes[index], self.nodes[start]
        if node.row is not None and source.row is not None:
            ports = [k for k, number in enumerate(node.row["inputs"]) if self.at.get(number) == start]
            before = sum(other == start for other in node.inputs[:port])
            edge = self.sent.get((node.row["row"], ports[before])) if before < len(ports) else None
            return edge["product"] if edge else None
        found = [
            edge
            for (reader, _), edge in self.sent.items()
            if self.at.get(reader) == index and self.at.get(edge["input"]) == start
        ]
        return found[-1]["product" if len(found) == 1 else "sum"] if found else None

    def added(self) -> Iterator[tuple[int, str]]:
        """By input of this step what was added up there, where there was more than one: `0.1411 + (-2.97) = -2.829`."""
        edges = self.current["edges"] if self.current else []
        for number in dict.fromkeys(edge["input"] for edge in edges):
            row, before = self.expressions.rows.get(number), self.before.get(number)
            parts = [one for one in [before, *(e["product"] for e in edges if e["input"] == number)] if one]
            if (
                row is None
                or row["shape"]
                or len(parts) < 2
                or number not in self.at
                or self.nodes[self.at[number]].row is None
            ):
                continue
            texts = [size_of(one, 8) for one in parts]
            texts = [f"({text})" if k and text.startswith("-") else text for k, text in enumerate(texts)]
            shown = texts if len(texts) < 4 else [texts[0], "…", texts[-1]]
            yield number, f"{' + '.join(shown)} = {size_of(self.adjoints[number] or {}, 8)}"

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
            if edge["input"] in self.expressions.rows:  # else it is between the ends of a long tape
                yield edge, *self._product(edge, edge["input"] in seen)
            seen.add(edge["input"])

    def _product(self, edge: Share, again: bool) -> tuple[list[str], Shown | None]:
        assert self.current is not None
        row = self.expressions.rows[edge["input"]]
        product = edge["product"] and written(edge["product"], ON_EDGE)
        texts = [f"= {product}" if product else f"= {size_of(edge['product'] or {}, ON_EDGE)}"]
        factors = [written(one, ON_EDGE) if one else None for one in (edge["local"], self.current["adjoint"])]
        if all(factors):
            texts[:0] = [str(factors[0]), f"× {factors[1]}"]
        if again and row["shape"]:
            texts.append(f"Σ {size_of(edge['sum'] or {}, ON_EDGE)}")
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
