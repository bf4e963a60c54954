"""Compute the layout of a static picture.

The algorithm is the same as in widgets/frontend/src/place.ts, which explains it and also handles the folds and small
nodes of the live picture. The cases in tests/widgets/placements.json test both implementations.

Nodes are placed in one pass, in the order of their rows. Columns follow time: a node is to the right of all its inputs,
and a new ``section`` begins to the right of all earlier nodes. Heights are measured in half-slots. A node occupies two
half-slots, and an edge that passes a column occupies one. Rows written by a gradient are in a lower tier, which runs
from right to left and in which each row is below the row to whose adjoint it contributes.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..engine.types import NumberPair, OptionalNumber, RowList, RowSequence

MAX_EDGE_COLUMNS = 6  # An edge across more columns occupies no slots, because it is drawn as a small reference.
MAX_SLOT_DISTANCE = 24  # If no slot is free within this distance, the node is placed at the end of its column.
TIER_GAP = 2  # The number of half-slots between two tiers, which leaves room for their frames.


class PlacementItem(NamedTuple):
    """A node to place.

    Attributes:
        inputs: The indices of the items that are its inputs.
        is_leaf: Whether the item is placed only with its first consumer, next to it.
        section: Any value. If it changes from one item to the next, a new section begins.
        tier: 0, or the number of a lower tier. Tiers are placed in the order of their numbers.
        below: In a lower tier, the index of the item below which this item is placed, or -1.
    """

    inputs: RowSequence
    is_leaf: bool = False
    section: object = None
    tier: int = 0
    below: int = -1


class Placement:
    """The positions of items, and the points that edges pass through.

    Attributes:
        items: The items, in the order of their rows.
        column: The column of each item, from 0 on the left.
        slot: The vertical position of each item in half-slots, which may be negative. Larger values are further down.
        passed_points: The (column, slot) points that an edge passes through between its ends, by the edge's (start,
            end) items. Edges across MAX_EDGE_COLUMNS columns or more have no entry.

    >>> leaf, square = PlacementItem([], is_leaf=True), PlacementItem([0, 0])
    >>> placed = Placement([leaf, square, PlacementItem([1, 0], tier=1, below=0)])
    >>> placed.column, placed.slot
    ([0, 1, 0], [0, 0, 4])
    """

    def __init__(self, items: Sequence[PlacementItem]):
        """Place the items, whose inputs must have lower indices than the items themselves."""
        self.items = items
        self.column = [-1] * len(items)
        self.slot = [0] * len(items)
        self.passed_points: dict[NumberPair, list[NumberPair]] = {}
        self._depths_below = [0] * len(items)  # The number of columns that the items below each item occupy.
        self._used_slots: dict[int, set[int]] = {}
        self._first_column = 0
        self._last_column = -1
        self._current_column = 0
        self._beginnings = 0  # The number of operations before it, in its column, that also read only leaves.
        self._end_slot = 0
        levels: list[int] = []  # The position of each item in the chain of items that are below the same item.
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
                section = item.section
                self._first_column = self._last_column + 1
            if not item.is_leaf:  # A leaf is placed with its first consumer.
                self._place_operation_and_leaves(index, [i for i in dict.fromkeys(item.inputs) if not items[i].tier])
        self._place_unread_leaves_before(len(items))
        for tier in sorted({item.tier for item in items} - {0}):
            self._place_lower_tier([i for i, item in enumerate(items) if item.tier == tier])

    def find_slot_before_end(self, start: int, end: int) -> int:
        """Return the last slot that an edge passes before it reaches its end, or the slot of its start.

        Args:
            start: The index of the item at which the edge starts.
            end: The index of the item at which it ends.
        """
        return self.passed_points.get((start, end), [(0, self.slot[start])])[-1][1]

    def _place_unread_leaves_before(self, end: int) -> None:
        """Place the items before index ``end`` that have no position yet: leaves that no item has consumed."""
        for index in range(end):
            if self.column[index] < 0 and not self.items[index].tier:
                self._place_item_near_slot(index, self._first_column, 0)

    def _place_operation_and_leaves(self, index: int, inputs: RowList) -> None:
        """Place an operation to the right of its inputs, and its unplaced leaves to the left of the operation."""
        placed_inputs = [i for i in inputs if self.column[i] >= 0]
        waiting_leaves = [i for i in inputs if self.column[i] < 0]
        main_input = max(placed_inputs, key=self.column.__getitem__, default=-1)
        depth = self._depths_below[index] or 1
        column = max(
            self._first_column + depth - (not waiting_leaves), depth + self.column[main_input] if placed_inputs else 0
        )
        if all(self.items[i].is_leaf for i in inputs):
            # Only leaves come before the operation, so it is placed next to the previous operation.
            column = max(column, self._current_column)
        self._beginnings = 0 if placed_inputs or column != self._current_column else self._beginnings + 1
        self._current_column = column
        wanted_slot = self._choose_slot_beside_inputs(main_input, placed_inputs) if placed_inputs else 0
        if self._beginnings > 1:  # Of many operations that read only leaves, each is below the one before.
            wanted_slot = max(self._used_slots[column]) + 1
        self._place_item_near_slot(index, column, wanted_slot)
        for i in waiting_leaves:
            columns_before = depth if self._depths_below[i] else 1
            self._place_item_near_slot(
                i, column - columns_before, self.slot[index] + 2 * inputs.index(i) - (len(inputs) - 1)
            )
        for i in placed_inputs:
            self._take_slots_for_edge(i, index)

    def _place_lower_tier(self, members: RowList) -> None:
        """Place the items of a lower tier below all items placed so far.

        Each item is placed below the item in ``below``, or further left so that it is to the left of its inputs.
        """
        top = self._end_slot + TIER_GAP
        self._used_slots = {}
        self._end_slot = 0
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

    def _choose_slot_beside_inputs(self, main_input: int, inputs: RowList) -> int:
        """Return the slot of the rightmost input, or of the middle one if its column has three or more inputs."""
        slots = sorted(self.slot[i] for i in inputs if self.column[i] == self.column[main_input])
        return self.slot[main_input] if len(slots) < 3 else slots[(len(slots) - 1) // 2]

    def _take_slots_for_edge(self, start: int, end: int) -> None:
        """Reserve a half-slot in each column that an edge passes, if possible the same half-slot in all columns."""
        first = self.column[start]
        last = self.column[end]
        start_slot = self.slot[start]
        end_slot = self.slot[end]
        columns = range(first + 1, last) or range(first - 1, last, -1)
        if not 0 < len(columns) < MAX_EDGE_COLUMNS:
            return
        span = abs(last - first)
        free_lane = self._find_nearest_free_slot(columns, (start_slot + end_slot) // 2, 1)
        self.passed_points[start, end] = []
        for step, column in enumerate(columns, 1):
            wanted_slot = (start_slot * (span - step) + end_slot * step) // span if free_lane is None else free_lane
            self.passed_points[start, end].append((column, self._take_nearest_free_slot(column, wanted_slot, 1)))

    def _place_item_near_slot(self, index: int, column: int, wanted_slot: int) -> None:
        self.column[index], self.slot[index] = column, self._take_nearest_free_slot(column, wanted_slot, 2)
        self._last_column = max(self._last_column, column)

    def _take_nearest_free_slot(self, column: int, wanted_slot: int, size: int) -> int:
        """Reserve ``size`` half-slots as near to ``wanted_slot`` as possible, and return the first of them."""
        slot = self._find_nearest_free_slot([column], wanted_slot, size)
        used_slots = self._used_slots.setdefault(column, set())
        slot = max(used_slots) + 1 if slot is None else slot
        used_slots.update(range(slot, slot + size))
        self._end_slot = max(self._end_slot, slot + size)
        return slot

    def _find_nearest_free_slot(self, columns: Iterable[int], wanted_slot: int, size: int) -> OptionalNumber:
        """Find the slot nearest to ``wanted_slot`` with ``size`` free half-slots in all the given columns.

        If two slots are equally near, the lower one in the picture is preferred. Returns None if no slot is free.
        """
        used_slots = set[int]().union(*(self._used_slots.get(column, ()) for column in columns))
        candidates = (wanted_slot + sign * distance for distance in range(MAX_SLOT_DISTANCE + 1) for sign in (1, -1))
        return next((slot for slot in candidates if used_slots.isdisjoint(range(slot, slot + size))), None)
