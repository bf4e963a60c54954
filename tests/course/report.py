"""Report the feedback of `check` on generated answers, exercise by exercise.

For each exercise, `made_up` generates right answers in three forms and wrong answers of at least ten kinds. The
handwritten answers in `test_exercise_programs` and `test_ways` are also counted.
"""

import ast
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from made_up import (
    iter_wrong_programs,
    iter_wrong_values,
    list_other_right_forms,
    list_right_programs,
    list_right_values,
)
from test_exercise_programs import FORMULAS, SOLUTIONS, WRONG, check_program, define_function, list_exercise_cells
from test_ways import BY_HAND, WAYS, write_function_with_body

import minitape as tf
from minitape.course import Exercise
from minitape.course.checker import count_try_and_build_feedback
from minitape.course.framework_programs import load_program
from minitape.course.lesson_13 import DISEASES

BLANKS = {name: source.partition("\n\n\ncheck(")[0] for name, source, _ in list_exercise_cells()}
ACCEPTED_CHANGES = {
    "05.5": ("step / tf.sign",),
    # For a direction, a list is as good as a tensor, and a list of targets counts as their sum.
    "07.7": ("tf.constant(point), direction", "= gradient * v"),
    # The tenth halving does not change the result.
    "07.5": ("range(10 + 1)", "range(10 - 1)", "range(11)", "/ abs(", ".numpy()"),
    # Any number that f accepts is a right answer.
    "08.6": ("tf.where(x > 0.0, x, 2.0)", "tf.where(x > 0.0, x, 10.0)"),
    # A constant has no slope, and a list with a single target has the same gradient.
    "10.2": ("penalty * x + 1.0", "[f(x) + penalty * x]"),
    "10.4": ("return y + 1.0", "return [y]", "k < times, lambda"),
    "10.6": ("return abs(angle)",),  # The absolute value changes nothing, because no angle is negative.
    "11.3": ("return [tf.clip_by_value(upstream, -most, most)]",),
    "11.6": ("return [tf.where", "where(abs("),
    "12.2": ("g / y", "g / x"),  # The backward pass is needed only in the next step.
    "12.5": ("[::-1]",),  # Reversing a list with one element changes nothing.
    "appendix.2": (".numpy()", "abs(x * mask)"),  # The program computes no gradient, and no number in it is negative.
    "14.11": ("scores + 1.0",),  # Softmax and len() do not change with it.
    "appendix.3": ("(table).numpy()",),
}
"""Changes after which a program is still right, by exercise. "!" marks a text that is missing."""


ASKING_FOR_TF = ("05.4", "11.4", "appendix.2", "appendix.3")
"""Exercises that ask for variables or a tensor, so that a list of the same numbers is wrong."""


@dataclass
class ExerciseReport:
    """The feedback on all answers to one exercise.

    Attributes:
        name: The name of the exercise.
        refused_answers: The right answers that were refused, with the feedback.
        accepted_answers: The wrong answers that were accepted, with their kind and the feedback.
        kind_counts: The number of wrong answers of each kind.
        feedback_texts: The kind, the answer and the feedback of each wrong answer.
        right_count: The number of right answers.
    """

    name: str
    refused_answers: list[str] = field(default_factory=list)
    accepted_answers: list[str] = field(default_factory=list)
    kind_counts: Counter[str] = field(default_factory=Counter)
    feedback_texts: list[tuple[str, str, str]] = field(default_factory=list)
    right_count: int = 0


def build_variable_answers() -> tuple[list[Any], list[tuple[str, Any]]]:
    """Build right and wrong answers to exercise 7 of the appendix.

    Returns:
        The right answers, and the wrong answers with their kind.
    """
    create = tf.Variable
    wrong = [
        ("unfinished", ...), ("None", None), ("wrong type", [1.0, 2.0]), ("a tensor", tf.constant([1.0, 2.0])),
        ("no shape", create([1.0, 2.0])), ("any shape", create([1.0, 2.0], shape=tf.TensorShape(None))),
        ("integers", create([1, 2], shape=[None])), ("swapped", create([2.0, 1.0], shape=[None])),
        ("sign", create([-1.0, 2.0], shape=[None])), ("off by one", create([1.0, 2.0, 3.0], shape=[None])),
        ("a table", create([[1.0, 2.0]], shape=[None, 2])),
    ]  # fmt: skip
    shapes = ([None], (None,), tf.TensorShape([None]))
    return [create([1.0, 2.0], shape=shape) for shape in shapes], wrong


def build_explanation_answers() -> tuple[list[Any], list[tuple[str, Any]]]:
    """Build right and wrong answers to exercise 14.9.

    Returns:
        The right answers, and the wrong answers with their kind.
    """
    w = tf.Variable(1.5, name="w")
    with tf.GradientTape(persistent=True) as tape:
        y = tf.round(w) ** 2
    why, saved_explanation = tape.explain(y, w), load_program("torch").why
    wrong = [("None", None), ("a word", why.cause), ("the tape", tape), ("not called", tape.explain), ("the line", 11)]
    wrong += [
        ("another one", saved_explanation),
        ("another one", [why, saved_explanation]),
        ("empty", []),
        ("a word", [why.cause]),
    ]
    return [why, [why], {"w": why}], [("unfinished", ...), *wrong]


def build_diagnosis_answers(exercise: Exercise) -> tuple[list[Any], list[tuple[str, Any]]]:
    """Build right and wrong diagnoses of a broken network.

    Args:
        exercise: An exercise of lesson 13.

    Returns:
        The right answers, and the wrong answers with their kind.
    """
    right = []
    if exercise.expect != "healthy":
        word_pairs = [part.split(" in line ") for part in exercise.expect.split(", ")]
        right = [(word, int(line)) for word, line in word_pairs]
    pairs = [(word, line) for word in DISEASES for line in range(1, 7)]
    wrong = [[pair] for pair in pairs if exercise.view and exercise.view([pair]) != exercise.expect]
    other_wrong = [
        ("unfinished", [(..., ...)]), ("wrong type", 7), ("None", None), ("healthy", []), ("words", "sick"),
        ("swapped", [(1, "cut")]),
    ]  # fmt: skip
    return [right, tuple(right), [*right[::-1]]], [
        *(wrong_answer for wrong_answer in other_wrong if (wrong_answer[1] or []) != right),
        *(("another one", pair) for pair in wrong),
    ]


def collect_answers(exercise: Exercise) -> tuple[list[Any], Iterator[tuple[str, Any]]]:
    """Collect the answers to an exercise. Programs are represented by their source.

    Args:
        exercise: The exercise.

    Returns:
        The right answers, and the wrong answers with their kind.
    """
    name = exercise.name
    if exercise.cases or exercise.trials:
        raw_result = result = exercise.expect(*exercise.cases[0]) if exercise.cases else None
        if isinstance(result, dict):
            result = result.get("holds")
        elif isinstance(result, np.ndarray):
            result = result.tolist()
        programs_of_people = [("by people", program) for other, program, _ in WRONG if other == name]
        programs_of_people += [("formula", program) for other, program in FORMULAS.items() if other == name]
        programs_of_people += [
            ("differences", write_function_with_body(name, body)) for other, body in BY_HAND.items() if other == name
        ]
        wrong_texts = [*programs_of_people, *iter_wrong_programs(SOLUTIONS[name], BLANKS[name], result)]
        if "class Tape" in SOLUTIONS[name]:  # The methods of a class can be in any order.
            wrong_texts = [(kind, text) for kind, text in wrong_texts if kind != "order"]
        right_forms = (
            list_other_right_forms(SOLUTIONS[name].strip(), raw_result, name not in ASKING_FOR_TF)
            if exercise.cases
            else []
        )
        right = [
            *list_right_programs(SOLUTIONS[name]),
            *right_forms,
            *(program for other, program in WAYS if other == name),
        ]
        return right, (
            (kind, text)
            for kind, text in wrong_texts
            if not _is_equally_right(name, text) and not _is_same_program(name, text)
        )
    if name == "13.8":  # test_broken_networks checks the right answers.
        return [], ((kind, value) for kind, value in iter_wrong_values([1, 3, 4, 5, 6, 8, 9]))
    if name == "14.9":
        right, wrong = build_explanation_answers()
    elif name == "appendix.7":
        right, wrong = build_variable_answers()
    elif name.startswith("13.") and name != "13.1":
        right, wrong = build_diagnosis_answers(exercise)
    else:
        right = list_right_values(exercise.expect)
        wrong = [
            (kind, value)
            for kind, value in iter_wrong_values(exercise.expect)
            if not _is_same_after_view(exercise, value)
        ]
    return right, iter(wrong)


def _is_equally_right(name: str, text: str) -> bool:
    return any(piece[1:] not in text if piece[0] == "!" else piece in text for piece in ACCEPTED_CHANGES.get(name, ()))


def _is_same_program(name: str, text: str) -> bool:
    """Return whether a changed program is still a solution, for example because 0.0 was multiplied by ten."""
    return ast.dump(ast.parse(text)) == ast.dump(ast.parse(SOLUTIONS[name]))


def _is_same_after_view(exercise: Exercise, value: Any) -> bool:
    try:
        return bool(exercise.view) and repr(exercise.view(value)) == repr(exercise.view(exercise.expect))
    except Exception:
        return False


def build_report(exercise: Exercise, limit: int) -> ExerciseReport:
    """Build the report on the feedback for one exercise.

    Args:
        exercise: The exercise.
        limit: The maximum number of wrong answers to check. At least one answer of each kind is checked.

    Returns:
        The report.
    """
    report = ExerciseReport(exercise.name)
    right, wrong = collect_answers(exercise)
    for candidate in right:
        report.right_count += 1
        feedback_text = _collect_feedback(exercise, candidate)
        if ": correct." not in feedback_text:
            report.refused_answers.append(f"{candidate}\n{feedback_text}")
    candidates = [(kind, candidate) for kind, candidate in wrong if _can_be_handed_in(exercise, candidate)]
    first_by_kind = {kind: (kind, candidate) for kind, candidate in reversed(candidates)}
    remaining = (pair for pair in candidates if pair[1] is not first_by_kind[pair[0]][1])
    for kind, candidate in [*first_by_kind.values(), *islice(remaining, max(0, limit - len(first_by_kind)))]:
        feedback_text = _collect_feedback(exercise, candidate)
        report.kind_counts[kind] += 1
        report.feedback_texts.append((kind, str(candidate), feedback_text))
        if ": correct." in feedback_text:
            report.accepted_answers.append(f"[{kind}] {candidate}\n{feedback_text}")
    return report


def _is_program(exercise: Exercise, candidate: Any) -> bool:
    return isinstance(candidate, str) and bool(exercise.cases or exercise.trials) and not candidate.startswith("Tape =")


def _can_be_handed_in(exercise: Exercise, candidate: Any) -> bool:
    """Return False for a program whose cell raises an error, so that `check` is never called."""
    try:
        return not _is_program(exercise, candidate) or define_function(candidate) is not None
    except Exception:
        return False


def _collect_feedback(exercise: Exercise, candidate: Any) -> str:
    with redirect_stdout(io.StringIO()):
        if _is_program(exercise, candidate):
            return check_program(exercise.name, candidate)
        return count_try_and_build_feedback(exercise.name, candidate)
