"""The answers of lesson 11, operations of one's own."""

from __future__ import annotations

import math

from .exercise import Exercise, Mistake
from .unknown import Polynomial

F, G = Polynomial(0, 0, 1), Polynomial(1, -2, 0, 1)


def _distance(upstream: float, x: float, y: float) -> tuple[float, float]:
    z = math.hypot(x, y)
    return upstream * x / z, upstream * y / z


EXERCISES = (
    Exercise(
        "11.1",
        expect=[2.25, -3.0],
        mistakes=[
            Mistake([2.25, 3.0], "The value is right. The derivative of x ** 2 is 2 * x, and x is negative."),
            Mistake([-2.25, -3.0], "The derivative is right. A square is never negative."),
            Mistake([2.25, -1.5], "The value is right. The derivative of x ** 2 is 2 * x, not x."),
            Mistake([-2.25, 3.0], "A square is never negative, and the derivative of x ** 2 is 2 * x."),
        ],
        hint="The size of x is 1.5, which is below m. So the first branch runs: x ** 2.",
        because="abs(x) <= m, so y is x ** 2, and its derivative is 2 * x.",
    ),
    Exercise(
        "11.2",
        expect=_distance,
        cases=[(1.0, 3.0, 4.0), (2.0, -1.0, 0.5), (-1.0, 0.0, 2.0)],
        mistakes=[
            Mistake(lambda upstream, x, y: _distance(1.0, x, y), "The upstream gradient is missing: multiply by it."),
            Mistake(
                lambda upstream, x, y: (upstream * x, upstream * y),
                "Divide by z. (The derivative of x * x is 2 * x, and the root brings 1 / (2 * z).)",
            ),
            Mistake(
                lambda upstream, x, y: _distance(upstream, x, y)[::-1], "The two amounts are swapped: first that of x."
            ),
            Mistake(
                lambda upstream, x, y: (2 * _distance(upstream, x, y)[0], 2 * _distance(upstream, x, y)[1]),
                "Twice too much: the root brings a 1/2 that cancels the 2 of x * x.",
            ),
        ],
        hint="Compute z first. Then the upstream gradient times x / z, and the upstream gradient times y / z.",
        because="The derivative of the root is 1 / (2 * z), that of x * x is 2 * x: together x / z.",
    ),
    Exercise(
        "11.3",
        expect=lambda f, value: 0.5 * f.derivative(value),
        cases=[(F, 3.0), (G, -1.0), (G, 0.5)],
        mistakes=[
            Mistake(lambda f, value: f.derivative(value), "All of the amount was handed on. Hand on half of it."),
            Mistake(
                lambda f, value: 0.5 * f._compute(value) * f.derivative(value),
                "In the rule, multiply what arrived by 0.5, not by x.",
            ),
            Mistake(lambda f, value: f._compute(value), "You gave back y. Give back its gradient with respect to x."),
            Mistake(lambda f, value: 0.0, "Nothing was handed on. The rule must use the amount that it gets."),
            Mistake(
                lambda f, value: value, "That is right for x * x only. Leave the tape its work, and write the rule."
            ),
        ],
        hint="grad gets the upstream gradient and gives back what goes to x: half of it.",
        because="The true slope is that of f. The rule in between hands on half of it.",
    ),
    Exercise(
        "11.4",
        expect=[10.0, 6.0],
        mistakes=[
            Mistake([10.0, 7.0], "y is right. The constant 1.0 adds nothing to the derivative."),
            Mistake([9.0, 6.0], "The derivative is right. y is x * x + 1.0."),
            Mistake([10.0, None], "There is a path from x to y in the graph, so there is a derivative."),
            Mistake([6.0, 10.0], "The order: first y, then dy_dx, as in the list that is run."),
        ],
        hint="Put 3 in for x, both in y and in its derivative.",
        because="At x = 3, x * x + 1 is 10 and 2 * x is 6.",
    ),
    Exercise(
        "11.5",
        expect={"A": False, "B": False, "C": True, "D": True},
        mistakes=[
            Mistake(
                {"A": False, "B": True, "C": True, "D": True},
                "B gives a number, but is it the right one? Look at the prediction 11.p3 once more.",
            ),
            Mistake(
                {"A": True, "B": False, "C": True, "D": True},
                "A tape cannot look into NumPy, so the gradient in A is None.",
            ),
            Mistake(
                {"A": False, "B": False, "C": True, "D": False},
                "D is the older way to the same rule. Compare the numbers that both printed.",
            ),
            Mistake(
                {"A": False, "B": False, "C": False, "D": True},
                "In C the rule stands in for what the tape cannot see.",
            ),
        ],
        hint="A tape cannot differentiate NumPy code. Where does a rule of yours stand in for it?",
        because="A gives None, B gives 0.0, and only C and D have the rule.",
    ),
)
