"""The answers of lesson 14, your own program."""

from __future__ import annotations

import numpy as np

from ..common.translation import say
from .answer_comparison import sort_distinct_parts
from .exercise import Answer, Exercise, Mistake
from .unknown_functions import Polynomial

_random = np.random.default_rng(14)
BENDS = Polynomial(0, 1, 0, -0.1), Polynomial(0.5, 0.25, 0.25)
CASES = [
    (bend, *(_random.normal(0.0, 1.0, shape).astype(np.float32) for shape in ((2, 2), (2, 1), (rows, 2), (rows, 1))))
    for bend, rows in zip(BENDS, (2, 5), strict=True)
]


def _compute_loss_gradient(
    bend: Polynomial, w1: np.ndarray, w2: np.ndarray, x: np.ndarray, t: np.ndarray
) -> np.ndarray:
    """Compute the derivative of the loss with respect to w1, by hand."""
    hidden, bends = bend._compute(x @ w1), np.vectorize(bend.derivative)(x @ w1)
    features = (hidden - np.mean(hidden)) / np.std(hidden)
    adjoint = (2.0 * (features @ w2 - t) / len(t)) @ w2.T
    adjoint = adjoint - np.mean(adjoint) - features * np.mean(adjoint * features)  # the mean and the spread move, too
    return x.T @ (adjoint / np.std(hidden) * bends)


OWN_EXPLANATION = "an explanation"


def _map_softmax_line_to_loss(diagnosis: Answer) -> Answer:
    """Put line 12 in place of 11 in a diagnosis of exercise 7: the softmax in line 11 is as right as the loss in line
    12.
    """
    return diagnosis | {"line": 12} if isinstance(diagnosis, dict) and diagnosis.get("line") == 11 else diagnosis


def _verify_own_explanation(answer: Answer) -> str:
    """Return OWN_EXPLANATION; raise ValueError unless an answer is one of `explain`, about no program of the lesson."""
    answers = (
        list(answer)
        if isinstance(answer, (list, tuple))
        else list(answer.values())
        if isinstance(answer, dict)
        else [answer]
    )
    if not answers or not all(
        hasattr(explanation, "cause") and hasattr(explanation, "message") for explanation in answers
    ):
        raise ValueError(
            say("hand in what explain gives, as it is: recording.explain(loss, w), or tape.explain(loss, w)")
        )
    if any(str(explanation.filename).endswith("_program.py") for explanation in answers):
        raise ValueError(say("That is a program of this lesson. Take one of yours."))
    return OWN_EXPLANATION


EXPLANATIONS = {
    "14.p1": "no_grad belongs around code that needs no gradient, such as a report. Here it is around a line of "
    "the model, perhaps to save memory.",
    "14.p2": "A comparison answers yes or no, so it has no derivative. The cast after it is innocent.",
    "14.p3": "JAX has no None. Where nothing comes it gives zeros, whether a path is broken or a derivative is zero.",
    "14.p4": "item gives Python's numbers, and torch.tensor makes a new tensor of them, without a past. "
    "requires_grad=True only makes it a leaf with a gradient of its own. Without that, loss.backward() would have "
    "raised an error, which is better: now nothing is said, and w never learns.",
}
BELIEFS = {
    "14.p1": {
        "line 14": "Autograd records line 14: hidden knows its past.",
        "line 16": "Line 16 is where w2 comes in. Its path is whole, and w2.grad holds numbers.",
        "line 17": "Autograd records line 17. If it did not, loss.backward() would be an error.",
    },
    "14.p2": {
        "line 10": "A product has a derivative: it hands on what arrives, times x.",
        "line 11": "A sigmoid is smooth: it hands on what arrives, times p * (1 - p).",
        "line 13": "A mean of squares has a derivative. What comes before it has none.",
    },
    "14.p3": {
        "None": "JAX has no None here: a gradient always has the shape of its argument.",
        "an error": "For JAX nothing is wrong: each operation has a rule. That of the maximum hands on 1 or 0 "
        "times what arrives.",
    },
    "14.p4": {
        "nothing: loss.backward() is an error": "It is one where no tensor requires a gradient. Here "
        "torch.tensor makes a leaf that does.",
        "zeros": "PyTorch writes into .grad only what arrives. Nothing arrives at w.",
        "the gradient of the loss": "That needs a path from loss back to w. item makes plain numbers, and no "
        "path leads back from those.",
    },
}
EXERCISES = (
    Exercise(
        "14.1",
        expect=["w2", "z"],
        view=sort_distinct_parts,
        reasons={
            "w1": "A broken path brings nothing. Go from z to w1: is there a cross?",
            "features": "features was computed under no_grad. Does PyTorch send anything to it?",
            "loss": "The sweep begins at loss. The question is about the five other nodes.",
            "hidden": "From z to hidden the only path goes through features. Is there a cross?",
            "z": "z is not in the list. Which nodes does the adjoint pass on its path to w2?",
            "w2": "w2 is not in the list. Which of the two inputs of z was not computed under no_grad?",
        },
        hint=(
            "Which boxes have orange numbers?",
            "Go back from loss, against the arrows. Where do the lines with numbers end?",
            "loss, then z, and of the two inputs of z only w2.",
        ),
        because="w2 comes in after the cut. So the loss falls for a while, and the first layer never learns.",
    ),
    Exercise(
        "14.2",
        expect=["B", "D"],
        view=sort_distinct_parts,
        reasons={
            "A": "A: round is flat between its jumps, as the comparison is.",
            "C": "C: where passes gradients to what it chooses from. Here those are 1.0 and 0.0.",
            "B": "The plainest of all is missing.",
            "D": "One is missing: a smooth curve may be as steep as you like.",
        },
        hint=(
            "Move p a little. Does answer move a little, too?",
            "Which of the four are flat, with jumps? The others have a slope.",
            "round and a choice between 1.0 and 0.0 have jumps. p itself and a sigmoid have none.",
        ),
        because="p and a steep sigmoid are smooth. What has steps belongs in a report, not in a loss.",
    ),
    Exercise(
        "14.3",
        expect={"cause": "dead_relu", "line": 6},
        mistakes=[
            Mistake(
                {"cause": "unused", "line": 5},
                "w is used there, and a line leads from it to the result. Follow the numbers back.",
            )
        ],
        slips={
            "line": {
                5: "The word is right. In line 5 the numbers become negative. Which line makes zeros of them?",
                7: "The word is right. Line 7 hands on what is not zero. To which box?",
            },
            "cause": {
                "argnums": "w is the first argument, and jax.grad differentiates that one. The line is right.",
                "stop_gradient": "The line is right. A cut would be a cross in the picture; here the path is whole.",
                "saturated": (
                    "The line is right. A curve that is nearly flat is saturated; this one is exactly flat there."
                ),
                "no_derivative": "The line is right. But the maximum has a derivative: 1 or 0. Which is it here?",
            },
        },
        hint=(
            "Which box gets numbers, and sends only zeros?",
            "cause: what came in at the box that hands on only zeros, in the forward pass? line: read the adjoints "
            "from right to left, down to the box that gets numbers and hands on only zeros.",
            "-3 and -2.25 go into the maximum with 0.",
        ),
        because="Both numbers before the maximum are negative, where its derivative is 0.",
    ),
    Exercise(
        "14.4",
        expect=_compute_loss_gradient,
        cases=CASES,
        start="""
def slope(bend, w1, w2, x, t):
    w1 = tf.Variable(w1)
    with tf.GradientTape() as tape:
        hidden = bend(x @ w1)
        with tape.stop_recording():
            features = (hidden - tf.reduce_mean(hidden)) / tf.math.reduce_std(hidden)
        loss = tf.reduce_mean((features @ w2 - t) ** 2)
    return tape.gradient(loss, w1)
""",
        changes={
            "tape.gradient(loss, w1) => 0.0 * w1": (
                "These are zeros. The loss does change with w1: is the gradient that of the loss, and no cut hidden?"
            ),
            (
                "tf.reduce_mean(hidden)) / tf.math.reduce_std(hidden) => "
                "tf.stop_gradient(tf.reduce_mean(hidden))) / tf.stop_gradient(tf.math.reduce_std(hidden))"
            ): (
                "A part comes through now. The mean and the spread move with w1, too: they must be recorded as well, "
                "and not stopped."
            ),
            "reduce_std => reduce_variance": (
                "The path is whole, but it is another loss: that of a division by the variance, which is the square of "
                "the standard deviation."
            ),
            "(hidden - tf.reduce_mean(hidden)) / tf.math.reduce_std(hidden) => hidden": (
                "The path is whole, but it is another loss: features must be standardized, as before."
            ),
        },
        hint=(
            "What must the tape see of features, and what of the loss must stay as it is?",
            "The line of features must run while the tape records: outside of the block of stop_recording.",
            "Delete the line with tape.stop_recording(), and move the one below it one level to the left.",
        ),
        because="The tape sees the mean and the spread now, and goes back through both.",
    ),
    Exercise(
        "14.5",
        expect=["C", "E"],
        view=sort_distinct_parts,
        reasons={
            "A": "A: item gives a plain number, which has no path to w.",
            "B": "B: torch.tensor takes the numbers alone, whatever it is given.",
            "D": "D: detach gives the same number, cut off from w.",
            "C": "One is missing: which function makes one tensor of several?",
            "E": "One is missing: Python's own sum adds tensors, too.",
        },
        hint=(
            "Follow the path from loss back to w. Does each of the two lines hand on a tensor that autograd recorded?",
            "item and detach cut the path in line 12, torch.tensor cuts it in line 13.",
            "A and D are cut in line 12, B in line 13.",
        ),
        because="Both lines stay with tensors: an operation is recorded, and a new tensor of plain numbers is not.",
    ),
    Exercise(
        "14.6",
        expect={"cause": "broadcast", "line": 10},
        slips={
            "line": {
                9: "The word is right. Line 9 gives y the shape (4, 1), as its points ask for. With what does that not "
                "fit?",
                11: "The word is right. Its numbers are too many already when they come to line 11.",
                12: "The word is right. Its numbers are too many already when they come to line 12.",
            },
            "cause": {
                "saturated": "The line is right. A flat sigmoid sends back next to nothing; look at what arrives at w.",
                "stop_gradient": "The line is right. A cut would be a cross in the picture; here the path is whole.",
                "no_derivative": "The line is right. A difference has a derivative. Which shape has its result?",
            },
        },
        hint=(
            "Four points: which boxes have more than four numbers?",
            "cause: what did a row and a column become together? line: the first box with sixteen numbers.",
            "y is a column of 4, t is a row of 4, and miss is a table of 4 by 4.",
        ),
        because="Each answer is compared with every label. The best that w can do is to answer their mean.",
    ),
    Exercise(
        "14.7",
        expect={"cause": "activation_twice", "line": 12},
        view=_map_softmax_line_to_loss,
        slips={
            "line": {
                10: "The word is right. z is what the loss wants. Which line gives it something else?",
                13: "The word is right. The mean comes after the loss of each point.",
            },
            "cause": {
                "saturated": "No softmax is flat here. The one inside the loss gets numbers between 0 and 1, and is "
                "weak: why are they between 0 and 1?",
                "broadcast": "The line is right. The shapes fit: a loss for each of the three points.",
                "stop_gradient": "The line is right. A cut would be a cross in the picture; here the path is whole.",
            },
        },
        hint=(
            "What does the loss want to be given, and what does it get?",
            "cause: which box is there, and is computed once more inside the loss? line: that of the loss, or of that "
            "box.",
            "with_logits: it wants z, and computes the softmax itself.",
        ),
        because="A softmax of probabilities is nearly the same for each class, so the loss cannot come near 0.",
    ),
    Exercise(
        "14.8",
        expect={"cause": "stop_gradient", "line": 8},
        slips={
            "line": {
                6: "The word is right. Line 6 is recorded: hidden knows w1. Which line takes that away?",
                7: "The word is right. Line 7 cuts the path by the mean only. Another path would be left.",
                9: "The word is right. The gradient of w2 comes past line 9, so it is whole.",
            },
            "cause": {
                "saturated": "The line is right. tanh sends back what arrives. Does anything arrive there?",
                "left": "The line is right. No value leaves JAX here. Look for the cross in the picture.",
                "broadcast": "The line is right. The shapes fit: two rows, and two columns.",
            },
        },
        hint=(
            "Step backwards: at which box does the adjoint end?",
            "cause: what does a cross mean? line: there are two crosses. Past which of them leads every path to w1?",
            "Line 7 cuts the mean alone. Line 8 cuts hidden and the mean.",
        ),
        because="All paths to w1 lead through line 8. A cut around a mean alone, as in line 7, is often meant.",
    ),
    Exercise(
        "14.9",
        expect=OWN_EXPLANATION,
        view=_verify_own_explanation,
        asks="what explain gives for a program of yours",
        slips={
            "": ("Hand in the answer itself, not its text."),
        },
        hint=(
            "Which program of yours learns badly, or have you a small one?",
            "Put the block around one step of it, and hand in what explain gives: an answer, or the list of them.",
            "why = recording.explain(loss, w), or in minitape why = tape.explain(loss, w)",
        ),
        because="You know now what to ask when a program learns badly.",
    ),
)
