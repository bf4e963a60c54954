"""Read what a lesson replies to a learner: its hints, its replies to answers and its solutions.

`tests/build_lessons.py` writes them to a JSON file in ``texts``, together with the notebook, from the lesson's
only source, a Markdown file in ``lessons``. Python that exercises need, such as the expected functions, is in
``lesson_NN.py``, which names the sentences that it uses.
"""

import ast
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..common.read_data import read_json
from ..engine.types import Object, TextList, TextsByName

TEXTS_FOLDER = Path(__file__).parent / "texts"


@dataclass(frozen=True)
class ListedMistake:
    """A likely wrong answer and the reply to it.

    Attributes:
        kind: How the mistake is described: "value", "member", "error", "change", "program", or "name" if Python code
            defines it.
        answer: The value, the piece of a program and its replacement, the program, or the name.
        reply: The reply.
        part: The key or the place of the part that has the value, or "" for the whole answer.
    """

    kind: str
    answer: Any  # A value of any type that the exercise asks for.
    reply: str
    part: str = ""


@dataclass
class TrialTexts:
    """The texts for a program that tries a learner's class: replies, and hints that each try reveals one by one."""

    hints: TextList = field(default_factory=list)
    wrong_answers: list[ListedMistake] = field(default_factory=list)


@dataclass
class ExerciseTexts:
    """The texts of an exercise.

    Attributes:
        asks: The kind of answer that is expected, in words, or "" if the value shows the kind.
        because: The sentence that follows "correct".
        hints: The general hints, from the first try on.
        not_from_tape: The reply to a right number that did not come from a tape, or "" if this is not checked.
        wrong_answers: The likely wrong answers, in the order in which they are compared.
        trials: The texts of the programs that try a class, by program.
    """

    asks: str = ""
    because: str = ""
    hints: TextList = field(default_factory=list)
    not_from_tape: str = ""
    wrong_answers: list[ListedMistake] = field(default_factory=list)
    trials: dict[str, TrialTexts] = field(default_factory=dict)

    def map_answers_to_replies(self, kind: str) -> dict[Any, str]:  # See `ListedMistake.answer`.
        """Return the replies to the wrong answers of one kind.

        Args:
            kind: The kind, such as "change".
        """
        return {wrong.answer: wrong.reply for wrong in self.wrong_answers if wrong.kind == kind}


@dataclass(frozen=True)
class RetryQuestion:
    """A prediction from an earlier lesson, with different numbers.

    Attributes:
        text: The question.
        choices: The choices.
        truth: The right choice.
        reason: The explanation of the answer.
    """

    text: str
    choices: TextList
    truth: str
    reason: str


@dataclass
class LessonTexts:
    """What a lesson replies.

    Attributes:
        exercises: The texts of the exercises, by name.
        solutions: The solution programs without their calls to `check`, by exercise.
        explanations: The replies to everybody, by prediction.
        replies: The replies to the wrong choices, by prediction and choice.
        retry_questions: The questions that later lessons ask again, by prediction.
        sentences: Further sentences that Python uses, by name.
    """

    exercises: dict[str, ExerciseTexts] = field(default_factory=dict)
    solutions: TextsByName = field(default_factory=dict)
    explanations: TextsByName = field(default_factory=dict)
    replies: dict[str, TextsByName] = field(default_factory=dict)
    retry_questions: dict[str, RetryQuestion] = field(default_factory=dict)
    sentences: TextsByName = field(default_factory=dict)


@cache
def read_lesson(lesson: str) -> LessonTexts:
    """Read the texts of a lesson of the course.

    Args:
        lesson: The prefix of the lesson's exercises, such as "04".

    Returns:
        The texts. They are empty if the course has no such lesson.
    """
    if lesson not in list_built_in_lessons():
        return LessonTexts()
    fields = read_json(TEXTS_FOLDER / f"{lesson}.json")
    exercises = {name: _build_exercise_texts(texts) for name, texts in fields["exercises"].items()}
    retry_questions = {name: RetryQuestion(**question) for name, question in fields["retry_questions"].items()}
    return LessonTexts(**fields | {"exercises": exercises, "retry_questions": retry_questions})


@cache  # A name from a progress file must not make minitape search a folder.
def list_built_in_lessons() -> frozenset[str]:
    """List the course's own lessons that have exercises."""
    return frozenset(path.stem for path in TEXTS_FOLDER.glob("*.json"))


def _build_exercise_texts(fields: Object) -> ExerciseTexts:
    trials = {
        program: TrialTexts(trial["hints"], _build_mistakes(trial["wrong_answers"]))
        for program, trial in fields["trials"].items()
    }
    return ExerciseTexts(**fields | {"wrong_answers": _build_mistakes(fields["wrong_answers"]), "trials": trials})


def _build_mistakes(mistakes: list[Object]) -> list[ListedMistake]:
    """Build mistakes from their fields. Each answer is stored as a Python literal, because JSON has no tuples."""
    return [ListedMistake(**fields | {"answer": ast.literal_eval(fields["answer"])}) for fields in mistakes]
