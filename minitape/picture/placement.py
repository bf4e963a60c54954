"""Places the nodes of a static picture by the rule of widgets/frontend/src/place.ts, which says why; the live picture
also folds, and has small nodes. tests/widgets/placements.json tests both.

One pass in the order of rows. Columns run with time: a node is right of all its inputs, and a new ``section``
begins right of everything before. Heights are in half-slots: a node takes two, an edge that passes a column takes one.
What a gradient wrote is in a storey of its own, which runs back: each row is below the one whose adjoint it adds to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

FAR = 6  # an input further back than this many columns is drawn as a small reference, not as a long edge
REACH = 24  # how many places to try on both sides before going past the end of a column
BETWEEN = 2  # half-slots between two storeys, for the frames around them


class Item(NamedTuple):
    """What is placed: the indices of its inputs; in a lower ``storey`` also the item that it is ``below``."""

    inputs: Sequence[int]
    leaf: bool = False
    section: object = None
    storey: int = 0
    below: int = -1


class Placement:
    """The places of items: ``column[i]``, ``slot[i]``, and in ``via`` the points that edges pass.

    >>> placed = Placement([Item([], leaf=True), Item([0, 0]), Item([1, 0], storey=1, below=0)])
    >>> placed.column, placed.slot
    ([0, 1, 0], [0, 0, 4])
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.column = [-1] * len(items)
        self.slot = [0] * len(items)
        self.via: dict[tuple[int, int], list[tuple[int, int]]] = {}  # (from, to) -> points that the edge passes
        self._deep = [0] * len(items)  # how many columns the rows take that are below an item
        self._used: dict[int, set[int]] = {}
        self._floor, self._last, self._now, self._end = 0, -1, 0, 0
        levels: list[int] = []  # of a row that is below an item: the how many-th it is
        for item in items:
            under = (levels[i] for i in item.inputs if items[i].below == item.below)
            levels.append(1 + max(under, default=0) if item.storey and not item.leaf else 0)
            if item.below >= 0:
                self._deep[item.below] = max(self._deep[item.below], levels[-1])
        section = items[0].section if items else None
        for index, item in enumerate(items):
            if item.storey:
                continue
            if item.section != section:
                self._settle(index)
                section, self._floor = item.section, self._last + 1
            if not item.leaf:  # a leaf waits for its first reader
                self._operation(index, [i for i in dict.fromkeys(item.inputs) if not items[i].storey])
        self._settle(len(items))
        for storey in sorted({item.storey for item in items} - {0}):
            self._lower([i for i, item in enumerate(items) if item.storey == storey])

    def _settle(self, end: int) -> None:
        """Places the leaves before an item that nothing has read."""
        for index in range(end):
            if self.column[index] < 0 and not self.items[index].storey:
                self._put(index, self._floor, 0)

    def _operation(self, index: int, inputs: list[int]) -> None:
        placed = [i for i in inputs if self.column[i] >= 0]
        waiting = [i for i in inputs if self.column[i] < 0]
        main = max(placed, key=self.column.__getitem__, default=-1)
        deep = self._deep[index] or 1
        column = max(self._floor + deep - (not waiting), deep + self.column[main] if placed else 0)
        if all(self.items[i].leaf for i in inputs):  # it is as far as what ran before it, and its leaves just before it
            column = max(column, self._now)
        self._now = column
        self._put(index, column, self._slot_near(main, placed) if placed else 0)
        for i in waiting:
            before = deep if self._deep[i] else 1
            self._put(i, column - before, self.slot[index] + 2 * inputs.index(i) - (len(inputs) - 1))
        for i in placed:
            self._route(i, index)

    def _lower(self, members: list[int]) -> None:
        """Places these items below all others, each below its own, or with its inputs left of there."""
        top, self._used, self._end = self._end + BETWEEN, {}, 0
        for index in members:
            inputs, _, _, storey, below = self.items[index]
            own = [i for i in dict.fromkeys(inputs) if self.items[i].storey == storey]
            main = min(own, key=self.column.__getitem__, default=index)
            under = self.column[below] if below >= 0 else self._last + 1
            self._put(index, min([under, *(self.column[i] - 1 for i in own)]), self.slot[main])
            for i in own:
                self._route(i, index)
        down = top - min(self.slot[index] for index in members)
        self._end += down
        for index in members:
            self.slot[index] += down
        left = min(0, *self.column)
        self.column = [column - left for column in self.column]
        for (_, end), points in self.via.items():
            points[:] = [(column - left, slot + down * (end in members)) for column, slot in points]

    def _slot_near(self, main: int, inputs: list[int]) -> int:
        """The height of the last input; of three or more leaves in its column that of the middle one."""
        slots = sorted(self.slot[i] for i in inputs if self.items[i].leaf and self.column[i] == self.column[main])
        return self.slot[main] if len(slots) < 3 else slots[(len(slots) - 1) // 2]

    def _route(self, start: int, end: int) -> None:
        """Keeps one half-slot free in each column that a near edge passes: the same in all where there is one."""
        first, last, low, high = self.column[start], self.column[end], self.slot[start], self.slot[end]
        columns = range(first + 1, last) or range(first - 1, last, -1)
        if not 0 < len(columns) < FAR:
            return
        span, lane = abs(last - first), self._free(columns, (low + high) // 2, 1)
        self.via[start, end] = []
        for step, column in enumerate(columns, 1):
            want = (low * (span - step) + high * step) // span if lane is None else lane
            self.via[start, end].append((column, self._take(column, want, 1)))

    def _put(self, index: int, column: int, want: int) -> None:
        self.column[index], self.slot[index] = column, self._take(column, want, 2)
        self._last = max(self._last, column)

    def _take(self, column: int, want: int, size: int) -> int:
        """The place nearest to ``want`` that was free until now."""
        slot = self._free([column], want, size)
        used = self._used.setdefault(column, set())
        slot = max(used) + 1 if slot is None else slot
        used.update(range(slot, slot + size))
        self._end = max(self._end, slot + size)
        return slot

    def _free(self, columns: Iterable[int], want: int, size: int) -> int | None:
        """The place nearest to ``want`` that is free in all these columns, below before above; None for none."""
        used = set[int]().union(*(self._used.get(column, ()) for column in columns))
        near = (want + sign * distance for distance in range(REACH + 1) for sign in (1, -1))
        return next((slot for slot in near if used.isdisjoint(range(slot, slot + size))), None)
