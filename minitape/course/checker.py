"""`check`: tell a learner whether an answer is right, and if not, what may have gone wrong."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..common.texts import cut, paragraph, say
from .call_log import Seen, watching
from .compare import AnswerComparison, as_array, as_asked, combined, compare, in_order, is_blank, kind, with_zero
from .error_hints import line_of, slip_in, told_of
from .exercise import Exercise, exercises_of
from .hints import (
    content_of,
    in_common,
    in_reverse,
    of_calls,
    of_collection,
    of_first_step,
    of_value,
    parts_of,
    returns_in_loop,
    without_return,
)
from .playback import Playback, playback_of, solution_of
from .program_values import meaning_of
from .progress import hints_at, note_try, tries_at
from .trials import Outcome, is_empty, lines_of, try_out, wrong_kind
from .unknown import UnknownFunction

if TYPE_CHECKING:
    from ..engine.types import Function
    from .exercise import Answer

CORRECT = "correct"
NOT_ANSWERED = "not answered yet"
NOT_YET = "not yet"
RIGHT, WRONG, BLANK = (f"Exercise {{name}}: {said}." for said in (CORRECT, NOT_YET, NOT_ANSWERED))
GIVEN, HINT = "given:    {value}", "Hint: {hint}"
MARKS = RIGHT, WRONG, BLANK, GIVEN, HINT
"""By what `minitape check` and `minitape class` read a saved notebook."""
TRIES_BEFORE_TELLING = 3
LONGEST = 200
FEW = 12
NEAR = 0.01
ROUNDING = 1e-5  # what float32 leaves of a right answer
GREEN, BOLD, PLAIN = "\x1b[32m", "\x1b[1m", "\x1b[0m"


def check(name: str, answer: Answer = ...) -> None:
    """Print whether `answer` solves the exercise called `name`, and remember it in the learner's progress.

    A wrong answer is shown beside what was expected, with the largest difference and a hint: at first a question, then
    a pointer, then the line. A misspelled name, or a number in quotes, is told as such, and is no try. Whatever is
    handed in, nothing is raised.

    >>> check("no such exercise", 1)
    There is no exercise 'no such exercise'. A name looks like '01.2': lesson 01, exercise 2.
    """
    text, playback = _feedback_of(name, answer)
    print(_in_colour(text, name))
    if playback is not None and _in_notebook():
        sys.modules["IPython"].display.display(playback)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and type(ipython.get_ipython()).__name__ == "ZMQInteractiveShell"


def _in_colour(text: str, name: str) -> str:
    """In a notebook, the line that says whether an answer is right in bold, with a green mark if it is; else the text
    as it is.

    As saved, no lesson is answered, and that has no colour.
    """
    if not _in_notebook():
        return text
    first, newline, rest = text.partition("\n")
    if first == say(RIGHT, name=name):
        return f"{BOLD}{first}{PLAIN} {GREEN}✔{PLAIN}{newline}{rest}"
    return f"{BOLD}{first}{PLAIN}{newline}{rest}" if first == say(WRONG, name=name) else text


def is_right(name: str, answer: Answer = ...) -> bool:
    """Whether `answer` solves the exercise called `name`. Nothing is printed, and nothing is counted: for a grade.

    Raises ValueError where there is no such exercise.

    >>> is_right("01.1", 12.0), is_right("01.1", 8.0), is_right("01.1", ...)
    (True, False, False)
    """
    return _judge(_exercise(name), answer).right is True


def feedback(name: str, answer: Answer = ...) -> str:
    """What `check` prints, as text; the try is counted."""
    return _feedback_of(name, answer)[0]


def _feedback_of(name: str, answer: Answer) -> tuple[str, Playback | None]:
    """What `check` prints, and the tapes that it shows below."""
    try:
        exercise = _exercise(name)
    except ValueError as error:
        return str(error), None
    verdict = _judge(exercise, answer)
    if verdict.right is None:
        return _blank(exercise, verdict.half_done), None
    if verdict.slip:
        return _not_yet(exercise, verdict, tries_at(exercise.name)), None
    own = exercise.hints[min(tries_at(exercise.name), len(exercise.hints) - 1)]
    told = say(verdict.hint, exercise.lesson)
    if not told or (
        not exercise.trials and any(hint.startswith(told) for hint in hints_at(exercise.name))
    ):  # it did not help: go on
        own = say(own, exercise.lesson)
        told = own if told in own else paragraph(told, own)
    verdict = replace(verdict, hint=told)
    wrong = None if verdict.right else (verdict.wrong or verdict.given or verdict.measures[0], verdict.hint)
    tries = note_try(exercise.name, wrong is None, wrong)
    text = _right(exercise, verdict) if verdict.right else _not_yet(exercise, verdict, tries)
    return text, verdict.playback


@dataclass(frozen=True)
class Verdict:
    """The outcome of checking an answer. `right` is None where there is none yet.

    `given` and `expected` are texts. Where `expected` is None, it is the exercise's answer, which is kept back at
    first. `of_it` is what was looked at, where that is not the answer itself. `hint` is that of a known mistake, or
    says what the answer did; where there is none, it is one of the exercise's, and `remark` says what is wrong with a
    part. `slip`: a misspelled name, or a number in quotes, which is no try. `wrong`: what is kept of the answer, where
    that is not `given`. `kept_back`: the measures that may be told while the answer is kept back.
    `half_done`: a program was begun, and has a `...` left. `playback`: the tape of a wrong program beside that of the
    solution.
    """

    right: bool | None
    measures: Sequence[str] = ()
    hint: str = ""
    remark: str = ""
    given: str = ""
    expected: str | None = None
    of_it: str = ""
    slip: bool = False
    wrong: str = ""
    kept_back: Sequence[str] = ()
    half_done: bool = False
    playback: Playback | None = None


def _exercise(name: str) -> Exercise:
    exercise = exercises_of(str(name).rpartition(".")[0]).get(str(name))
    if exercise is None:
        raise ValueError(_unknown(str(name)))
    mistakes = [replace(mistake, answer=_keys_in_words(exercise, mistake.answer)) for mistake in exercise.mistakes]
    return replace(exercise, expect=_keys_in_words(exercise, exercise.expect), mistakes=mistakes)


def _keys_in_words(exercise: Exercise, answer: Answer) -> Answer:
    """A dictionary whose keys are phrases has them as the lesson of the reader's language."""
    if type(answer) is not dict:
        return answer
    return {say(key, exercise.lesson) if " " in str(key) else key: part for key, part in answer.items()}


def _unknown(name: str) -> str:
    known = ", ".join(exercises_of(name.rpartition(".")[0]))
    rest = (
        say("This lesson has: {known}.", known=known)
        if known
        else say("A name looks like '01.2': lesson 01, exercise 2.")
    )
    return paragraph(say("There is no exercise {name}.", name=repr(name)), rest)


def _judge(exercise: Exercise, answer: Answer) -> Verdict:
    try:
        if is_blank(answer) or answer is exercise.blank:
            return Verdict(None)
        answer = _keys_in_words(exercise, answer)
        if exercise.trials:
            return _judge_class(exercise, answer)
        return _judge_function(exercise, answer) if exercise.cases else _judge_value(exercise, answer)
    except Exception as error:
        problem = say("your answer could not be compared: {why}", why=f"{type(error).__name__}: {error}")
        return Verdict(False, [problem])


def _judge_class(exercise: Exercise, answer: Answer) -> Verdict:
    """Run the trials one by one, up to the first that fails."""
    if is_empty(answer):
        return Verdict(None)
    if not isinstance(answer, type):
        return Verdict(False, [wrong_kind(exercise.expect, answer)])
    outcomes = try_out(exercise.expect, answer, exercise.trials)
    lines, last, earlier = lines_of(outcomes, exercise.trials, _show), outcomes[-1], _step_that_fails(exercise, answer)
    method = next((one for one in vars(answer).values() if inspect.isfunction(one)), answer)
    before = earlier and paragraph(
        say(
            "A test of exercise {name} fails: {program} gives {value}, expected {expected}.",
            name=earlier[0],
            program="; ".join(earlier[1].trial.lines()),
            value=earlier[1].gave(_show),
            expected=_show(earlier[1].trial.expect),
        ),
        _remark_on(earlier[1], method),
    )
    if not last.passed and any(text and _holds_dots(text) for text in map(_source, vars(answer).values())):
        return Verdict(None)
    if last.passed:
        return Verdict(not before, lines, before or "", wrong=before or "")
    slip = slip_in(last.error, method) if last.error else ""
    hint = slip or last.hint(tries_at(exercise.name))
    remark = (before or _remark_on(last, method)) if hint in last.trial.hints else ""
    return Verdict(False, lines, hint, remark, slip=bool(slip), wrong=last.trial.program)


def _step_that_fails(exercise: Exercise, answer: Answer) -> tuple[str, Outcome] | None:
    """The first exercise before this one of which the class fails a test, and what that test gave."""
    steps = [step for step in exercises_of(exercise.lesson).values() if step.trials and step.name < exercise.name]
    tried = ((step.name, try_out(step.expect, answer, step.trials)[-1]) for step in steps)
    return next(((name, last) for name, last in tried if not last.passed), None)


def _remark_on(outcome: Outcome, method: Function) -> str:
    """What a trial that failed says of the class: what its error means and the line that raised it, or what its value
    has wrong.
    """
    if outcome.error is None:
        return of_value(outcome.value, outcome.trial.expect)
    line = line_of(outcome.error, method)
    return paragraph(told_of(outcome.error), say("It is from the line: {line}", line=line) if line else "")


def _judge_value(exercise: Exercise, answer: Answer) -> Verdict:
    given = answer
    if isinstance(answer, np.ndarray) and (answer.dtype == object or isinstance(exercise.expect, dict)):
        answer = answer.tolist()
    if exercise.view is not None:
        try:
            answer = exercise.view(answer)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            return Verdict(
                False,
                [
                    str(error)
                    if type(error) is ValueError
                    else say("{kind} cannot be used here: {why}", kind=kind(given), why=why)
                ],
            )
    answer = as_asked(answer, exercise.expect)
    comparison = _compare(exercise, answer)
    if comparison.approximate:
        return Verdict(True, _close(comparison))
    hint = (
        _hint(exercise, lambda mistake: _compare(exercise, answer, mistake))
        or _hint_of_parts(exercise, answer)
        or _reason(exercise, answer)
        or _looked_at(exercise, given)
    )
    text = exercise.view is not None and isinstance(exercise.expect, str)  # of things that are no texts
    of_answer = of_collection if exercise.view in (in_order, with_zero) else of_value
    meaning = "" if hint or comparison.quoted else _meaning(exercise, answer)
    remark = meaning or ("" if hint or text or comparison.quoted else of_answer(answer, exercise.expect))
    of_it = "" if kind(given) == kind(answer) else _show(answer)  # it is not the thing itself that is compared
    return Verdict(
        False,
        _measures(comparison),
        hint or (_pointer_to(exercise, answer) if comparison.parts and not comparison.quoted and not meaning else ""),
        remark,
        _show(given),
        of_it=of_it,
        slip=bool(comparison.quoted),
        kept_back=[] if of_answer is of_collection else _measures(comparison, kept_back=True),
    )


def _looked_at(exercise: Exercise, *wrong: Answer) -> str:
    """What the exercise's own look at a wrong answer says."""
    with suppress(Exception):  # the look is not made for all that a learner can hand in
        return exercise.of_wrong(*wrong) if exercise.of_wrong else ""
    return ""


def _hint_of_parts(exercise: Exercise, answer: Answer) -> str:
    """The hint of the first mistake whose wrong parts all are in the answer, which is wrong elsewhere, too."""
    given, right = parts_of(answer), parts_of(exercise.expect)
    for mistake in exercise.mistakes:
        made = parts_of(mistake.answer)
        if (
            set(made) != set(right) or len(right) < 2 or re.search(r"\b(is|are) right\b", mistake.hint)
        ):  # said of the others
            continue
        wrong = [place for place in right if not _compare(exercise, made[place], right[place]).approximate]
        if len(wrong) < len(right) and all(
            place in given and _compare(exercise, given[place], made[place]).approximate for place in wrong
        ):
            return mistake.hint
    return ""


def _reason(exercise: Exercise, answer: Answer) -> str:
    """What is said of the first name that is wrongly in a list, or else of one that is left out."""
    given, right = ([*one] if isinstance(one, (list, tuple)) else [] for one in (answer, exercise.expect))
    wrong = [name for name in given if name not in right] or [name for name in right if name not in given]
    return next((exercise.reasons[name] for name in wrong if name in exercise.reasons), "") if given else ""


def _meaning(exercise: Exercise, answer: Answer) -> str:
    """What the first wrong number that means something is in the program of the exercise."""
    right = parts_of(exercise.expect)
    for place, part in parts_of(answer).items():
        if place not in right or kind(part) != kind(0) or _compare(exercise, part, right[place]).approximate:
            continue
        program = exercise.program
        if isinstance(program, dict):
            program = program.get(place.partition(",")[0], "")
        if told := meaning_of(float(part), program, place):
            return say("{place}: {told}", place=place, told=told) if place else told
    return ""


def _pointer_to(exercise: Exercise, answer: Answer) -> str:
    """What the second hint says of the first part that is wrong, where it says something of each: "A: ... B: ..."."""
    right, text = exercise.expect, say(exercise.hints[-2:][0], exercise.lesson)
    piece = r"[^.?。？:：]{1,20}[:：]"
    pieces = re.findall(rf"(?:^|(?<=[.?] )|(?<=[。？])){piece}.*?[.?。？](?= ?{piece}|$)", text)
    if type(answer) is not type(right) or len(answer) != len(right) or len(pieces) != len(right):
        return ""
    places = right if isinstance(right, dict) else range(len(right))
    parts = zip(pieces, places, strict=True)
    return next((one for one, k in parts if not _compare(exercise, answer[k], right[k]).approximate), "")


def _compare(exercise: Exercise, answer: Answer, expected: Answer = ...) -> AnswerComparison:
    result = compare(answer, exercise.expect if expected is ... else expected, exercise.rtol, exercise.atol)
    if expected is ... and result.approximate and exercise.dtype is not None:
        given = np.asarray(as_array(answer)).dtype.name
        if given != exercise.dtype:
            return AnswerComparison(
                False,
                False,
                problem=say("expected dtype {dtype}, got dtype {given}", dtype=exercise.dtype, given=given),
            )
    return result


@dataclass(frozen=True)
class CheckRun:
    """What a learner's function did on one case."""

    value: Answer = None
    error: Exception | None = None
    seen: Seen = field(default_factory=Seen)


def _judge_function(exercise: Exercise, answer: Answer) -> Verdict:
    """Call the learner's function on each case beside the right one; report the first case where they part."""
    if not callable(answer):
        return Verdict(False, given=_show(answer), expected=say("a function: its name, without brackets after it"))
    source = _source(answer)
    if exercise.start and source and _same_program(source, exercise.start):
        return Verdict(None)
    runs = [_run(exercise, answer, case) for case in exercise.cases]
    expected = [exercise.expect(*case) for case in exercise.cases]
    dots = _holds_dots(source)
    empty = all(not run.error and (run.value is None or is_blank(run.value)) for run in runs)
    if empty and not exercise.start and any(wanted is not None for wanted in expected) and dots:
        return Verdict(None)
    parts = []
    for case, wanted, run in zip(exercise.cases, expected, runs, strict=True):
        part = AnswerComparison(False, False) if run.error else _compare(exercise, run.value, wanted)
        parts.append(part)
        if not part.approximate:
            if run.error and (slip := slip_in(run.error, answer)):
                return Verdict(False, [say("your function {did}", did=_raised(run.error, answer))], slip, slip=True)
            if source and dots:
                return Verdict(None, half_done=bool(exercise.start))
            hint = say("Your function gives nothing back: write return before its result.")
            if not empty or _gives_back(source):
                hint = _hint_for(exercise, answer, source, runs, expected, case, run, wanted)
            did = _raised(run.error, answer) if run.error else say("gives {value}", value=_show(run.value))
            call = _shown_call(getattr(answer, "__name__", "f"), case)
            playback = _played_back(exercise, answer, case, run)
            given = f"{call} {did}"
            remark = playback.text if playback else ""
            return Verdict(False, _measures(part), hint, remark, given, _show(wanted), playback=playback)
    seen = [run.seen for run in runs]
    by_hand = _without_a_tape(exercise, seen) or (
        say(exercise.also(answer, seen), exercise.lesson) if exercise.also else ""
    )
    if by_hand:
        return Verdict(False, [say("The results are right, the method is not.")], by_hand)
    most = max(seen, key=lambda run: len(run.calls))
    return Verdict(True, [*_close(combined(parts)), *filter(None, [most.summary() if exercise.order else ""])])


def _played_back(exercise: Exercise, answer: Function, case: tuple[Answer, ...], run: CheckRun) -> Playback | None:
    """The first tape that a program asked on a case beside the one that the solution asks; None where there is none."""
    with suppress(Exception), redirect_stdout(None):  # whatever the solution needs, and the names in the kernel are
        solution = solution_of(exercise.name, answer) if run.seen.tapes else None
        both = run.seen, _run(exercise, solution, case).seen if solution else Seen()
        once = all(len(seen.questions) == len(seen.tapes) for seen in both)
        return playback_of(both[0].tapes, both[1].tapes, once)
    return None


def _shown_call(name: str, case: tuple[Answer, ...]) -> str:
    """A call as a learner would type it; of arrays in a long one only what they are."""
    text = f"{name}({', '.join(map(_show, case))})"
    if len(text) <= LONGEST:
        return text
    return f"{name}({', '.join(kind(one) if isinstance(one, np.ndarray) else _show(one) for one in case)})"


def _hint_for(
    exercise: Exercise,
    answer: Function,
    source: str,
    runs: list[CheckRun],
    expected: list[Answer],
    case: tuple[Answer, ...],
    failed: CheckRun,
    wanted: Answer,
) -> str:
    """What to say of a function whose result in this case is not the one that is wanted; "" where only the exercise's
    hints are left.
    """
    if any(question.turned for run in runs for question in run.seen.questions):
        return say(
            "You ask how the input changes when the result does. The result comes first, and then what it depends on."
        )
    if any(question.itself for run in runs for question in run.seen.questions):
        return say("A value changes with itself at the rate 1, always. With respect to what does the exercise ask?")
    asked = failed.seen.questions
    if failed.value is None and not failed.error and asked and all(question.answered for question in asked):
        return say("The tape gave an answer, and your function gives back None. Is there a print where it returns?")
    if hint := _hint(exercise, lambda mistake: _same_on_all(exercise, runs, mistake), source, failed.error):
        return hint
    if returns_in_loop(source):
        return say("The return is inside the loop, which ends there, in its first iteration. Move it out of the loop.")
    for (piece, other), hint in exercise.changes.items():
        if _does_as(exercise, runs, solution_of(exercise.name, answer, piece, other)):
            return hint
    if not failed.error and (hint := _looked_at(exercise, failed.value, *case)):
        return hint
    seen = [run.seen for run in runs]
    inner = without_return(source)
    if inner and (failed.value is None or "None" in str(failed.error or "")):
        return say("The function {name} gives nothing back: write return before its result.", name=repr(inner))
    why = next(filter(None, (_why(question.why, wanted) for run in seen for question in run.questions)), "")
    if failed.error:
        return (why if "None" in str(failed.error) else "") or told_of(failed.error)
    if compare(failed.value, wanted, NEAR, NEAR).approximate and (by_hand := _without_a_tape(exercise, seen)):
        return by_hand  # as differences give it
    results = [run.value for run in runs]
    if turned := in_reverse(results, expected):
        return turned
    if why and _lacks_a_number(failed.value, wanted):
        return why
    pairs = [*zip(exercise.cases, results, strict=True)]

    def same(one: Answer, other: Answer) -> bool:
        return _compare(exercise, one, other).approximate

    return (
        of_calls(exercise.expect, pairs, same)
        or _of_another_sort(failed.value, wanted)
        or _nothing_watched(failed)
        or _not_called(exercise, failed)
        or _given_back(runs)
        or _chained(runs)
        or in_common(results, expected)
        or of_first_step(exercise.expect, case, failed.value, [np.array(call.at) for call in failed.seen.calls], same)
        or _right_elsewhere(exercise, runs, expected)
        or _of_the_tape(runs, expected)
    )


def _right_elsewhere(exercise: Exercise, runs: list[CheckRun], expected: list[Answer]) -> str:
    """That the function is right in another case."""
    for case, run, wanted in zip(exercise.cases, runs, expected, strict=True):
        if not run.error and _compare(exercise, run.value, wanted).approximate:
            return say(
                "With {given} your function is right. What is different here?", given=", ".join(map(_show, case))
            )
    return ""


def _of_the_tape(runs: list[CheckRun], expected: list[Answer]) -> str:
    """That a tape's last answer is right, and was changed; or that it was given back as it is."""
    if any(run.seen.found is None for run in runs):
        return ""
    if all(_is_it(run.seen.found, wanted) for run, wanted in zip(runs, expected, strict=True)):
        return say("What the tape answered is right. What does your program do with it?")
    if all(_is_it(run.value, run.seen.found) for run in runs):
        return say(
            "You gave back what the tape answered last. Does the exercise ask for that, and was the tape asked about "
            "the right thing?"
        )
    return ""


def _given_back(runs: list[CheckRun]) -> str:
    """That all results are what the function gave last, or all that it gave."""
    given = [(run.value, run.seen.results) for run in runs]
    if all(found and (_is_it(value, found[-1]) or _is_it(value, found)) for value, found in given):
        return say("You gave back what the function itself gave, its value. What does the exercise ask for?")
    return ""


def _is_it(value: Answer, other: Answer) -> bool:
    """Whether a result is this value, also where it was made a number, or put into a box."""
    try:
        return compare(content_of(value), as_array(other), 0.0, 0.0).approximate
    except TypeError:  # a tensor of a traced function has no value outside of it
        return False


def _chained(runs: list[CheckRun]) -> str:
    """That a function was called with what a call before it gave."""
    if all(any(call.chained for call in run.seen.calls) for run in runs):
        return say("Your program hands what the function gave to another call. Is that asked for?")
    return ""


def _why(said: tuple[str, ...], wanted: Answer) -> str:
    """What `explain` says of the first source that got None, where a number is wanted of it."""
    right = parts_of(wanted)
    meant = (one for place, one in enumerate(said, 1) if len(said) == 1 or right.get(str(place), ...) is not None)
    return next(filter(None, meant), "")


def _lacks_a_number(value: Answer, wanted: Answer) -> bool:
    """Whether a None is where a number is wanted."""
    right = parts_of(wanted)
    return any(
        part is None and right.get(place, None if place else ...) is not None for place, part in parts_of(value).items()
    )


def _nothing_watched(run: CheckRun) -> str:
    """That a tape was asked about a function which it did not record; "" where that is not so."""
    if not run.seen.calls or not run.seen.questions or run.seen.recorded:
        return ""
    if not any(call.tapes for call in run.seen.calls):
        return say("tape.gradient was called, but the tape did not record the function: it ran outside the block.")
    return say("tape.gradient was called, but the tape did not record the function: its input was not watched.")


def _not_called(exercise: Exercise, run: CheckRun) -> str:
    """That the function which is handed in was not used at all."""
    if run.seen.calls or not any(map(_has_unknown, exercise.cases)):
        return ""
    return say("Your program never called the function that it was given. What should its result depend on?")


def _of_another_sort(value: Answer, wanted: Answer) -> str:
    """What to say of a result that is no number and no list of them."""
    if isinstance(value, (list, tuple)) and len(value) > 1 and kind(wanted) == kind(0):
        if isinstance(value, list):
            return say("Your function gives back several results, and one is asked for. Which is it?")
        return say(
            "A comma makes a tuple of several results, and one is asked for. Which is it? Or is a comma in place of a "
            "decimal point?"
        )
    if inspect.isgenerator(value):
        return say("That is a generator, which has not run yet. Write square brackets around it: it is a list then.")
    if isinstance(value, (set, frozenset)):
        return say("A set has no order. Write a list, in square brackets.")
    if hasattr(value, "watched_variables"):
        return say("You gave back the tape itself. Give back what it answers.")
    if inspect.isroutine(value):
        return say("You gave back a function itself. Are the brackets missing that call it?")
    if type(value) is dict:
        if kind(wanted) != kind(0):
            return say("The function returns a dictionary. Return a list, in square brackets.")
        return say("The function returns a dictionary. For which of its values does the exercise ask?")
    return ""


def _without_a_tape(exercise: Exercise, runs: list[Seen]) -> str:
    """What a program did instead of asking a tape; "" where it asked one, or need not."""
    if not exercise.order:
        return ""
    for case, seen in zip(exercise.cases, runs, strict=True):
        if not _has_unknown(case):
            continue
        if not seen.calls:
            return say(
                "Your program never called the function that it was given, so its answer cannot hold for other "
                "functions."
            )
        if not seen.recorded and not seen.questions:
            if len(seen.calls) == 1:
                return say(
                    "Your program called the function, and no tape recorded that. Let a tape record it, and ask the "
                    "tape."
                )
            return say(
                "Your program called the function {n} times, and no tape recorded that: it is a slope by hand, from "
                "differences. "
                "A tape needs one call, and is exact.",
                n=len(seen.calls),
            )
        if unwatched := _nothing_watched(CheckRun(seen=seen)):
            return unwatched
        if not seen.questions:
            return say(
                "A tape recorded the function, but tape.gradient was not called. Where does your answer come from?"
            )
        if seen.order < exercise.order:
            return say(
                "Each gradient was taken while no other tape was on. So the last derivative is not from a tape: it is "
                "by hand."
            )
    return ""


def _has_unknown(given: Answer) -> bool:
    return isinstance(given, UnknownFunction) or (isinstance(given, (list, tuple)) and any(map(_has_unknown, given)))


def _run(exercise: Exercise, answer: Function, case: tuple[Answer, ...]) -> CheckRun:
    """One call of a learner's function, with lists and arrays of its own, its result through the exercise's view."""
    own = tuple(copy(one) if isinstance(one, (list, np.ndarray)) else one for one in case)
    with watching() as seen:
        value, error = _call(answer, own)
    if exercise.view is not None and not error and value is not None and not is_blank(value):
        value, error = _call(exercise.view, (value,))
    return CheckRun(value, error, seen)


def _raised(error: Exception, function: Function) -> str:
    """That an error was raised, and by which line of the function."""
    said, line = re.sub(r" at 0x\w+", "", str(error)), line_of(error, function)
    said = f"{type(error).__name__}: {cut(said, LONGEST)}"
    return (
        say("raises {error} (in the line {line})", error=said, line=line) if line else say("raises {error}", error=said)
    )


def _same_program(source: str, other: str) -> bool:
    """Whether two programs differ in blanks and comments at most."""
    return ast.dump(ast.parse(source)) == ast.dump(ast.parse(other))


def _holds_dots(source: str) -> bool:
    """Whether a `...` still is in a function's source as a blank; True also where that is out of reach."""
    nodes = list(ast.walk(ast.parse(source)))
    asked = [part for node in nodes if isinstance(node, ast.Compare) for part in node.comparators]  # as in `y is ...`
    return not source or any(
        isinstance(node, ast.Constant) and node.value is ... and node not in asked for node in nodes
    )


def _gives_back(source: str) -> bool:
    """Whether a function may give something back; True also where its source is out of reach."""
    returns = (
        isinstance(node, ast.Lambda) or (isinstance(node, ast.Return) and node.value)
        for node in ast.walk(ast.parse(source))
    )
    return not source or any(returns)


def _source(function: Function) -> str:
    """A function's source, as Jupyter and Python keep it; nothing where it is out of reach."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
        nodes = list(ast.walk(ast.parse(source)))
    except (OSError, TypeError, SyntaxError):
        return ""
    names = {"<lambda>" if isinstance(node, ast.Lambda) else getattr(node, "name", None) for node in nodes}
    return source if function.__name__ in names else ""  # else the text of other code by the same file name


def _call(function: Function, case: tuple[Answer, ...]) -> tuple[Answer, Exception | None]:
    try:
        return function(*case), None
    except Exception as error:
        traced = error.__context__ if str(error).startswith("in user code:") else None
        return None, traced if isinstance(traced, Exception) else error


def _same_on_all(exercise: Exercise, runs: list[CheckRun], mistake: Function) -> AnswerComparison:
    """Whether the learner's function did on every case what this mistake does."""
    for case, run in zip(exercise.cases, runs, strict=True):
        wanted, mistaken_error = _call(mistake, case)
        if bool(run.error) != bool(mistaken_error) or not (
            run.error or _compare(exercise, run.value, wanted).approximate
        ):
            return AnswerComparison(False, False)
    return AnswerComparison(True, True)


def _does_as(exercise: Exercise, runs: list[CheckRun], other: Function | None) -> bool:
    """Whether the learner's function did on every case what this one does."""
    if other is None:
        return False
    for case, run in zip(exercise.cases, runs, strict=True):
        with redirect_stdout(None):
            theirs = _run(exercise, other, case)
        same = not (run.error or theirs.error) and _compare(exercise, run.value, theirs.value).approximate
        if not same and not (run.error and theirs.error and type(run.error) is type(theirs.error)):
            return False
    return True


def _hint(
    exercise: Exercise, compared: Callable[[Answer], AnswerComparison], source: str = "", error: Exception | None = None
) -> str:
    """The hint of the first mistake that gives the same, and whose marks are in the source and the error; "" where
    there is none.
    """
    said = f"{type(error).__name__}: {error}"
    made = (m for m in exercise.mistakes if re.search(m.where, source) and re.search(m.error, said))
    return next((m.hint for m in made if compared(m.answer).approximate), "")


def _blank(exercise: Exercise, half_done: bool) -> str:
    text = say(BLANK, name=exercise.name)
    same = say("Your program still gives what it gave at the start.")
    if not half_done and (exercise.blank is not ... or exercise.start):
        return "\n".join([text, say("Change the program, and run the cell again."), same])
    text += "\n" + say("Replace the ... with your answer, and run the cell again.")
    return "\n".join([text, *(f"  {line}" for line in lines_of([], exercise.trials, _show))])


def _close(comparison: AnswerComparison) -> list[str]:
    """How far off an answer is that is right, where it is not exactly so."""
    off = comparison.largest_difference
    return (
        []
        if comparison.exact or not off or off < ROUNDING
        else [say("Close enough: the largest difference is {off}.", off=f"{off:.2g}")]
    )


def _right(exercise: Exercise, verdict: Verdict) -> str:
    lines = [say(RIGHT, name=exercise.name), *(f"  {line}" for line in verdict.measures)]
    return "\n".join([*lines, say(exercise.because, exercise.lesson)] if exercise.because else lines)


def _not_yet(exercise: Exercise, verdict: Verdict, tries: int) -> str:
    kept_back = verdict.expected is None and tries < TRIES_BEFORE_TELLING
    lines = list(verdict.kept_back if kept_back and verdict.given else verdict.measures)
    if verdict.given:
        of_it = [say("of it:    {value}", value=verdict.of_it)] if verdict.of_it else []
        expected = say("expected: {value}", value=verdict.expected or _expected(exercise, tries))
        lines[:0] = [say(GIVEN, value=verdict.given), *of_it, expected]
    lines += [verdict.remark] if verdict.remark else []
    text = [say(WRONG, name=exercise.name), *(f"  {line}" for line in lines)]
    return "\n".join([*text, say(HINT, hint=say(verdict.hint, exercise.lesson))] if verdict.hint else text)


def _measures(comparison: AnswerComparison, kept_back: bool = False) -> list[str]:
    """How far a wrong answer is off, or why that cannot be said; and how much of a list or dict is right.

    Where the answer is kept back, neither how far it is, nor of which kind one of its parts is.
    """
    right, of = comparison.parts or (0, 0)
    count = [say("right: {right} of {of}", right=right, of=of)] if 0 < right < of else []
    if comparison.quoted:
        return [comparison.quoted, *count]
    if comparison.largest_difference is not None and np.isnan(comparison.largest_difference):
        return [say("one of the numbers is NaN, which is no number"), *count]
    if kept_back and (comparison.parts or not comparison.problem):
        return count
    if comparison.problem:
        return [comparison.problem, *count]
    off = comparison.largest_difference or 0.0
    return count if off < ROUNDING else [say("largest difference: {off}", off=float(f"{off:.6g}")), *count]


def _expected(exercise: Exercise, tries: int) -> str:
    """The expected answer's kind, and from the third try on the answer itself."""
    if tries >= TRIES_BEFORE_TELLING:
        return _show(exercise.expect)
    left, asks = (
        TRIES_BEFORE_TELLING - tries,
        say(exercise.asks, exercise.lesson) if exercise.asks else kind(exercise.expect),
    )
    if left == 1:
        return say("{kind} (shown after 1 more try)", kind=asks)
    return say("{kind} (shown after {left} more tries)", kind=asks, left=left)


class _Words(str):
    """A text that is shown without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _show(value: Answer) -> str:
    """An answer as text: its numbers plainly; of an array, only what it is where it is too long to read."""
    return cut(repr(_plainly(value)), LONGEST)


def _rounded(value: np.ndarray) -> Answer:
    """An array as a list, with as many digits as anyone reads."""
    if value.dtype.kind == "f":
        value = np.array([float(f"{number:.6g}") for number in value.flat]).reshape(value.shape)
    return value.tolist()


def _plainly(value: Answer) -> Answer:
    value = as_array(value)
    if isinstance(value, np.ndarray) and value.ndim:
        return _rounded(value) if value.size <= FEW else _Words(kind(value))
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if type(value) in (list, tuple) and len(value) <= LONGEST:
        return type(value)(map(_plainly, value))
    if type(value) is dict:
        return {key: _plainly(part) for key, part in value.items()}
    if isinstance(value, UnknownFunction):
        return value
    if isinstance(value, Iterator):
        return _Words(kind(value))
    if inspect.ismethod(value):
        return _Words(say("the method {name}", name=value.__name__))
    if callable(value) or type(value).__repr__ is object.__repr__:
        return _Words(getattr(value, "__name__", "") or kind(value))
    return value
