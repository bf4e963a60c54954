"""`check`: tell a learner whether an answer is right, and if not, what may have gone wrong."""

import re
import sys
from dataclasses import replace

from ..common.notebook import find_ipython_shell
from ..common.translation import join_sentences, print_text, say
from .answer_comparison import describe_kind
from .answer_text import format_answer
from .exercise import Answer, Exercise, collect_exercises, get_lesson_of_name
from .judge import Verdict, judge_answer, translate_keys
from .progress import collect_given_hints, count_tries, describe_unsaved_progress, note_try
from .tape_playback import OptionalPlayback
from .trials import format_trial_checklist

CORRECT = "correct"
NOT_ANSWERED = "not answered yet"
NOT_YET = "not yet"
RIGHT_LINE, WRONG_LINE, BLANK_LINE = (f"Exercise {{name}}: {said}." for said in (CORRECT, NOT_YET, NOT_ANSWERED))
ANSWER_LINE = "given:    {value}"
HINT_LINE = "Hint: {hint}"
MARKS = RIGHT_LINE, WRONG_LINE, BLANK_LINE, ANSWER_LINE, HINT_LINE
"""The lines by which `minitape check` and `minitape class` recognize verdicts in a saved notebook."""
TRIES_BEFORE_ANSWER = 3
GREEN = "\x1b[32m"
BOLD = "\x1b[1m"
PLAIN = "\x1b[0m"


def check(name: str, answer: Answer = ...) -> None:
    """Print whether an answer solves an exercise, and store the result in the learner's progress.

    Below a wrong answer, the expected answer, the largest difference and a hint are printed. The first hint is a
    question, the second a pointer, and the third names the line. A misspelled name or a number in quotes is reported
    and does not count as a try. The function never raises an error, whatever the answer is.

    Args:
        name: The name of the exercise.
        answer: The learner's answer. `...` means that the exercise is not answered yet.

    >>> check("no exercise", 1)
    The exercise 'no exercise' does not exist. The name of an exercise looks like '01.2', for lesson 01, exercise 2.
    """
    text, playback = _count_try_and_build_output(name, answer)
    if playback is not None and _is_in_notebook():
        print_text(_highlight_verdict_line(text, name))
        sys.modules["IPython"].display.display(playback)
    else:
        print_text(_highlight_verdict_line(_append_playback(text, playback), name))


def _is_in_notebook() -> bool:
    return type(find_ipython_shell()).__name__ == "ZMQInteractiveShell"


def _highlight_verdict_line(text: str, exercise_name: str) -> str:
    """Set the verdict's line in bold in a notebook, with a green mark if the answer is right.

    No lesson is saved with an answer, so nothing that is saved has a color.

    Returns:
        The text with the marks. Outside a notebook, the text is returned unchanged.
    """
    first_line, newline, other_lines = text.partition("\n")
    marks = {say(RIGHT_LINE, name=exercise_name): f" {GREEN}✔{PLAIN}", say(WRONG_LINE, name=exercise_name): ""}
    is_marked = _is_in_notebook() and first_line in marks
    return f"{BOLD}{first_line}{PLAIN}{marks[first_line]}{newline}{other_lines}" if is_marked else text


def is_right(name: str, answer: Answer = ...) -> bool:
    """Return whether an answer solves an exercise, for a grade. Nothing is printed or counted.

    Args:
        name: The name of the exercise.
        answer: The answer.

    Raises:
        ValueError: If the exercise does not exist.

    >>> is_right("01.1", 12.0), is_right("01.1", 8.0), is_right("01.1", ...)
    (True, False, False)
    """
    return judge_answer(_load_translated_exercise(name), answer).is_right is True


def count_try_and_build_feedback(name: str, answer: Answer = ...) -> str:
    """Count the try, and return what `check` prints as text."""
    return _append_playback(*_count_try_and_build_output(name, answer))


def _append_playback(text: str, playback: OptionalPlayback) -> str:
    """Return the feedback, followed by the sentence about the tapes unless the hint says the same."""
    return text if playback is None or playback.text in text else f"{text}\n  {playback!r}"


def _count_try_and_build_output(name: str, answer: Answer) -> tuple[str, OptionalPlayback]:
    """Count the try, and return the text that `check` prints and the tapes that it shows below the text."""
    try:
        exercise = _load_translated_exercise(name)
    except ValueError as error:
        return str(error), None
    verdict = judge_answer(exercise, answer)
    if verdict.is_right is None:
        return _describe_blank_answer(exercise, verdict.is_unfinished), None
    if verdict.is_typo:
        return _describe_wrong_answer(exercise, verdict, count_tries(exercise.name)), None
    verdict = replace(verdict, hint=_select_hint(exercise, verdict))
    wrong_answer = None if verdict.is_right else (_format_logged_answer(verdict), verdict.hint)
    tries = note_try(exercise.name, wrong_answer)
    text = (
        _describe_right_answer(exercise, verdict)
        if verdict.is_right
        else _describe_wrong_answer(exercise, verdict, tries)
    )
    playback = verdict.playback if tries >= exercise.tries_before_tape else None
    return "\n".join(filter(None, [text, describe_unsaved_progress()])), playback


def _format_logged_answer(verdict: Verdict) -> str:
    """Return the part of a wrong answer that is stored.

    Args:
        verdict: The verdict on the answer.
    """
    return verdict.logged_as or verdict.answer_text or verdict.details[0]


def _select_hint(exercise: Exercise, verdict: Verdict) -> str:
    """Select the hint for a wrong answer: what the answer does, or the next hint if that has already been said."""
    hint = exercise.say(verdict.hint)
    further_hints = exercise.hints if verdict.further_hints is None else verdict.further_hints
    rungs = [rung for rung in (hint, *further_hints) if rung] or exercise.hints[-1:]
    if not hint:
        return rungs[min(count_tries(exercise.name), len(rungs) - 1)]
    to_comparable = _drop_numbers if exercise.cases else str
    hints_by_answer = collect_given_hints(exercise.name)
    given_hints = set(map(to_comparable, hints_by_answer.values()))
    if _format_logged_answer(verdict) not in hints_by_answer and to_comparable(hint) not in given_hints:
        return hint
    last_given = max((place for place, rung in enumerate(rungs) if to_comparable(rung) in given_hints), default=-1)
    return rungs[min(last_given + 1, len(rungs) - 1)]


def _drop_numbers(hint: str) -> str:
    """Return a hint without its numbers, which differ in the next run of the cell."""
    return re.sub(r"\d+", "", hint)


def _load_translated_exercise(exercise_name: str) -> Exercise:
    exercise = collect_exercises(get_lesson_of_name(str(exercise_name))).get(str(exercise_name))
    if exercise is None:
        raise ValueError(_describe_unknown_exercise(str(exercise_name)))
    mistakes = [replace(mistake, answer=translate_keys(exercise, mistake.answer)) for mistake in exercise.mistakes]
    return replace(exercise, expect=translate_keys(exercise, exercise.expect), mistakes=mistakes)


def _describe_unknown_exercise(exercise_name: str) -> str:
    known_names = ", ".join(collect_exercises(get_lesson_of_name(exercise_name)))
    advice = (
        say("This lesson has the exercises {known}.", known=known_names)
        if known_names
        else say("The name of an exercise looks like '01.2', for lesson 01, exercise 2.")
    )
    return join_sentences(say("The exercise {name} does not exist.", name=repr(exercise_name)), advice)


def _describe_blank_answer(exercise: Exercise, is_unfinished: bool) -> str:
    text = say(BLANK_LINE, name=exercise.name)
    unchanged_note = say("Your program still returns the same result as at the start.")
    if not is_unfinished and exercise.start:
        return "\n".join([text, say("Change the program and run the cell again."), unchanged_note])
    text += "\n" + say("Replace the ... with your answer and run the cell again.")
    return "\n".join([text, *(f"  {line}" for line in format_trial_checklist([], exercise.trials))])


def _describe_right_answer(exercise: Exercise, verdict: Verdict) -> str:
    lines = [say(RIGHT_LINE, name=exercise.name), *(f"  {line}" for line in verdict.details)]
    return "\n".join([*lines, exercise.say(exercise.because)] if exercise.because else lines)


def _describe_wrong_answer(exercise: Exercise, verdict: Verdict, tries: int) -> str:
    hides_answer = verdict.expected_text is None and tries < TRIES_BEFORE_ANSWER
    lines = list(verdict.safe_details if hides_answer and verdict.answer_text else verdict.details)
    if verdict.answer_text:
        compared_lines = [say("compared: {value}", value=verdict.compared_as)] if verdict.compared_as else []
        expected_line = say(
            "expected: {value}", value=verdict.expected_text or _describe_expected_answer(exercise, tries)
        )
        lines[:0] = [say(ANSWER_LINE, value=verdict.answer_text), *compared_lines, expected_line]
    lines += [verdict.part_hint] if verdict.part_hint and verdict.part_hint not in lines else []
    message_lines = [say(WRONG_LINE, name=exercise.name), *(f"  {line}" for line in lines)]
    if verdict.hint:
        message_lines.append(say(HINT_LINE, hint=exercise.say(verdict.hint)))
    return "\n".join(message_lines)


def _describe_expected_answer(exercise: Exercise, tries: int) -> str:
    """Describe the expected answer by its kind, and from the third try on by the answer itself."""
    if tries >= TRIES_BEFORE_ANSWER:
        return format_answer(exercise.expect)
    tries_left = TRIES_BEFORE_ANSWER - tries
    answer_kind = exercise.say(exercise.asks) if exercise.asks else describe_kind(exercise.expect)
    if tries_left == 1:
        return say("{kind} (the answer is shown after 1 more try)", kind=answer_kind)
    return say("{kind} (the answer is shown after {left} more tries)", kind=answer_kind, left=tries_left)
