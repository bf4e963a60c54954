"""The answers of lesson 08, when the gradient is None."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..common.translation import say
from .answer_comparison import sort_distinct_parts
from .call_log import ObservedRuns
from .exercise import Answer, Exercise, Mistake, Program
from .forty_lines import CUT_LINE, describe_cut_direction
from .unknown_functions import Polynomial, UnknownFunction

F, G = Polynomial(0, 0, 1), Polynomial(1, -2, 0, 1)


def _build_mistake_for_integers(integer_result: Answer) -> Program:
    """Build what is right for numbers with fractions, and gives this for whole ones."""
    return lambda f, value: integer_result if isinstance(value, int) else f.derivative(value)


def _compute_slopes(f: Polynomial, values: list[float]) -> np.ndarray:
    return np.array([f.derivative(value) for value in values])


def _compute_where_positive(compute: Callable[[float], float], values: list[float]) -> np.ndarray:
    return np.array([compute(value) if value > 0.0 else 0.0 for value in values])


def _find_unsafe_value_hint(answer: Answer, f: UnknownFunction, values: list[float]) -> str:
    """Say what is wrong with values and slopes of which some are no numbers, or some are those of another place."""
    y, slopes = (np.asarray(column, np.float64) for column in answer)
    if not np.isfinite(slopes[np.array(values) <= 0.0]).all():
        return say("One of the slopes is NaN or infinite where x is not above 0. Which number does f see there?")
    if np.any(y[np.array(values) <= 0.0]):
        return say("Where a value is not above 0, y must be 0. That is what the where around f is for, which asks x.")
    return ""


def _find_unsafe_input_hint(function: Answer, observed_runs: ObservedRuns) -> str:
    """Say that NaN was taken out of the result, and f still sees what it cannot take."""
    if any(
        (input_value <= 0.0).any() for run in observed_runs for call in run.calls for input_value in call.input_values
    ):
        return (
            "The results are right, but f still sees numbers that are not above 0. From there NaN can come back, "
            "and a variable inside of f would get it. Hand f another number in their place."
        )
    if not all(np.isfinite(result).all() for run in observed_runs for result in run.call_results):
        return (
            "The results are right, but of the number that f gets in place of the others, it makes infinity. Hand it "
            "one of a usual size, such as 1.0."
        )
    return ""


INVERSE = UnknownFunction("1 / x", lambda x: 1.0 / x, lambda x: -1.0 / x**2)
ROOT = UnknownFunction("x ** 0.5 + x ** 8", lambda x: x**0.5 + x**8, lambda x: 0.5 * x**-0.5 + 8.0 * x**7)

EXPLANATIONS = {
    "08.p1": "The watch comes after the line in which x was used. What ran before it was not recorded.",
    "08.p2": "Line 2 makes rate with trainable=False, so no tape watches it by itself.",
    "08.p3": "This tape does not watch variables by itself, and no line calls watch(w). It does watch x.",
    "08.p4": "The line of loss is outside the block, so the tape did not see it.",
    "08.p5": "The cast to float is fine. But before it there is an integer, and there the path ends.",
    "08.p6": "A comparison answers yes or no. If x changes a little, the answer stays the same, until it jumps. There "
    "is nothing to follow downhill.",
    "08.p7": "A tape can follow a value only from one tf operation to the next. np.mean gives a plain number, and "
    "that comes back as a new constant, without any memory. "
    ".numpy() and float() do the same.",
    "08.p8": "After the first step, w is the name of a tensor: w = ... binds the name anew. The variable is still "
    "there, and no line uses it.",
    "08.p9": "Each time you write x[0], a new tensor is made. y was not computed from this one: it was computed "
    "from x.",
    "08.p10": "A slip of the pen: first was called twice, and second never.",
    "08.p11": "One path is whole, the last multiplication, and it gives the factor, 3 * 3 + 16. The path through "
    "float() is cut, and its 2 * 9 are missing.",
    "08.p12": "What arrives at y goes back through both branches of where. At x = 0 the branch that was not chosen "
    "gets 0 of it, and there 0 is multiplied by log(0), which is minus infinity. 0 times infinity is NaN.",
}
BELIEFS = {
    "08.p1": {
        "not_watched": "x is watched, in the second line of the block. `not_watched` means a tape that never "
        "hears of x.",
        "not_trainable": "x is a constant. Only a variable can be trainable or not.",
    },
    "08.p2": {
        "line 1": "Line 1 makes w, which is trainable. Its gradient is a number already.",
        "line 4": "Line 4 uses both, and the tape records it. But the tape does not watch rate.",
    },
    "08.p3": {
        "3.0 and 2.0": "Both are numbers on a tape that watches variables by itself. This tape was told not "
        "to do that.",
        "3.0 and None": "It is the other way round: a line of the block watches x, and no line watches w.",
        "None and None": "A line of the block watches x, so there is a path to x. Its gradient is the other "
        "factor, 2.0.",
    },
    "08.p4": {
        "recording_paused": "A pause needs a block `with tape.stop_recording()`. There is none here.",
        "stop_gradient": "No line calls `tf.stop_gradient`. No value is cut here on purpose.",
        "not_watched": "w is a trainable variable, and the tape saw w * w. So it watches w by itself.",
    },
    "08.p5": {
        "4.0 and 3.0": "3.0 is the slope along the number that the cast makes. y itself is a whole number, "
        "and cannot change a little.",
        "None and None": "x is a float, and the tape recorded the product. Its gradient is the other factor, 4.0.",
    },
    "08.p6": {
        "integer_dtype": "No value here is an integer: x > 1.0 gives True and False, and the cast makes "
        "floats of them.",
        "outside_tape": "Both lines are inside the block, and the tape saw them.",
    },
    "08.p7": {
        "not_watched": "x is a trainable variable. The tape watches it, and saw x * x.",
        "nondifferentiable_op": "A mean has a derivative, and so has a square root. tf.reduce_mean hands it on.",
    },
    "08.p8": {
        "state": "No line calls assign, so no value was stored in a variable.",
        "wrong_object": "The second loss is computed from the very w that the tape is asked about. But that w "
        "is no variable any more.",
        "independent": "The second loss is computed from w. But the tape does not watch what w is by then.",
    },
    "08.p9": {
        "independent": "y is computed from x, from both entries. But the tape is asked about entry, which was "
        "made later.",
        "watched_late": "The tape watches x before x is used. But it is asked about entry, which was made later.",
    },
    "08.p10": {
        "not_trainable": "Both kernels are trainable, and the tape watches each when it is used. One was not used.",
        "rebound": "first and second name the same two layers all the time. No line gives one of the names away.",
    },
    "08.p11": {
        "43.0": "43.0 is the true derivative, 3 * 3 * 3 + 16. A part of it, 18, comes along the path through "
        "float(), which is cut.",
        "None": "None means that all paths are cut. The last multiplication uses x itself, and its path is whole.",
    },
    "08.p12": {
        "0.0 and 1.0": "That is what the choice of where suggests. But an amount goes back through the other "
        "branch, too: 0, and it is multiplied by infinity there.",
        "-inf and 1.0": "-inf is the slope of x * log(x) at 0. where lets 0 of it through, and 0 times "
        "infinity is no number.",
        "an error": "log(0) is no error: TensorFlow gives -inf, and goes on with it.",
    },
}
RETRY_QUESTIONS = {
    "08.p5": (
        "w is 3.0, k = tf.cast(w, tf.int32), and y = tf.cast(k, tf.float32) * w. What is the gradient of y with "
        "respect to w?",
        ["3.0", "6.0", "None"],
        "3.0",
        "The path through the whole number k is cut. As a factor w is there, too, and the other factor is 3.",
    ),
    "08.p11": (
        "y = float(x) * x + x at x = 4. What is the gradient?",
        ["5.0", "9.0", "None"],
        "5.0",
        "float(x) is a plain number, so this path is cut. What is left is 4 from the product, and 1 from the sum.",
    ),
    "08.p12": (
        "x is 0.0. What is the gradient of tf.where(x > 0.0, 1.0 / x, 0.0)?",
        ["0.0", "nan", "-inf"],
        "nan",
        "The branch that was not chosen gets 0, and the slope of 1 / x at 0 is infinite. 0 times infinity is NaN.",
    ),
}


EXERCISES = (
    Exercise(
        "08.1",
        expect=["not_watched", "stop_gradient", "outside_tape", "recording_paused"],
        slips={
            ("not_watched", "stop_gradient", "recording_paused", "outside_tape"): (
                "C and D are swapped: where is the block over, and where is recording switched off for a while?"
            ),
            ("not_watched", "recording_paused", "outside_tape", "stop_gradient"): (
                "B and D are swapped: stop_recording belongs to a tape, stop_gradient to a value."
            ),
            1: {
                "not_trainable": "In A, x is a constant, not a variable. Only variables are trainable or not.",
                "watched_late": "In A the tape never watches x.",
            },
        },
        hint=(
            "In each program: who is watched, and is every line on the tape?",
            "Take the words from the first two groups of the table, each once at most. A: x is a constant. Which word "
            "says so? B: which function is between w and y? C: where is the line of z? D: what was said to the tape "
            "just before?",
            "A: a constant. B: a cut in the value. C: a line after the block. D: a tape that was paused.",
        ),
        because="x was not watched; the value was cut off; a line was outside the block; the tape was paused.",
    ),
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
            Mistake(
                _build_mistake_for_integers(None),
                "x = tf.cast(x, ...) gives the name x to a tensor, which no tape watches. Make the variable itself a "
                "float.",
                where=r"\bx = tf\.cast\(x\b",
            ),
            Mistake(
                _build_mistake_for_integers(0.0),
                "A zero is not right either: y changes when x changes. Which dtype has x?",
            ),
        ],
        hint=(
            "Which dtype does x get if value is 3?",
            "Make the variable itself a float, whatever value is.",
            "x = tf.Variable(value, dtype=tf.float32)",
        ),
        because="With a dtype that has fractions, x can change a little.",
    ),
    Exercise(
        "08.3",
        expect=lambda f, values: _compute_slopes(f, values) / len(values),
        cases=[(F, [1.0, 3.0, 5.0]), (G, [2.0, -2.0]), (G, [0.5])],
        start="""
def slopes(f, values):
    x = tf.Variable(values)
    with tf.GradientTape() as tape:
        results = f(x)
        y = tf.constant(np.mean(results.numpy()))
    return tape.gradient(y, x)
""",
        changes={
            "reduce_mean => reduce_sum": "That is the derivative of the sum. The mean divides by how many.",
            "results = f(x)\n        y = tf.reduce_mean(results) => y = f(tf.reduce_mean(x))": (
                "f of the mean is not the mean of f(x): first f for each value, and then the mean."
            ),
            "tape.gradient(y, x) => y": "That is y itself. Give back its derivatives.",
            "f(x) => x": "So a mean changes with its own numbers. Here it is the mean of f(x), and x is asked about.",
        },
        hint=(
            "What does the tape see of the mean, and of what is the gradient asked?",
            "np.mean leaves for NumPy and comes back as a constant. There is a tf function for it.",
            "y = tf.reduce_mean(results)",
        ),
        because="In the mean, each result counts one part in len(values), and so does its slope.",
    ),
    Exercise(
        "08.4",
        expect=[None, 0.0, None, 0.0],
        hint=(
            "For each: is y computed from x, and what does the operation hand on?",
            "A broken path or no path is None, and a path that multiplies by zero gives 0.0. A: floor has steps, and "
            "hands on nothing. B: a product hands on what arrived times the other factor. C: is y computed from x? D: "
            "relu is recorded, and of a negative number its slope is 0.",
            "A: floor hands on nothing. B: 0.0 times what arrives. C: no path. D: relu of -3.",
        ),
        because="None where nothing is handed on from y to x; zero where something is, and multiplied by zero.",
    ),
    Exercise(
        "08.5",
        expect=[5, 6, 7],
        view=sort_distinct_parts,
        reasons={
            1: "Line 1 makes w. There the paths begin, and nothing is broken yet.",
            2: "n is an integer, but the path from w does not go through n.",
            3: "Line 3 only turns the tape on.",
            4: "In line 4, w is multiplied by a float. That is recorded; the cast is on the other factor.",
            5: "Line 5 is not in the list. What does a cast to an integer do to the path through a?",
            6: "There is a second use of w, in line 6. Does that path reach y?",
            7: "Line 7 is not in the list. What does tf.stop_gradient do to the paths through c?",
        },
        hint=(
            "Which paths lead from w to y?",
            "There are two: by a and b, and by the w in line 6. Follow each from line to line.",
            "A cast to an integer, a number without memory, a cut.",
        ),
        because="A cast to an integer, an exit to NumPy, and a cut. Each alone would break its path.",
    ),
    Exercise(
        "08.6",
        expect=lambda f, values: [
            _compute_where_positive(f._compute, values),
            _compute_where_positive(f.compute_derivatives, values),
        ],
        cases=[(INVERSE, [0.0, 2.0, 0.25]), (ROOT, [4.0, 0.0, 1.0, -1.0]), (INVERSE, [-1.0, 0.0])],
        start="""
def values_and_slopes(f, values):
    x = tf.Variable(values)
    with tf.GradientTape() as tape:
        y = tf.where(x > 0.0, f(x), 0.0)
    return [y, tape.gradient(y, x)]
""",
        of_wrong=_find_unsafe_value_hint,
        also=_find_unsafe_input_hint,
        hint=(
            "Which numbers does f see, and which of them can it not take?",
            "Where x is not above 0, hand f another number, such as 1.0. A where chooses which.",
            "safe = tf.where(x > 0.0, x, 1.0), and then y = tf.where(x > 0.0, f(safe), 0.0)",
        ),
        because="f sees only numbers that it can take, so no infinity is there to be multiplied by 0.",
    ),
    Exercise(
        "08.7",
        expect=CUT_LINE,
        of_wrong=describe_cut_direction,
        hint=(
            "Which value would you ask about first, so that half of the lines are out of the question?",
            "If the gradient of values[20] is a number, the lines up to 20 are whole. Halve what is left.",
            "values[20], values[30], values[25], values[27], values[26]",
        ),
        because="Each question halves what is left: 40 lines, 20, 10, 5, 3, 2, 1.",
    ),
)
