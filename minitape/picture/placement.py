"""Places the nodes of a picture by the same rule as widgets/frontend/src/place.ts, which says why.

The rule is written twice because each side needs it without the other: the browser places nodes again when a learner
folds, also on a page without Python, and the static picture is drawn without a browser. tests/widgets/placements.json
tests both.

One pass in the order of rows. Columns run with time: a node is right of all its inputs, and a new ``section``
begins right of everything before. Heights are in half-slots: a node takes two, an edge that passes a column takes one.
What a gradient wrote is in a storey of its own, which runs back: each row is below the one whose adjoint it adds to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

FAR = 6  # an input further back than this many columns is drawn as a small reference, not as a long edge
REACH = 24  # how many places to try on both sides before going past the end of a column
BETWEEN = 2  # half-slots between two storeys, for the frames around them and the edges down
DOWN = 2  # columns: an edge down from further away is a reference


class Item(NamedTuple):
    """What is placed: the indices of its inputs; in a lower ``storey`` also the item that it is ``below``."""

    inputs: Sequence[int]
    leaf: bool = False
    section: object = None
    storey: int = 0
    below: int = -1


def place(items: Sequence[Item], far: int = FAR) -> Placement:
    """The places of items.

    >>> placed = place([Item([], leaf=True), Item([0, 0]), Item([1, 0], storey=1, below=0)])
    >>> placed.column, placed.slot, placed.is_down(1, 2)
    ([0, 1, 0], [0, 0, 4], True)
    """
    levels: list[int] = []  # of what is in a lower storey: the how many-th it is of those below one item
    deep = [0] * len(items)  # of an item: how many columns what is below it takes
    for item in items:
        under = (levels[i] for i in item.inputs if items[i].below == item.below)
        levels.append(0 if item.leaf or not item.storey else 1 + max(under, default=0))
        if item.below >= 0:
            deep[item.below] = max(deep[item.below], levels[-1])
    placed = Placement(far)
    for item, columns in zip(items, deep, strict=True):
        placed.add(item, columns)
    placed.settle()
    for storey in sorted({item.storey for item in items} - {0}):
        placed.lower([i for i, item in enumerate(items) if item.storey == storey])
    return placed


class Placement:
    """Places items as they come; ``column[i]`` and ``slot[i]`` do not change when more are added."""

    def __init__(self, far: int = FAR) -> None:
        self.far = far  # an edge that goes further is no long line: no room is kept for it
        self.items: list[Item] = []
        self.column: list[int] = []
        self.slot: list[int] = []
        self.via: dict[tuple[int, int], list[tuple[int, int]]] = {}  # (from, to) -> points that the edge passes
        self._deep: list[int] = []
        self._used: dict[int, set[int]] = {}
        self._bottom: dict[int, int] = {}  # first half-slot below everything in a column
        self._pending: list[int] = []  # leaves that nothing has read yet
        self._floor, self._last, self._now, self._end = 0, -1, 0, 0
        self._section: object = None
        self._in_time = True  # what reads leaves only is as far as what ran before it

    def add(self, item: Item, deep: int = 0, least: int = 0) -> None:
        """Adds an item, below which others take ``deep`` columns; it is not left of ``least``. A leaf waits for its
        first reader, what is in a lower storey for :meth:`lower`.
        """
        index = len(self.items)
        self.items.append(item)
        self._deep.append(deep)
        self.column.append(-1)
        self.slot.append(0)
        if item.storey:
            return
        if index and item.section != self._section:
            self.settle()
            self._floor = self._last + 1
        self._section = item.section
        if item.leaf:
            self._pending.append(index)
        else:
            self._operation(index, [i for i in dict.fromkeys(item.inputs) if not self.items[i].storey], least)

    def settle(self) -> None:
        """Places the leaves that nothing reads."""
        for index in self._pending:
            self._put(index, self._floor, 0)
        self._pending = []

    def lower(self, members: list[int]) -> None:
        """Places these items below all others, from right to left: their columns count backwards."""
        own = {member: k for k, member in enumerate(members)}
        storey, mirror = Placement(self.far), self._last + 2
        storey._in_time = False
        for item in (self.items[member] for member in members):
            inputs = [own[i] for i in item.inputs if i in own]
            storey.add(Item(inputs, item.leaf), 0, mirror - self.column[item.below] if item.below >= 0 else 0)
        storey.settle()
        down = self._end + BETWEEN - min(storey.slot)
        self._end = storey._end + down
        for member, column, slot in zip(members, storey.column, storey.slot, strict=True):
            self.column[member], self.slot[member] = mirror - column, slot + down
        for (start, end), points in storey.via.items():
            self.via[members[start], members[end]] = [(mirror - column, slot + down) for column, slot in points]
        first = min(0, *(self.column[member] for member in members))
        self.column = [column - first for column in self.column]
        self.via = {key: [(column - first, slot) for column, slot in points] for key, points in self.via.items()}

    def is_back(self, start: int, end: int) -> bool:
        """Whether an edge runs from right to left, in a lower storey."""
        return 0 < self.items[start].storey == self.items[end].storey

    def is_down(self, start: int, end: int) -> bool:
        """Whether an edge comes into a lower storey from above."""
        return 0 < self.items[end].storey != self.items[start].storey

    def is_far(self, start: int, end: int) -> bool:
        """Whether an edge is drawn as a reference: it comes from too many columns away, or up from a lower storey."""
        span = abs(self.column[end] - self.column[start])
        up = self.items[start].storey > self.items[end].storey
        return up or span > (DOWN if self.is_down(start, end) else self.far)

    def _operation(self, index: int, inputs: list[int], least: int) -> None:
        waiting = [i for i in inputs if self.column[i] < 0]
        placed = [i for i in inputs if self.column[i] >= 0]
        main = max(placed, key=self.column.__getitem__, default=-1)
        deep = self._deep[index] or 1
        column = max(least, self._floor + deep - (not waiting), deep + self.column[main] if placed else 0)
        if self._in_time and all(self.items[i].leaf for i in inputs):  # and its leaves just before it
            column = max(column, self._now)
        self._now = column
        self._put(index, column, self._slot_near(main, placed) if placed else 0)
        for i in waiting:
            before = deep if self._deep[i] else 1
            self._put(i, column - before, self.slot[index] + 2 * inputs.index(i) - (len(inputs) - 1))
        if waiting:
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
        if not 2 <= span <= self.far:
            return
        points = []
        lane = self._lane(range(first + 1, first + span), (self.slot[start] + self.slot[end]) // 2)
        for step in range(1, span):
            want = (self.slot[start] * (span - step) + self.slot[end] * step) // span
            slot = self._free(first + step, want, 1) if lane is None else lane
            self._take(first + step, slot, 1)
            points.append((first + step, slot))
        self.via[start, end] = points

    def _lane(self, columns: range, want: int) -> int | None:
        """The half-slot nearest to ``want`` that is free in all these columns, below before above."""
        taken = set[int]().union(*(self._used.get(column, ()) for column in columns))
        near = (want + sign * distance for distance in range(REACH + 1) for sign in (1, -1))
        return next((slot for slot in near if slot not in taken), None)

    def _put(self, index: int, column: int, want: int) -> None:
        slot = self._free(column, want, 2)
        self._take(column, slot, 2)
        self.column[index], self.slot[index] = column, slot
        self._last = max(self._last, column)

    def _take(self, column: int, slot: int, size: int) -> None:
        self._used.setdefault(column, set()).update(range(slot, slot + size))
        self._bottom[column] = max(self._bottom.get(column, slot), slot + size)
        self._end = max(self._end, slot + size)

    def _free(self, column: int, want: int, size: int) -> int:
        """The free place nearest to ``want``, below before above."""
        used = self._used.get(column)
        if not used:
            return want
        for distance in range(REACH + 1):
            for slot in (want + distance, want - distance):
                if all(slot + k not in used for k in range(size)):
                    return slot
        return self._bottom[column]
