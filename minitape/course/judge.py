"""Whether an answer is right, and what may have gone wrong: of a value, of a function by its cases, of a class by its
trials.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ..common.texts import cut, paragraph, say
from .attempt import Attempt, CheckRun, hint_for, holds_dots, quietly, run_on, source_of, without_a_tape
from .call_log import Seen
from .compare import AnswerComparison, as_asked, compare, in_order, is_blank, kind, with_zero
from .error_hints import line_of, slip_in, told_of
from .exercise import Answer, Case, Exercise, Program, exercises_of
from .hints import named, of_collection, of_value, parts_of, rearranged
from .playback import Playback, playback_of, program_of, solution_of
from .program_text import of_result
from .program_values import meaning_of
from .progress import tries_at
from .shown import LONGEST, shown, shown_call
from .trials import Outcome, is_empty, lines_of, try_out, wrong_kind

ROUNDING = 1e-5  # what float32 leaves of a right answer


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


def judge(exercise: Exercise, answer: Answer) -> Verdict:
    try:
        if is_blank(answer):
            return Verdict(None, half_done=True)
        answer = keys_in_words(exercise, answer)
        if exercise.trials:
            return _judge_class(exercise, answer)
        return _judge_function(exercise, answer) if exercise.cases else _judge_value(exercise, answer)
    except Exception as error:
        problem = say("your answer could not be compared: {why}", why=f"{type(error).__name__}: {error}")
        return Verdict(False, [problem])


def _judge_class(exercise: Exercise, answer: Answer) -> Verdict:
    """Run the trials one by one, up to the first that fails; then those of the steps before."""
    if is_empty(answer):
        return Verdict(None)
    if not isinstance(answer, type):
        return Verdict(False, [wrong_kind(exercise.expect, answer)])
    outcomes = try_out(exercise.expect, answer, exercise.trials)
    lines, last = lines_of(outcomes, exercise.trials), outcomes[-1]
    if not last.passed and any(text and holds_dots(text) for text in map(source_of, vars(answer).values())):
        return Verdict(None)
    method = next((one for one in vars(answer).values() if inspect.isfunction(one)), answer)
    before = _step_that_fails(exercise, answer, method)
    if last.passed:
        return Verdict(not before, lines, before, wrong=before)
    slip = slip_in(last.error, method) if last.error else ""
    hint = slip or last.hint(tries_at(exercise.name))
    remark = (before or _remark_on(last, method)) if hint in last.trial.hints else ""
    return Verdict(False, lines, hint, remark, slip=bool(slip), wrong=last.trial.program)


def _step_that_fails(exercise: Exercise, answer: Answer, method: Program) -> str:
    """What is said of the first exercise before this one of which the class fails a test."""
    for step in exercises_of(exercise.lesson).values():
        failed = try_out(step.expect, answer, step.trials)[-1] if step.trials and step.name < exercise.name else None
        if failed is not None and not failed.passed:
            test = say(
                "A test of exercise {name} fails: {program} gives {value}, expected {expected}.",
                name=step.name,
                program="; ".join(failed.trial.lines()),
                value=failed.gave(),
                expected=shown(failed.trial.expect),
            )
            return paragraph(test, _remark_on(failed, method))
    return ""


def _remark_on(outcome: Outcome, method: Program) -> str:
    """What the error of a trial that failed means, and the line that raised it."""
    if outcome.error is None:
        return ""
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
            unusable = say("{kind} cannot be used here: {why}", kind=kind(given), why=why)
            return Verdict(False, [str(error) if type(error) is ValueError else unusable])
    answer = as_asked(answer, exercise.expect)
    comparison = _compare(exercise, answer)
    if comparison.right:
        return Verdict(True)
    hint = (
        next((m.hint for m in exercise.mistakes if m.may_be() and _compare(exercise, answer, m.answer).right), "")
        or rearranged(answer, exercise.expect)
        or _hint_of_parts(exercise, answer)
        or _reason(exercise, answer)
        or _looked_at(exercise, given)
    )
    text = exercise.view is not None and isinstance(exercise.expect, str)  # of things that are no texts
    of_answer = of_collection if exercise.view in (in_order, with_zero) else of_value
    remark = ""
    if not hint and not comparison.quoted:
        remark = _meaning(exercise, answer)
        hint = _pointer_to(exercise, answer) if comparison.parts else ""
        remark = remark or ("" if text else of_answer(answer, exercise.expect))
    return Verdict(
        False,
        _measures(comparison),
        hint,
        remark,
        shown(given),
        of_it="" if kind(given) == kind(answer) else shown(answer),  # it is not the thing itself that is compared
        slip=bool(comparison.quoted),
        kept_back=[] if of_answer is of_collection and not comparison.quoted else _measures(comparison, kept_back=True),
    )


def _looked_at(exercise: Exercise, wrong: Answer) -> str:
    """What the exercise's own look at a wrong answer says."""
    with suppress(Exception):  # the look is not made for all that a learner can hand in
        return exercise.of_wrong(wrong) if exercise.of_wrong else ""
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
        wrong = [place for place in right if not _compare(exercise, made[place], right[place]).right]
        if len(wrong) < len(right) and all(
            place in given and _compare(exercise, given[place], made[place]).right for place in wrong
        ):
            return mistake.hint
    return ""


def _reason(exercise: Exercise, answer: Answer) -> str:
    """What is said of the first name that is wrongly in a list, or else of one that is left out."""
    given, right = ([*one] if isinstance(one, (list, tuple)) else [] for one in (answer, exercise.expect))
    given = [name for name in given if isinstance(name, (str, int))]  # a variable compares number by number
    wrong = [name for name in given if name not in right] or [name for name in right if name not in given]
    told = (exercise.reasons[name] for name in wrong if name in exercise.reasons)
    return next(told, "") if given or (isinstance(answer, list) and not answer) else ""


def _meaning(exercise: Exercise, answer: Answer) -> str:
    """What the first wrong number is in the program of the exercise, where each wrong one is something there."""
    given, right = parts_of(answer), parts_of(exercise.expect)
    wrong = [place for place in right if place not in given or not _compare(exercise, given[place], right[place]).right]
    if not wrong or any(kind(given.get(place)) != kind(0) for place in wrong):
        return ""
    found, program = [], exercise.program
    for place in wrong:
        of_it = program.get(place.partition(",")[0], "") if isinstance(program, dict) else program
        told = meaning_of(float(given[place]), of_it, place)
        found += [say("{place}: {told}", place=place, told=told) if place and told else told]
    return found[0] if all(found) else ""


def _pointer_to(exercise: Exercise, answer: Answer) -> str:
    """What the second hint says of the first part that is wrong, where it says something of each: "A: ... B: ..."."""
    right, text = exercise.expect, say(exercise.hints[-2:][0], exercise.lesson)
    piece = r"[^.?。？:：]{1,20}[:：]"
    pieces = re.findall(rf"(?:^|(?<=[.?] )|(?<=[。？])){piece}.*?[.?。？](?= ?{piece}|$)", text)
    if type(answer) is not type(right) or len(answer) != len(right) or len(pieces) != len(right):
        return ""
    places = right if isinstance(right, dict) else range(len(right))
    parts = zip(pieces, places, strict=True)
    return next((one for one, k in parts if not _compare(exercise, answer[k], right[k]).right), "")


def _compare(exercise: Exercise, answer: Answer, expected: Answer = ...) -> AnswerComparison:
    return compare(answer, exercise.expect if expected is ... else expected, exercise.rtol, exercise.rtol)


def _judge_function(exercise: Exercise, answer: Answer) -> Verdict:
    """Call the learner's function on each case beside the right one; report the first case where they part."""
    if not callable(answer):
        return Verdict(False, given=shown(answer), expected=say("a function: its name, without brackets after it"))
    source = source_of(answer)
    if exercise.start and source and _same_program(source, exercise.start):
        return Verdict(None)
    runs = [run_on(exercise, answer, case) for case in exercise.cases]
    expected = [exercise.expect(*case) for case in exercise.cases]
    parts = [
        AnswerComparison(False) if run.error else _compare(exercise, run.value, wanted)
        for run, wanted in zip(runs, expected, strict=True)
    ]
    if not all(part.right for part in parts):
        attempt = Attempt(exercise, answer, source, runs, expected, [part.right for part in parts].index(False))
        return _wrong_function(attempt, parts[attempt.at])
    seen = [run.seen for run in runs]
    by_hand = without_a_tape(exercise, seen) or (
        say(exercise.also(answer, seen), exercise.lesson) if exercise.also else ""
    )
    if exercise.from_tape and not all(one.gave(np.ravel(right)[-1]) for one, right in zip(seen, expected, strict=True)):
        by_hand = by_hand or say(exercise.from_tape, exercise.lesson)
    if by_hand:
        return Verdict(False, [say("The results are right, the method is not.")], by_hand)
    return Verdict(True)


def _wrong_function(attempt: Attempt, part: AnswerComparison) -> Verdict:
    """What is said of a function that is wrong in a case, or has a blank left."""
    run, answer, case = attempt.failed, attempt.function, attempt.exercise.cases[attempt.at]
    if run.error and (slip := slip_in(run.error, answer)):
        return Verdict(False, [say("your function {did}", did=_raised(run.error, answer))], slip, slip=True)
    begun, empty = (
        bool(attempt.exercise.start),
        all(not one.error and (one.value is None or is_blank(one.value)) for one in attempt.runs),
    )
    if holds_dots(attempt.source) and (attempt.source or (empty and not begun)):
        return Verdict(None, half_done=begun)
    hint = say("Your function gives nothing back: write return before its result, and not print.")
    if not empty or not attempt.source or re.search(r"\breturn\s+(?!print\b)\S|\blambda\b", attempt.source):
        hint = hint_for(attempt)
    did = _raised(run.error, answer) if run.error else say("gives {value}", value=shown(run.value))
    playback = _played_back(attempt.exercise, answer, case, run)
    given = f"{shown_call(getattr(answer, '__name__', 'f'), case)} {did}"
    remark = playback.text if playback else ""
    if not remark and not hint and not run.error:
        remark = of_result(attempt.source, attempt.last_names[attempt.at])
    return Verdict(False, _measures(part), hint, remark, given, shown(attempt.wanted), playback=playback)


def _played_back(exercise: Exercise, answer: Program, case: Case, run: CheckRun) -> Playback | None:
    """The first tape that a program asked on a case beside the one that the solution asks; None where there is none."""
    with suppress(Exception), quietly():  # whatever the solution needs, and the names in the kernel are
        solution = solution_of(program_of(exercise.name), answer) if run.seen.tapes else None
        both = run.seen, run_on(exercise, solution, case).seen if solution else Seen()
        once = all(len(seen.questions) == len(seen.tapes) for seen in both)
        return playback_of(both[0].tapes, both[1].tapes, once)
    return None


def _raised(error: Exception, function: Program) -> str:
    """That an error was raised, and by which line of the function."""
    said, line = re.sub(r" at 0x\w+", "", str(error)), line_of(error, function)
    said = f"{type(error).__name__}: {cut(said, LONGEST)}"
    return (
        say("raises {error} (in the line {line})", error=said, line=line) if line else say("raises {error}", error=said)
    )


def _same_program(source: str, other: str) -> bool:
    """Whether two programs differ in blanks and comments at most."""
    return ast.dump(ast.parse(source)) == ast.dump(ast.parse(other))


def _measures(comparison: AnswerComparison, kept_back: bool = False) -> list[str]:
    """How far a wrong answer is off, or why that cannot be said; and how much of a list or dict is right.

    Where the answer is kept back, neither how far it is, nor of which kind one of its parts is.
    """
    (right, of), off = comparison.parts or (0, 0), comparison.off or 0.0
    told = comparison.quoted
    if not told and np.isnan(off):
        told = say("one of the numbers is NaN, which is no number")
    elif not told and not (kept_back and ((comparison.place and comparison.single) or not comparison.problem)):
        far = "" if off < ROUNDING else say("largest difference: {off}", off=float(f"{off:.6g}"))
        told = comparison.problem or far
        told = say("{place}: {told}", place=named(comparison.place), told=told) if comparison.place else told
    count = say("right: {right} of {of}", right=right, of=of) if 0 < right < of else ""
    return [*filter(None, (told, count))]


def keys_in_words(exercise: Exercise, answer: Answer) -> Answer:
    """A dictionary whose keys are phrases has them as the lesson of the reader's language."""
    if type(answer) is not dict:
        return answer
    return {say(key, exercise.lesson) if " " in str(key) else key: part for key, part in answer.items()}
