"""What tapes, graphs and sessions ask of a ragged tensor: its gradient, its components, and another one of other components."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.convert import convert_to_tensor
from . import checks
from .parts import Parts, is_ragged
from .value import RaggedTensorValue


class Composite(Parts):
    """A ragged tensor as one value of a graph, which consists of several tensors."""

    __slots__ = ()

    _of: Any
    to_list: Any
    with_flat_values: Any

    def _watch_on(self, tape: Any) -> None:
        from ...engine.logs import warn_not_watchable

        tape.watch(self.flat_values)
        warn_not_watchable(self.row_splits.dtype)

    def _gradient_leaf(self) -> Any:
        return self.flat_values

    def _like_gradient(self, gradient: Any) -> Any:
        return self.with_flat_values(convert_to_tensor(gradient))

    def _to_tensor(self, dtype: Any = None) -> Any:
        raise ValueError("TypeError: object of type 'RaggedTensor' has no len()\n")

    def _print_text(self, limit: int) -> str:
        from ...ops.printing import ragged_text

        return ragged_text(self.to_list(), limit)

    def _components(self) -> list[Any]:
        """The flat values and the row splits, the outermost first."""
        return [self.flat_values, *self.nested_row_splits]

    def _as_value(self, parts: list[Any]) -> RaggedTensorValue:
        """What a session gives for it, of its components' arrays."""
        made, *splits = parts
        for cuts in reversed(splits):
            made = RaggedTensorValue(made, cuts)
        return made

    def _rebuilt(self, parts: list[Any]) -> Any:
        """The same partitions of one length with other components."""
        uniform, level = [], self
        while is_ragged(level):
            uniform.append(level._uniform)
            level = level._values
        made = parts[0]
        for splits, length in reversed(list(zip(parts[1:], uniform, strict=True))):
            made = self._of(made, checks.cuts_of(splits), length)
        return made

    def _without_lengths(self, other: Any = None) -> Any:
        """The same without the lengths of rows, but for those that ``other`` has, too."""
        inner = self._values
        if is_ragged(inner):
            inner = inner._without_lengths(None if other is None else other._values)
        return self._of(inner, self._cuts, None if other is None or self._uniform != other._uniform else self._uniform)

    def _has_known_rows(self) -> bool:
        inner = self._values
        return type(self._cuts) is np.ndarray and (not is_ragged(inner) or inner._has_known_rows())

    def _opened(self) -> Any:
        """The same as a value of a graph that may get other rows: its splits are tensors, as if a run made them."""
        inner = self._values._opened() if is_ragged(self._values) else self._values
        return self._of(inner, self.row_splits, None)
