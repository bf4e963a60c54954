"""The answers of lesson 04, choosing what is watched."""

from __future__ import annotations

from .exercise import Exercise, Mistake, raises
from .unknown import Polynomial, Unknown, descend

F = Unknown("a * a * b", lambda a, b: a * a * b, lambda a, b: [2 * a * b, a * a])
G = Unknown("a * b + b * b * b", lambda a, b: a * b + b * b * b, lambda a, b: [b, a + 3 * b * b])

HILL, RIDGE = Polynomial(0, 2, -1), Polynomial(1, 0, 0.5, 0, -0.25)

EXERCISES = (
    Exercise(
        "04.1",
        expect=["a:0", "d:0"],
        mistakes=[
            Mistake(["a:0"], "d is watched by hand. Then it does not matter whether it is trainable."),
            Mistake(["a:0", "c:0"], "c is read after the block, when the tape is off. And what about d?"),
            Mistake(["a:0", "b:0", "d:0"], "b is read, but it is not trainable, and nobody watches it by hand."),
            Mistake(["a:0", "c:0", "d:0"], "c is read after the block, when the tape is off."),
            Mistake(["d:0"], "Watching by hand does not switch the automatic watching off: a is trainable and read."),
            Mistake(["a", "d"], "The right variables. TensorFlow writes :0 after the names."),
            Mistake(["d:0", "a:0"], "The right two. They are listed in the order in which they were made."),
        ],
        hint="For each: is it watched by hand? If not: is it trainable, and is it read inside the block?",
        because="a is trainable and read inside the block, d is watched by hand.",
    ),
    Exercise(
        "04.2",
        expect={"A": [12.0, None, None], "B": [12.0, 8.0, None], "C": [None, None, 6.0]},
        mistakes=[
            Mistake(
                {"A": [12.0, 8.0, None], "B": [12.0, 8.0, None], "C": [None, None, 6.0]},
                "A: k is not trainable, and nobody watches it there.",
            ),
            Mistake(
                {"A": [12.0, None, None], "B": [12.0, None, None], "C": [None, None, 6.0]},
                "B: tape.watch works for a variable that is not trainable, too.",
            ),
            Mistake(
                {"A": [12.0, None, None], "B": [12.0, 8.0, None], "C": [12.0, None, 6.0]},
                "C: this tape watches nothing on its own, not even v.",
            ),
            Mistake(
                {"A": [12.0, None, None], "B": [12.0, 8.0, None], "C": [None, None, None]},
                "C: a constant has a gradient if it is watched before it is used.",
            ),
            Mistake(
                {"A": [12.0, 0.0, 0.0], "B": [12.0, 8.0, 0.0], "C": [0.0, 0.0, 6.0]},
                "The numbers are right. But what is not watched gives None, not zero.",
            ),
        ],
        hint="First ask who is watched in each program. Then: v gets k * c, k gets v * c, c gets v * k.",
        because="A watches v, B watches v and k, C watches c only.",
    ),
    Exercise(
        "04.3",
        expect=lambda f, a, b: [None, f.slopes(a, b)[1]],
        cases=[(F, 2.0, 5.0), (G, -3.0, 1.0), (G, 0.5, 4.0)],
        mistakes=[
            Mistake(lambda f, a, b: f.slopes(a, b), "a is watched, too. Say watch_accessed_variables=False."),
            Mistake(lambda f, a, b: [f.slopes(a, b)[0], None], "This tape watches a instead of b."),
            Mistake(lambda f, a, b: [None, None], "Now nobody is watched: call tape.watch(b) before y is computed."),
            Mistake(lambda f, a, b: f.slopes(a, b)[1], "Ask for both gradients, in a list: [a, b]."),
            Mistake(lambda f, a, b: [0.0, f.slopes(a, b)[1]], "What is not watched gives None. A zero hides that."),
        ],
        hint="watch_accessed_variables=False in the call, and tape.watch(b) as the first line of the block.",
        because="Only b is watched, so only its path is recorded.",
    ),
    Exercise(
        "04.4",
        expect={"A": True, "B": True, "C": False, "D": False},
        mistakes=[
            Mistake(
                {"A": True, "B": False, "C": False, "D": False},
                "B: a first call builds the layer as well as build does.",
            ),
            Mistake(
                {"A": False, "B": True, "C": False, "D": False},
                "A: build makes the variables; it needs the input's shape only.",
            ),
            Mistake(
                {"A": True, "B": True, "C": True, "D": False},
                "C: trainable is True already. What is missing are variables.",
            ),
            Mistake(
                {"A": True, "B": True, "C": False, "D": True},
                "D: this builds another layer. Each one has its own variables.",
            ),
        ],
        hint="The variables of this very layer must exist before tape.watch is called. Which lines make them?",
        because="A layer makes its variables when it is built, by build or by its first call.",
    ),
    Exercise(
        "04.5",
        expect=lambda f, start, steps: descend(f, start, steps, rate=-0.1),
        cases=[(HILL, -1.0, 1), (HILL, 2.5, 6), (RIDGE, 0.4, 12)],
        mistakes=[
            Mistake(
                lambda f, start, steps: descend(f, start, steps, rate=0.1),
                "You went down. For the largest result, add 0.1 times the gradient.",
            ),
            Mistake(lambda f, start, steps: start, "The input did not move: x = x + ..., in each step."),
            Mistake(
                raises,
                "If the gradient was None: x is a tensor, which must be watched again in each step.",
            ),
            Mistake(
                lambda f, start, steps: descend(f, start, 1, rate=-0.1),
                "That is one step. Is the return inside the loop?",
            ),
        ],
        hint="In each step a new tape: tape.watch(x), y = f(x), and after the block x = x + 0.1 * tape.gradient(y, x).",
        because="Only the input is watched, so the weights cost nothing, and stay as they are.",
    ),
)
