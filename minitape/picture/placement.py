"""Places the nodes of a picture by the same rule as widgets/frontend/src/place.ts, which says why.

The rule is written twice because each side needs it without the other: the browser places nodes again when a learner
folds, also on a page without Python, and the static picture is drawn without a browser. tests/widgets/placements.json
tests both.

One pass in the order of rows. Columns run with time: a node is right of all its inputs, and a new ``section``
begins right of everything before. Heights are in half-slots: a node takes two, an edge that passes a column takes one.
"""

from __future__ import annotations

from collections.abc import Sequence

FAR = 6  # an input further back than this many columns is drawn as a small reference, not as a long edge
REACH = 24  # how many places to try on both sides before going past the end of a column


class Placement:
    """Places items as they come; ``column[i]`` and ``slot[i]`` do not change when more are added.

    >>> p = Placement()
    >>> p.add([], leaf=True)
    >>> p.add([0, 0])
    >>> p.settle()
    >>> p.column, p.slot
    ([0, 1], [0, 0])
    """

    def __init__(self, far: int = FAR) -> None:
        self.far = far  # an edge that goes further is no long line: no room is kept for it
        self.column: list[int] = []
        self.slot: list[int] = []
        self.via: dict[tuple[int, int], list[tuple[int, int]]] = {}  # (from, to) -> points that the edge passes
        self._used: dict[int, set[int]] = {}
        self._bottom: dict[int, int] = {}  # first half-slot below everything in a column
        self._pending: list[int] = []  # leaves that nothing has read yet
        self._leaf: list[bool] = []
        self._floor, self._last, self._now = 0, -1, 0
        self._section: object = None

    def add(self, inputs: Sequence[int], *, leaf: bool = False, section: object = None) -> None:
        """Adds an item with the indices of its inputs; a leaf waits for its first reader."""
        if self.column and section != self._section:
            self._end_section()
        self._section = section
        index = len(self.column)
        self.column.append(-1)
        self._leaf.append(leaf)
        self.slot.append(0)
        if leaf:
            self._pending.append(index)
        else:
            self._operation(index, list(dict.fromkeys(inputs)))

    def settle(self) -> None:
        """Places the leaves that nothing reads."""
        for index in self._pending:
            self._put(index, self._floor, 0)
        self._pending = []

    def _end_section(self) -> None:
        self.settle()
        self._floor = self._last + 1

    def _operation(self, index: int, inputs: list[int]) -> None:
        waiting = [i for i in inputs if self.column[i] < 0]
        placed = [i for i in inputs if self.column[i] >= 0]
        main = max(placed, key=self.column.__getitem__, default=-1)
        column = max(self._floor + bool(waiting), 1 + self.column[main] if placed else 0)
        if all(self._leaf[i] for i in inputs):  # as far right as the operation before it, its leaves just before it
            column = max(column, self._now)
        self._now = column
        self._put(index, column, self._slot_near(main, placed) if placed else 0)
        for i in waiting:
            self._put(i, column - 1, self.slot[index] + 2 * inputs.index(i) - (len(inputs) - 1))
        if waiting:
            self._pending = [i for i in self._pending if self.column[i] < 0]
        for i in placed:
            self._route(i, index)

    def _slot_near(self, main: int, inputs: list[int]) -> int:
        """The height of the last input; of three or more leaves in its column that of the middle one."""
        slots = sorted(self.slot[i] for i in inputs if self._leaf[i] and self.column[i] == self.column[main])
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
