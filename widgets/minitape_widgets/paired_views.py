"""Show two views that step together, and the first difference between their tapes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from minitape.common.atomic_write import write_file
from minitape.course.widget_base import MISSING
from minitape.picture.expressions import format_row_title
from minitape.picture.picture_texts import translate
from minitape.picture.tape_difference import MAX_VALUE_LETTERS, TapeDifference, is_same_value
from minitape.picture.value_display import format_magnitude

from .comparison_figure import draw_comparison
from .saved_page import build_html_page

if TYPE_CHECKING:
    from minitape.picture.snapshot_types import RowFields, Snapshot

    from .view import TapeView


class Comparison:
    """The result of ``TapeView.compare``, which a notebook shows as two views that step together.

    Attributes:
        views: The two views.
        row: The number of the first row that differs, or None if the tapes are equal.
    """

    def __init__(self, views: tuple[TapeView, TapeView], difference: TapeDifference | None) -> None:
        """Store the views, and the difference as ``find_first_difference`` returns it."""
        self.views = views
        self.row = None if difference is None else difference.places[0]
        self._difference = difference

    def __repr__(self) -> str:
        """Describe the first row that differs."""
        if self._difference is None:
            return translate("The two tapes are the same, row by row.")
        (here, there), rows = self._difference.texts, self._difference.rows
        row = self._difference.places[0]
        if rows[0] is None:
            return translate("Before row {row}, only the second tape has {there}.", row=row, there=there)
        if rows[1] is None:
            return translate("Only the first tape has row {row}: {here}.", row=row, here=here)
        return translate(
            "Row {row} is the first row that differs: {here} on the first tape, but {there} on the second tape.",
            row=row,
            here=here,
            there=there,
        )

    def save(self, path: Any) -> None:
        """Write a self-contained HTML page with both tapes, which step together without a kernel.

        Args:
            path: The file, whose name ends in ``.html`` or ``.htm``.

        Raises:
            ValueError: If the file name has a different ending.
        """
        if not str(path).lower().endswith((".html", ".htm")):
            raise ValueError(
                f"A comparison can only be saved as an .html page, but received {str(path)!r}. To save a figure, use "
                "one of its .views."
            )
        snapshots = [view.read_snapshot() for view in self.views]
        write_file(path, build_html_page({"both": snapshots}))

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Return both views, next to each other if there is room, with the static pictures for use without a kernel."""
        bundles: list[Any] = [view._repr_mimebundle_(**options) or ({}, {}) for view in self.views]
        data = {"text/plain": repr(self)}
        if any("text/html" in view_data for view_data, _ in bundles):
            data["text/html"] = f"<p>{escape(repr(self))}</p>" + "".join(
                view_data.get("text/html", "") for view_data, _ in bundles
            )
        if MISSING:
            return data, {}
        self._grid = self.build_grid()
        grid_data = self._grid._repr_mimebundle_(**options) or {}
        return grid_data | data, {}

    def build_grid(self, titles: Sequence[str] = ()) -> Any:
        """Build a widget that shows both views, next to each other if there is room.

        Args:
            titles: A title for each view, or an empty sequence for no titles.
        """
        from ipywidgets import HTML, GridBox, Layout, VBox

        boxes = [VBox([HTML(f"<b>{escape(title)}</b>"), view]) for title, view in zip(titles, self.views, strict=False)]
        return GridBox(
            boxes or self.views,
            layout=Layout(grid_template_columns="repeat(auto-fit, minmax(min(100%, 900px), 1fr))", grid_gap="8px"),
        )


def find_different_update(first: Snapshot, second: Snapshot) -> TapeDifference | None:
    """Find the first variable to which two programs with equal tapes assigned different values after the gradient.

    Args:
        first: A snapshot.
        second: The other snapshot.
    """
    for own, other in zip(list_updates(first), list_updates(second), strict=False):
        if own["name"] == other["name"] and not is_same_value(own["value"], other["value"]):
            here, there = (
                translate(
                    "{name} = {value} after the update",
                    name=format_row_title(row),
                    value=format_magnitude(row["value"], MAX_VALUE_LETTERS) if row["value"] else translate("released"),
                )
                for row in (own, other)
            )
            # The rows have the same value until the step of the update, so they are not marked as changed.
            return TapeDifference("update", (own, other), (own["row"], other["row"]), (here, there), ([], []))
    return None


def list_updates(snapshot: Snapshot) -> list[RowFields]:
    """List the rows of the variables in the gradient call that is shown, each with its value after the gradient.

    Args:
        snapshot: The snapshot of a tape.
    """
    rows = {row["row"]: row for row in snapshot["rows"]}
    return [
        {**rows[source["at"]], "value": source["now"] or rows[source["at"]]["value"]}
        for result in snapshot["results"]
        for source in result["sources"]
        if result["shown"] and source["at"] in rows
    ]


def describe_difference(difference: TapeDifference) -> tuple[str, str]:
    """Describe the first difference between two tapes for the view of each tape.

    Args:
        difference: The difference.
    """
    here, there = difference.texts
    if difference.rows[0] is None:
        return translate("not on this tape: {there}", there=there), translate("inserted: {here}", here=there)
    if difference.rows[1] is None:
        return translate("inserted: {here}", here=here), translate("not on this tape: {there}", there=here)
    first, second = (
        translate("{here} on this tape, {there} on the other tape", here=text, there=other_text)
        for text, other_text in (difference.texts, difference.texts[::-1])
    )
    return first, second


class Compared(Protocol):
    """A comparison of a learner's tape with the solution's tape, as the course builds it."""

    tapes: tuple[Any, Any]
    names: tuple[dict[str, Any], dict[str, Any]]
    snapshots: tuple[Snapshot, Snapshot]
    difference: TapeDifference
    text: str
    results: tuple[str, str]


def build_comparison_bundle(
    compared: Compared, titles: Sequence[str], tape_titles: Sequence[str], options: dict[str, Any]
) -> dict[str, Any]:
    """Build a comparison's notebook output, a folded picture with live views if a kernel is running.

    Args:
        compared: The comparison.
        titles: The title of the folded box, and of the folded box with live views inside it.
        tape_titles: The titles of the tapes.
        options: The options of IPython.
    """
    page = f"<p>{escape(compared.text)}</p>"
    page += draw_comparison(tape_titles, compared.snapshots, compared.results, compared.difference)
    data = {"text/html": f"<details><summary>{escape(titles[0])}</summary>{page}</details>"}
    if MISSING:
        return data
    bundle: Any = build_comparison_box(compared, page, titles, tape_titles)._repr_mimebundle_(**options)
    return (bundle[0] if isinstance(bundle, tuple) else bundle) | data


def build_comparison_box(compared: Compared, page: str, titles: Sequence[str], tape_titles: Sequence[str]) -> Any:
    """Build a folded box with a page, and below the page another folded box with two live views.

    Both are built when their box is opened.

    Args:
        compared: The comparison.
        page: The page, as HTML.
        titles: The titles of the two boxes.
        tape_titles: The titles of the views.
    """
    from ipywidgets import HTML, Accordion, VBox

    from .view import TapeView

    content, views = VBox(), VBox()
    box, views_box = (
        Accordion(children=[inside], titles=[title], selected_index=None)
        for inside, title in zip((content, views), titles, strict=True)
    )

    def show_page(_: object) -> None:
        content.children = content.children or (HTML(page), views_box)

    def show_views(_: object) -> None:
        if not views.children:
            comparison = TapeView.build_comparison(
                *compared.tapes, compared.snapshots, compared.difference, [*compared.names]
            )
            views.children = (comparison.build_grid(tape_titles),)

    box.observe(show_page, "selected_index")
    views_box.observe(show_views, "selected_index")
    return box
