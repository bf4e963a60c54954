"""The answers of lesson 13, the capstone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .compare import in_order
from .exercise import Exercise, Mistake

if TYPE_CHECKING:
    from .exercise import Answer


def _in_order(diagnosis: dict[str, Answer]) -> dict[str, Answer]:
    """The diagnosis with its variables in the order of the alphabet: any order is right, with `:0` and without."""
    variables = diagnosis["do not learn"]
    if not isinstance(variables, str):
        variables = [str(name).removesuffix(":0") for name in variables]
    return diagnosis | {"do not learn": in_order(variables)}


_random = np.random.default_rng(3)
NETWORK = [_random.normal(0.0, 1.0, shape).astype(np.float32) for shape in ((2, 5), (5,), (5, 1), (1,))]
POINTS = _random.normal(0.0, 1.0, (6, 2)).astype(np.float32)
LABELS = np.array([0, 1, 1, 0, 1, 1], np.float32)


def _loss(network: list[np.ndarray], x: np.ndarray, t: np.ndarray, pairs: bool = False) -> float:
    """The cross entropy of a network's answers and flat labels; of all pairs of an answer and a label, if asked."""
    w1, b1, w2, b2 = network
    z = np.tanh(x @ w1 + b1) @ w2 + b2
    z = z if pairs else z[:, 0]
    return float(np.mean(np.log1p(np.exp(z)) - t * z))


EXERCISES = (
    Exercise(
        "13.1",
        expect=65,
        mistakes=[
            Mistake(48, "Those are the two tables. The lists b1 and b2 are learned, too."),
            Mistake(4, "There are four variables. How many numbers does each of them hold?"),
            Mistake(64, "Almost. b2 has one entry."),
            Mistake(51, "The list b1 has 16 entries, one for each hidden number."),
        ],
        hint="w1 has the shape (2, 16), b1 (16,), w2 (16, 1) and b2 (1,). Multiply within a shape, then add.",
        because="32 + 16 + 16 + 1.",
    ),
    Exercise(
        "13.2",
        expect={"cause": "nondifferentiable_op", "line": 3},
        mistakes=[
            Mistake(
                {"cause": "nondifferentiable_op", "line": 4},
                "The word is right. A square is smooth, so line 4 is innocent. What comes before it?",
            ),
            Mistake(
                {"cause": "integer_dtype", "line": 3},
                "The line is right. But its result is still float32, so it is another word.",
            ),
            Mistake(
                {"cause": "independent", "line": 5},
                "The loss does depend on the variables. Ask case_a.tape.explain(case_a.loss, case_a.network[0]).",
            ),
            Mistake(
                {"cause": "no_gradient_registered", "line": 3},
                "The line is right. An operation without any rule would raise an error; this one passes nothing.",
            ),
        ],
        hint="All four gradients are None. Ask print(case_a.tape.explain(case_a.loss, case_a.network[0])).",
        because="tf.round is flat between its jumps, so it has no derivative, and nothing comes through.",
    ),
    Exercise(
        "13.3",
        expect={"cause": "left_through_numpy", "line": 1, "do not learn": ["b1", "w1"]},
        view=_in_order,
        mistakes=[
            Mistake(
                {"cause": "left_through_numpy", "line": 1, "do not learn": ["b1", "b2", "w1", "w2"]},
                "Cause and line are right. Look at the report once more: which variables come after the break?",
            ),
            Mistake(
                {"cause": "left_through_numpy", "line": 1, "do not learn": ["w1"]},
                "Cause and line are right. What does the report say about b1?",
            ),
            Mistake(
                {"cause": "left_through_numpy", "line": 1, "do not learn": ["b2", "w2"]},
                "Cause and line are right. But w2 and b2 come after the break, so they do learn.",
            ),
            Mistake(
                {"cause": "left_through_numpy", "line": 2, "do not learn": ["b1", "w1"]},
                "In line 2 the plain numbers come back. In which line did they leave?",
            ),
        ],
        hint="Run report(case_b.network, case_b.gradients). Then ask case_b.tape.explain about one of the variables that get None.",
        because="np.tanh gives plain numbers. What was computed before it has no path to the loss.",
    ),
    Exercise(
        "13.4",
        expect={"disease": "broadcast", "line": 3},
        mistakes=[
            Mistake({"disease": "flat", "line": 3}, "Every operation of line 3 is smooth. Which shapes meet there?"),
            Mistake({"disease": "cut", "line": 1}, "All four variables get a gradient. Look at shapes."),
            Mistake({"disease": "sign", "line": 3}, "The sign is that of the healthy loss. Print the shape of t * z."),
            Mistake({"disease": "broadcast", "line": 2}, "The word is right. Where do z and the flat labels meet?"),
            Mistake(
                {"disease": "order", "line": 3}, "treat gives each gradient to its own variable, as for the others."
            ),
        ],
        hint="z has the shape (200, 1), and the labels have (200,). Write them below each other, as in the appendix on tensors.",
        because="(200, 1) and (200,) become (200, 200): each answer is compared with every label.",
    ),
    Exercise(
        "13.5",
        expect={"disease": "sign", "line": 3},
        mistakes=[
            Mistake({"disease": "flat", "line": 3}, "Every operation of line 3 is smooth. But is it the right loss?"),
            Mistake(
                {"disease": "broadcast", "line": 3}, "Here the labels have the shape (200, 1), as z. Read the line."
            ),
            Mistake({"disease": "cut", "line": 1}, "All four variables get a gradient. Where does it lead?"),
            Mistake(
                {"disease": "sign", "line": 2}, "The word is right. Compare lines 2 and 3 with the healthy network's."
            ),
        ],
        hint="Compare line 3 with the loss of the healthy network, letter by letter.",
        because="With a plus, the loss of a point with the label 1 falls as z falls, without end.",
    ),
    Exercise(
        "13.6",
        expect={"disease": "order", "line": 5},
        mistakes=[
            Mistake({"disease": "order", "line": 4}, "The word is right. Line 4 may ask in any order. Which line must keep to it?"),
            Mistake({"disease": "sign", "line": 5}, "The sign is right: assign_sub goes down. But whose gradient is it?"),
            Mistake({"disease": "broadcast", "line": 1}, "(200, 1) times (16,) is meant to be (200, 16) here. Look at the loop."),
            Mistake({"disease": "cut", "line": 5}, "All five variables get a gradient. Is it their own?"),
            Mistake({"disease": "flat", "line": 1}, "tanh is smooth. Read lines 4 and 5 side by side."),
        ],
        hint="Read the two lists of lines 4 and 5 side by side.",
        because="up gets the gradient of b1, and b1 that of up. Both have 16 entries, so no error says so.",
    ),
    Exercise(
        "13.7",
        expect=_loss,
        cases=[(NETWORK, POINTS, LABELS), (NETWORK, POINTS[:4], LABELS[:4])],
        start="""
def cured(network, x, t):
    w1, b1, w2, b2 = network
    hidden = tf.tanh(x @ w1 + b1)
    z = hidden @ w2 + b2
    return tf.reduce_mean(tf.math.softplus(z) - t * z)
""",
        mistakes=[
            Mistake(
                lambda network, x, t: _loss(network, x, t, pairs=True),
                "That is still the mean over all pairs. Give z and t one shape: (200,) for both, or (200, 1) for both.",
            ),
            Mistake(lambda network, x, t: _loss(network, x, t) * len(t), "That is the sum. The loss is the mean."),
            Mistake(
                lambda network, x, t: -_loss(network, x, t), "The shapes are right, but the sign is turned around."
            ),
        ],
        hint="tf.squeeze(z, axis=1) takes the axis of length 1 away; tf.reshape(t, [-1, 1]) gives one to t.",
        because="Each answer meets its own label now.",
    ),
)
