"""The answers of lesson 06, stopping gradients."""

from __future__ import annotations

from .exercise import Exercise, Mistake, raises
from .unknown import Polynomial, Unknown, descend

SQUARE = Unknown("(a - b) ** 2", lambda a, b: (a - b) ** 2, lambda a, b: [2 * (a - b), -2 * (a - b)])
OTHER = Unknown("a * b + a * a", lambda a, b: a * b + a * a, lambda a, b: [b + 2 * a, a])
REST = Polynomial(0, 1, 0, 2)


FOUR, MINUS_TWO, TILTED = Polynomial(16, -8, 1), Polynomial(4, 4, 1), Polynomial(0, -1, 0, 0.05)


def _learned(loss_of: Polynomial, start: float, steps: int, rate: float = 0.1) -> float:
    """What `w` learns of a loss that sees its rounded value."""
    for _ in range(steps):
        start -= rate * loss_of.derivative(round(start))
    return start


EXERCISES = (
    Exercise(
        "06.1",
        expect={"A": 3.0, "B": None, "C": 8.0, "D": 1.0},
        mistakes=[
            Mistake(
                {"A": 3.0, "B": 0.0, "C": 8.0, "D": 1.0}, "B: no path is left from y. The answer is None, not zero."
            ),
            Mistake({"A": 3.0, "B": 2.0, "C": 8.0, "D": 1.0}, "B: y reaches the product only through the stop."),
            Mistake(
                {"A": 3.0, "B": None, "C": 12.0, "D": 1.0}, "C: only two of the three factors let a gradient pass."
            ),
            Mistake({"A": 3.0, "B": None, "C": 4.0, "D": 1.0}, "C: two factors pass, and each gets 2 * 2. Add them."),
            Mistake(
                {"A": 3.0, "B": None, "C": 8.0, "D": 4.0}, "D: the path through x * y is stopped. Which x is left?"
            ),
            Mistake({"A": 3.0, "B": None, "C": 8.0, "D": None}, "D: one path is stopped, but the last x is not."),
            Mistake({"A": None, "B": None, "C": 8.0, "D": 1.0}, "A: y is stopped, x is not."),
        ],
        hint="Draw the paths from the variable to the result, cross out those through a stop, and add the others.",
        because="Only the paths without a stop count: one in A, none in B, two in C, one in D.",
    ),
    Exercise(
        "06.2",
        expect={"A inner": 4.0, "A outer": 12.0, "B inner": 4.0, "B outer": 4.0},
        mistakes=[
            Mistake(
                {"A inner": 4.0, "A outer": 4.0, "B inner": 4.0, "B outer": 4.0},
                "A: only the inner tape pauses. The outer one records x * x as well.",
            ),
            Mistake(
                {"A inner": 4.0, "A outer": 12.0, "B inner": 4.0, "B outer": 12.0},
                "B: stop_gradient is a row that every tape records, and no tape lets a gradient through it.",
            ),
            Mistake(
                {"A inner": 12.0, "A outer": 4.0, "B inner": 4.0, "B outer": 4.0},
                "A: it is the inner tape that pauses, inner.stop_recording().",
            ),
            Mistake(
                {"A inner": None, "A outer": 12.0, "B inner": None, "B outer": None},
                "s is stopped, but the last multiplication also uses x itself.",
            ),
            Mistake(
                {"A inner": 12.0, "A outer": 12.0, "B inner": 4.0, "B outer": 4.0},
                "A: the inner tape paused while x * x ran. To it, s is the number 4.",
            ),
            Mistake(
                {"A inner": 4.0, "A outer": 12.0, "B inner": None, "B outer": None},
                "B: s is stopped, but the last multiplication also uses x itself.",
            ),
        ],
        hint="A tape that does not see x * x knows only u = 4 * x. A tape that sees it knows u = x * x * x.",
        because="stop_recording is for one tape, stop_gradient for all.",
    ),
    Exercise(
        "06.3",
        expect=lambda f, a, b: [f.slopes(a, b)[0], None],
        cases=[(SQUARE, 3.0, 1.0), (OTHER, 0.5, 2.0), (OTHER, -1.0, 0.5)],
        mistakes=[
            Mistake(lambda f, a, b: f.slopes(a, b), "Nothing is stopped yet: b is still told to move."),
            Mistake(lambda f, a, b: [None, f.slopes(a, b)[1]], "You stopped a. The one that should not move is b."),
            Mistake(lambda f, a, b: [None, None], "Now nobody moves. Stop b only, not the whole distance."),
            Mistake(
                lambda f, a, b: [2 * (a - b), None],
                "That is right for (a - b) ** 2 only. Call distance, which may be another one.",
            ),
        ],
        hint="Call distance with a and b, but put tf.stop_gradient around the one that should not move.",
        because="The value of b takes part, but no path leads back to it.",
    ),
    Exercise(
        "06.4",
        expect=lambda rest, value: [float(round(value)), rest.derivative(float(round(value)))],
        cases=[(REST, 2.6), (REST, -1.2), (Polynomial(1, 3, 1), 0.4)],
        mistakes=[
            Mistake(
                lambda rest, value: [float(round(value)), None],
                "The value is right, but x is not in it without a stop.",
            ),
            Mistake(
                lambda rest, value: [value, rest.derivative(value)],
                "A gradient comes through, but the value is x itself, not rounded.",
            ),
            Mistake(
                lambda rest, value: [value + round(value), rest.derivative(value + round(value))],
                "You added the rounded value. Add what is missing: round(x) - x.",
            ),
            Mistake(
                lambda rest, value: [float(round(value) - value), None],
                "This is what must be added. Add it to x, unstopped.",
            ),
        ],
        hint="The number to add is tf.round(x) - x. Stop that number, and add it to x.",
        because="x + (round(x) - x) has the value round(x), and only the first x lets the gradient pass.",
    ),
    Exercise(
        "06.5",
        expect=_learned,
        cases=[(FOUR, 0.7, 1), (FOUR, 0.7, 12), (MINUS_TWO, 3.2, 5), (TILTED, 4.3, 6)],
        mistakes=[
            Mistake(
                lambda loss_of, start, steps: descend(loss_of, start, steps, rate=0.1),
                "That is what w itself would learn. The loss should see the rounded value.",
            ),
            Mistake(
                lambda loss_of, start, steps: start,
                "w did not move, because no gradient comes through. Which expression rounds, and lets it pass?",
            ),
            Mistake(
                lambda loss_of, start, steps: _learned(loss_of, start, steps, rate=-0.1),
                "w runs away: the gradient has the wrong sign. Leave the loss, and subtract the gradient, as it stands there.",
            ),
            Mistake(raises, "tf.round alone gives None. Add to w the stopped number tf.round(w) - w."),
        ],
        hint="w + tf.stop_gradient(tf.round(w) - w)",
        because="The loss sees whole numbers, and the gradient goes around the steps.",
    ),
)
