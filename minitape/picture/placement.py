"""Places the nodes of a static picture by the rule of widgets/frontend/src/place.ts, which says why; the live picture
also has two storeys of a second derivative, and folds. tests/widgets/placements.json tests both.

One pass in the order of rows. Columns run with time: a node is right of all its inputs, and a new ``section``
begins right of everything before. Heights are in half-slots: a node takes two, an edge that passes a column takes one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

FAR = 6  # an input further back than this many columns is drawn as a small reference, not as a long edge
REACH = 24  # how many places to try on both sides before going past the end of a column


class Item(NamedTuple):
    """What is placed: the indices of its inputs."""

    inputs: Sequence[int]
    leaf: bool = False
    section: object = None


class Placement:
    """Places items as they come; ``column[i]`` and ``slot[i]`` do not change when more are added, but for leaves that
    nothing has read yet: their column is -1 until :meth:`settle`.

    >>> placed = Placement([Item([], leaf=True), Item([], leaf=True), Item([0, 1])])
    >>> placed.column, placed.slot
    ([0, 0, 1], [-1, 1, 0])
    """

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self.items: list[Item] = []
        self.column: list[int] = []
        self.slot: list[int] = []
        self.via: dict[tuple[int, int], list[tuple[int, int]]] = {}  # (from, to) -> points that the edge passes
        self._used: dict[int, set[int]] = {}
        self._pending: list[int] = []  # leaves that nothing has read yet
        self._floor, self._last, self._now = 0, -1, 0
        for item in items:
            self.add(item)
        self.settle()

    def add(self, item: Item) -> None:
        """Adds an item; a leaf waits for its first reader."""
        if self.items and item.section != self.items[-1].section:
            self.settle()
            self._floor = self._last + 1
        index = len(self.items)
        self.items.append(item)
        self.column.append(-1)
        self.slot.append(0)
        if item.leaf:
            self._pending.append(index)
        else:
            self._operation(index, list(dict.fromkeys(item.inputs)))

    def settle(self) -> None:
        """Places the leaves that nothing reads."""
        for index in self._pending:
            self._put(index, self._floor, 0)
        self._pending = []

    def _operation(self, index: int, inputs: list[int]) -> None:
        placed = [i for i in inputs if self.column[i] >= 0]
        waiting = [i for i in inputs if self.column[i] < 0]
        main = max(placed, key=self.column.__getitem__, default=-1)
        column = max(self._floor + bool(waiting), 1 + self.column[main] if placed else 0)
        if all(self.items[i].leaf for i in inputs):  # it is as far as what ran before it, and its leaves just before it
            column = max(column, self._now)
        self._now = column
        self._put(index, column, self._slot_near(main, placed) if placed else 0)
        for i in waiting:
            self._put(i, column - 1, self.slot[index] + 2 * inputs.index(i) - (len(inputs) - 1))
        self._pending = [i for i in self._pending if self.column[i] < 0]
        for i in placed:
            self._route(i, index)

    def _slot_near(self, main: int, inputs: list[int]) -> int:
        """The height of the last input; of three or more leaves in its column that of the middle one."""
        slots = sorted(self.slot[i] for i in inputs if self.items[i].leaf and self.column[i] == self.column[main])
        return self.slot[main] if len(slots) < 3 else slots[(len(slots) - 1) // 2]

    def _route(self, start: int, end: int) -> None:
        """Keeps one half-slot free in each column that a near edge passes: the same in all where there is one."""
        first = self.column[start]
        span = self.column[end] - first
        if not 2 <= span <= FAR:
            return
        lane = self._free(range(first + 1, first + span), (self.slot[start] + self.slot[end]) // 2, 1)
        self.via[start, end] = []
        for step in range(1, span):
            want = (self.slot[start] * (span - step) + self.slot[end] * step) // span if lane is None else lane
            self.via[start, end].append((first + step, self._take(first + step, want, 1)))

    def _put(self, index: int, column: int, want: int) -> None:
        self.column[index], self.slot[index] = column, self._take(column, want, 2)
        self._last = max(self._last, column)

    def _take(self, column: int, want: int, size: int) -> int:
        """The place nearest to ``want`` that was free until now."""
        slot = self._free([column], want, size)
        used = self._used.setdefault(column, set())
        slot = max(used) + 1 if slot is None else slot
        used.update(range(slot, slot + size))
        return slot

    def _free(self, columns: Iterable[int], want: int, size: int) -> int | None:
        """The place nearest to ``want`` that is free in all these columns, below before above; None for none."""
        used = set[int]().union(*(self._used.get(column, ()) for column in columns))
        near = (want + sign * distance for distance in range(REACH + 1) for sign in (1, -1))
        return next((slot for slot in near if used.isdisjoint(range(slot, slot + size))), None)
