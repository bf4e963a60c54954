"""A figure as a list: one node below the other in the order in which they ran, each as wide as the figure,
and the edges in lanes on the left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from .figure import Drawing, Node
from .ink import BACK, COLOURS, CUT, EDGE, INK, MONO, MUTED, cross, text_at
from .marks import small_map, written
from .short import elide, wide

if TYPE_CHECKING:
    from .fields import Fields, Shown

WIDTH = 560  # the default, in pixels
SIDE, PAD = 5, 6
BAR, PRODUCT, GAP = 21, 13, 9  # height of a node, of a product in it, and between two
LANE, LANES = 7, 9  # between two edges; more than so many are references
LETTER = 6.05  # width of one of a value
NUMBERS, ARRAY = 9, 11  # letters of a value, where there are arrays
ARROW = 3.5


class _Way(NamedTuple):
    """An edge between two nodes that are not next to each other, or a variable's next state."""

    start: int
    end: int
    port: int
    state: bool
    crossed: bool


class ListDrawing(Drawing):
    """Nodes one below the other."""

    says_inputs = True

    def place(self) -> None:
        """Gives each node its place, and the figure its size."""
        self.width = self.room or WIDTH
        rows = [row for node in self.nodes if (row := node.row or node.last)]
        self.digits = 5.5 * len(str(max((row["row"] for row in rows), default=0)))
        self.letters = ARRAY if any(row["shape"] for row in rows) else NUMBERS
        ways = [
            _Way(start, index, port, False, False)
            for index, node in enumerate(self.nodes)
            for port, start in enumerate(node.inputs)
            if start != index - 1
        ]
        self.far = ways + [_Way(start, end, 0, True, crossed) for start, end, crossed in self.ways if start != end]
        self.lane = self._lanes()
        self.left = SIDE + 4 + LANE * (1 + max(self.lane.values(), default=-1)) + (12 if self.lane else 0)
        self.lines: dict[int, list[tuple[list[str], Shown | None]]] = {}
        for edge, texts, shown in self.shares():
            if edge["input"] in self.at:
                self.lines.setdefault(self.at[edge["input"]], []).append((texts, shown))
        y = float(SIDE)
        for index, node in enumerate(self.nodes):
            node.x, node.y, node.w = self.left, y, self.width - self.left - SIDE
            node.h = BAR + PRODUCT * len(self.lines.get(index, ())) + (12 if node.part.turns and self.final else 0)
            y += node.h + GAP
        self.foot = y + 6

    def _lanes(self) -> dict[int, int]:
        """The lane of each node that edges lead from to others than the next: the shortest is nearest to the nodes."""
        ends: dict[int, int] = {}
        for one in self.far:
            ends[one.start] = max(ends.get(one.start, 0), one.end)
        taken: list[list[tuple[int, int]]] = []
        found: dict[int, int] = {}
        for start, end in sorted(ends.items(), key=lambda item: (item[1] - item[0], item[0])):
            free = (k for k, spans in enumerate(taken) if all(end < a or b < start for a, b in spans))
            lane = next(free, len(taken))
            if lane == len(taken):
                if lane == LANES:
                    continue
                taken.append([])
            taken[lane].append((start, end))
            found[start] = lane
        return found

    def body(self) -> Iterator[str]:
        """The SVG of nodes, edges and products."""
        yield from (self._edges(index, node) for index, node in enumerate(self.nodes))
        yield from (self._node(index, node) for index, node in enumerate(self.nodes))

    # -- edges ---------------------------------------------------------------------------------------------------

    def _edges(self, index: int, node: Node) -> str:
        near = [port for port, start in enumerate(node.inputs) if start == index - 1]
        parts = [self._down(index, 16.0 + 10 * k) for k in range(len(near))]
        ways = [one for one in self.far if one.end == index]
        for k, one in enumerate(ways):
            y = node.y + BAR * (k + 1) / (len(ways) + 1)
            parts.append(self._around(one, y) if one.start in self.lane else self._reference(one, y))
        return "".join(parts)

    def _is_sent(self, start: int, end: int) -> bool:
        rows = self.nodes[start].row, self.nodes[end].row
        return rows[0] is not None and rows[1] is not None and (rows[1]["row"], rows[0]["row"]) in self.sent

    def _style(self, start: int, end: int, state: bool = False) -> tuple[str, str]:
        """The colour and the dashes of an edge."""
        row = self.nodes[end].row
        if state:
            return COLOURS["variable"][0], ' stroke-dasharray="4 4"'
        if row is not None and row["cut"]:
            return CUT, ' stroke-dasharray="3 4"'
        return BACK if self._is_sent(start, end) else EDGE, ""

    def _down(self, index: int, x: float) -> str:
        """An edge from the node above."""
        above, bottom, x = self.nodes[index - 1], self.nodes[index].y - 1, self.left + x
        top = above.y + above.h
        colour, dash = self._style(index - 1, index)
        y, away = (top + 5, -4.5) if self._is_sent(index - 1, index) else (bottom - 4.5, 4.5)
        head = f"M{x - ARROW} {y}l{ARROW} {away}l{ARROW} {-away}"
        cut = cross(x, (top + bottom) / 2) if dash else ""
        return _path(f"M{x} {top}V{bottom}{head}", colour, dash) + cut

    def _around(self, one: _Way, y: float) -> str:
        """An edge that leads down a lane on the left."""
        start = self.nodes[one.start]
        at, x, r = start.y + BAR / 2, self.left - 12 - LANE * self.lane[one.start], 5
        colour, dash = self._style(one.start, one.end, one.state)
        left, back = self.left, not one.state and self._is_sent(one.start, one.end)
        head = f"M{left - 6 + back} {(at if back else y) - ARROW}l4.5 {ARROW}l-4.5 {ARROW}"
        path = f"M{left} {at}H{x + r}Q{x} {at} {x} {at + r}V{y - r}Q{x} {y} {x + r} {y}H{left - 1.5}"
        cut = cross(left - 9, y) if one.crossed or (dash and not one.state) else ""
        return _path(path + head, colour, dash) + cut

    def _reference(self, one: _Way, y: float) -> str:
        """An edge for which there is no lane: the number of its row."""
        row = self.nodes[one.start].last or self.nodes[one.start].row
        text = str(row["row"]) if row else "…"
        colour, dash = self._style(one.start, one.end, one.state)
        x, w = self.left - 9, 3 + 5.5 * len(text)
        return (
            _path(f"M{x} {y}h7.5m-4.5 {-ARROW}l4.5 {ARROW}l-4.5 {ARROW}", colour, dash)
            + f'<rect x="{x - w}" y="{y - 5}" width="{w}" height="10" fill="#ffffff"/>'
            + text_at(x - 1, y + 3.5, text, f'font-size="9.5" text-anchor="end" fill="{MUTED}"')
        )

    # -- nodes ---------------------------------------------------------------------------------------------------

    def _node(self, index: int, node: Node) -> str:
        row, x, y = node.row, node.x, node.y + 14.5
        parts = [self.border(node)]
        shown = row or node.last or {}
        adjoint = self.adjoints.get(shown.get("row", -1))
        end = right = node.x + node.w - PAD
        if adjoint is not None:
            parts.append(_number(right, y, "∂ ", adjoint, shown, BACK)[0])
        if self.adjoints:
            right -= LETTER * (NUMBERS + 2) + 8
        update = self.updates.get(shown.get("row", -1))
        if row is not None or node.part.sign:
            value = shown.get("value") if update is None else update["now"]
            if value:
                drawn, right = _number(right, y, "→ " if update else "", value, shown, INK, self.letters)
                parts.append(drawn)
        right -= 8
        small = f'font-size="9.5" text-anchor="end" fill="{MUTED}"'
        parts.append(text_at(x + PAD + self.digits, y, str(row["row"]) if row else "", small))
        parts.append(self.titled(node, x + (PAD + 5 + self.digits if row else PAD + 2), y, right))
        for k, (texts, picture) in enumerate(self.lines.get(index, ())):
            line = " ".join(texts)
            at = y + PRODUCT * (k + 1) - 1
            parts.append(text_at(end, at, line, _mono(BACK)))
            left = end - LETTER * wide(line) - 40
            parts.append(small_map(picture, left, at - 8, 34, 9) if picture else "")
        if node.part.turns and self.final:
            parts.append(self.profile(node, x + PAD + 2, node.y + node.h - 12, node.w - 2 * PAD - 4, 7))
        return "".join(parts)


def _mono(colour: str) -> str:
    return f'font-size="10" text-anchor="end" font-family="{MONO}" fill="{colour}"'


def _number(
    right: float, y: float, before: str, value: Shown, row: Fields, colour: str, room: int = NUMBERS
) -> tuple[str, float]:
    """A number that ends at ``right``, and where it begins; of an array its picture, and its shape where there is
    room.
    """
    text = written(value, NUMBERS)
    if text is not None or not row["shape"]:
        text = before + (text or elide(value.get("text", ""), NUMBERS))
        return text_at(right, y, text, _mono(colour)), right - LETTER * wide(text)
    sides = str(tuple(row["shape"]))
    if before or wide(sides) > room - 3:
        sides = before.strip()
    width = LETTER * (room - wide(sides) if sides.strip() else NUMBERS) - 4
    left = right - width - 4
    text = text_at(left, y, sides, _mono(colour if before else MUTED))
    return small_map(value, right - width, y - 11, width, 15) + text, left - LETTER * wide(sides)


def _path(d: str, colour: str, dash: str) -> str:
    return f'<path d="{d}" fill="none" stroke="{colour}" stroke-width="1.2" stroke-linejoin="round"{dash}/>'
