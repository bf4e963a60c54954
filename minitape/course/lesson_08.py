"""The answers of lesson 08, when the gradient is None."""

from collections.abc import Callable

import numpy as np
from numpy import ndarray

from ..engine.types import FloatList
from .answer_comparison import sort_distinct_parts
from .call_log import ObservedRuns
from .exercise import Answer, Exercise, Mistake, Program
from .forty_lines import CUT_LINE, describe_cut_before_or_after_line
from .unknown_functions import Polynomial, UnknownFunction, compile_unknown_function

F = Polynomial(0, 0, 1)
G = Polynomial(1, -2, 0, 1)


def _build_mistake_for_integers(integer_result: Answer) -> Program:
    """Build a function that is right for numbers with fractions, but returns the given result for whole numbers."""
    return lambda f, value: integer_result if isinstance(value, int) else f.derivative(value)


def _compute_slopes_of_mean(f: Polynomial, values: FloatList) -> ndarray:
    return np.array([f.derivative(value) for value in values]) / len(values)


def _compute_where_positive(compute: Callable[[float], float], values: FloatList) -> ndarray:
    return np.array([compute(value) if value > 0.0 else 0.0 for value in values])


def _find_unsafe_value_hint(answer: Answer, f: UnknownFunction, values: FloatList) -> str:
    """Say what is wrong with values and slopes if some are not numbers, or some belong to a different place."""
    y, slopes = (np.asarray(column, np.float64) for column in answer)
    if not np.isfinite(slopes[np.array(values) <= 0.0]).all():
        return "slope is not a number"
    if np.any(y[np.array(values) <= 0.0]):
        return "value below zero is not 0"
    return ""


def _find_unsafe_input_hint(function: Answer, observed_runs: ObservedRuns) -> str:
    """Say that NaN was removed from the result, although f still receives input that it cannot handle."""
    if any(
        (input_value <= 0.0).any() for run in observed_runs for call in run.calls for input_value in call.input_values
    ):
        return "unsafe numbers in f"
    if not all(np.isfinite(result).all() for run in observed_runs for result in run.call_results):
        return "infinity in f"
    return ""


INVERSE = compile_unknown_function("1 / x", "-1.0 / x**2", "1.0 / x")
ROOT = compile_unknown_function("x ** 0.5 + x ** 8", "0.5 * x**-0.5 + 8.0 * x**7")


EXERCISES = (
    Exercise("08.1", expect=["not_watched", "stop_gradient", "outside_tape", "recording_paused"]),
    Exercise(
        "08.2",
        expect=lambda f, value: f.derivative(value),
        cases=[(F, 3), (G, 0), (G, 10), (G, 2.75)],
        start="""
def slope(f, value):
    x = tf.Variable(value)
    with tf.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x)
""",
        mistakes=[
            Mistake(_build_mistake_for_integers(None), named="cast hides the variable", where=r"\bx = tf\.cast\(x\b"),
            Mistake(_build_mistake_for_integers(0.0), named="zero for a missing path"),
        ],
    ),
    Exercise(
        "08.3",
        expect=_compute_slopes_of_mean,
        cases=[(F, [1.0, 3.0, 5.0]), (G, [2.0, -2.0]), (G, [0.5])],
        start="""
def slopes(f, values):
    x = tf.Variable(values)
    with tf.GradientTape() as tape:
        results = f(x)
        y = tf.constant(np.mean(results.numpy()))
    return tape.gradient(y, x)
""",
        mistakes=[
            Mistake(
                named="y is a plain number",
                where=r"(?s)\b(\w+) = np\.mean\(.*gradient\(\1\b|gradient\(np\.mean",
                error="_id",
            )
        ],
    ),
    Exercise("08.4", expect=[None, 0.0, None, 0.0]),
    Exercise("08.5", expect=[5, 6, 7], view=sort_distinct_parts),
    Exercise(
        "08.6",
        expect=lambda f, values: [
            _compute_where_positive(f._compute, values),
            _compute_where_positive(f.compute_derivatives, values),
        ],
        cases=[(INVERSE, [0.0, 2.0, 0.25]), (ROOT, [4.0, 0.0, 1.0, -1.0]), (INVERSE, [-1.0, 0.0, 0.001])],
        start="""
def values_and_slopes(f, values):
    x = tf.Variable(values)
    with tf.GradientTape() as tape:
        y = tf.where(x > 0.0, f(x), 0.0)
    return [y, tape.gradient(y, x)]
""",
        of_wrong=_find_unsafe_value_hint,
        also=_find_unsafe_input_hint,
    ),
    Exercise("08.7", expect=CUT_LINE, of_wrong=describe_cut_before_or_after_line),
)
