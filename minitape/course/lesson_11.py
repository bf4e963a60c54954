"""The answers of lesson 11, which is about operations that learners define."""

from math import copysign, hypot

import numpy as np

from ..engine.tensor.conversion import convert_to_tensor
from .call_log import ObservedRuns
from .exercise import Answer, Exercise, Mistake, Program
from .unknown_functions import Polynomial

F = Polynomial(0, 0, 1)
G = Polynomial(1, -2, 0, 1)
REST = Polynomial(0, 3, 1)
FALLING = Polynomial(0, 10, -0.5)
CASES = [(F, REST, 3.0, 10.0), (F, FALLING, 3.0, 4.0), (G, F, -1.0, 0.5), (F, G, 0.5, 1.0), (F, G, 0.5, 5.0)]
RULES = "custom_gradient", "function"  # A tf.function may contain the rule.
RULE_MISTAKES = [
    Mistake(named="grad called", where=r", *grad\(", error="not callable"),
    Mistake(named="no rule returned", where=r"(?m)return tf\.(identity|sign)\(x\)$", error="iterate over"),
    Mistake(named="no decorator", where=r"(?s)\A(?!.*custom_gradient).*, grad\b", error="tensor|tape"),
]


def _compute_distance_gradient(upstream: float, x: float, y: float) -> tuple[float, float]:
    z = hypot(x, y)
    return upstream * x / z, upstream * y / z


def _compute_limited_slope(f: Polynomial, rest: Polynomial, value: float, most: float) -> float:
    return max(-most, min(rest.derivative(f._compute(value)), most)) * f.derivative(value)


def _find_unused_rule_hint(answer: Answer, observed_runs: ObservedRuns) -> str:
    """Say that the tape met none of the learner's own rules, or return "" if it met one."""
    for run in observed_runs:
        if not any(name in RULES for question in run.questions for name in question.operations):
            return "no rule used"
    return ""


def _find_batch_failure_hint(answer: Program, observed_runs: ObservedRuns) -> str:
    """Say that a rule does not work for several numbers at once, as the network after the exercise requires.

    Returns:
        The name of the sentence, or "" if the rule works.
    """
    try:
        if np.allclose(answer(F, [0.5, -1.5]), [2.0, 0.0]):
            return ""
    except TypeError:  # The answer uses float(), which is right for a single number.
        return ""
    except Exception:  # Python's `if` cannot decide for several numbers at once.
        pass
    return "one truth value"


EXERCISES = (
    Exercise("11.1", expect={"A": 2.0, "B": 0.0, "C": None, "D": 3.0}),
    Exercise("11.2", expect=_compute_distance_gradient, cases=[(2.0, 3.0, 4.0), (0.5, -1.0, 0.5), (-1.0, 0.0, 2.0)]),
    Exercise(
        "11.3",
        expect=_compute_limited_slope,
        cases=CASES,
        also=_find_unused_rule_hint,
        mistakes=RULE_MISTAKES,
    ),
    Exercise(
        "11.4",
        expect=lambda upstream, x: upstream / (1.0 + np.exp(np.minimum(-x.numpy(), 80.0))),
        cases=[
            (convert_to_tensor(g), convert_to_tensor(x))
            for g, x in [
                (2.0, 0.0),
                (-1.0, 1.5),
                (0.5, 1000.0),
                (3.0, -1000.0),
                (1.0, 5.5),
                ([1.0, 2.0], [60.0, -1.0]),
            ]
        ],
        order=0,
    ),
    Exercise("11.5", expect={"A": False, "B": False, "C": True, "D": True}),
    Exercise(
        "11.6",
        expect=lambda rest, number: rest.derivative(copysign(1.0, number)) * (abs(number) < 1.0) + 0.0,
        cases=[(F, 0.5), (REST, 1.25), (F, -0.25), (FALLING, -1.5), (REST, 0.95), (F, 1.05), (REST, 3.0)],
        also=_find_batch_failure_hint,
        mistakes=[*RULE_MISTAKES, Mistake(named="no third value", error="both x and y")],
    ),
)
