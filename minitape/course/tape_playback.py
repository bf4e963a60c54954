"""A wrong program's tape beside that of the lesson's solution, up to the first row whose value or adjoint differs.

Both are run on the same case. The sentence names the row; in a notebook both tapes can be opened below it, and be
stepped through together.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..common.translation import join_sentences, say
from ..engine.hooks import hooks
from ..picture.drawing import draw
from ..picture.snapshots import snapshot
from .markdown_lessons import read_lesson
from .widget_base import MISSING

if TYPE_CHECKING:
    from ipywidgets import Accordion

    from .exercise import Answer, Program

MAX_TAPES = 30  # tapes that are compared


class Playback:
    """Two tapes that part at a row, and the sentence that says so."""

    def __init__(self, tapes: tuple[Answer, Answer], text: str) -> None:
        self.tapes, self.text = tapes, text

    def __repr__(self) -> str:
        return say("Your tape beside the solution's")

    def _repr_mimebundle_(self, **options: object) -> dict[str, Any]:  # JSON, as IPython asks for it
        """Return a folded box with both tapes, live; where nothing is live, with their pictures."""
        pictures = "".join(draw(tape)._repr_mimebundle_()["text/html"] for tape in self.tapes)
        page = f"<details><summary>{self}</summary>{pictures}</details>"
        data = {"text/plain": repr(self), "text/html": page}
        box = self.build_box()
        bundle: Any = {} if box is None else box._repr_mimebundle_(**options)  # a dictionary, or two
        return {**(bundle[0] if isinstance(bundle, tuple) else bundle), **data}

    def build_box(self) -> Accordion | None:
        """Build a folded box that makes the two views when it is opened; None where the lesson shows no live ones."""
        widgets = sys.modules.get("minitape_widgets")
        if widgets is None or MISSING:
            return None
        from ipywidgets import Accordion, VBox

        views_box = VBox()
        box = Accordion(children=[views_box], titles=[repr(self)], selected_index=None)

        def show_both_views(_: object) -> None:
            if not views_box.children:
                views_box.children = widgets.TapeView.compare(*self.tapes).views

        box.observe(show_both_views, "selected_index")
        return box


def find_solution_text(exercise_name: str) -> str:
    """Find the solution of an exercise.

    Args:
        exercise_name: The name of the exercise.

    Returns:
        The program without its call of `check`; "" if the course has no such exercise.
    """
    return read_lesson(exercise_name.rpartition(".")[0]).solutions.get(exercise_name, "")


def build_solution_function(program: str, learner_function: Program) -> Program | None:
    """Build the function that the text of a solution makes, with the names around the learner's; None where it makes
    none.
    """
    names = dict(getattr(learner_function, "__globals__", {}))
    names_before = dict(names)
    exec(program, names)
    functions = [value for name, value in names.items() if callable(value) and names_before.get(name) is not value]
    return functions[-1] if functions else None


def build_first_difference_playback(
    own_tapes: Sequence[Answer], solution_tapes: Sequence[Answer], is_each_asked_once: bool = True
) -> Playback | None:
    """Build a playback of the first two tapes that differ, of those that two programs asked in turn; None where they
    are alike, and where one program asked more tapes: it goes another way, which need not be wrong. Unless
    `is_each_asked_once`, the adjoints are those of a tape's last question, and tell nothing.
    """
    if len(own_tapes) != len(solution_tapes):
        return None
    for number, tapes in enumerate(zip(own_tapes[:MAX_TAPES], solution_tapes[:MAX_TAPES], strict=True), 1):
        if difference := _describe_first_different_row(
            *(_prepare_snapshot_for_diff(snapshot(tape), is_each_asked_once) for tape in tapes)
        ):
            tape_title = say("Tape {number}:", number=number) if len(own_tapes) > 1 else ""
            return Playback(tapes, join_sentences(tape_title, difference))
    return None


def _prepare_snapshot_for_diff(tape_snapshot: Answer, is_asked_once: bool) -> Answer:
    """Prepare a snapshot: no leaf has a name, as another name is no mistake, and each row says whether it is recorded;
    without its sweep where that tells nothing.
    """
    rows = []
    for row in tape_snapshot["rows"]:
        is_unrecorded = row["status"] != "recorded"
        label = say("{operation}, not recorded,", operation=row["label"]) if is_unrecorded else row["label"]
        rows.append({**row, "label": label if row["inputs"] else say("an input")})
    return {**tape_snapshot, "rows": rows, "sweep": tape_snapshot["sweep"] if is_asked_once else None}


def _describe_first_different_row(own_snapshot: Answer, solution_snapshot: Answer) -> str:
    """Describe the first row in which two tapes differ: in what ran there, its value, or the adjoint that arrives.

    A leaf counts where all else is alike: other leaves say no more than that the programs differ.
    """
    if _list_sweep_steps(own_snapshot) != _list_sweep_steps(
        solution_snapshot
    ):  # another question, whose adjoints are others
        own_snapshot, solution_snapshot = (
            {**tape_snapshot, "sweep": None} for tape_snapshot in (own_snapshot, solution_snapshot)
        )
    difference = hooks.first_difference(own_snapshot, solution_snapshot)
    if difference is None:
        return ""
    number, own_text, solution_text = difference
    row_lists = [tape_snapshot["rows"] for tape_snapshot in (own_snapshot, solution_snapshot)]
    row = next((candidate for candidate in row_lists[0] if candidate["row"] == number), None)
    is_same_graph = [row["inputs"] for row in row_lists[0]] == [row["inputs"] for row in row_lists[1]]
    if not is_same_graph and any(
        not candidate["inputs"] for rows in row_lists for candidate in rows if candidate["row"] == number
    ):
        has_later_rows = number > row_lists[1][-1]["row"]  # what is computed of it says more
        return (
            _describe_first_different_row(
                {**own_snapshot, "rows": [candidate for candidate in row_lists[0] if candidate is not row]},
                solution_snapshot,
            )
            if has_later_rows
            else ""
        )
    line = linecache.getline(row["file"] or "", row["line"] or 0).strip() if row else ""
    sentence = say(
        "Row {row} of your tape{line}: {told}.", row=number, line=f" ({line})" if line else "", told=own_text
    )
    return join_sentences(sentence, say("In the solution: {there}.", there=solution_text))


def _list_sweep_steps(tape_snapshot: Answer) -> list[tuple[int, list[int]]]:
    """List the rows through which a sweep goes, and those that each hands something to."""
    steps = (tape_snapshot["sweep"] or {"steps": []})["steps"]
    return [(step["row"], [edge["input"] for edge in step["edges"]]) for step in steps]
