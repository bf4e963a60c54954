"""The answers of lesson 01, the first tape."""

from __future__ import annotations

from .exercise import Exercise, Mistake, gives_none, raises
from .unknown import Polynomial, descend

F, G = Polynomial(1, -3, 0, 1), Polynomial(0, 2, 1, 0, 1)
BOWL, DENT = Polynomial(1, -2, 1), Polynomial(2, 1, 0.5, 0, 0.1)
ONE_WATCH = r"(?s)\A(?!.*\.watch\(.*\.watch\()"

EXERCISES = (
    Exercise(
        "01.1",
        expect=12.0,
        mistakes=[
            Mistake(8.0, "8.0 is y itself. The derivative says how fast y grows while x grows, not how large y is."),
            Mistake(4.0, "You have x * x. The derivative of x * x * x has a factor in front of it."),
            Mistake(6.0, "You have 3 * x. In the derivative of x * x * x, x still appears twice: 3 * x * x."),
            Mistake(None, "x is watched before it is used, so there is a path from x to y. The answer is a number."),
        ],
        hint="Three factors, and each gets what arrived times the other two: 2 * 2. How much is that together?",
        because="Each of the three factors gets 2 * 2, and what meets at x is added. At school: 3 * x * x, and x is 2.",
    ),
    Exercise(
        "01.2",
        expect=lambda f, value: f.derivative(value),
        cases=[(F, 2.0), (F, -1.0), (G, 0.5)],
        mistakes=[
            Mistake(
                gives_none,
                "The watch comes too late: y is computed by then. Call tape.watch(x) first, inside the block.",
                where=r"(?s)y = f\(x\).*\.watch\(",
            ),
            Mistake(
                gives_none,
                "Watch x, from which y is computed. The value, or y, does not help.",
                where=r"\.watch\((?!x)",
            ),
            Mistake(lambda f, value: f._compute(value), "You gave back y. Give back what tape.gradient(y, x) returns."),
            Mistake(
                lambda f, value: 1.0,
                "Ask for tape.gradient(y, x), not for the gradient of x with respect to itself.",
            ),
            Mistake(
                lambda f, value: 3.0 * value * value,
                "That is the derivative of x * x * x. The exercise hands in another f: ask the tape.",
            ),
        ],
        hint="One line is missing: the tape does not know that it should watch x. Only that line has to be written.",
        because="Watched from before the first operation on, x has a path to y on the tape, whatever f does.",
    ),
    Exercise(
        "01.3",
        expect=[None, 6.0, None],
        mistakes=[
            Mistake([None, 6.0, 6.0], "Look at C once more: when y is computed, the tape does not watch x yet."),
            Mistake([6.0, 6.0, None], "Look at A once more: x is a constant, and nobody watches it."),
            Mistake(
                [6.0, 6.0, 6.0],
                "A gradient needs a recorded path from x to y. Who watches x in A, and since when in C?",
            ),
            Mistake(
                [0.0, 6.0, 0.0], "Where no path was recorded, the answer is None. Zero would be a statement about y."
            ),
            Mistake(
                [None, None, None], "Look at B once more: x is a variable. Does a variable have to be watched by hand?"
            ),
            Mistake([None, 9.0, None], "9.0 in B is y itself. Its derivative at 3 is 2 * 3."),
            Mistake([0.0, 6.0, None], "A: no path is None, not zero. Zero would be a statement about y."),
            Mistake([None, 6.0, 0.0], "C: no path is None, not zero. Zero would be a statement about y."),
        ],
        hint="Write a list of three: a number where the tape watched x before y was computed, None elsewhere.",
        because="Only in B did the tape watch x when y was computed: a variable is watched when it is used.",
    ),
    Exercise(
        "01.4",
        expect=lambda f, value: f.derivative(value, order=2),
        cases=[(F, 1.0), (F, 2.0), (G, -0.5)],
        mistakes=[
            Mistake(gives_none, "Each tape needs a watch of its own, also the inner one.", where=ONE_WATCH),
            Mistake(raises, "Each tape needs a watch of its own: without it, inner.gradient is None.", where=ONE_WATCH),
            Mistake(
                gives_none,
                "Is the first gradient taken while the outer tape is on? Otherwise the outer tape knows nothing of it.",
                where=r"(?s)\.gradient\(.*\.gradient\(",
            ),
            Mistake(
                lambda f, value: f.derivative(value),
                "That is the first derivative. Ask the outer tape for the gradient of it.",
            ),
            Mistake(lambda f, value: f._compute(value), "You gave back y. Give back the gradient of the gradient."),
            Mistake(lambda f, value: f.derivative(value, order=3), "That is the third derivative: one tape too many."),
            Mistake(
                lambda f, value: 12.0 * value * value,
                "That is the second derivative of x ** 4. The exercise hands in another f: ask the tapes.",
            ),
        ],
        hint="Two tapes, one inside the other. Both watch x. Take the first gradient inside the outer tape's block.",
        because="The outer tape recorded the sweep of the inner one. So it can go back through it, whatever f is.",
    ),
    Exercise(
        "01.5",
        expect=lambda f, start, steps: descend(f, start, steps, rate=0.1),
        cases=[(BOWL, 3.0, 1), (BOWL, -2.0, 5), (DENT, -0.5, 6)],
        mistakes=[
            Mistake(
                lambda f, start, steps: descend(f, start, steps, rate=-0.1),
                "Your ball rolls uphill: subtract the slope, do not add it.",
            ),
            Mistake(
                lambda f, start, steps: descend(f, start, steps, rate=1.0),
                "Your ball makes giant steps: multiply the slope by 0.1.",
            ),
            Mistake(
                lambda f, start, steps: descend(f, start, 1, rate=0.1),
                "Your ball makes one step only. Is the return inside the loop, or does each step begin at start again?",
            ),
            Mistake(
                lambda f, start, steps: start,
                "Your ball did not move: write x = x - ..., so that the next step sees it.",
            ),
        ],
        hint="After the block: x = x - 0.1 * tape.gradient(y, x).",
        because="Your ball felt its way down with nothing but gradients, and so do networks when they learn.",
    ),
)
