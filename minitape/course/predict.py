"""Let a learner predict, run and explain. The prediction is shown next to the answer, with the reason.

The notebook's text contains nothing of the answer: `reveal` shows it once the question has been answered in this
kernel.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from ..common.notebook import find_ipython_shell
from ..common.translation import join_sentences, print_text, say, truncate_text
from ..engine.types import JsonObject
from .answer_comparison import compare_answers, parse_literal_or_keep_text, to_numpy_value
from .course_texts import read_lesson
from .exercise import Answer, NamedValues, get_lesson_of_name
from .progress import change_progress_and_note_time, describe_unsaved_progress, read_progress

if TYPE_CHECKING:
    from ..engine.types import Action, Object, OptionalText
    from .prediction_buttons import ChoiceButtons

MimeBundle = tuple[JsonObject, JsonObject]  # The data and the metadata of an output.

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
MAX_LENGTH = 1000
RTOL, ATOL = 1e-6, 1e-9


class PredictionQuestion:
    """What `predict` shows: buttons to choose from in a live notebook, plain text everywhere else."""

    def __init__(self, name: str, text: str, choices: NamedValues, blurs_next_cell: bool = True):
        """Store a question that nobody has answered yet.

        Args:
            name: The name of the prediction.
            text: The question.
            choices: The words to choose from, each with the value that it stands for.
            blurs_next_cell: Whether the text after the next cell is hidden until the question is answered.
        """
        self.name, self.text, self.choices, self._choice_values, self._blurs_next_cell = (
            name,
            text,
            tuple(choices),
            choices,
            blurs_next_cell,
        )
        self.choice: OptionalText = None  # The choice made in this kernel.
        # The choice at the time when the answer was shown. It counts, even if the learner then tries other choices.
        self.counted_choice: OptionalText = None

    def __repr__(self) -> str:
        """Return the question with its choices, as a text that never changes, and does not look like buttons."""
        return "\n".join(
            [
                say("Predict: {text}", text=self.text),
                *(f"  - {choice}" for choice in self.choices),
                say("To choose, run this cell."),
            ]
        )

    def find_choice_for_value(self, truth: Answer) -> str:
        """Find the choice that stands for a value, or return "" if none does."""
        matching_choices = (
            choice
            for choice, value in self._choice_values.items()
            if compare_answers(truth, value, RTOL, ATOL).is_right
        )
        return next(matching_choices, "")

    def commit(self, choice: str) -> str:
        """Record a prediction, show the answer if it is waiting for this, and return a sentence of confirmation.

        Raises ValueError if `choice` is not among the choices.
        """
        if choice not in self.choices:
            raise ValueError(f"{choice!r} is not a choice; choose from {', '.join(map(repr, self.choices))}")
        self.choice = choice
        if self.counted_choice is None:
            change_progress_and_note_time(
                self.name, lambda progress_data: progress_data["predictions"].__setitem__(self.name, choice)
            )
        if tell_answer := _waiting_reveals.get(self.name):
            tell_answer()
            self.counted_choice = self.counted_choice or choice
        if self.counted_choice == choice:
            confirmation = say("You predicted {predicted}.", predicted=choice)
        elif self.counted_choice is not None:
            confirmation = say("Your first answer counts: {predicted}.", predicted=self.counted_choice)
        else:
            confirmation = say("You say {choice}. Let's find out: press Shift+Enter twice.", choice=choice)
        return join_sentences(confirmation, describe_unsaved_progress())

    def describe_previous_choice(self) -> str:
        """Return a sentence with an earlier day's choice, or "" if none is stored or it is no longer a choice."""
        previous_choice = read_progress()["predictions"].get(self.name)
        if previous_choice not in self.choices:
            return ""
        return say("Last time, you predicted: {choice}. What do you predict today?", choice=previous_choice)

    def _repr_mimebundle_(self, **options: object) -> MimeBundle:
        return build_widget_mimebundle(self._build_widget(), repr(self))

    def _build_widget(self) -> ChoiceButtons:
        """Build the question as a Jupyter widget, with what was chosen in this kernel."""
        from .prediction_buttons import ChoiceButtons  # Imported here, because it loads ipywidgets.

        return ChoiceButtons(
            self.text, self.choices, self.commit, self.choice, self.describe_previous_choice(), self._blurs_next_cell
        )


def build_widget_mimebundle(widget: Object, text: str, html: str = "") -> MimeBundle:
    """Build the MIME bundle with which Jupyter shows a widget, or its text and its HTML where widgets cannot run."""
    from .widget_base import MISSING

    widget_bundle = widget._repr_mimebundle_() or {}
    data = widget_bundle[0] if isinstance(widget_bundle, tuple) else widget_bundle
    shown_data = {WIDGET_VIEW: data[WIDGET_VIEW]} if WIDGET_VIEW in data else {}
    install_note = f"<p>{escape(MISSING)}</p>" if MISSING else ""
    shown_data |= {"text/html": html + install_note} if html else {}
    return shown_data | {"text/plain": f"{text}\n{MISSING}" if MISSING else text}, {WIDGET_VIEW: {"shown": time.time()}}


_questions: dict[str, PredictionQuestion] = {}
"""The questions that were asked in this kernel. After a restart, there are none, so they are asked again."""
_waiting_reveals: dict[str, Action] = {}
"""For the name of each unanswered question, the function that shows its answer once it is answered."""


def predict(name: str, text: str, choices: Sequence[Answer] | NamedValues) -> PredictionQuestion:
    """Ask for a prediction before an important cell, and store the choice in the learner's progress.

    Args:
        name: The name of the prediction, such as "01.p1".
        text: The question.
        choices: The choices. If they are words for the values that `reveal` receives, a dictionary such as
            `{"it grows": True, "it falls": False}`.

    Returns:
        The question, which a notebook shows with a button for each choice.

    >>> predict("demo.p1", "What will y be?", [6.0, 9.0])
    Predict: What will y be?
      - 6.0
      - 9.0
    To choose, run this cell.
    """
    choice_values = (
        choices
        if isinstance(choices, dict)
        else {str(choice): parse_literal_or_keep_text(str(choice)) for choice in choices}
    )
    return register_question_with_earlier_choice(PredictionQuestion(name, text, choice_values))


def register_question_with_earlier_choice(question: PredictionQuestion) -> PredictionQuestion:
    """Register a question for `reveal`, with the earlier choice if its cell is rerun, and return the question."""
    earlier = _questions.get(question.name)
    if earlier is not None and earlier.choices == question.choices:
        question.choice = earlier.choice
        question.counted_choice = earlier.counted_choice
    _questions[question.name] = question
    return question


class RevealedAnswer:
    """The answer to a prediction, which `reveal` shows once the question is answered.

    On a page, where readers cannot choose, the answer is folded and includes what each wrong choice assumes.
    """

    def __init__(self, name: str, truth: Answer, explanation: str = "", beliefs: Mapping[str, str] | None = None):
        """Store the answer in the user's language.

        Args:
            name: The name of the prediction.
            truth: The right value.
            explanation: The reason.
            beliefs: The reply to each wrong choice.
        """
        self.name = name
        self.truth = truth
        lesson = get_lesson_of_name(name)
        question = _questions.get(name)
        self.truth_text = (question and question.find_choice_for_value(truth)) or say(_format_value(truth), lesson)
        self.explanation = say(explanation, lesson) if explanation else ""
        self.beliefs = {say(choice, lesson): say(belief, lesson) for choice, belief in (beliefs or {}).items()}

    @property
    def prediction(self) -> OptionalText:
        """The learner's choice in this kernel, or None before the first choice."""
        question = _questions.get(self.name)
        return None if question is None else question.choice

    def to_text(self, emphasize: Callable[[str], str] = str) -> str:
        """Format the prediction, the answer, the reply to the choice, and the reason, with the first two emphasized."""
        prediction = self.prediction
        answer_line = say("The answer: {truth}", truth=emphasize(self.truth_text))
        if prediction is None:
            belief_lines = (
                say("{place}: {told}", place=emphasize(choice), told=belief) for choice, belief in self.beliefs.items()
            )
            return "\n\n".join(
                filter(None, [answer_line, "\n".join(f"- {line}" for line in belief_lines), self.explanation])
            )
        if self.truth_text not in _questions[self.name].choices:
            changed_note = say(
                "The answer is not one of the choices. Did you change a line of the program? With the lesson's "
                "original program, the answer is one of the choices."
            )
            return "\n\n".join([answer_line, changed_note])
        counted_choice = _questions[self.name].counted_choice or prediction
        if counted_choice == self.truth_text:
            verdict_text = say("You said {predicted}, and that's right.", predicted=emphasize(counted_choice))
        else:
            verdict_text = join_sentences(
                say("You predicted {predicted}.", predicted=emphasize(counted_choice)), answer_line
            )
        # Right choices have no reply. A learner who then presses one keeps the reply to the choice that counted.
        belief = self.beliefs.get(prediction) or self.beliefs.get(counted_choice, "")
        return "\n\n".join(filter(None, [verdict_text, belief, self.explanation]))

    def __repr__(self) -> str:
        """Return the answer, or a note that a prediction is still needed."""
        return (
            self.to_text() if self.prediction is not None else say("Pick an answer above to see the explanation here.")
        )

    def _repr_markdown_(self) -> str:
        if self.prediction is not None:
            return self.to_text(_format_emphasis)
        summary = say("Show the answer without a prediction")
        notice = say("*{text}*", text=self)  # A translation into a script without italics omits the marks.
        return f"{notice}\n\n<details>\n<summary>{summary}</summary>\n\n{self.to_text(_format_emphasis)}\n\n</details>"


def reveal(name: str, truth: Answer, explanation: str = "", beliefs: Mapping[str, str] | None = None) -> None:
    """Show the answer to a prediction, the learner's choice and an explanation.

    The answer is shown only once the learner has chosen. In a notebook it appears when a button above is pressed.

    Args:
        name: The name of the prediction.
        truth: The correct value.
        explanation: Why the answer is correct. By default, the explanation in the lesson's source.
        beliefs: For each wrong choice, a sentence on what it assumes. By default, those in the lesson's source.

    >>> question = predict("demo.p0", "What is 3 * 3?", [6.0, 9.0])
    >>> reveal("demo.p0", 9.0)
    Pick an answer above to see the explanation here.
    >>> question.commit("9.0")
    "You say 9.0. Let's find out: press Shift+Enter twice."
    >>> reveal("demo.p0", 9.0, "Three times three.", {"6.0": "6.0 is 3 + 3."})
    You said 9.0, and that's right.
    <BLANKLINE>
    Three times three.
    """
    lesson = get_lesson_of_name(name)
    explanation = explanation or read_lesson(lesson).explanations.get(name, "")
    revealed = RevealedAnswer(name, truth, explanation, beliefs or read_lesson(lesson).replies.get(name))
    if (question := _questions.get(name)) is not None:
        question.counted_choice = question.counted_choice or question.choice
    if find_ipython_shell() is None:
        print_text(revealed)
        return
    handle = sys.modules["IPython"].display.display(revealed, display_id=True)
    _waiting_reveals[name] = lambda: handle.update(revealed)


def _format_emphasis(text: str) -> str:
    """Set a text off in Markdown: words in bold, a program as code."""
    return (
        f"**{text}**"
        if re.fullmatch(r"[\w .,;:'%+，；：、（）-]+", text)
        else f"`{' '.join(text.replace('`', chr(39)).split())}`"
    )


def _format_value(value: Answer) -> str:
    """Format a value as a short string. If it cannot be shown, name its type."""
    try:
        return truncate_text(str(to_numpy_value(value)), MAX_LENGTH)
    except Exception:  # A learner's class can raise any error, and so can deep nesting.
        return f"<{type(value).__name__}>"
