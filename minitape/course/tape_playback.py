"""Show a wrong program's tape next to the solution's, both on the case that went wrong.

One comparison, `minitape.picture.tape_difference`, gives the sentence and the marks in both pictures.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ..common.translation import join_sentences, say, truncate_text
from ..picture.drawing import draw
from ..picture.snapshots import snapshot
from ..picture.tape_difference import TapeDifference, find_first_difference
from .markdown_lessons import read_lesson
from .widget_base import MISSING

if TYPE_CHECKING:
    from ipywidgets import Accordion

    from ..picture.snapshot_types import RowFields
    from .exercise import Answer, Program

MAX_TAPES = 30  # tapes that are compared
MAX_VALUE_LENGTH = 60


class Playback:
    """Two tapes with their first difference.

    Attributes:
        tapes: The learner's tape and the solution's.
        difference: The first difference between them.
        text: The sentence that describes it.
    """

    def __init__(self, tapes: tuple[Answer, Answer], difference: TapeDifference, text: str) -> None:
        """Store two tapes, their first difference, and the sentence that describes it."""
        self.tapes, self.difference, self.text = tapes, difference, text

    def __repr__(self) -> str:
        """Return the title of the folded box with the sentence."""
        return f"{self._get_title()}: {self.text}"

    def _get_title(self) -> str:
        return say("Your tape beside the solution's")

    def _repr_mimebundle_(self, **options: object) -> dict[str, Any]:  # JSON, as IPython asks for it
        """Return a folded box with both tapes, live; where nothing is live, with their pictures."""
        columns = "".join(
            f'<div style="flex:1 1 400px;min-width:0"><p><b>{escape(title)}</b></p>'
            f"{draw(tape)._repr_mimebundle_()['text/html']}</div>"
            for title, tape in zip(_list_titles(), self.tapes, strict=True)
        )
        page = (
            f"<details><summary>{escape(self._get_title())}</summary><p>{escape(self.text)}</p>"
            f'<div style="display:flex;flex-wrap:wrap;gap:8px">{columns}</div></details>'
        )
        data = {"text/plain": repr(self), "text/html": page}
        box = self.build_box()
        bundle: Any = {} if box is None else box._repr_mimebundle_(**options)  # a dictionary, or two
        return {**(bundle[0] if isinstance(bundle, tuple) else bundle), **data}

    def build_box(self) -> Accordion | None:
        """Build a folded box that makes the two views when it is opened.

        Returns:
            The box, or None if the lesson shows no live pictures.
        """
        widgets = sys.modules.get("minitape_widgets")
        if widgets is None or MISSING:
            return None
        from ipywidgets import HTML, Accordion, VBox

        content = VBox()
        box = Accordion(children=[content], titles=[self._get_title()], selected_index=None)

        def show_both_views(_: object) -> None:
            if not content.children:
                comparison = widgets.TapeView.build_comparison(*self.tapes, self.difference)
                content.children = HTML(escape(self.text)), comparison.build_grid(_list_titles())

        box.observe(show_both_views, "selected_index")
        return box


def _list_titles() -> list[str]:
    return [say("Your tape"), say("The solution's tape")]


def find_solution_text(exercise_name: str) -> str:
    """Find the solution of an exercise.

    Args:
        exercise_name: The name of the exercise.

    Returns:
        The program without its call of `check`; "" if the course has no such exercise.
    """
    return read_lesson(exercise_name.rpartition(".")[0]).solutions.get(exercise_name, "")


def build_solution_function(program: str, learner_function: Program, exercise_name: str = "") -> Program | None:
    """Build the function that the text of a solution defines.

    Args:
        program: The text.
        learner_function: The learner's function, whose module has the names that the text may use.
        exercise_name: The name of the exercise, under which pictures find the text.

    Returns:
        The last function that the text defines, or None if it defines none.
    """
    names = dict(getattr(learner_function, "__globals__", {}))
    names_before = dict(names)
    file_name = say("<solution of {name}>", name=exercise_name) if exercise_name else "<solution>"
    if exercise_name:
        linecache.cache[file_name] = len(program), None, program.splitlines(keepends=True), file_name
    exec(compile(program, file_name, "exec"), names)
    functions = [value for name, value in names.items() if callable(value) and names_before.get(name) is not value]
    return functions[-1] if functions else None


def build_first_difference_playback(
    own_tapes: Sequence[Answer], solution_tapes: Sequence[Answer], is_each_asked_once: bool = True
) -> Playback | None:
    """Build a playback of the first two tapes that differ.

    Args:
        own_tapes: The tapes that the learner's program asked, in turn.
        solution_tapes: The tapes that the solution asked. Of a long run MAX_TAPES and one more are enough.
        is_each_asked_once: Whether each tape was asked once. Otherwise its adjoints are those of the last question and
            are not compared.

    Returns:
        The playback, or None if the tapes agree or one program asked more tapes: then it takes another way, which need
        not be wrong.
    """
    if len(own_tapes[: MAX_TAPES + 1]) != len(solution_tapes[: MAX_TAPES + 1]):
        return None
    for number, tapes in enumerate(zip(own_tapes[:MAX_TAPES], solution_tapes[:MAX_TAPES], strict=True), 1):
        difference = find_first_difference(snapshot(tapes[0]), snapshot(tapes[1]), is_each_asked_once)
        if difference is not None:
            tape_title = say("Tape {number}:", number=number) if len(own_tapes) > 1 else ""
            return Playback(tapes, difference, join_sentences(tape_title, describe_difference(difference)))
    return None


def describe_difference(difference: TapeDifference) -> str:
    """Describe the first difference between a learner's tape and the solution's in the learner's words.

    Args:
        difference: The difference.
    """
    own_row, solution_row = difference.rows
    line = _find_line(own_row)
    where = (
        say("Up to your line {line} both tapes are the same.", line=line)
        if line
        else say("Up to here both tapes are the same.")
    )
    if own_row is None:
        next_line = _find_line(difference.next_rows[0])
        if next_line:
            return say(
                "Before your line {line} the solution has {there}, which your tape lacks.",
                line=next_line,
                there=_describe_row(solution_row),
            )
        return say("Your tape ends, and the solution continues with {there}.", there=_describe_row(solution_row))
    texts = {"here": _describe_row(own_row), "there": _describe_row(solution_row)}
    if solution_row is None:
        return join_sentences(where, say("There yours has {here}, and the solution has nothing like it.", **texts))
    if difference.kind == "recording":
        template = "Your tape recorded {here} there, and the solution's did not."
        if own_row["status"] != "recorded":
            template = "The solution's tape recorded {here} there, and yours did not."
        return join_sentences(where, say(template, **texts))
    if difference.kind == "start" and line:
        return say("In your line {line} the tape has {here}, and the solution has {there}.", line=line, **texts)
    if difference.kind == "start":
        return say("Your tape begins with {here}, and the solution with {there}.", **texts)
    if difference.kind == "adjoint":
        texts = dict(zip(texts, difference.texts, strict=True))
        return join_sentences(
            say("Both tapes have the same rows."),
            say("On the way back yours has {here}, and the solution has {there}.", **texts),
        )
    return join_sentences(where, say("There yours has {here}, and the solution has {there}.", **texts))


def _find_line(row: RowFields | None) -> str:
    return linecache.getline(row["file"] or "", row["line"] or 0).strip() if row else ""


def _describe_row(row: RowFields | None) -> str:
    """Describe a row.

    Returns:
        Its operation or name with its value; only the value of a constant.
    """
    if row is None:
        return ""
    name = str(row["label"] or row["op"]).removesuffix(":0")
    value = truncate_text(" ".join(row["value"]["text"].split()), MAX_VALUE_LENGTH) if row["value"] else ""
    if row["kind"] == "constant" and value:
        return value
    return f"{name} = {value}" if value else name
