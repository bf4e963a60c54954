"""The answers of lesson 13, the capstone."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
                "The loss does depend on the variables. Ask tape_a.explain(loss_a, network_a[0]).",
            ),
            Mistake(
                {"cause": "no_gradient_registered", "line": 3},
                "The line is right. An operation without any rule would raise an error; this one passes nothing.",
            ),
        ],
        hint="All four gradients are None. Ask print(tape_a.explain(loss_a, network_a[0])).",
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
        hint="Run report(network_b, gradients_b). Then ask tape_b.explain about one of the variables that get None.",
        because="np.tanh gives plain numbers. What was computed before it has no path to the loss.",
    ),
    Exercise(
        "13.4",
        expect={"cause": "rebound", "line": 4, "steps": 1},
        mistakes=[
            Mistake(
                {"cause": "rebound", "line": 4, "steps": 0},
                "Cause and line are right. In the very first step the list still held variables.",
            ),
            Mistake(
                {"cause": "not_watched", "line": 4, "steps": 1},
                "No tape watches the new tensors, that is true. But why are they tensors? Which word says that?",
            ),
            Mistake(
                {"cause": "state", "line": 4, "steps": 1},
                "Nothing was assigned, so no state changed: that is the point. The names were bound to new objects.",
            ),
            Mistake(
                {"cause": "rebound", "line": 4, "steps": 101},
                "Cause and line are right. But look at the losses: from which step on do they stay the same?",
            ),
        ],
        hint="What is type(network_c[0]) after the loop? And what was it before?",
        because="The first step made tensors out of variables. From then on there was nothing to watch.",
    ),
    Exercise(
        "13.5",
        expect=4,
        blank=2,
        mistakes=[
            Mistake(0, "Now no variable has a path to the loss. Change only the line of the hidden layer."),
            Mistake(1, "Only one variable has a path to the loss. Change only the line of the hidden layer."),
            Mistake(3, "One variable is still without a path. Are w1, b1, w2 and b2 all used?"),
        ],
        hint="np.tanh leaves the tape's world. There is a tf function of the same name.",
        because="tf.tanh is recorded, so all four variables have a path to the loss.",
    ),
)
