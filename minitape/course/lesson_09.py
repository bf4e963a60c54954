"""The answers of lesson 09, state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .exercise import Answer, Exercise, Mistake, complete_exercises, raise_error, say_from_lesson
from .unknown_functions import Polynomial, UnknownFunction, run_gradient_descent

F = Polynomial(0, 0, 1)
G = Polynomial(1, -2, 0, 1)
BOWL = Polynomial(9, -6, 1)
HOLE = Polynomial(2, 1, 0.5)


class Distance(UnknownFunction):
    """The mean squared distance of heights from points that only the check knows."""

    def __init__(self, points: Sequence[float]) -> None:
        """Store the points.

        Args:
            points: The heights of the points.
        """
        self.points = np.array(points, np.float32)
        super().__init__(f"mean((heights - {list(points)}) ** 2)", self._compute_mean_square_error)

    def _compute_mean_square_error(self, heights: Answer) -> Answer:
        errors = heights - self.points
        return (errors[None, :] @ errors[:, None])[0, 0] / len(self.points)


X = [-1.8, -1.0, -0.4, 0.3, 0.9, 1.7]
POINTS = Distance([2.9, 2.2, 1.4, 1.2, 0.1, -0.6])
FAR = 20.0  # The numbers of the best lines are much smaller.
OTHER_X = [-2.0, -0.5, 1.0, 2.0]
OTHERS = Distance([-5.0, -1.5, 4.5, 6.0])


def _fit_line(loss_of: Distance, x: Sequence[float]) -> list[float]:
    return [float(value) for value in np.polyfit(x, loss_of.points, 1)]


def _find_line_fit_hint(answer: Answer, loss_of: Distance, x: Sequence[float]) -> str:
    """Say what two numbers reveal about the loop that found them, if they are not the numbers of the best line."""
    w, b = numbers = np.array([float(value) for value in np.ravel(answer)])
    best_line = _fit_line(loss_of, x)
    if not max(abs(w), abs(b)) <= FAR:  # This is also true for NaN.
        return say_from_lesson("09", "far from any line")
    start_loss, own_loss, best_loss = (
        loss_of._compute_mean_square_error(w * np.array(x) + b) for w, b in ([0.0, 0.0], numbers, best_line)
    )
    if not own_loss < start_loss or 0.0 in numbers:  # At least one of the numbers was not learned.
        return ""
    return say_from_lesson(
        "09",
        "losses so far",
        start=f"{start_loss:.3g}",
        now=f"{own_loss:.3g}",
        least=f"{best_loss:.3g}",
    )


EXERCISES = complete_exercises(
    "09",
    (
        Exercise("09.1", expect=[30.0, None]),
        Exercise(
            "09.2",
            expect=lambda f, a, b: 2.0 * f.derivative(a + 2.0 * b),
            cases=[(F, 3.0, 4.0), (G, 1.0, -2.0), (G, 0.5, -0.25)],
            mistakes=[Mistake(raise_error, named="plus equals", error="is not supported")],
            start="""
def gradient_for_y(f, a, b):
    x = tf.Variable(a)
    y = tf.Variable(b)
    with tf.GradientTape() as tape:
        x.assign_add(2.0 * y)
        z = f(x)
    return tape.gradient(z, y)
""",
        ),
        Exercise("09.3", expect=10.0),
        Exercise("09.4", expect={"A": False, "B": True, "C": True, "D": False, "E": True}),
        Exercise(
            "09.5",
            expect=lambda loss_of, steps, rate=0.25: run_gradient_descent(loss_of, 0.0, steps, rate),
            cases=[(BOWL, 1), (BOWL, 2), (HOLE, 5)],
        ),
        Exercise(
            "09.6", expect=_fit_line, cases=[(POINTS, X), (OTHERS, OTHER_X)], rtol=0.01, of_wrong=_find_line_fit_hint
        ),
    ),
)
