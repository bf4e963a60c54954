"""A figure as the view draws it: columns run with time, in lines, or below each other where it is narrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil, inf

from .figure import MARGIN, Drawing, Node
from .ink import BACK, COLOURS, CUT, MONO, MUTED, cross, line_at, text_at, value_at
from .lines import DOWN, HEIGHT, WIDTH, Lines, Piece, Places, TurnedLines, path_of, points_of
from .marks import brief, size_of, small_map
from .placement import FAR, Item, Placement, place
from .short import short_name, wide
from .torn import is_zero
from .words import word

COLUMN, CARDS = 182, 218  # distance of columns, and where there are products on the edges
TIGHT = 156  # the least of a figure with a width
ONE_LINE, PER = 6, 5  # columns of a figure without a width: in one line, and in each of several
LETTER, LINE, MAP = 6.7, 14, 12  # of the texts on edges: width of a letter, height of a line, and of an array's picture
ASIDE = (0, 6, -6, 12, -12, 20, -20, 30, -30, 42, -42)  # how far a card may be from its edge
TAPES = ("#0072b2", "#a34a7e", "#00805c", "#8a5c00")  # the frames of tapes
FREE = 100  # a number on an edge that would cost more is left out
WAY = 92.0  # between two columns of a turned figure, with products
GAP = 16  # around a figure in several lines


class GraphDrawing(Drawing):
    """Nodes placed by :class:`.Placement`, in :class:`.Lines`."""

    def place(self) -> None:
        """Gives each node its place, and the figure its size."""
        edges = [(i, k) for k, node in enumerate(self.nodes) for i in node.inputs]
        pitch = CARDS if self.current else COLUMN
        room = inf if self.room is None else self.room - 2 * MARGIN
        flat = [0] * len(self.nodes)
        for far, storeys in ((FAR, self._storeys()), (FAR, flat), (2, flat), (1, flat)):  # two storeys are in one line
            placed = self._placement(far, storeys)
            columns = 1 + max(placed.column, default=0)
            if columns <= ONE_LINE if self.room is None else columns * pitch - (pitch - WIDTH) <= room:
                self.lines = Lines(placed, edges, pitch)
            elif any(storeys):
                continue
            elif self.room is None or room >= 3 * TIGHT + 60:
                most = PER if self.room is None else int((room - 60 - WIDTH) // TIGHT) + 1
                per = ceil(columns / ceil(columns / most))
                free = pitch if self.room is None else (room - 80 - WIDTH) / max(1, per - 1)
                self.lines = Lines(placed, edges, max(TIGHT, min(free, pitch)), per)
            else:
                self.lines = TurnedLines(placed, edges, room, WAY if self.current else DOWN)
            lines = self.lines
            if lines.right - lines.left <= room:
                break
        frames = GAP if len(self.snapshot["tapes"]) > 1 else 0
        dx, dy = MARGIN - lines.left + frames, MARGIN + frames + 14 * bool(self.current or frames)
        if self.room is not None and lines.turned:
            dx = max(dx, self.room / 2 - (lines.left + lines.right) / 2)
        self.shift = dx, dy
        for node, (x, y) in zip(self.nodes, lines.at, strict=True):
            node.x, node.y = x + dx, y + dy
        self.width = lines.right - lines.left + 2 * MARGIN + 2 * frames
        self.foot = lines.bottom + dy + MARGIN + frames + 14 * bool(self.current)

    def _placement(self, far: int, storeys: Sequence[int]) -> Placement:
        items = []
        for node, storey in zip(self.nodes, storeys, strict=True):
            leaf = node.row is not None and node.row["kind"] != "operation" and not node.inputs
            below = self.at.get(node.row.get("below", -1), -1) if storey and node.row is not None else -1
            items.append(Item(node.inputs, leaf, self._section(node), storey, below))
        return place(items, far)

    def _storeys(self) -> list[int]:
        """Of each node: 0, or the lower storey that it is in. What a gradient wrote is in one where each of its
        operations is below one that no gradient wrote.
        """
        found: list[int] = []
        for by, group in groupby((node.row or node.last for node in self.nodes), lambda row: row and row["by"]):
            rows = [*group]
            below = [self.expressions.rows.get(row.get("below", -1)) for row in rows if row and row["inputs"]]
            fits = by is not None and all(under is not None and under["by"] is None for under in below)
            found += [len(found) if fits else 0] * len(rows)
        return found

    def _section(self, node: Node) -> tuple[int | None, int, int | None]:
        row = node.row or node.last
        if row is None:
            return (None, 0, None)
        number = self.rows[node.part.first]["row"] if node.row is None else row["row"]
        passed = sum(end <= number for tape in self.snapshot["tapes"] for span in tape["spans"] for end in span)
        last = row["op"] == "custom_gradient" and row["scope"][-1:] == [row["label"]]  # behind what the function did
        return (row["by"], passed, number if last else None)

    # -- drawing -------------------------------------------------------------------------------------------------

    def body(self) -> Iterator[str]:
        """The SVG of frames, edges, nodes and what is on the edges."""
        dx, dy = self.shift
        middles = ((node.x + WIDTH / 2, node.y + HEIGHT / 2, WIDTH, HEIGHT) for node in self.nodes)
        self.places = Places(middles, 2, self.width - 2, self.lines.turned)
        self.curves: dict[tuple[int, int, int], list[Piece]] = {}
        for index, node in enumerate(self.nodes):
            for port, start in enumerate(node.inputs):
                if not self.lines.is_far(start, index):
                    curve = self.lines.curve(start, index, port, len(node.inputs))
                    key = (start, index, port)
                    self.curves[key] = [_shift(piece, dx, dy) for piece in curve]
                    self.places.points[key] = points_of(self.curves[key])
                    if self.lines.placed.is_down(start, index):
                        self.places.down.add(key)
        yield from self._frames()
        yield from (self._edges(index, node) for index, node in enumerate(self.nodes))
        yield from (self._way(start, end, crossed) for start, end, crossed in self.ways)
        yield from (self._node(node) for node in self.nodes)
        sums = list(self._sums())
        cards = list(self._cards())
        yield from self._torn()
        yield from self._numbers()
        yield from cards
        yield from sums

    def _frames(self) -> Iterator[str]:
        """A frame around what each tape recorded, where there are several; in each line a part."""
        tapes = self.snapshot["tapes"]
        for k, tape in enumerate(tapes if len(tapes) > 1 else []):
            away = 4 + 4 * (len(tapes) - k)
            lines: dict[int, list[Node]] = {}
            for index, node in enumerate(self.nodes):
                number = self.rows[node.part.first]["row"]
                if any(first <= number < last for first, last in tape["spans"]):
                    lines.setdefault(0 if self.lines.turned else self.lines.line[index], []).append(node)
            colour = TAPES[k % len(TAPES)]
            for part, inside in enumerate(lines.values()):
                x, y = min(node.x for node in inside) - away, min(node.y for node in inside) - away - 8
                w = max(node.x for node in inside) + WIDTH + away - x
                h = max(node.y for node in inside) + HEIGHT + away - y
                yield (
                    f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="9" fill="none" stroke="{colour}" '
                    'stroke-width="1"/>'
                )
                name = f'font-size="11" font-weight="600" fill="{colour}"'
                yield text_at(x + 8 + 60 * k, y + 10, "" if part else short_name(tape["name"], 9), name)

    def _node(self, node: Node) -> str:
        row, x, y = node.row, node.x, node.y
        shown = row or node.last or {}
        number = shown.get("row", -1)
        adjoint = self.adjoints.get(number)
        arrived = self._arrived(node, number)
        if row is None:
            inside = self.profile(node, x + 10, y + 24, WIDTH - 20, HEIGHT - 30) or (
                value_at(x, y + 32, 10, "", shown.get("value"), shown, MUTED) + arrived if node.part.sign else ""
            )
            return self.border(node) + self.titled(node, x + 10, y + 17, x + WIDTH - 8) + inside
        pad = 16 if row["kind"] == "source" else 10
        update = self.updates.get(number)
        value, before = (
            (row["value"], "")
            if update is None
            else (update["now"], "→ " if row["shape"] else f"{brief(row['value'], row, 6)} → ".lstrip())
        )
        released = word("released") if row["released"] else ""
        return "".join(
            [
                self.border(node),
                self.titled(node, x + pad, y + 17, x + WIDTH - pad - 7 * len(str(number))),
                text_at(x + WIDTH - pad + 2, y + 16, str(number), f'font-size="11" text-anchor="end" fill="{MUTED}"'),
                value_at(x, y + 32, pad, before, value, row, self.ink_of(row))
                or text_at(x + pad, y + 32, released, f'font-size="11" font-family="{MONO}"'),
                arrived if adjoint is not None or number in self.nones else "",
            ]
        )

    def _arrived(self, node: Node, number: int) -> str:
        """The adjoint: how large an array is, with its picture; what is not complete has a sign for more."""
        x, y, adjoint = node.x + (16 if node.row and node.row["kind"] == "source" else 10), node.y + 45.5, None
        adjoint = self.adjoints.get(number)
        empty = number in self.nones
        text = "None" if empty else size_of(adjoint, 13) if adjoint else ""
        if not text:
            return ""
        waits = number in self.waiting
        weight = "" if waits else ' font-weight="600"'
        style = f'font-size="11" font-family="{MONO}" fill="{CUT if empty else BACK}"{weight}'
        text = f"∂ {text}{' + …' if waits else ''}"
        left = max(58.0, 6.7 * len(text) + 4)
        picture = "" if empty or left > 84 else small_map(adjoint, x + left, y - 10, node.x + WIDTH - x - left - 8, 12)
        return text_at(x, y, text, style) + picture

    # -- edges ---------------------------------------------------------------------------------------------------

    def _edges(self, index: int, node: Node) -> str:
        parts = []
        for port, start in enumerate(node.inputs):
            curve = self.curves.get((start, index, port))
            product = self._product_over(start, index, port)
            if curve is None:
                parts.append(self._reference(start, index, port))
                continue
            now = self._is_now(start, index)
            signs = [-1 if self.lines.is_back(one) else 1 for one in (start, index)]
            path = path_of(curve, self.lines.turned, -1 if product is None else 0, signs)
            parts.append(line_at(path, node.row, None if product is None else is_zero(product), now))
        torn = any(self.at.get(one["to"]) == index and one["kind"] == "cut" for one in self.torn)
        if node.row and node.row["cut"] and node.inputs and not torn:
            x, y = self.lines.entry(index, 0, len(node.inputs), 12)
            parts.append(cross(x + self.shift[0], y + self.shift[1]))
        return "".join(parts)

    def _is_now(self, start: int, end: int) -> bool:
        now = self.current
        return now is not None and self.at.get(now["row"]) == end and self.nodes[end].row is not None

    def _reference(self, start: int, index: int, port: int) -> str:
        """An edge that comes from far away: the name of its row, or the number."""
        row = self.nodes[start].row
        text = "…" if row is None else short_name((row["name"] or str(row["row"])).removesuffix(":0"), 6)
        x, y = self.lines.entry(index, port, len(self.nodes[index].inputs), 2)
        x, y = x + self.shift[0], y + self.shift[1]
        w = 6.2 * wide(text) + 8
        arrow = "m-5.5 -3.5l5.5 3.5l-5.5 3.5"
        if self.lines.turned:
            x, y, arrow = x - 9, y - 12, ""
        box = f'<rect x="{x - w - 9}" y="{y - 8}" width="{w}" height="16" rx="8" fill="#f2f3f5" stroke="#b3bac2"/>'
        line = f'<path d="M{x - 9} {y}L{x} {y}{arrow}" fill="none" stroke="#97a0aa" stroke-width="1.2"/>'
        return line + box + text_at(x - w / 2 - 9, y + 4, text, f'font-size="11" text-anchor="middle" fill="{MUTED}"')

    def _way(self, start: int, end: int, crossed: bool) -> str:
        """A dashed curve to a state of a variable, below the nodes; crossed where it comes from what was assigned."""
        one, other = self.nodes[start], self.nodes[end]
        (x0, y0), (x1, y1) = (one.x + WIDTH / 2, one.y + HEIGHT), (other.x + WIDTH / 2, other.y + HEIGHT)
        low = max(y0, y1) + 24
        colour = COLOURS["variable"][0]
        path = f"M{x0} {y0}C{x0} {low} {x1} {low} {x1} {y1 + 2}m-3.5 5.5l3.5 -5.5l3.5 5.5"
        middle = (x0 + x1) / 2, (y0 + y1) / 8 + 0.75 * low
        return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.2" stroke-dasharray="4 4"/>' + (
            cross(*middle) if crossed else ""
        )

    # -- on the edges --------------------------------------------------------------------------------------------

    def _torn(self) -> Iterator[str]:
        """Where a gradient ends: the torn edge, and what did it."""
        for number, one in enumerate(self.torn):
            start, end = self.at.get(one["from"]), self.at.get(one["to"])
            if one["kind"] == "zero" or start is None or start == end:
                continue
            line = word("line {0}").replace("{0}", str(one["line"]))
            key: object = next((key for key in self.curves if key[:2] == (start, end)), None)
            drawn = ""
            if key is None:
                node = self.nodes[start]
                other = None if end is None else self.nodes[end]
                a = (node.x + WIDTH / 2, node.y + HEIGHT) if other else (node.x + WIDTH, node.y + HEIGHT / 2)
                b = (other.x + WIDTH / 2, other.y - 2) if other and other.y > node.y else (a[0] + 30, a[1])
                if other and other.y <= node.y:
                    b = (other.x + WIDTH / 2, other.y + HEIGHT + 2)
                path = f"M{a[0]} {a[1]}L{b[0]} {b[1]}"
                drawn = f'<path d="{path}" fill="none" stroke="{CUT}" stroke-width="1.4" stroke-dasharray="4 4"/>'
                self.places.points[key := ("torn", number)] = points_of([Piece(a, b)])
            w = LETTER * max(wide(one["text"]), wide(line)) + 6
            x, y = self.places.find(key, w, 38, ASIDE) or self.places.points[key][0]
            style = f'font-size="11" font-weight="600" font-family="{MONO}" text-anchor="middle" fill="{CUT}"'
            yield drawn + f'<rect x="{x - w / 2}" y="{y - 19}" width="{w}" height="38" fill="#ffffff"/>'
            yield cross(x, y - 11) + text_at(x, y + 5, one["text"], style) + text_at(x, y + 17, line, style)

    def _sums(self) -> Iterator[str]:
        """Below an input at which products of the step met others: what was added up."""
        for number, text in self.added():
            yield self._below(self.nodes[self.at[number]], text)

    def _below(self, node: Node, text: str) -> str:
        w = LETTER * wide(text) + 4
        x = min(max(node.x + WIDTH / 2, w / 2 + 2), self.width - w / 2 - 2)
        self.places.boxes.append((x, node.y + HEIGHT + 9, w, 14))
        style = f'font-size="11" font-weight="600" font-family="{MONO}" text-anchor="middle" fill="{BACK}"'
        back = f'<rect x="{x - w / 2}" y="{node.y + HEIGHT + 3}" width="{w}" height="13" fill="#ffffff"/>'
        return back + text_at(x, node.y + HEIGHT + 13, text, style)

    def _cards(self) -> Iterator[str]:
        """The products of the step, each on its edge: local derivative, what came in, the product."""
        now = self.at.get(self.current["row"]) if self.current else None
        inside: dict[str, None] = {}  # of edges that are inside of what is folded, or come from far away
        for edge, texts, picture in self.shares():
            start = self.at.get(edge["input"])
            ports = [key for key in self.curves if key[:2] == (start, now)]
            key = next((one for one in ports if one not in self._carded), ports[-1] if ports else None)
            if key is None:
                inside[" ".join(texts)] = None
                continue
            self._carded.add(key)
            lines = [" ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts
            if len(lines[0]) > 15 and len(texts) > 2:
                lines = texts
            w = LETTER * max(map(wide, lines)) + 10
            h = LINE * len(lines) + 4 + (MAP + 3) * bool(picture)
            x, y = self.places.find(key, w, h, ASIDE) or (0.0, 0.0)
            yield (
                f'<rect x="{x - w / 2}" y="{y - h / 2}" width="{w}" height="{h}" rx="4" fill="#ffffff" '
                f'stroke="{BACK}" stroke-width="0.9"/>'
            )
            for k, line in enumerate(lines):
                last = k == len(lines) - 1
                style = f'font-size="11" font-family="{MONO}" text-anchor="end" fill="{BACK if last else MUTED}"'
                weight = ' font-weight="600"' if last else ""
                yield text_at(x + w / 2 - 5, y - h / 2 + 12 + LINE * k, line, style + weight)
            if picture:
                yield small_map(picture, x - w / 2 + 5, y + h / 2 - MAP - 3, w - 10, MAP)
        if inside and now is not None and not self._carded:
            yield self._below(self.nodes[now], next(iter(inside)))

    def _numbers(self) -> Iterator[str]:
        """On each edge over which the sweep went before what it carried."""
        for key in self.curves:
            product = self._product_over(*key)
            if product is None or self._is_now(*key[:2]):
                continue
            text = size_of(product, 7)
            w = LETTER * len(text) + 4
            at = self.places.find(key, w, 13, (0,), FREE)
            if at is not None:
                yield f'<rect x="{at[0] - w / 2}" y="{at[1] - 7}" width="{w}" height="14" fill="#ffffff"/>'
                style = f'font-size="11" font-family="{MONO}" text-anchor="middle" fill="{BACK}"'
                yield text_at(at[0], at[1] + 4, text, style)


def _shift(piece: Piece, dx: float, dy: float) -> Piece:
    def move(at: tuple[float, float]) -> tuple[float, float]:
        return at[0] + dx, at[1] + dy

    return Piece(move(piece.start), move(piece.end), piece.bend and (move(piece.bend[0]), move(piece.bend[1])))
