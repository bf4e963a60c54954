"""Predict, run, explain: a learner commits to a prediction, runs the cell, and sees both side by side."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .compare import as_array, compare
from .progress import change_progress, read_progress
from .texts import cut, say

if TYPE_CHECKING:
    from ..engine.typed import Object
    from .choices import Choices
    from .exercise import Answer

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class Question:
    """What `predict` shows: buttons to choose from in a live notebook, plain text everywhere else."""

    def __init__(self, name: str, text: str, choices: Sequence[str]):
        self.name, self.lesson = name, name.rpartition(".")[0]
        self.text = say(text, self.lesson)
        self.meant = {say(choice, self.lesson): choice for choice in choices}  # as shown -> as the program has it
        self.choices = tuple(self.meant)

    def __repr__(self) -> str:
        """The question with its choices, as text that is the same in every run, and does not look like buttons."""
        return "\n".join(
            [say("Predict: {text}", text=self.text), *(f"  - {choice}" for choice in self.choices), say("To choose, run this cell.")]
        )

    def commit(self, choice: str) -> str:
        """Record a prediction, and give back the sentence that confirms it.

        Raises ValueError if `choice` is not among the choices.
        """
        if choice not in self.choices:
            raise ValueError(f"{choice!r} is not a choice; choose from {', '.join(map(repr, self.choices))}")
        change_progress(self.name, lambda kept: kept["predictions"].__setitem__(self.name, self.meant[choice]))
        return say("You predict: {choice}. Now run the next cell.", choice=choice)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> tuple[dict[str, object], dict[str, object]]:
        bundle: Object = self._widget()._repr_mimebundle_() or {}
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        return {**data, "text/plain": repr(self)}, {WIDGET_VIEW: {"shown": time.time()}}

    def _widget(self) -> Choices:
        """The question as a Jupyter widget, with what was chosen before."""
        from .choices import Choices

        before = read_progress()["predictions"].get(self.name)
        chosen = next((shown for shown, choice in self.meant.items() if choice == before), before)
        return Choices(self.text, self.choices, self.commit, chosen)


def predict(name: str, text: str, choices: Sequence[Answer]) -> Question:
    """Ask for a prediction before an important cell; the choice is kept in the learner's progress.

    >>> predict("demo.p1", "What will y be?", [6.0, 9.0])
    Predict: What will y be?
      - 6.0
      - 9.0
    To choose, run this cell.
    """
    return Question(name, text, [str(choice) for choice in choices])


def reveal(name: str, truth: Answer) -> None:
    """Print the learner's prediction beside the truth.

    >>> reveal("demo.p0", 9.0)
    You made no prediction here. The truth: 9.0
    """
    shown, lesson = _text(truth), name.rpartition(".")[0]
    predicted = read_progress()["predictions"].get(name)
    said = {"truth": say(shown, lesson), "predicted": say(predicted or "", lesson)}
    if predicted is None:
        print(say("You made no prediction here. The truth: {truth}", **said))
    elif predicted in (shown, _as_list(truth)) or _same_number(predicted, truth):
        print(say("You predicted {predicted}, and so it is: {truth}", **said))
    else:
        print(say("You predicted {predicted}. The truth: {truth}", **said))
        print(say("Stop here for a moment: which step did you see differently?"))


LONGEST = 1000


def _text(value: Answer) -> str:
    """A value in words that are not longer than anyone reads; of what cannot be shown, what it is."""
    try:
        return cut(str(as_array(value)), LONGEST)
    except Exception:  # a learner's own class can raise anything, and Python does for what is nested too deep
        return f"<{type(value).__name__}>"


def _as_list(truth: Answer) -> str:
    """An array as a choice is written, with commas."""
    try:
        value = as_array(truth)
        return str(value.tolist()) if type(value).__module__ == "numpy" and value.size <= LONGEST else ""
    except Exception:  # see _text
        return ""


def _same_number(predicted: str, truth: Answer) -> bool:
    try:
        return compare(truth, float(predicted), 1e-6, 1e-9).approximate
    except ValueError:
        return False
