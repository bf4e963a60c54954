"""The answers of lesson 14, your own program."""

from operator import eq

import numpy as np
from numpy import ndarray

from ..engine.types import LIST_OR_TUPLE
from .answer_comparison import sort_distinct_parts
from .digits import (
    convert_and_check_parameters,
    load_digits,
    load_trained_network,
    read_digits,
)
from .exercise import Answer, Exercise, Mistake, say_from_lesson
from .own_tape import MOVED_TAPE_TRIALS
from .unknown_functions import Polynomial

_random = np.random.default_rng(14)
BENDS = Polynomial(0, 1, 0, -0.1), Polynomial(0.5, 0.25, 0.25)
CASES = [
    (
        bend,
        *(
            _random.normal(0.0, 1.0, shape).round(1).astype(np.float32)
            for shape in ((2, 2), (2, 1), (rows, 2), (rows, 1))
        ),
    )
    for bend, rows in zip(BENDS, (2, 5), strict=True)
]


def _compute_loss_gradient(bend: Polynomial, w1: ndarray, w2: ndarray, x: ndarray, t: ndarray) -> ndarray:
    """Compute the derivative of the loss with respect to w1 by hand."""
    hidden = bend._compute(x @ w1)
    bends = np.vectorize(bend.derivative)(x @ w1)
    features = (hidden - np.mean(hidden)) / np.std(hidden)
    adjoint = (2.0 * (features @ w2 - t) / len(t)) @ w2.T
    # The mean and the spread also depend on the numbers that are normalized.
    adjoint = adjoint - np.mean(adjoint) - features * np.mean(adjoint * features)
    return x.T @ (adjoint / np.std(hidden) * bends)


OWN_EXPLANATION = "an explanation"


def _map_softmax_line_to_loss(diagnosis: Answer) -> Answer:
    """Replace line 11 with line 12 in a diagnosis of exercise 7, because the softmax is as right as the loss."""
    return diagnosis | {"line": 12} if isinstance(diagnosis, dict) and diagnosis.get("line") == 11 else diagnosis


def _require_own_explanation(answer: Answer) -> str:
    """Return OWN_EXPLANATION, or raise ValueError unless `explain` gave the answer about a program of the learner's."""
    answers = [answer]
    if isinstance(answer, LIST_OR_TUPLE):
        answers = [*answer]
    elif isinstance(answer, dict):
        answers = [*answer.values()]
    if not answers or not all(hasattr(explanation, "cause") for explanation in answers):
        reason = "not called" if callable(answer) else "no explanation"
        raise ValueError(say_from_lesson("14", "None" if answer is None else reason))
    if any(str(explanation.filename).endswith("_program.py") for explanation in answers):
        raise ValueError(say_from_lesson("14", "program of the lesson"))
    return OWN_EXPLANATION


GOOD_READER = "a network that reads at least 90 of 100 new digits"
FULL_PAD = "a pad with ten digits"
ENOUGH_RIGHT = 90  # The numbers of digits are given per 100.
LEARNED_BY_HEART = 97  # So many of its own training digits does such a network read correctly.
NO_BETTER_THAN_GUESSING = 20
WORSE_THAN_GUESSING = 3


def _compute_rule_of_cross_entropy(g: float, z: float, scores: ndarray, wanted: ndarray) -> tuple[ndarray, ndarray]:
    """Compute the shares for the scores and for the right answers."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return g * (powers / powers.sum(axis=1, keepdims=True) - wanted) / len(scores), 0.0 * wanted


CROSS_ENTROPY_CASES = [
    (g, np.float64(0.7), _random.normal(0.0, 1.5, (rows, 10)).round(1), np.eye(10)[_random.integers(10, size=rows)])
    for g, rows in ((1.0, 1), (1.0, 4), (-3.0, 5))
]


def _raise_unless_network_reads(parameters: Answer) -> str:
    """Return GOOD_READER, or raise ValueError unless a network reads enough digits that it has never seen."""
    if any(type(one).__name__ == "Number" for one in parameters):
        raise ValueError(say_from_lesson("14", "numbers of a tape"))
    w1, b1, _, b2 = arrays = convert_and_check_parameters(parameters)
    trained, new = (
        round(100 * np.mean(read_digits(arrays, images) == digits))
        for images, digits in map(load_digits, ("training", "exam"))
    )
    if new >= ENOUGH_RIGHT:
        return GOOD_READER
    reasons = {
        "zero weights": not w1.any(),
        "start values": not (b1.any() and b2.any()),
        "saturated": abs(w1).mean() > 1.0,
        "gradients": abs(w1).mean() < 0.01,
        "same reading": not read_digits(arrays, load_digits("exam")[0]).std(),
        "slow": abs(b2).max() < 0.01,
        "few units": len(b1) < 4,
        "wrong way": new < WORSE_THAN_GUESSING,
        "guesses": new < NO_BETTER_THAN_GUESSING,
        "learned by heart": trained >= LEARNED_BY_HEART,
        "still learning": True,
    }
    reason = next(reason for reason, applies in reasons.items() if applies)
    raise ValueError(say_from_lesson("14", reason, new=new, trained=trained, units=len(b1)))


def _require_full_pad(pad: Answer) -> str:
    """Return FULL_PAD, or raise ValueError unless ten different digits were drawn on a pad, in order."""
    drawings = getattr(pad, "drawings", None)
    if not isinstance(drawings, list):
        raise ValueError(say_from_lesson("14", "no pad"))
    if len(drawings) < 10:
        raise ValueError(say_from_lesson("14", "too few drawings", count=len(drawings)))
    if len(set(map(str, drawings))) < 10:
        raise ValueError(say_from_lesson("14", "same drawing"))
    readings = read_digits(load_trained_network(), pad.images).tolist()
    # An unusual hand may be misread, but then hardly as this many different digits.
    if len(set(readings)) >= 8 and sum(map(eq, readings, range(10))) < 5:
        raise ValueError(say_from_lesson("14", "other order", readings=readings))
    return FULL_PAD


EXERCISES = (
    Exercise("14.1", expect=["w2", "z"], view=sort_distinct_parts),
    Exercise("14.2", expect=["B", "D"], view=sort_distinct_parts),
    Exercise("14.3", expect={"cause": "dead_relu", "line": 6}),
    Exercise(
        "14.4",
        expect=_compute_loss_gradient,
        cases=CASES,
        mistakes=[
            Mistake(
                named="no variable",
                where=r"(?s)\A(?!.*(Variable|constant|tensor)\().*x @ w1",
                error="values that a tape can follow",
            ),
            Mistake(named="question about w2", where=r"gradient\([^,]*,.*\bw2\b", error="'_id'"),
        ],
        start="""
def slope(bend, w1, w2, x, t):
    w1 = tf.Variable(w1)
    with tf.GradientTape() as tape:
        hidden = bend(x @ w1)
        center = tf.stop_gradient(tf.reduce_mean(hidden))
        spread = float(tf.math.reduce_std(hidden))
        features = (hidden - center) / spread
        loss = tf.reduce_mean((features @ w2 - t) ** 2)
    return tape.gradient(loss, w1)
""",
    ),
    Exercise("14.5", expect=["C", "E"], view=sort_distinct_parts),
    Exercise("14.6", expect={"cause": "broadcast", "line": 10}),
    Exercise("14.7", expect={"cause": "activation_twice", "line": 12}, view=_map_softmax_line_to_loss),
    Exercise("14.8", expect={"cause": "stop_gradient", "line": 8}),
    Exercise("14.9", expect=OWN_EXPLANATION, view=_require_own_explanation),
    Exercise("14.10", expect="Tape", trials=MOVED_TAPE_TRIALS),
    Exercise("14.11", expect=_compute_rule_of_cross_entropy, cases=CROSS_ENTROPY_CASES),
    Exercise("14.12", expect=GOOD_READER, view=_raise_unless_network_reads),
    Exercise("14.13", expect=FULL_PAD, view=_require_full_pad),
)
