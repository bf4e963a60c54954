"""A figure as a graph: columns run with time from the left to the right, all in one line."""

from __future__ import annotations

from collections.abc import Iterator

from .figure import MARGIN, Drawing, Node
from .ink import BACK, HEIGHT, INK, MONO, MUTED, WIDTH, cross, line_at, text_at, value_at
from .marks import brief
from .placement import FAR, Placement
from .words import word

COLUMN, HALF = 182, 35  # distance of columns and of half-slots
TIGHT = 156  # the least of a figure with a width
COLUMNS = 6  # of a figure without one


class GraphDrawing(Drawing):
    """Nodes placed by :class:`.Placement`."""

    def place(self) -> None:
        """Gives each node its place, and the figure its size."""
        self.placement = Placement()
        for node in self.nodes:
            leaf = node.row is not None and node.row["kind"] != "operation" and not node.inputs
            self.placement.add(node.inputs, leaf=leaf, section=self._section(node))
        self.placement.settle()
        columns, slots = self.placement.column, self.placement.slot
        self.columns = 1 + max(columns, default=0)
        self.column: float = COLUMN
        if self.room is not None:
            free = (self.room - 2 * MARGIN - WIDTH) / max(1, self.columns - 1)
            self.column = max(TIGHT, min(free, COLUMN))
        passed = [slot for points in self.placement.via.values() for _, slot in points]
        self.top = MARGIN - HALF * min([*slots, *passed], default=0)
        for node, column, slot in zip(self.nodes, columns, slots, strict=True):
            node.x, node.y = MARGIN + column * self.column, self.top + slot * HALF
        self.width = 2 * MARGIN + WIDTH + (self.columns - 1) * self.column
        below = [node.y + HEIGHT for node in self.nodes] + [self.top + slot * HALF + HALF for slot in passed]
        self.foot = max(below, default=MARGIN) + MARGIN

    @property
    def is_one_line(self) -> bool:
        """Whether the graph fits into one line of the allowed width, and no variable has several states."""
        columns, read = self.placement.column, ((i, k) for k, node in enumerate(self.nodes) for i in node.inputs)
        if self.ways or any(columns[k] - columns[i] > FAR for i, k in read):
            return False
        return self.columns <= COLUMNS if self.room is None else self.width <= self.room

    def body(self) -> Iterator[str]:
        """The SVG of nodes and edges."""
        yield from (self._edges(index, node) for index, node in enumerate(self.nodes))
        yield from (self._node(node) for node in self.nodes)

    def _section(self, node: Node) -> tuple[int | None, int, int | None]:
        row = node.row or node.last
        if row is None:
            return (None, 0, None)
        number = self.rows[node.part.first]["row"] if node.row is None else row["row"]
        passed = sum(end <= number for tape in self.snapshot["tapes"] for span in tape["spans"] for end in span)
        last = row["op"] == "custom_gradient" and row["scope"][-1:] == [row["label"]]  # behind what the function did
        return (row["by"], passed, number if last else None)

    def _node(self, node: Node) -> str:
        row, x, y = node.row, node.x, node.y
        if row is None:
            last = node.last or {}
            number = last.get("row", -1)
            inside = self.profile(node, x + 10, y + 24, WIDTH - 20, HEIGHT - 30) or (
                value_at(x, y + 32, 10, "", last.get("value"), last, MUTED)
                + value_at(x, y + 45.5, 10, "∂ ", self.adjoints.get(number), last, BACK)
                if node.part.sign
                else ""
            )
            return self.border(node) + self.titled(node, x + 10, y + 17, x + WIDTH - 8) + inside
        kind, number = row["kind"], row["row"]
        pad = 16 if kind == "source" else 10
        update = self.updates.get(number)
        value, before = (
            (row["value"], "")
            if update is None
            else (update["now"], "→ " if row["shape"] else f"{brief(row['value'], row, 6)} → ".lstrip())
        )
        return "".join(
            [
                self.border(node),
                self.titled(node, x + pad, y + 17, x + WIDTH - pad - 6 * len(str(number))),
                text_at(x + WIDTH - pad + 2, y + 16, str(number), f'font-size="9.5" text-anchor="end" fill="{MUTED}"'),
                value_at(x, y + 32, pad, before, value, row, INK)
                or text_at(
                    x + pad, y + 32, word("released") if row["released"] else "", f'font-size="11" font-family="{MONO}"'
                ),
                value_at(x, y + 45.5, pad, "∂ ", self.adjoints.get(number), row, BACK),
            ]
        )

    def _edges(self, index: int, node: Node) -> str:
        count = len(node.inputs)
        heights = [node.y + HEIGHT * (port + 1) / (count + 1) for port in range(count)]
        parts = [self._curve(source, index, y) for source, y in zip(node.inputs, heights, strict=True)]
        if node.row and node.row["cut"] and count:
            parts.append(cross(node.x - 12, heights[0]))
        return "".join(parts)

    def _curve(self, source: int, index: int, y: float) -> str:
        start, end = self.nodes[source], self.nodes[index]
        at = (start.x + WIDTH, start.y + HEIGHT / 2)
        path = f"M{at[0]} {at[1]}"
        for column, slot in self.placement.via.get((source, index), ()):
            x, height = MARGIN + column * self.column, self.top + slot * HALF + HALF / 2
            path += _bent(at, (x - 10, height)) + f"L{x + WIDTH + 10} {height}"
            at = (x + WIDTH + 10, height)
        path += _bent(at, (end.x - 2, y))
        return line_at(path + "m-5.5 -3.5l5.5 3.5l-5.5 3.5", end.row)


def _bent(start: tuple[float, float], end: tuple[float, float]) -> str:
    """From one point to another, level at both."""
    (x0, y0), (x1, y1) = start, end
    if abs(y1 - y0) < 0.5:
        return f"L{x1} {y1}"
    bend = max(14.0, (x1 - x0) / 2)
    return f"C{x0 + bend} {y0} {x1 - bend} {y1} {x1} {y1}"
