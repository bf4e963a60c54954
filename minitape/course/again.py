"""Predictions of earlier lessons that a learner got wrong, asked once more with other numbers."""

from __future__ import annotations

import sys

from ..common.notebook import running_notebook
from ..common.texts import say
from .exercise import anew_of, beliefs_of, own_lessons
from .predict import PredictionQuestion, ask, reveal
from .progress import read_progress

MOST = 2


def again(lesson: str) -> None:
    """Ask two predictions of the lessons before this one again, which this learner got wrong, with other numbers.

    The progress file knows which. Without one, or where all were right, nothing is shown.

    >>> again("01")
    """
    for name in _missed(lesson)[:MOST]:
        before = name.partition(".")[0]
        text, choices, truth, reason = anew_of(before)[name]
        words = {say(choice, before): choice for choice in choices}
        question = ask(PredictionQuestion(f"{name}-again", say(text, before), words, veils=False))
        if running_notebook() is None:
            print(question)
        else:
            sys.modules["IPython"].display.display(question)
        reveal(question.name, truth, reason)


def _missed(lesson: str) -> list[str]:
    """The predictions before a lesson that were wrong, and were not right when they were asked again."""
    kept, found = read_progress()["predictions"], []
    for before in (one for one in sorted(own_lessons()) if one < lesson):
        for name, (_, _, truth, _) in anew_of(before).items():
            wrong = {say(choice, before) for choice in beliefs_of(before)[name]}
            if kept.get(name) in wrong and kept.get(f"{name}-again") != say(truth, before):
                found.append(name)
    return found
