"""Predict, run, explain: a learner commits to a prediction, runs the cell, and reads both side by side, with the
reason.

Nothing of the answer is in the notebook's text: `reveal` tells it, once the question has been answered in this
kernel.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from ..common.notebook import running_notebook
from ..common.texts import cut, paragraph, say
from .compare import as_array, as_written, compare
from .exercise import Named, beliefs_of, explanations_of
from .progress import change_progress, read_progress

if TYPE_CHECKING:
    from ..engine.types import Object
    from .choices import Choices
    from .exercise import Answer

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
LONGEST = 1000
RTOL, ATOL = 1e-6, 1e-9


class PredictionQuestion:
    """What `predict` shows: buttons to choose from in a live notebook, plain text everywhere else."""

    def __init__(self, name: str, text: str, choices: Named, veils: bool = True):
        """`choices` are the words to choose from, each with the value that it stands for. `veils`: whether what comes
        after the next cell cannot be read before.
        """
        self.name, self.text, self.choices, self._values, self._veils = name, text, tuple(choices), choices, veils
        self.chosen: str | None = None  # in this kernel
        self.told: str | None = None  # what was chosen when the answer was told: it counts, whatever is tried then

    def __repr__(self) -> str:
        """The question with its choices, as text that is the same in every run, and does not look like buttons."""
        return "\n".join(
            [
                say("Predict: {text}", text=self.text),
                *(f"  - {choice}" for choice in self.choices),
                say("To choose, run this cell."),
            ]
        )

    def word_for(self, truth: Answer) -> str:
        """The choice that stands for this value; "" where none does."""
        words = (word for word, value in self._values.items() if compare(truth, value, RTOL, ATOL).right)
        return next(words, "")

    def commit(self, choice: str) -> str:
        """Record a prediction, and give back the sentence that confirms it. What waited for it is told now.

        Raises ValueError if `choice` is not among the choices.
        """
        if choice not in self.choices:
            raise ValueError(f"{choice!r} is not a choice; choose from {', '.join(map(repr, self.choices))}")
        self.chosen = choice
        if self.told is None:
            change_progress(self.name, lambda kept: kept["predictions"].__setitem__(self.name, choice))
        if waiting := _waiting.get(self.name):
            waiting()
            self.told = self.told or choice
        if self.told is not None:
            return say("You predicted {predicted}.", predicted=self.told)
        return say("You predict: {choice}. Now run the next cell: Shift+Enter, twice.", choice=choice)

    def before(self) -> str:
        """What was chosen another day, in a sentence; "" where nothing was, or the choices are others by now."""
        kept = read_progress()["predictions"].get(self.name)
        if kept not in self.choices:
            return ""
        return say("Last time you predicted: {choice}. What do you say today?", choice=kept)

    def _repr_mimebundle_(self, **options: object) -> tuple[dict[str, object], dict[str, object]]:
        return live_bundle(self._widget(), repr(self))

    def _widget(self) -> Choices:
        """The question as a Jupyter widget, with what was chosen in this kernel."""
        from .choices import Choices  # here, because it loads ipywidgets

        return Choices(self.text, self.choices, self.commit, self.chosen, self.before(), self._veils)


def live_bundle(widget: Object, text: str, html: str = "") -> tuple[dict[str, object], dict[str, object]]:
    """A widget as Jupyter shows it, with a text or a picture in its place where nothing is live."""
    from .widget import MISSING

    live = widget._repr_mimebundle_() or {}
    data = live[0] if isinstance(live, tuple) else live
    shown: dict[str, object] = {kind: part for kind, part in data.items() if kind == WIDGET_VIEW}
    note = f"<p>{escape(MISSING)}</p>" if MISSING else ""
    shown |= {"text/html": html + note} if html else {}
    return shown | {"text/plain": f"{text}\n{MISSING}" if MISSING else text}, {WIDGET_VIEW: {"shown": time.time()}}


_asked: dict[str, PredictionQuestion] = {}
"""The questions of this kernel. A restarted one has none, and asks again."""
_waiting: dict[str, Callable[[], None]] = {}
"""What is to be told once the question of this name is answered."""


def predict(name: str, text: str, choices: Sequence[Answer] | Named) -> PredictionQuestion:
    """Ask for a prediction before an important cell; the choice is kept in the learner's progress.

    Where choices are words for what `reveal` gets, they are a dictionary: `{"it grows": True, "it falls": False}`.

    >>> predict("demo.p1", "What will y be?", [6.0, 9.0])
    Predict: What will y be?
      - 6.0
      - 9.0
    To choose, run this cell.
    """
    values = choices if isinstance(choices, dict) else {str(choice): as_written(str(choice)) for choice in choices}
    return ask(PredictionQuestion(name, text, values))


def ask(question: PredictionQuestion) -> PredictionQuestion:
    """The question as `reveal` knows it from now on, with what was chosen where its cell is run again."""
    before = _asked.get(question.name)
    if before is not None and before.choices == question.choices:
        question.chosen, question.told = before.chosen, before.told
    _asked[question.name] = question
    return question


class Revealed:
    """What `reveal` shows: at first only that a prediction is due, then the answer, what a wrong choice believes, and
    why it is so.

    A page has the answer folded, for those who cannot choose, with what each wrong choice believes.
    """

    def __init__(self, name: str, truth: Answer, explanation: str = "", beliefs: Mapping[str, str] | None = None):
        self.name, self.truth, lesson = name, truth, name.rpartition(".")[0]
        asked = _asked.get(name)
        self.shown = (asked and asked.word_for(truth)) or say(_text(truth), lesson)
        self.explanation = say(explanation, lesson) if explanation else ""
        self.beliefs = {say(choice, lesson): say(belief, lesson) for choice, belief in (beliefs or {}).items()}

    @property
    def prediction(self) -> str | None:
        """The choice of the learner in this kernel; None before there is one."""
        question = _asked.get(self.name)
        return None if question is None else question.chosen

    def text(self, mark: Callable[[str], str] = str) -> str:
        """The prediction beside the answer, what it believed, and the reason; `mark` sets the two off."""
        said = self.prediction
        answer = say("The answer: {truth}", truth=mark(self.shown))
        if said is None:
            each = (say("{place}: {told}", place=mark(one), told=told) for one, told in self.beliefs.items())
            return "\n\n".join(filter(None, [answer, "\n".join(f"- {line}" for line in each), self.explanation]))
        if self.shown not in _asked[self.name].choices:
            changed = say(
                "That was none of the choices. Was a line of the program changed? As it is in the lesson, the "
                "answer is one of them."
            )
            return "\n\n".join([answer, changed])
        first = _asked[self.name].told or said
        if first == self.shown:
            so = say("You predicted {predicted}, and so it is.", predicted=mark(first))
        else:
            so = paragraph(say("You predicted {predicted}.", predicted=mark(first)), answer)
        return "\n\n".join(filter(None, [so, self.beliefs.get(said, ""), self.explanation]))

    def __repr__(self) -> str:
        return (
            self.text()
            if self.prediction is not None
            else say("Choose an answer above first. Then the explanation appears here.")
        )

    def _repr_markdown_(self) -> str:
        if self.prediction is not None:
            return self.text(_marked)
        fold = say("Show the answer without a prediction")
        due = say("*{text}*", text=self)  # in a script without slanted letters: as it is
        return f"{due}\n\n<details>\n<summary>{fold}</summary>\n\n{self.text(_marked)}\n\n</details>"


def reveal(name: str, truth: Answer, explanation: str = "", beliefs: Mapping[str, str] | None = None) -> None:
    """Tell the answer of a question beside what the learner predicted, what a wrong choice believes, and why it is so.

    Until the question is answered, nothing is told: in a notebook the answer appears when a button above is pressed.
    The explanation and the beliefs, a sentence for each wrong choice, are those of the lesson (`EXPLAINED` and
    `BELIEFS` in its key), or the ones given here.

    >>> question = predict("demo.p0", "What is 3 * 3?", [6.0, 9.0])
    >>> reveal("demo.p0", 9.0)
    Choose an answer above first. Then the explanation appears here.
    >>> question.commit("9.0")
    'You predict: 9.0. Now run the next cell: Shift+Enter, twice.'
    >>> reveal("demo.p0", 9.0, "Three times three.", {"6.0": "6.0 is 3 + 3."})
    You predicted 9.0, and so it is.
    <BLANKLINE>
    Three times three.
    """
    lesson = name.rpartition(".")[0]
    explanation = explanation or explanations_of(lesson).get(name, "")
    shown = Revealed(name, truth, explanation, beliefs or beliefs_of(lesson).get(name))
    if (asked := _asked.get(name)) is not None:
        asked.told = asked.told or asked.chosen
    if running_notebook() is None:
        print(shown)
        return
    handle = sys.modules["IPython"].display.display(shown, display_id=True)
    _waiting[name] = lambda: handle.update(shown)


def _marked(text: str) -> str:
    """A text set off in Markdown: words in bold, a program as code."""
    return (
        f"**{text}**"
        if re.fullmatch(r"[\w .,;:'%+，；：、（）-]+", text)
        else f"`{' '.join(text.replace('`', chr(39)).split())}`"
    )


def _text(value: Answer) -> str:
    """A value in words that are not longer than anyone reads; of what cannot be shown, what it is."""
    try:
        return cut(str(as_array(value)), LONGEST)
    except Exception:  # a learner's own class can raise anything, and Python does for what is nested too deep
        return f"<{type(value).__name__}>"
