"""The answers of lesson 01, the first tape."""

from __future__ import annotations

from .exercise import Exercise, Mistake

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
        hint="The derivative of x * x * x is 3 * x * x. Put x = 2 in.",
        because="The derivative of x * x * x is 3 * x * x, and x is 2.",
    ),
    Exercise(
        "01.2",
        expect=lambda value: 3.0 * value * value,
        cases=[(2.0,), (-1.0,), (0.5,)],
        mistakes=[
            Mistake(lambda value: value**3, "You gave back y. Give back what tape.gradient(y, x) returns."),
            Mistake(lambda value: 2.0 * value, "That is the derivative of x * x. Leave y = x * x * x as it was."),
            Mistake(
                lambda value: 1.0, "Ask for tape.gradient(y, x), not for the gradient of x with respect to itself."
            ),
        ],
        hint="One line is missing: the tape does not know that it should watch x. Only that line has to be written.",
        because="Watched from before the first multiplication on, x has a path to y on the tape.",
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
        expect=lambda value: 12.0 * value * value,
        cases=[(1.0,), (2.0,), (-0.5,)],
        mistakes=[
            Mistake(
                lambda value: 4.0 * value**3, "That is the first derivative. Ask the outer tape for the gradient of it."
            ),
            Mistake(lambda value: value**4, "You gave back y. Give back the gradient of the gradient."),
            Mistake(lambda value: 24.0 * value, "That is the third derivative: one tape too many."),
        ],
        hint="Take the first gradient inside the outer tape's block, so that the outer tape records it.",
        because="The outer tape recorded the first derivative, 4 * x ** 3. Its derivative is 12 * x ** 2.",
    ),
)
