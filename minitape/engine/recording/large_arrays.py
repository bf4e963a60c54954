"""Which large arrays a recording holds: those that a rule will read. Of the others an outline stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from .outlines import Outline, outline
from .rows import Leaf
from .sites import Sites

if TYPE_CHECKING:
    from ..table.primitives import Primitive
    from ..tensor.tensor import Tensor
    from ..types import Array


class LargeArrays(Sites):
    """Columns in whose last one arrays beyond ``small`` are only as long as they are needed."""

    large: bool  # whether there are any
    leaves: dict[int, Leaf]
    watchers: Sequence[Callable[[], object]] = ()  # callables of live pictures, see Record.tell()

    def _column_value(
        self, primitive: Primitive, rows: Sequence[int], inputs: Sequence[Tensor], value: Array, tracked: bool
    ) -> Array:
        """Returns the entry of the value column for a result, and stores the input arrays that its rules will read."""
        if tracked and (primitive.keeps is None or primitive.keeps):
            for i, t in enumerate(inputs):
                if (
                    t._value.size > self.small
                    and type(self.stored(rows[i])) is Outline
                    and i in self.read_inputs(primitive, rows)
                ):
                    self.store(rows[i], t._value)
        if value.size <= self.small:
            return value
        self.large = True
        return value if (tracked and primitive.keeps_output) or self.watchers else outline(value.shape, value.dtype)

    def read_inputs(self, primitive: Primitive, rows: Sequence[int]) -> Iterable[int]:
        """Which inputs of an operation the rules will read: beside a Python number, those that the rule of the other
        one reads.
        """
        if primitive.keeps_beside:
            for i, row in enumerate(rows):
                if self.is_number(row):
                    return primitive.keeps_beside[i]
        return range(len(rows)) if primitive.keeps is None else primitive.keeps

    def is_number(self, row: int) -> bool:
        """Whether a row is a Python number, of which no program can want a gradient."""
        leaf = self.leaves.get(row)
        return leaf is not None and leaf.number is not None

    def free(self) -> None:
        """The last tape that could ask was used up: large arrays are released, except those of leaves."""
        held = self.large_arrays()
        for row in held.keys() - self.leaves.keys():
            self.store(row, outline(held[row].shape, held[row].dtype))
        self.large = bool(held.keys() & self.leaves.keys())
