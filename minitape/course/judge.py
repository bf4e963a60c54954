"""Judge an answer: a value, a function by its cases, or a class by its trials.

`judge_answer` is the entry point. It returns a `Verdict`, which says whether the answer is right and what the learner
reads if it is wrong.

* A **reply** answers a known wrong answer. The reply is in the lesson's source.
* A **hint** says what this answer does or where it goes wrong. It comes from a comparison with the right answer.
* A **general hint** of the exercise is used if nothing is known about the answer.
* A **verdict** contains all of these, and `checker` writes the text.
"""

import ast
import inspect
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import starmap

import numpy as np

from ..common.translation import format_error, join_sentences, say, truncate_text
from ..engine.types import LIST_OR_TUPLE, OptionalFlag, OptionalText, TextList, TextSequence
from .answer_comparison import (
    AnswerComparison,
    append_colon_zero_to_names,
    arrange_as_expected,
    describe_kind,
    has_blank_part,
    sort_distinct_parts,
)
from .answer_text import MAX_LENGTH, format_answer, format_call
from .attempt import (
    Attempt,
    find_attempt_hint,
    find_function_source,
    find_unused_tape_hint,
    may_have_blank,
    run_case,
    suppress_output,
)
from .call_log import MAX_TAPES
from .error_hints import find_error_hint, find_error_line, find_name_error_hint
from .exercise import Answer, Exercise, Program, collect_exercises
from .hints import (
    add_place,
    describe_extra_or_missing_element,
    describe_rearrangement,
    describe_rounding,
    describe_wrong_places,
    describe_wrong_value,
    is_same_within_tolerance,
    list_wrong_places,
    map_places_to_parts,
)
from .line_difference import LineDifference, find_line_difference, rename_as_learner
from .part_hints import narrow_hint_to_wrong_part
from .progress import count_tries
from .tape_playback import (
    OptionalPlayback,
    build_first_difference_playback,
    build_solution_function,
    find_solution_text,
)
from .trials import (
    describe_non_class_answer,
    format_trial_checklist,
    is_empty_answer,
    run_trials_until_failure,
)
from .value_hints import find_number_meaning_hint

TAPE_LESSON = "12"  # The lesson in which learners build a tape.
ROUNDING_ERROR = 1e-5  # The rounding error that a right answer in float32 may have.


@dataclass(frozen=True)
class Verdict:
    """The outcome of checking an answer. `is_right` is None if the exercise has not been answered yet.

    `answer_text` and `expected_text` are texts. If `expected_text` is None, the expected text is the exercise's answer,
    which is withheld at first. `compared_as` is the value that was compared, if that is not the answer itself. `hint`
    belongs to a known mistake, or says what the answer did. Otherwise, it is one of the exercise's hints. `part_hint`
    says what is wrong with a part. `is_typo` marks a misspelled name or a number in quotes, which does not count as a
    try. `logged_as` is the part of the answer that is stored, if it differs from `answer_text`. `safe_details` are the
    measures that may be shown while the answer is withheld. `is_unfinished` marks a program that was begun but still
    contains a `...`. `playback` shows the tape of a wrong program with the solution's tape. `further_hints` are the
    hints that the learner reads next.
    """

    is_right: OptionalFlag
    details: TextSequence = ()
    hint: str = ""
    part_hint: str = ""
    answer_text: str = ""
    expected_text: OptionalText = None
    compared_as: str = ""
    is_typo: bool = False
    logged_as: str = ""
    safe_details: TextSequence = ()
    is_unfinished: bool = False
    playback: OptionalPlayback = None
    further_hints: TextSequence | None = None


def judge_answer(exercise: Exercise, answer: Answer) -> Verdict:
    """Judge an answer to an exercise. This function never raises an error, whatever the answer is."""
    try:
        if has_blank_part(answer):
            return Verdict(None, is_unfinished=True)
        answer = translate_keys(exercise, answer)
        if exercise.trials:
            return _judge_class(exercise, answer)
        return _judge_function(exercise, answer) if exercise.cases else _judge_value(exercise, answer)
    except Exception as error:
        problem = say("your answer could not be compared: {why}", why=format_error(error))
        return Verdict(False, [problem])


def _judge_class(exercise: Exercise, answer: Answer) -> Verdict:
    """Run the trials one by one, up to the first that fails. Also run the trials of earlier steps."""
    if is_empty_answer(answer):
        return Verdict(None)
    if not isinstance(answer, type):
        return Verdict(False, [describe_non_class_answer(exercise.expect, answer)])
    outcomes = run_trials_until_failure(exercise.expect, answer, exercise.trials)
    trial_lines = format_trial_checklist(outcomes, exercise.trials)
    last_outcome = outcomes[-1]
    if not last_outcome.has_passed and any(
        source and may_have_blank(source) for source in map(find_function_source, vars(answer).values())
    ):
        return Verdict(None)
    method = next((member for member in vars(answer).values() if inspect.isfunction(member)), answer)
    earlier_hint = _describe_earlier_trial_failure(exercise, answer)
    if last_outcome.has_passed:
        return Verdict(not earlier_hint, trial_lines, earlier_hint, logged_as=earlier_hint, further_hints=())
    error_line = typo_hint = ""
    if error := last_outcome.error:
        error_line = find_error_line(error, method)
        # The test itself may read an attribute that the class lacks. Then the learner made no typo.
        typo_hint = find_name_error_hint(error, method) if error_line else ""
    hint = typo_hint or last_outcome.find_hint(count_tries(exercise.name))
    part_hint = ""
    if hint in last_outcome.trial.hints:
        part_hint = (
            earlier_hint
            or _find_trial_error_hint(error, error_line)
            or describe_wrong_places(last_outcome.value, last_outcome.trial.expect, is_same_within_tolerance)
        )
    return Verdict(
        False,
        trial_lines,
        hint,
        part_hint,
        is_typo=bool(typo_hint),
        logged_as=last_outcome.trial.program,
        further_hints=(),
    )


def _describe_earlier_trial_failure(exercise: Exercise, learner_class: Answer) -> str:
    """Describe the first earlier exercise for which the class fails a test, or return "" if it fails none."""
    # A tape that was written in its lesson may be handed in again in a later one.
    for earlier in (collect_exercises(TAPE_LESSON) | collect_exercises(exercise.lesson)).values():
        if not earlier.trials or earlier.expect != exercise.expect or earlier.name >= exercise.name:
            continue
        outcome = run_trials_until_failure(earlier.expect, learner_class, earlier.trials)[-1]
        if not outcome.has_passed:
            sentence = say(
                "A test of exercise {name} fails: {program} gives {value}, but it should give {expected}.",
                name=earlier.name,
                program="; ".join(outcome.trial.list_lines()),
                value=outcome.describe_result(),
                expected=format_answer(outcome.trial.expect),
            )
            return join_sentences(sentence, earlier.say(outcome.find_hint(0)))
    return ""


def _find_trial_error_hint(error: Exception | None, line: str) -> str:
    """Find the meaning of a failed trial's error, and say which line raised the error."""
    if error is None:
        return ""
    return join_sentences(
        find_error_hint(error), say("The error comes from this line: {line}", line=line) if line else ""
    )


def _judge_value(exercise: Exercise, answer: Answer) -> Verdict:
    """Compare a value with the expected value. A wrong value gets the first hint that fits."""
    original = answer
    if isinstance(answer, np.ndarray) and (answer.dtype == object or isinstance(exercise.expect, dict)):
        answer = answer.tolist()
    if exercise.view is not None:
        try:
            answer = exercise.view(answer)
        except Exception as error:
            unusable_note = say(
                "{kind} cannot be used here: {why}", kind=describe_kind(original), why=format_error(error)
            )
            return Verdict(False, [str(error) if type(error) is ValueError else unusable_note])
    answer = arrange_as_expected(answer, exercise.expect)
    comparison = exercise.compare(answer, exercise.expect)
    if comparison.is_right:
        return Verdict(True)
    hint = (
        next(
            (
                mistake.hint
                for mistake in exercise.mistakes
                if mistake.matches_source_and_error() and exercise.is_same(answer, mistake.answer)
            ),
            "",
        )
        or describe_rearrangement(answer, exercise.expect)
        or describe_rounding(answer, exercise.expect)
        or _find_partial_mistake_hint(exercise, answer)
        or _find_membership_hint(exercise, answer)
        or exercise.find_own_hint(original)
    )
    # The view describes the learner's answer as a text, so the answer itself is not a wrong text.
    compares_text = exercise.view is not None and isinstance(exercise.expect, str)
    describe_wrong = (
        describe_extra_or_missing_element
        if exercise.view in (sort_distinct_parts, append_colon_zero_to_names)
        else describe_wrong_value
    )
    hints = exercise.hints
    general_hints = [narrow_hint_to_wrong_part(general_hint, exercise, answer) for general_hint in hints]
    part_hint = ""
    if not hint and not comparison.quotes_hint:
        part_hint = _find_wrong_number_hint(exercise, answer)
        hint = general_hints[-2:][0] if comparison.part_counts else ""
        hint = "" if hint in hints else hint  # A hint that stayed unchanged does not mention the wrong part.
        part_hint = part_hint or ("" if compares_text else describe_wrong(answer, exercise.expect))
    return Verdict(
        False,
        _describe_difference(comparison),
        hint,
        part_hint,
        format_answer(original),
        # If the view converted the answer to another kind, this is the converted answer. A table of properties looks
        # like the inside of the machine, so it is left out.
        compared_as=""
        if isinstance(answer, dict) or describe_kind(original) == describe_kind(answer)
        else format_answer(answer),
        is_typo=bool(comparison.quotes_hint),
        safe_details=[]
        if describe_wrong is describe_extra_or_missing_element and not comparison.quotes_hint
        else _describe_difference(comparison, hides_answer=True),
        further_hints=general_hints[bool(hint) :],
    )


def _find_partial_mistake_hint(exercise: Exercise, answer: Answer) -> str:
    """Find the hint for the first mistake whose wrong parts are all in an answer that is also wrong elsewhere."""
    parts = map_places_to_parts(answer)
    expected_parts = map_places_to_parts(exercise.expect)
    for mistake in exercise.mistakes:
        mistaken_parts = map_places_to_parts(mistake.answer)
        # A hint that calls the other parts right would be wrong here.
        calls_others_right = re.search(r"\b(is|are) right\b", mistake.hint)
        if set(mistaken_parts) != set(expected_parts) or len(expected_parts) < 2 or calls_others_right:
            continue
        wrong_places = list_wrong_places(mistaken_parts, expected_parts, exercise.is_same)
        if len(wrong_places) < len(expected_parts) and not list_wrong_places(
            parts, {place: mistaken_parts[place] for place in wrong_places}, exercise.is_same
        ):
            return mistake.hint
    return ""


def _find_membership_hint(exercise: Exercise, answer: Answer) -> str:
    """Find what to say about the first name that is wrongly in a list, or else about a name that is left out."""
    names, expected_names = (
        [*collection] if isinstance(collection, LIST_OR_TUPLE) else [] for collection in (answer, exercise.expect)
    )
    # Without this line, a tf.Variable would be compared with each name, number by number.
    names = [name for name in names if isinstance(name, (str, int))]
    wrong_names = [name for name in names if name not in expected_names] or [
        name for name in expected_names if name not in names
    ]
    hints = (exercise.reasons[name] for name in wrong_names if name in exercise.reasons)
    return next(hints, "") if names or (isinstance(answer, list) and not answer) else ""


def _find_wrong_number_hint(exercise: Exercise, answer: Answer) -> str:
    """Find what the first wrong number is in the exercise's program, if each wrong number occurs there."""
    parts = map_places_to_parts(answer)
    expected_parts = map_places_to_parts(exercise.expect)
    wrong_places = list_wrong_places(parts, expected_parts, exercise.is_same)
    if not wrong_places or any(describe_kind(parts.get(place)) != describe_kind(0) for place in wrong_places):
        return ""
    hints = []
    program = exercise.program
    for place in wrong_places:
        part_program = program.get(place.partition(",")[0], "") if isinstance(program, dict) else program
        hint = find_number_meaning_hint(float(parts[place]), part_program, place)
        hints += [hint and add_place(place, hint)]
    return hints[0] if all(hints) else ""


def _judge_function(exercise: Exercise, answer: Answer, seeks_hint: bool = True) -> Verdict:
    """Call the learner's function and the correct one on each case, and report the first case in which they differ.

    Whoever only asks whether the function is right seeks no hint, which may take many more calls.
    """
    if not callable(answer):
        return Verdict(
            False,
            answer_text=format_answer(answer),
            expected_text=say("a function (write its name without parentheses)"),
        )
    source = find_function_source(answer)
    if exercise.start and source and _is_same_program(source, exercise.start):
        return Verdict(None)
    runs = [run_case(exercise, answer, case) for case in exercise.cases]
    expected = list(starmap(exercise.expect, exercise.cases))
    comparisons = [
        AnswerComparison(False) if run.error else exercise.compare(run.value, expected_value)
        for run, expected_value in zip(runs, expected, strict=True)
    ]
    are_right = [comparison.is_right for comparison in comparisons]
    if not all(are_right):
        if not seeks_hint:
            return Verdict(False)
        attempt = Attempt(exercise, answer, source, runs, expected, are_right.index(False))
        return _judge_wrong_function(attempt, comparisons[attempt.failed_index])
    observed_runs = [run.observed for run in runs]
    method_hint = find_unused_tape_hint(exercise, observed_runs) or (
        exercise.say(exercise.also(answer, observed_runs)) if exercise.also else ""
    )
    if exercise.from_tape and not all(
        observed_run.has_answer(np.ravel(expected_result)[-1])
        for observed_run, expected_result in zip(observed_runs, expected, strict=True)
    ):
        method_hint = method_hint or exercise.say(exercise.from_tape)
    if method_hint:
        return Verdict(False, [say("The results are right, but the method is not.")], method_hint)
    return Verdict(True)


def _judge_wrong_function(attempt: Attempt, comparison: AnswerComparison) -> Verdict:
    """Judge a function that is wrong in a case, or that still has a blank."""
    run = attempt.failed_run
    answer = attempt.function
    case = attempt.exercise.cases[attempt.failed_index]
    if run.error and (typo_hint := find_name_error_hint(run.error, answer)):
        return Verdict(
            False, [say("your function {did}", did=_describe_error(run.error, answer))], typo_hint, is_typo=True
        )
    has_start = bool(attempt.exercise.start)
    gives_nothing = all(
        not case_run.error and (case_run.value is None or has_blank_part(case_run.value)) for case_run in attempt.runs
    )
    if may_have_blank(attempt.source) and (attempt.source or (gives_nothing and not has_start)):
        return Verdict(None, is_unfinished=has_start)
    last_line = attempt.source.strip().rpartition("\n")[2].strip()
    if not gives_nothing or not attempt.source or re.search(r"\breturn\s+(?!print\b)\S|\blambda\b", attempt.source):
        hint = find_attempt_hint(attempt)
    elif "print(" in last_line:
        hint = say("Your function returns nothing. print only shows a value, but return hands it back.")
    else:
        hint = say(
            "Your function ends without return, so it gives None. Its last line is {line}. What should it return?",
            line=last_line,
        )
    result_text = (
        _describe_error(run.error, answer) if run.error else say("gives {value}", value=format_answer(run.value))
    )
    playback = _build_playback_for_case(attempt)
    if playback and not attempt.exercise.tries_before_tape:
        hint = hint or playback.text
    call_text = f"{format_call(getattr(answer, '__name__', 'f'), case)} {result_text}"
    return Verdict(
        False,
        _describe_difference(comparison),
        hint,
        answer_text=call_text,
        expected_text=format_answer(attempt.expected_value),
        playback=playback,
        further_hints=_list_further_hints(attempt, hint, playback),
    )


def _list_further_hints(attempt: Attempt, hint: str, playback: OptionalPlayback) -> TextList:
    """List what to say next about a wrong function if the same hint did not help.

    If the solution's line alone mends the function, the list names the line that it replaces or, if the learner has
    read about this line, contains the exercise's pointer. The line of the solution comes last.
    """
    question, pointer, line, *_ = (*attempt.exercise.hints, "", "")
    difference = find_line_difference(attempt.source, find_solution_text(attempt.exercise.name))
    if difference and len(difference.own_lines) == 1:
        own_line = difference.own_lines[0].strip()
        is_told = hint and own_line in f"{hint} {playback and playback.text}"
        if not is_told and _is_right_with_line_of_solution(attempt, own_line, difference):
            line_question = say("The rest is right, so look again at your line {line}.", line=own_line)
            if hint:
                pointer = line_question
            else:
                question = join_sentences(line_question, question)
    return [
        "" if hint else question,
        pointer,
        _format_line_difference(difference) if difference else line,
    ]


def _is_right_with_line_of_solution(attempt: Attempt, own_line: str, difference: LineDifference) -> bool:
    """Return whether a wrong function is right with the solution's lines in the place of a line."""
    solution_line = "; ".join(difference.solution_lines).strip() or "pass"
    program = ast.unparse(ast.parse(attempt.source)).replace(own_line, solution_line, 1)
    with suppress(SyntaxError), suppress_output():
        function = build_solution_function(program, attempt.function)
        return bool(_judge_function(attempt.exercise, function, seeks_hint=False).is_right)
    return False


def _format_line_difference(difference: LineDifference) -> str:
    lines = [f"  - {line}" for line in difference.own_lines] + [f"  + {line}" for line in difference.solution_lines]
    return "\n".join([say("Here is the first line that differs from the solution:"), *lines])


def _build_playback_for_case(attempt: Attempt) -> OptionalPlayback:
    """Build the playback of the first tape that differs from the solution's tape on the case that went wrong.

    Returns:
        The playback, or None if there is none.
    """
    run = attempt.failed_run
    # The solution may fail, because it uses the names in the learner's kernel.
    with suppress(Exception), suppress_output():
        program = rename_as_learner(find_solution_text(attempt.exercise.name), attempt.source)
        solution = build_solution_function(program, attempt.function, attempt.exercise.name)
        if solution is None or not run.observed.asked_tapes:
            return None
        case = attempt.exercise.cases[attempt.failed_index]
        both = run.observed, run_case(attempt.exercise, solution, case, MAX_TAPES).observed
        asked_once = all(len(observed.questions) == len(observed.asked_tapes) for observed in both)
        results = "" if run.error else format_answer(run.value), format_answer(attempt.expected_value)
        return build_first_difference_playback(*both, results, asked_once)
    return None


def _describe_error(error: Exception, function: Program) -> str:
    """Say that an error was raised, and which line of the function raised it."""
    message = re.sub(r" at 0x\w+", "", str(error))
    line = find_error_line(error, function)
    message = f"{type(error).__name__}: {truncate_text(message, MAX_LENGTH)}"
    return (
        say("raises {error} (in this line: {line})", error=message, line=line)
        if line
        else say("raises {error}", error=message)
    )


def _is_same_program(source: str, other_source: str) -> bool:
    """Return whether two programs are the same apart from blanks and comments."""
    return ast.dump(ast.parse(source)) == ast.dump(ast.parse(other_source))


def _describe_difference(comparison: AnswerComparison, hides_answer: bool = False) -> TextList:
    """Describe how far off a wrong answer is, or why this is unknown, and how much of a list or dict is right.

    While the answer is withheld, neither the distance nor the kind of a part is revealed.
    """
    right_count, total = comparison.part_counts or (0, 0)
    difference = comparison.max_difference or 0.0
    detail = comparison.quotes_hint or (say("one of the numbers is NaN (not a number)") if np.isnan(difference) else "")
    if not detail and not (hides_answer and ((comparison.place and comparison.is_single) or not comparison.problem)):
        distance = (
            "" if difference < ROUNDING_ERROR else say("largest difference: {off}", off=float(f"{difference:.6g}"))
        )
        detail = add_place(comparison.place, comparison.problem or distance)
    count_text = say("right: {right} of {of}", right=right_count, of=total) if 0 < right_count < total else ""
    return [*filter(None, (detail, count_text))]


def translate_keys(exercise: Exercise, answer: Answer) -> Answer:
    """Translate the keys of a dictionary that are phrases, as in the lesson in the reader's language."""
    if type(answer) is not dict:
        return answer
    return {exercise.say(key) if " " in str(key) else key: part for key, part in answer.items()}
