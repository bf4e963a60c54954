"""Two views whose steps go together, and where their tapes begin to differ."""

from __future__ import annotations

from html import escape
from typing import Any

from minitape.common.write_beside import write
from minitape.course.widget import MISSING
from minitape.picture.words import word

from .page import page


class Comparison:
    """Two views, and the first row that differs: ``row`` is its number, None where the tapes are alike."""

    def __init__(self, views: tuple[Any, Any], found: tuple[int, str, str] | None) -> None:
        self.views = views
        self.row = None if found is None else found[0]
        self._words = found

    def __repr__(self) -> str:
        if self._words is None:
            return word("The two tapes are alike, row by row.")
        row, here, there = self._words
        return word("Row {row} is the first that differs: {here}, but {there}.", row=row, here=here, there=there)

    def save(self, path: Any) -> None:
        """Writes a page (``.html``) with both tapes, which step together without a kernel. Raises ValueError for
        another ending.
        """
        if not str(path).lower().endswith((".html", ".htm")):
            raise ValueError(
                f"A comparison is saved as a page, .html, but received {str(path)!r}. Each of its .views saves a "
                "figure."
            )
        both = [view._fresh() for view in self.views]
        write(path, page({"both": both}))

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Both views, beside each other where there is room; and their static pictures, which notebooks show without a
        kernel.
        """
        bundles: list[Any] = [view._repr_mimebundle_(**options) or ({}, {}) for view in self.views]
        data = {"text/plain": repr(self)}
        if any("text/html" in one for one, _ in bundles):
            data["text/html"] = f"<p>{escape(repr(self))}</p>" + "".join(one.get("text/html", "") for one, _ in bundles)
        if MISSING:
            return data, {}
        from ipywidgets import GridBox, Layout

        self._box = GridBox(
            self.views,
            layout=Layout(grid_template_columns="repeat(auto-fit, minmax(min(100%, 660px), 1fr))", grid_gap="8px"),
        )
        box = self._box._repr_mimebundle_(**options) or {}
        return box | data, {}
