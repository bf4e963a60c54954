"""The rows of a recorded sweep, to be written again.

A sweep under an outer tape writes rows: its rules are operations like any other. On numbers and small arrays nothing
is computed meanwhile, so the rows follow from the structure of the recording alone. Those of a sweep that is met often
are therefore kept, and the next sweep of the same plan adds them to the table as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from .columns import Leaf
from .record import Record
from .state import state
from .tensor import EagerTensor, tensor_of_row


class Repeated:
    """What a sweep has just added behind the first ``start`` rows of a recording.

    Use ``capture``; it gives None for a sweep that did more than write rows. They may be written again where the calls
    ``bound`` have these ``attrs``.
    """

    bound: list[int]
    attrs: list[dict[str, Any]]

    def __init__(self, record: Record, start: int, calls: int) -> None:
        self.rows = record.pending[start << 2 :]
        self.calls = record.calls[calls:]
        self.meta = {r: m for r, m in record.meta.items() if r >= start}
        self.shapes = {shape for shape, _ in self.meta.values()}
        self.late = {r: None for r in record.late if r >= start}
        self.cold = {r for r in record.cold if r >= start}
        self.constants = {number: r for number, r in record.constants.items() if r >= start}
        self.numbers = {r: leaf for r, leaf in record.leaves.items() if r >= start and leaf.number is not None}
        self.known = {r: record.real(leaf.number) for r, leaf in self.numbers.items()}
        self.seeds: list[tuple[int, int]] = []  # (row, the place of the seed that is entered there)
        self.adjoints: dict[int, tuple[Any, int]] = {}  # source -> (shape, row), shape None for a number

    @classmethod
    def capture(cls, record: Record, before: Before, seeds: Sequence[Any], sources: Iterable[int],
                adjoint: Callable[[int], Any]) -> Repeated | None:  # fmt: skip
        """The rows that a sweep from these seeds has written, on a recording that was as noted in ``before``."""
        new = cls(record, before.rows, before.calls)
        if record.base or record.done != before.done or any(c.row not in new.late for c in new.calls):
            return None
        if record.wide:  # large arrays have tensors that are told of their values
            return None
        for row, leaf in record.leaves.items():
            if row >= before.rows and leaf.number is None:
                which = next((k for k, seed in enumerate(seeds) if leaf.tensor is seed), None)
                if which is None:
                    return None
                new.seeds.append((row, which))
        for source in sources:
            found = adjoint(source)
            if found is None:
                continue
            if type(found) is not EagerTensor or found._lane is None or found._lane.home is not record:
                return None
            new.adjoints[source] = (None if found._lane is record else found._dims), found._row
        return new

    def write(self, record: Record, seeds: Sequence[Any]) -> dict[int, Any]:
        """Adds the rows; returns the adjoints of the sources, tensors by row."""
        record._segment(*state.site)
        record.frame = None
        if self.meta or self.calls:
            self._write_arrays(record)
        if self.numbers:
            record.leaves.update(self.numbers)
            record.known.update(self.known)
            record.constants.update(self.constants)
        record.cold |= self.cold
        made = {row: _entered(record, row, seeds[which]) for row, which in self.seeds}
        record.put(self.rows)  # last, so that no row is there before what is known of it
        record.renumber()
        return {
            source: made[row] if row in made else tensor_of_row(record if shape is None else record.lanes[shape], row)
            for source, (shape, row) in self.adjoints.items()
        }

    def _write_arrays(self, record: Record) -> None:
        for shape in self.shapes:
            record.lane_for(shape)
        record.meta.update(self.meta)
        record.calls += self.calls
        record.late.update(self.late)


class Before(NamedTuple):
    """How far a recording was before a sweep."""

    rows: int
    calls: int
    done: int


def _entered(record: Record, row: int, seed: Any) -> Any:
    """A seed as the leaf of this row."""
    record.leaves[row] = Leaf(seed)
    record.leaf_of[id(seed)] = row
    lane = record._set(row, seed._value)
    seed._row, seed._lane, seed._home = row, lane, None if lane is record else record
    return seed
