"""The answers of lesson 11, operations of one's own."""

from __future__ import annotations

import math

import numpy as np

from ..engine.tensor.conversion import convert_to_tensor
from .call_log import ObservedRuns
from .exercise import Answer, Exercise, Program
from .unknown_functions import Polynomial

F, G, REST = Polynomial(0, 0, 1), Polynomial(1, -2, 0, 1), Polynomial(0, 3, 1)
CASES = [(F, REST, 3.0), (G, F, -1.0), (F, REST, -0.5), (F, G, 0.5)]
RULES = "custom_gradient", "function"  # a traced one may hold it


def _compute_distance_gradient(upstream: float, x: float, y: float) -> tuple[float, float]:
    z = math.hypot(x, y)
    return upstream * x / z, upstream * y / z


def _compute_straight_through_slope(rest: Polynomial, number: float) -> float:
    return rest.derivative(math.copysign(1.0, number)) * (abs(number) < 1.0) + 0.0


EXPLANATIONS = {
    "11.p1": "The size of 1.5 is below m, so the first branch ran, x ** 2, and its slope is 2 * x. Which branch was "
    "taken is no problem: only what really ran was recorded.",
    "11.p2": "The tape that runs inside the backward sweep is gone when the sweep is over. So here None is not the "
    "truth, which is 18.",
    "11.p4": "exp(100) is larger than any number of float32, so it becomes infinite. On the way back log hands on "
    "1 / inf, which is 0, and exp multiplies that by its value, inf. 0 times inf is NaN.",
    "11.p3": "A tape cannot look into NumPy, and numpy_function says so. py_function promises a gradient, finds "
    "nothing to differentiate inside, "
    "and gives a zero. That is wrong, in silence; TensorFlow does the same.",
}
BELIEFS = {
    "11.p1": {
        "2.25 and None": "None would mean that the path is cut. But log_huber computes with tensors, and a tape can "
        "record it.",
        "2.25 and 1.5": "1.5 is x itself. The slope of x ** 2 is 2 * x.",
        "1.7 and 5.3": "Both belong to the second branch. It runs where the size of x is above m.",
    },
    "11.p2": {
        "27.0 and 18.0": "18.0 is the true second derivative, 6 * x. But the outer tape did not see how 27.0 was "
        "computed.",
        "27.0 and 0.0": "0.0 would mean a path along which nothing changes. The outer tape has no path at all.",
    },
    "11.p4": {
        "1.0": "1.0 is the true slope. The tape finds it as a product of two slopes, and one of them is infinite here.",
        "0.0": "0.0 is what log hands on, 1 / inf. After it comes exp, which multiplies by its value.",
        "None": "None would mean that the path is cut. Every operation on it is recorded.",
    },
    "11.p3": {
        "None and None": "py_function has a rule, so the path is not cut. What the rule finds inside is another "
        "matter.",
        "None and 1.0": "1.0 is the true slope. But .numpy() leaves the tape that runs inside py_function.",
        "1.0 and 1.0": "1.0 is the true slope. But a tape sees operations of tf, and the remainder is computed by "
        "NumPy.",
    },
}
RETRY_QUESTIONS = {
    "11.p3": (
        "tf.py_function runs x.numpy() ** 2, at x = 3. What gradient does a tape give?",
        ["6.0", "0.0", "None"],
        "0.0",
        "6.0 is the truth. But .numpy() leaves the tape inside, and py_function gives a zero, in silence.",
    ),
}


def _compute_halved_slope(f: Polynomial, rest: Polynomial, value: float) -> float:
    return 0.5 * rest.derivative(f._compute(value)) * f.derivative(value)


def _find_unused_rule_hint(answer: Answer, observed_runs: ObservedRuns) -> str:
    """Say that the tape met no rule of the learner's own between `f` and `rest`; "" where it did."""
    for run in observed_runs:
        rule_rows = [row for question in run.questions for row, name in enumerate(question.operations) if name in RULES]
        if not rule_rows:
            return (
                "The number is right, and no rule of yours was used. Halve the gradient in grad, and put halve after f."
            )
        if not any(run.calls[0].row_count <= row < run.calls[-1].row_count for row in rule_rows):
            return "The number is right, and halve is in another place: it comes after f, and before rest."
    return ""


def _find_batch_failure_hint(answer: Program, observed_runs: ObservedRuns) -> str:
    """Say that the rule does not work for several numbers at once, as the network after the exercise needs it; "" where
    it does.
    """
    try:
        if np.allclose(answer(F, [0.5, -1.5]), [2.0, 0.0]):
            return ""
    except TypeError:  # it gives a float, as for each number that is asked for
        return ""
    except Exception:  # an if of Python cannot decide
        pass
    return (
        "That is right for a single number. In a network x holds many: if and -1 < x < 1 take one truth value, and "
        "tf.where chooses for each number."
    )


EXERCISES = (
    Exercise(
        "11.1",
        expect=[2.386294, -1.0],
        slips={
            2: {
                1.0: "The value is right. The derivative of log(x ** 2) is 2 / x.",
                -4.0: "-4 is the derivative of x ** 2. The second branch runs.",
                2.0: "That is 2 / 1. x is -2.",
                -2.0: "-2 is x itself.",
                0.25: "0.25 is 1 / x ** 2. What is inside of the logarithm grows with x, too: by 2 * x.",
                -0.5: "The value is right. log(x ** 2) is twice the log of the size of x.",
            },
            1: {
                1.693147: "That is 1 + log(2), without the square.",
                5.0: "5 is 1 + x ** 2, without the logarithm.",
                1.0: "1 is what is there beside the logarithm of x ** 2.",
                1.386294: "The derivative is right. With m = 1, y is 1 + log(x ** 2).",
            },
        },
        hint=(
            "Which branch runs?",
            "The size of x is 2, which is above m, so the second branch runs, and log(m) is 0. 1: what is left of it "
            "is 1 + log(x ** 2), with the natural logarithm. 2: the derivative of log(x ** 2) is 2 / x.",
            "1 + np.log(4.0), and 2 / (-2.0)",
        ),
        because="abs(x) > m, and log(1) is 0. So y is 1 + log(x ** 2), and its derivative is 2 / x.",
    ),
    Exercise(
        "11.2",
        expect=_compute_distance_gradient,
        cases=[(1.0, 3.0, 4.0), (2.0, -1.0, 0.5), (-1.0, 0.0, 2.0)],
        changes={
            "return upstream * x / z, upstream * y / z => return x / z, y / z": (
                "The upstream gradient is missing: multiply by it."
            ),
            "return upstream * x / z, upstream * y / z => return upstream * x, upstream * y": (
                "That is upstream times x, and times y, and not divided by the distance z. (The "
                "derivative of x * x is 2 * x, and the root brings 1 / (2 * z).)"
            ),
        },
        hint=(
            "How does z change with x, and how much of that is wanted?",
            "Compute z first. The slope with respect to x is x / z. The upstream gradient comes times that.",
            "z = (x * x + y * y) ** 0.5, and then return upstream * x / z, upstream * y / z",
        ),
        because="The derivative of the root is 1 / (2 * z), that of x * x is 2 * x: together x / z.",
    ),
    Exercise(
        "11.3",
        expect=_compute_halved_slope,
        cases=CASES,
        also=_find_unused_rule_hint,
        from_tape="The number is right, and it is not what the tape gave. Let the rule grad halve it.",
        changes={
            (
                "return 0.5 * upstream\n"
                "\n        return tf.identity(x), grad => return upstream\n\n        return 0.5 * x, grad"
            ): ("That is the result if the forward value is halved. It passes as it is; the rule halves the gradient."),
            "0.5 * upstream => upstream": (
                "That is the whole slope. Does grad give back half of what it gets, and is halve called after f?"
            ),
            "0.5 * upstream => 0.5": (
                "That is half of the slope of f, and that of rest is missing. Is rest called, and does "
                "grad hand on half of upstream, which comes from there?"
            ),
            "0.5 * upstream => 0.0 * upstream": "The slope is 0. The rule must hand on a part of what it gets.",
        },
        hint=(
            "Which value should halve give, and what should grad hand on?",
            "grad gets the upstream gradient, and gives back what goes to x: half of it.",
            "return 0.5 * upstream",
        ),
        because="The true slope is that of rest times that of f. The rule in between hands on half.",
    ),
    Exercise(
        "11.4",
        expect=lambda upstream, x: upstream / (1.0 + np.exp(np.minimum(-x.numpy(), 80.0))),
        cases=[
            (convert_to_tensor(g), convert_to_tensor(x))
            for g, x in [(2.0, 0.0), (-1.0, 1.5), (0.5, 1000.0), (3.0, -1000.0), (1.0, 5.5), ([1.0, 2.0], [60.0, -1.0])]
        ],
        order=0,
        changes={
            "1.0 - 1.0 / (1.0 + tf.exp(x)) => tf.exp(x) / (1.0 + tf.exp(x))": (
                "At 1000 that is infinite over infinite, which is NaN. Divide both by exp(x), or write it as 1 minus "
                "something that becomes 0."
            ),
            "upstream * (1.0 - 1.0 / (1.0 + tf.exp(x))) => 1.0 - 1.0 / (1.0 + tf.exp(x))": (
                "The slope is right. Multiply it by upstream, by what arrives."
            ),
            "1.0 - 1.0 / (1.0 + tf.exp(x)) => 1.0 / (1.0 + tf.exp(x))": (
                "That falls as x grows. The slope of log(1 + exp(x)) rises, from 0 to 1."
            ),
            "1.0 - 1.0 / (1.0 + tf.exp(x)) => 1.0 / (1.0 + tf.exp(x)) - 1.0": "The sign: the slope rises from 0 to 1.",
            "1.0 - 1.0 / (1.0 + tf.exp(x)) => 1.0": (
                "So it is where x is large. At 0 the slope is a half, and far below 0 it is 0."
            ),
            "1.0 - 1.0 / (1.0 + tf.exp(x)) => tf.math.log(1.0 + tf.exp(x))": (
                "That is upstream times the value of the function. The rule needs its slope."
            ),
        },
        hint=(
            "What does exp(x) become at 1000, and in which other way could you write the fraction?",
            "exp(x) / (1 + exp(x)) is 1 minus 1 / (1 + exp(x)). Where exp(x) is infinite, that is 1 minus 0.",
            "return upstream * (1.0 - 1.0 / (1.0 + tf.exp(x)))",
        ),
        because="The slope rises from 0 to 1, and is a number everywhere. (It is a sigmoid.)",
    ),
    Exercise(
        "11.5",
        expect={"A": False, "B": False, "C": True, "D": True},
        slips={
            "B": {True: "B gives a number, but is it the right one? Look at the prediction 11.p3 once more."},
            "A": {True: "A tape cannot look into NumPy, so the gradient in A is None."},
            "D": {
                False: (
                    "In D an operation of tensors runs, which a tape knows. What does py_function run over its "
                    "function?"
                )
            },
            "C": {False: "In C the rule replaces what the tape cannot see."},
        },
        hint=(
            "In which of the four does a tape know how z changes, by its own rules or by yours?",
            "A tape cannot differentiate NumPy code. Where does a rule replace it, and where is there none?",
            "A gives None, and B gives 0.0: neither is right. C has your rule, and D computes with tensors.",
        ),
        because="A gives None and B gives 0.0. C has your rule, and in D a tape runs over operations that it knows.",
    ),
    Exercise(
        "11.6",
        expect=_compute_straight_through_slope,
        cases=[(F, 0.5), (REST, 1.25), (F, -0.25), (F, -1.5), (REST, 0.95), (F, 1.05), (REST, 3.0)],
        also=_find_batch_failure_hint,
        changes={
            "tf.where(tf.abs(x) < 1.0, upstream, 0.0) => upstream": (
                "All of it is handed on, for each x. What should go on where x lies outside of -1 to 1?"
            ),
            "1.0, upstream => 1.0, 1.0": "Between -1 and 1 the slope is 1, whatever rest is. Where is upstream?",
            "upstream, 0.0 => 0.0, 0.0": (
                "Nothing is handed on here. Where x lies between -1 and 1, upstream should be."
            ),
            "upstream, 0.0 => 0.0, upstream": "The two cases are swapped: hand on where x lies between -1 and 1.",
        },
        hint=(
            "What should be handed on where x lies between -1 and 1, and what elsewhere?",
            "tf.where takes a condition, what to give where it holds, and what to give elsewhere.",
            "return tf.where(tf.abs(x) < 1.0, upstream, 0.0)",
        ),
        because="The rule is not the truth about sign, and it is what lets a network of switches learn.",
    ),
)
