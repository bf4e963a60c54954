"""Ask again, with different numbers, the predictions from earlier lessons that a learner got wrong."""

import sys

from ..common.notebook import find_ipython_shell
from ..common.translation import print_text, say
from ..engine.types import NameList
from .course_texts import list_built_in_lessons, read_lesson
from .predict import PredictionQuestion, register_question_with_earlier_choice, reveal
from .progress import read_progress

MAX_QUESTIONS = 2


def again(lesson: str) -> None:
    """Repeat up to two predictions from earlier lessons that this learner got wrong, with different numbers.

    The learner's progress file contains the wrong predictions. If it is missing, or all predictions were correct,
    nothing is shown.

    Args:
        lesson: The lesson that calls this function, such as "05".

    >>> again("01")
    """
    for name in _list_missed_predictions_before(lesson)[:MAX_QUESTIONS]:
        earlier_lesson = name.partition(".")[0]
        retry = read_lesson(earlier_lesson).retry_questions[name]
        choice_values = {say(choice, earlier_lesson): choice for choice in retry.choices}
        question = register_question_with_earlier_choice(
            PredictionQuestion(f"{name}-again", say(retry.text, earlier_lesson), choice_values, blurs_next_cell=False)
        )
        if find_ipython_shell() is None:
            print_text(question)
        else:
            sys.modules["IPython"].display.display(question)
        reveal(question.name, retry.truth, retry.reason)


def _list_missed_predictions_before(lesson: str) -> NameList:
    """List the wrong predictions of earlier lessons that have not been corrected in a second attempt."""
    predictions = read_progress()["predictions"]
    missed = []
    for earlier_lesson in (candidate for candidate in sorted(list_built_in_lessons()) if candidate < lesson):
        for name, retry in read_lesson(earlier_lesson).retry_questions.items():
            wrong_choices = {say(choice, earlier_lesson) for choice in read_lesson(earlier_lesson).replies[name]}
            if predictions.get(name) in wrong_choices and predictions.get(f"{name}-again") != say(
                retry.truth, earlier_lesson
            ):
                missed.append(name)
    return missed
