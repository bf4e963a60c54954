"""The answers of lesson 05, how long a tape lasts, and where a gradient points."""

import re

import numpy as np

from ..engine.types import LIST_OR_TUPLE, FloatList, FloatSequence
from .answer_comparison import to_numpy_value
from .call_log import ObservedRuns
from .exercise import Answer, Exercise, Mistake, Program
from .unknown_functions import Polynomial, UnknownFunction, compile_unknown_function

VALLEY = compile_unknown_function(
    "(a - 1)**2 + 2 (a - b)**2",
    "[2.0 * (a - 1.0) + 4.0 * (a - b), -4.0 * (a - b)]",
    "(a - 1.0) * (a - 1.0) + 2.0 * (a - b) * (a - b)",
)
BEND = compile_unknown_function(
    "a**2 + (b c - 1)**2",
    "[2.0 * a, 2.0 * c * (b * c - 1.0), 2.0 * b * (b * c - 1.0)]",
    "a * a + (b * c - 1.0) * (b * c - 1.0)",
)
TILTED = compile_unknown_function(
    "(x[0] - 2 * x[1]) ** 2 + x[0]",
    "[2.0 * (x[0] - 2.0 * x[1]) + 1.0, -4.0 * (x[0] - 2.0 * x[1])]",
    "(x[0] - 2.0 * x[1]) ** 2 + x[0]",
)
CURVED = compile_unknown_function("x[0] * x[1] + x[2] ** 2", "[x[1], x[0], 2.0 * x[2]]")
F = Polynomial(0, 0, 1)
G = Polynomial(1, 2, 0, -1)
FIT_CASES = [(VALLEY, [2.0, -1.0], 1, 0.1), (VALLEY, [0.5, 3.0], 4, 0.2), (BEND, [1.0, 2.0, -1.0], 3, 0.05)]


def _replace_error_names(answers: Answer) -> Answer:
    """Replace every error name in the answers with "error".

    >>> _replace_error_names({"A": "RuntimeError", "B": "an error", "C": "no error", "D": 4.0})
    {'A': 'error', 'B': 'error', 'C': 'no error', 'D': 4.0}
    """
    if not isinstance(answers, dict):
        return answers
    pattern = re.compile(r"\s*(an? |the )?\w*error\b", re.IGNORECASE)
    return {
        key: "error" if pattern.match(str(getattr(answer, "__name__", answer))) else answer
        for key, answer in answers.items()
    }


def _run_descent(f: UnknownFunction, starts: FloatSequence, steps: int, rate: float) -> FloatList:
    """Return where steps down the slopes of `f` lead."""
    numbers = list(starts)
    for _ in range(steps):
        slopes = f.compute_derivatives(*numbers)
        numbers = [number - rate * slope for number, slope in zip(numbers, slopes, strict=True)]
    return numbers


def _build_adversarial_input(f: UnknownFunction, x: FloatSequence, step: float) -> np.ndarray:
    """Return the input after each of its numbers has moved by `step` up the slope of `f`."""
    return np.array(x) + step * np.sign(f.compute_derivatives(x))


def _read_variables(variables: Answer) -> Answer:
    """Read the values of the variables in a list. Return anything else unchanged."""
    return [*map(to_numpy_value, variables)] if isinstance(variables, LIST_OR_TUPLE) else variables


def _find_missing_variable_hint(answer: Program, observed_runs: ObservedRuns) -> str:
    if not all(run.assign_count for run in observed_runs):
        return "no variable changed"
    if any(run.sweep_count > arguments[2] for run, arguments in zip(observed_runs, FIT_CASES, strict=True)):
        return "more than one sweep"
    if all(hasattr(variable, "assign") for variable in answer(VALLEY, [2.0, -1.0], 1, 0.1)):
        return ""
    return "values returned"


EXERCISES = (
    Exercise("05.1", expect={"A": 1, "B": 1, "C": 2, "D": 3}),
    Exercise(
        "05.2",
        expect={"A": "error", "B": 12.0, "C": 16.0, "D": "error"},
        view=_replace_error_names,
        program="""
x = tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
    y = x * x
    z = x * x * x
""",
    ),
    Exercise(
        "05.3",
        expect=lambda f, g, value: [f.derivative(value), g.derivative(value)],
        cases=[(F, G, 3.0), (F, G, -1.0), (G, F, 0.5)],
    ),
    Exercise(
        "05.4",
        expect=_run_descent,
        cases=FIT_CASES,
        start="""
def fit(loss_of, starts, steps, rate):
    variables = [tf.Variable(start) for start in starts]
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = loss_of(*variables)
        for variable in variables:
            variable.assign_sub(rate * tape.gradient(loss, variable))
    return variables
""",
        view=_read_variables,
        also=_find_missing_variable_hint,
        mistakes=[
            Mistake(
                named="list not unpacked",
                where=r"loss_of\(\w+\)",
                error="takes tensors|missing a required",
            ),
        ],
    ),
    Exercise(
        "05.5",
        expect=_build_adversarial_input,
        cases=[
            (TILTED, [1.0, 2.0], 0.1),
            (TILTED, [3.0, -1.0], 0.5),
            (CURVED, [0.5, -1.0, 2.0], 0.25),
            (CURVED, [1.0, 2.0, 0.0], 0.5),
            (CURVED, [0.06, -0.08, 1.0], 0.2),
        ],
    ),
)
