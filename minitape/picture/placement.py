"""Places the nodes of a static picture by the rule of widgets/frontend/src/place.ts, which says why; the live picture
also folds, and has small nodes. tests/widgets/placements.json tests both.

One pass in the order of rows. Columns run with time: a node is right of all its inputs, and a new ``section``
begins right of everything before. Heights are in half-slots: a node takes two, an edge that passes a column takes one.
What a gradient wrote is in a tier of its own, which runs back: each row is below the one whose adjoint it adds to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

MAX_EDGE_COLUMNS = 6  # an input further back than this many columns is drawn as a small reference, not as a long edge
MAX_SLOT_DISTANCE = 24  # how many places to try on both sides before going past the end of a column
TIER_GAP = 2  # half-slots between two tiers, for the frames around them


class PlacementItem(NamedTuple):
    """What is placed: the indices of its inputs; in a lower ``tier`` also the item that it is ``below``."""

    inputs: Sequence[int]
    is_leaf: bool = False
    section: object = None
    tier: int = 0
    below: int = -1


class Placement:
    """The places of items: ``column[i]``, ``slot[i]``, and in ``passed_points`` the points that edges pass.

    >>> leaf, square = PlacementItem([], is_leaf=True), PlacementItem([0, 0])
    >>> placed = Placement([leaf, square, PlacementItem([1, 0], tier=1, below=0)])
    >>> placed.column, placed.slot
    ([0, 1, 0], [0, 0, 4])
    """

    def __init__(self, items: Sequence[PlacementItem]) -> None:
        self.items = items
        self.column = [-1] * len(items)
        self.slot = [0] * len(items)
        self.passed_points: dict[
            tuple[int, int], list[tuple[int, int]]
        ] = {}  # (from, to) -> points that the edge passes
        self._depths_below = [0] * len(items)  # how many columns the rows take that are below an item
        self._used_slots: dict[int, set[int]] = {}
        self._first_column, self._last_column, self._current_column, self._end_slot = 0, -1, 0, 0
        levels: list[int] = []  # of a row that is below an item: the how many-th it is
        for item in items:
            levels_below = (levels[i] for i in item.inputs if items[i].below == item.below)
            levels.append(1 + max(levels_below, default=0) if item.tier and not item.is_leaf else 0)
            if item.below >= 0:
                self._depths_below[item.below] = max(self._depths_below[item.below], levels[-1])
        section = items[0].section if items else None
        for index, item in enumerate(items):
            if item.tier:
                continue
            if item.section != section:
                self._place_unread_leaves_before(index)
                section, self._first_column = item.section, self._last_column + 1
            if not item.is_leaf:  # a leaf waits for its first consumer
                self._place_operation_and_leaves(index, [i for i in dict.fromkeys(item.inputs) if not items[i].tier])
        self._place_unread_leaves_before(len(items))
        for tier in sorted({item.tier for item in items} - {0}):
            self._place_lower_tier([i for i, item in enumerate(items) if item.tier == tier])

    def _place_unread_leaves_before(self, end: int) -> None:
        """Place the leaves before an item that no other item has consumed."""
        for index in range(end):
            if self.column[index] < 0 and not self.items[index].tier:
                self._place_item_near_slot(index, self._first_column, 0)

    def _place_operation_and_leaves(self, index: int, inputs: list[int]) -> None:
        placed_inputs = [i for i in inputs if self.column[i] >= 0]
        waiting_leaves = [i for i in inputs if self.column[i] < 0]
        main_input = max(placed_inputs, key=self.column.__getitem__, default=-1)
        depth = self._depths_below[index] or 1
        column = max(
            self._first_column + depth - (not waiting_leaves), depth + self.column[main_input] if placed_inputs else 0
        )
        if all(
            self.items[i].is_leaf for i in inputs
        ):  # it is as far as what ran before it, and its leaves just before it
            column = max(column, self._current_column)
        self._current_column = column
        self._place_item_near_slot(
            index, column, self._choose_slot_beside_inputs(main_input, placed_inputs) if placed_inputs else 0
        )
        for i in waiting_leaves:
            columns_before = depth if self._depths_below[i] else 1
            self._place_item_near_slot(
                i, column - columns_before, self.slot[index] + 2 * inputs.index(i) - (len(inputs) - 1)
            )
        for i in placed_inputs:
            self._take_slots_for_edge(i, index)

    def _place_lower_tier(self, members: list[int]) -> None:
        """Place these items below all others, each below its own, or with its inputs left of there."""
        top, self._used_slots, self._end_slot = self._end_slot + TIER_GAP, {}, 0
        for index in members:
            inputs, _, _, tier, item_below = self.items[index]
            tier_inputs = [i for i in dict.fromkeys(inputs) if self.items[i].tier == tier]
            main_input = min(tier_inputs, key=self.column.__getitem__, default=index)
            max_column = self.column[item_below] if item_below >= 0 else self._last_column + 1
            self._place_item_near_slot(
                index, min([max_column, *(self.column[i] - 1 for i in tier_inputs)]), self.slot[main_input]
            )
            for i in tier_inputs:
                self._take_slots_for_edge(i, index)
        shift = top - min(self.slot[index] for index in members)
        self._end_slot += shift
        for index in members:
            self.slot[index] += shift
        min_column = min(0, *self.column)
        self.column = [column - min_column for column in self.column]
        for (_, end), points in self.passed_points.items():
            points[:] = [(column - min_column, slot + shift * (end in members)) for column, slot in points]

    def _choose_slot_beside_inputs(self, main_input: int, inputs: list[int]) -> int:
        """Return the height of the last input; of three or more leaves in its column that of the middle one."""
        slots = sorted(
            self.slot[i] for i in inputs if self.items[i].is_leaf and self.column[i] == self.column[main_input]
        )
        return self.slot[main_input] if len(slots) < 3 else slots[(len(slots) - 1) // 2]

    def _take_slots_for_edge(self, start: int, end: int) -> None:
        """Take one half-slot in each column that a near edge passes: the same in all if there is one."""
        first, last, start_slot, end_slot = self.column[start], self.column[end], self.slot[start], self.slot[end]
        columns = range(first + 1, last) or range(first - 1, last, -1)
        if not 0 < len(columns) < MAX_EDGE_COLUMNS:
            return
        span, free_lane = abs(last - first), self._find_nearest_free_slot(columns, (start_slot + end_slot) // 2, 1)
        self.passed_points[start, end] = []
        for step, column in enumerate(columns, 1):
            wanted_slot = (start_slot * (span - step) + end_slot * step) // span if free_lane is None else free_lane
            self.passed_points[start, end].append((column, self._take_nearest_free_slot(column, wanted_slot, 1)))

    def _place_item_near_slot(self, index: int, column: int, wanted_slot: int) -> None:
        self.column[index], self.slot[index] = column, self._take_nearest_free_slot(column, wanted_slot, 2)
        self._last_column = max(self._last_column, column)

    def _take_nearest_free_slot(self, column: int, wanted_slot: int, size: int) -> int:
        """Take the free slot nearest to ``wanted_slot``, and return it."""
        slot = self._find_nearest_free_slot([column], wanted_slot, size)
        used_slots = self._used_slots.setdefault(column, set())
        slot = max(used_slots) + 1 if slot is None else slot
        used_slots.update(range(slot, slot + size))
        self._end_slot = max(self._end_slot, slot + size)
        return slot

    def _find_nearest_free_slot(self, columns: Iterable[int], wanted_slot: int, size: int) -> int | None:
        """Find the slot nearest to ``wanted_slot`` that is free in all these columns, below before above."""
        used_slots = set[int]().union(*(self._used_slots.get(column, ()) for column in columns))
        candidates = (wanted_slot + sign * distance for distance in range(MAX_SLOT_DISTANCE + 1) for sign in (1, -1))
        return next((slot for slot in candidates if used_slots.isdisjoint(range(slot, slot + size))), None)
