"""What `check` says of answers that a program made up, exercise by exercise.

Of each exercise right answers in three forms, and wrong ones of ten kinds and more (`made_up`); those of
`test_exercise_programs` and `test_ways`, which people made up, are counted beside them.
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
from made_up import other_forms, other_values, right_programs, same_values, wrong_programs
from test_exercise_programs import FORMULAS, SOLUTIONS, WRONG, answer, exercise_cells, made
from test_ways import BY_HAND, WAYS, body_of

import minitape as tf
from minitape.course import Exercise
from minitape.course.checker import feedback
from minitape.course.lesson_13 import DISEASES
from minitape.course.programs import saved_program

BLANKS = {name: source.partition("\n\n\ncheck(")[0] for name, source, _ in exercise_cells()}
AS_GOOD = {
    "05.5": ("step / tf.sign",),
    "07.5": (
        "!direction = tf.constant(direction)",
        "direction)\n    direction",
        "direction).numpy()",
    ),  # a list is as good
    "07.6": ("range(10 + 1)", "range(10 - 1)", "range(11)", "/ abs(", ".numpy()"),  # nobody needs the tenth halving
    "08.6": ("tf.where(x > 0.0, x, 2.0)", "tf.where(x > 0.0, x, 10.0)"),  # any number that f can take
    "09.2": ("tf.Variable(a).numpy()",),  # x is no source
    "09.6": (
        "range(500 + 1)",
        "range(500 - 1)",
        "range(501)",
        "tf.Variable(1.0)",
    ),  # how many steps, and from where, is free
    "10.2": (
        "penalty * x + 1.0",
        "[f(x) + penalty * x]",
    ),  # a constant has no slope; of one target in a list, it is the same
    "10.4": ("return y + 1.0", "return [y]", "k < times, lambda"),
    "10.6": ("return abs(angle)",),  # no angle is negative
    "11.3": ("return [0.5 * upstream]",),
    "11.6": ("return [tf.where", "where(abs("),
    "12.2": ("g / y", "g / x"),  # the way back is asked for in the next step
    "12.5": ("[::-1]",),  # of one amount
    "appendix.2": (".numpy()", "abs(x * mask)"),  # no tape is asked, and nothing is negative
    "appendix.3": ("(numbers).numpy()",),
}
"""Changes that leave a program right, by a piece of it, or after ! by what is gone."""


@dataclass
class Line:
    """What was said of the answers to one exercise."""

    name: str
    refused: list[str] = field(default_factory=list)  # right answers that were
    accepted: list[str] = field(default_factory=list)  # wrong answers that were
    kinds: Counter[str] = field(default_factory=Counter)
    said: list[tuple[str, str, str]] = field(default_factory=list)  # a kind, an answer, and what was said of it
    right: int = 0


def variables() -> tuple[list[Any], list[tuple[str, Any]]]:
    """Right and wrong answers to the appendix's exercise 7."""
    make = tf.Variable
    wrong = [
        ("unfinished", ...), ("None", None), ("wrong type", [1.0, 2.0]), ("a tensor", tf.constant([1.0, 2.0])),
        ("no shape", make([1.0, 2.0])), ("any shape", make([1.0, 2.0], shape=tf.TensorShape(None))),
        ("integers", make([1, 2], shape=[None])), ("swapped", make([2.0, 1.0], shape=[None])),
        ("sign", make([-1.0, 2.0], shape=[None])), ("off by one", make([1.0, 2.0, 3.0], shape=[None])),
        ("a table", make([[1.0, 2.0]], shape=[None, 2])),
    ]  # fmt: skip
    shapes = ([None], (None,), tf.TensorShape([None]))
    return [make([1.0, 2.0], shape=shape) for shape in shapes], wrong


def explanations() -> tuple[list[Any], list[tuple[str, Any]]]:
    """Right and wrong answers to exercise 14.9."""
    w = tf.Variable(1.5, name="w")
    with tf.GradientTape(persistent=True) as tape:
        y = tf.round(w) ** 2
    why, known = tape.explain(y, w), saved_program("torch").why
    wrong = [("None", None), ("a word", why.cause), ("the tape", tape), ("not called", tape.explain), ("the line", 11)]
    wrong += [("another one", known), ("another one", [why, known]), ("empty", []), ("a word", [why.cause])]
    return [why, [why], {"w": why}], [("unfinished", ...), *wrong]


def diagnoses(exercise: Exercise) -> tuple[list[Any], list[tuple[str, Any]]]:
    """Right and wrong diagnoses of a bed."""
    words = [] if exercise.expect == "healthy" else [part.split(" in line ") for part in exercise.expect.split(", ")]
    right = [(word, int(line)) for word, line in words]
    pairs = [(word, line) for word in DISEASES for line in range(1, 7)]
    wrong = [[pair] for pair in pairs if exercise.view and exercise.view([pair]) != exercise.expect]
    sound = [
        ("unfinished", [(..., ...)]), ("wrong type", 7), ("None", None), ("healthy", []), ("words", "sick"),
        ("swapped", [(1, "cut")]),
    ]  # fmt: skip
    return [right, tuple(right), [*right[::-1]]], [
        *(one for one in sound if (one[1] or []) != right),
        *(("another one", pair) for pair in wrong),
    ]


def answers_of(exercise: Exercise) -> tuple[list[Any], Iterator[tuple[str, Any]]]:
    """Right answers, and wrong ones with their kinds; programs as texts."""
    name = exercise.name
    if exercise.cases or exercise.trials:
        raw = result = exercise.expect(*exercise.cases[0]) if exercise.cases else None
        result = (
            result.get("holds")
            if isinstance(result, dict)
            else np.asarray(result).tolist()
            if isinstance(result, np.ndarray)
            else result
        )
        people = [("by people", program) for other, program, _ in WRONG if other == name]
        people += [("formula", program) for other, program in FORMULAS.items() if other == name]
        people += [("differences", body_of(name, body)) for other, body in BY_HAND.items() if other == name]
        texts = [*people, *wrong_programs(SOLUTIONS[name], BLANKS[name], result)]
        if "class Tape" in SOLUTIONS[name]:  # the methods of a class may be in any order
            texts = [(kind, text) for kind, text in texts if kind != "order"]
        forms = other_forms(SOLUTIONS[name].strip(), raw) if exercise.cases else []
        good = [*right_programs(SOLUTIONS[name]), *forms, *(program for other, program in WAYS if other == name)]
        return good, ((kind, text) for kind, text in texts if not _as_good(name, text) and not _same(name, text))
    if name == "13.8":  # test_broken_networks has those that are cured
        return [], ((kind, value) for kind, value in other_values([1, 3, 4, 5, 6, 8, 9]))
    if name == "14.9":
        good, wrong = explanations()
    elif name == "appendix.7":
        good, wrong = variables()
    elif name.startswith("13.") and name != "13.1":
        good, wrong = diagnoses(exercise)
    else:
        good = same_values(exercise.expect)
        wrong = [(kind, value) for kind, value in other_values(exercise.expect) if not _seen_alike(exercise, value)]
    return good, iter(wrong)


def _as_good(name: str, text: str) -> bool:
    return any(piece[1:] not in text if piece[0] == "!" else piece in text for piece in AS_GOOD.get(name, ()))


def _same(name: str, text: str) -> bool:
    """Whether a program is the solution after all, as where 0.0 is made ten times as large."""
    return ast.dump(ast.parse(text)) == ast.dump(ast.parse(SOLUTIONS[name]))


def _seen_alike(exercise: Exercise, value: Any) -> bool:
    try:
        return bool(exercise.view) and repr(exercise.view(value)) == repr(exercise.view(exercise.expect))
    except Exception:
        return False


def line_for(exercise: Exercise, most: int) -> Line:
    """What is said of an exercise's answers: one of each kind first, and no more than so many."""
    line = Line(exercise.name)
    right, wrong = answers_of(exercise)
    for one in right:
        line.right += 1
        said = _said(exercise, one)
        if ": correct." not in said:
            line.refused.append(f"{one}\n{said}")
    chosen = [(kind, one) for kind, one in wrong if _can_be_handed_in(exercise, one)]
    first = {kind: (kind, one) for kind, one in reversed(chosen)}
    rest = (pair for pair in chosen if pair[1] is not first[pair[0]][1])
    for kind, one in [*first.values(), *islice(rest, max(0, most - len(first)))]:
        said = _said(exercise, one)
        line.kinds[kind] += 1
        line.said.append((kind, str(one), said))
        if ": correct." in said:
            line.accepted.append(f"[{kind}] {one}\n{said}")
    return line


def _is_program(exercise: Exercise, one: Any) -> bool:
    return isinstance(one, str) and bool(exercise.cases or exercise.trials) and not one.startswith("Tape =")


def _can_be_handed_in(exercise: Exercise, one: Any) -> bool:
    """False for a program whose cell ends with an error of its own, so that nothing is checked."""
    try:
        return not _is_program(exercise, one) or made(one) is not None
    except Exception:
        return False


def _said(exercise: Exercise, one: Any) -> str:
    with redirect_stdout(io.StringIO()):
        return answer(exercise.name, one) if _is_program(exercise, one) else feedback(exercise.name, one)
