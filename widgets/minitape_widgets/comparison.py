"""Two views below each other, and where their tapes begin to differ."""

from __future__ import annotations

from typing import Any


class Comparison:
    """Two views, and the first row that differs: ``row`` is its number, None where the tapes are alike."""

    def __init__(self, views: tuple[Any, Any], found: tuple[int, str, str] | None) -> None:
        self.views = views
        self.row = None if found is None else found[0]
        self._words = found

    def __repr__(self) -> str:
        if self._words is None:
            return "The two tapes are alike, row by row."
        row, here, there = self._words
        return f"Row {row} is the first that differs: {here}, but {there}."

    def _ipython_display_(self) -> None:
        from IPython.display import display

        print(repr(self))
        display(*self.views)
