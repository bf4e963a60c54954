"""The answers of lesson 04, choosing what is watched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .compare import with_zero
from .exercise import Exercise, Mistake, raises
from .unknown import UnknownFunction

if TYPE_CHECKING:
    pass

TILTED = UnknownFunction(
    "(x[0] - 2 * x[1]) ** 2 + x[0]",
    lambda x: (x[0] - 2.0 * x[1]) ** 2 + x[0],
    lambda x: [2.0 * (x[0] - 2.0 * x[1]) + 1.0, -4.0 * (x[0] - 2.0 * x[1])],
)
CURVED = UnknownFunction(
    "x[0] * x[1] + x[2] ** 2", lambda x: x[0] * x[1] + x[2] ** 2, lambda x: [x[1], x[0], 2.0 * x[2]]
)

EXPLAINED = {
    "04.p2": """\
`y` is not trainable, so the tape does not watch it automatically, and there is no gradient for it: `None`, not zero. \
The gradient for `x` is
the value of `y`, as before. In the picture, `x` and `y` are rows of the tape, because the multiplication needs both \
numbers. But `y` is grey
inside: in the backward sweep, nothing is passed on to it.""",
}

BELIEFS = {
    "04.p2": {
        "4.0 and 3.0": "3.0 is right for a y that is trainable. This one is not, and so it is not watched.",
        "4.0 and 0.0": "0.0 would say that z does not change with y. It does; the tape only did not look.",
        "None and None": "x is trainable and is read, so the tape watches it, whatever y is.",
    },
}

ANEW = {
    "04.p2": (
        "z = a * b at a = 2, b = 7, where a is not trainable. What are the gradients for a and for b?",
        ["7.0 and 2.0", "None and 2.0", "0.0 and 2.0", "None and None"],
        "None and 2.0",
        "a is not watched, so it gets None. b gets the value of a, watched or not.",
    ),
}


def _fooling_input(f: UnknownFunction, x: Sequence[float], step: float) -> np.ndarray:
    """Where an input goes that moves by `step` in each number, up the slope of `f`."""
    assert f.slopes
    return np.array(x) + step * np.sign(f.slopes(x))


EXERCISES = (
    Exercise(
        "04.1",
        expect=with_zero(["a:0", "d:0"]),
        view=with_zero,
        asks="the names of variables, in a list",
        mistakes=[Mistake(["d:0", "a:0"], "The right two. They are listed in the order in which they were made.")],
        reasons={
            "b:0": "b is read, but it is not trainable, and no line calls watch(b).",
            "c:0": "c is read after the block, when the tape is off.",
            "d:0": "d is watched by hand. Then it does not matter whether it is trainable.",
            "a:0": "Watching by hand does not switch the automatic watching off: a is trainable and read.",
        },
        hint=(
            "For each of the four: who tells the tape to watch it?",
            "Is it watched by hand? If not: is it trainable, and is it read inside the block?",
            "a is trainable and read. b is not trainable. c is read after the block. d is watched by hand.",
        ),
        because="a is trainable and read inside the block, d is watched by hand.",
    ),
    Exercise(
        "04.2",
        expect={"A": [12.0, None, None], "B": [12.0, 8.0, None], "C": [None, None, 6.0]},
        program="""
v, k, c = tf.Variable(2.0), tf.Variable(3.0), tf.Variable(4.0)
with tf.GradientTape(persistent=True) as tape:
    y = v * k * c
""",
        mistakes=[
            Mistake(
                {"A": [12.0, 8.0, None]},
                "A: k is not trainable, and the tape does not watch it there.",
            ),
            Mistake(
                {"B": [12.0, None, None]},
                "B: tape.watch works for a variable that is not trainable, too.",
            ),
            Mistake(
                {"C": [12.0, None, 6.0]},
                "C: this tape watches nothing automatically, not even v.",
            ),
        ],
        hint=(
            "Who is watched in each of the programs?",
            "A: only what is trainable. B: k, too. C: nothing but c. Who is watched gets the product of the other two.",
            "Where they are watched, v gets 3 * 4, k gets 2 * 4, and c gets 2 * 3. What is not watched gets None.",
        ),
        because="A watches v, B watches v and k, C watches c only.",
    ),
    Exercise(
        "04.3",
        expect=_fooling_input,
        cases=[(TILTED, [1.0, 2.0], 0.1), (TILTED, [3.0, -1.0], 0.5), (CURVED, [0.5, -1.0, 2.0], 0.25)],
        mistakes=[
            Mistake(
                raises,
                "The gradient was None: x is a constant, and no tape watches it by itself.",
                where=r"(?s)\A(?!.*\.watch\()",
                error="None",
            )
        ],
        changes={
            ("x + step", "x - step"): (
                "Down the slope the network gets surer. To fool it, the loss must grow: plus, not minus."
            ),
            ("tf.sign(tape.gradient(loss, x))", "tape.gradient(loss, x)"): (
                "Each number moves by step times the gradient. It should move by step: only the sign counts."
            ),
            ("x + step * ", ""): ("These are the signs. Where does the input go with them?"),
            ("step * ", ""): "Each number moves by 1. It should move by step.",
            (
                "tf.sign(tape.gradient(loss, x))",
                "1.0",
            ): "All numbers move up. The sign of its gradient says which way each one moves.",
            (
                "tf.sign(",
                "tf.abs(",
            ): "Here the direction is lost, and the size is kept. It should be the other way round: tf.sign.",
            ("x + step", "loss + step"): "You add to the loss. It is the input that moves.",
            ("x + ", ""): ("This is how each number moves. Add it to x."),
        },
        hint=(
            "What must the tape know before the loss is computed? And which way does the loss grow?",
            "Watch x, compute loss_of(x) in the block, and ask for the gradient. Each number of x then moves by step, "
            "in the direction of the gradient's sign.",
            "In the block tape.watch(x) and loss = loss_of(x). After it: return x + step * tf.sign(tape.gradient(loss, "
            "x)).",
        ),
        because="The gradient with respect to the input says how to change the input. The weights stay as they are.",
    ),
)
