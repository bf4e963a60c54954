"""The answers of lesson 07, several tapes and tapes inside tapes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .exercise import Exercise, Mistake, gives_none
from .unknown import Polynomial, Unknown, descend, newton

F, G = Polynomial(0, 1, 0, -2, 0, 1), Polynomial(1, 0, 3, 1, 1)
BENT = Unknown("x[0] * x[1] * x[1]", lambda x: x[0] * x[1] * x[1])
STEEP = Unknown("x[0] ** 3 + x[0] * x[1]", lambda x: x[0] ** 3 + x[0] * x[1])
Pair = Sequence[float]


def _gradient(f: Unknown, point: Pair, direction: Pair) -> np.ndarray:
    x, y = point
    return np.array([y * y, 2 * x * y] if f is BENT else [3 * x * x + y, x])


def _hessian(f: Unknown, point: Pair, direction: Pair) -> np.ndarray:
    x, y = point
    return np.array([[0.0, 2 * y], [2 * y, 2 * x]] if f is BENT else [[6 * x, 1.0], [1.0, 0.0]])


EXERCISES = (
    Exercise(
        "07.1",
        expect=[25.0, 20.0, None, 10.0],
        mistakes=[
            Mistake(
                [25.0, 20.0, None, 20.0], "Look at D once more: for second, p is a number that came in from outside."
            ),
            Mistake([25.0, 20.0, 25.0, 20.0], "second was not on when p was computed. What can it know of u?"),
            Mistake([25.0, 10.0, None, 10.0], "Look at B once more: first saw both uses of v, in p and in q."),
            Mistake([25.0, 20.0, 0.0, 10.0], "Where a tape recorded no path, the answer is None, not zero."),
        ],
        hint="first saw q = u * v * v. second saw only q = p * v, with p = 10.",
        because="first recorded all of u * v * v. second recorded p * v only, and p was for it the number 10.",
    ),
    Exercise(
        "07.2",
        expect=lambda f, value: f.derivative(value, order=2),
        cases=[(F, 0.5), (F, 2.0), (G, -1.0)],
        start="""
def second_derivative(f, value):
    x = tf.constant(value)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
    first = inner.gradient(y, x)
    return outer.gradient(first, x)
""",
        mistakes=[
            Mistake(
                gives_none,
                "persistent=True lets a tape answer again. But outer did not see the inner sweep: it was off by then.",
                where=r"persistent",
            ),
            Mistake(
                gives_none,
                "To watch first does not help: outer did not see how first was computed. Move the line that computes it.",
                where=r"\.watch\(first\)",
            ),
            Mistake(
                lambda f, value: f.derivative(value),
                "That is the first derivative. Give back the outer tape's gradient of it.",
            ),
            Mistake(
                lambda f, value: f._compute(value),
                "That is y itself. Leave the other lines as they were; only one line moves.",
            ),
            Mistake(lambda f, value: f.derivative(value, order=3), "That is the third derivative: one tape too many."),
            Mistake(lambda f, value: 0.0, "A zero is not right either. Where must the inner gradient be computed?"),
        ],
        hint="The inner gradient must be computed while the outer tape is on. Move that line into the outer block.",
        because="Taken inside the outer block, the inner sweep is recorded by the outer tape.",
    ),
    Exercise(
        "07.3",
        expect=lambda f, value: f.derivative(value, order=3),
        cases=[(F, 1.0), (F, 2.0), (G, -0.5)],
        mistakes=[
            Mistake(
                lambda f, value: f.derivative(value, order=2), "That is the second derivative. One more is needed."
            ),
            Mistake(lambda f, value: f.derivative(value, order=4), "That is the fourth derivative: one too many."),
            Mistake(lambda f, value: f.derivative(value), "That is the first derivative. Two more are needed."),
            Mistake(lambda f, value: f._compute(value), "You gave back f(x) itself. Give back its third derivative."),
        ],
        hint="Call derivative three times, each time on what it gave back before, and then call the result with x.",
        because="Three tapes, one in the other: each records the sweep of the one inside.",
    ),
    Exercise(
        "07.4",
        expect=newton,
        cases=[(F, 2.0), (G, 1.0), (G, -2.0)],
        mistakes=[
            Mistake(
                lambda f, value: value - f.derivative(value),
                "You subtract the whole slope. Divide it by the second derivative.",
            ),
            Mistake(
                lambda f, value: value + f.derivative(value) / f.derivative(value, order=2),
                "The sign is wrong: go against the slope, so subtract.",
            ),
            Mistake(
                lambda f, value: value - f._compute(value) / f.derivative(value),
                "That step looks for a zero of the function. Here we look for a zero of its slope.",
            ),
            Mistake(
                lambda f, value: f.derivative(value) / f.derivative(value, order=2),
                "That is how far to go. Subtract it from x.",
            ),
        ],
        hint="x minus the first derivative divided by the second derivative, both at x.",
        because="The second derivative says how fast the slope shrinks, so slope / second derivative is how far.",
    ),
    Exercise(
        "07.5",
        expect=lambda f, point, direction: _hessian(f, point, direction) @ np.array(direction),
        cases=[(BENT, [1.0, 2.0], [1.0, 0.0]), (STEEP, [1.0, 2.0], [0.0, 1.0]), (STEEP, [-1.0, 0.5], [2.0, -3.0])],
        mistakes=[
            Mistake(_hessian, "That is the whole Hessian. Only its product with the direction is wanted: two numbers."),
            Mistake(_gradient, "That is the gradient. The direction has not been used yet."),
            Mistake(
                lambda f, point, direction: _gradient(f, point, direction) * np.array(direction),
                "Gradient times direction is only the first half. Add up, and take the outer gradient of the sum.",
            ),
            Mistake(
                lambda f, point, direction: _hessian(f, point, direction).sum(axis=0),
                "That is the gradient of the gradient's sum: the direction is missing in it.",
            ),
        ],
        hint="Call hessian_vector_product with f, the point and the direction.",
        because="The gradient of the number reduce_sum(gradient * direction) is the Hessian times the direction.",
    ),
    Exercise(
        "07.6",
        expect=newton,
        cases=[(G, -2.0, 1), (G, -2.0, 3), (Polynomial(3, -4, 1, 0, 0.5), 2.0, 5)],
        mistakes=[
            Mistake(
                lambda f, start, steps: newton(f, start), "That is one step. Do it as often as steps says, in a loop."
            ),
            Mistake(lambda f, start, steps: start, "It stays where it started: x = x - ..., in each step."),
            Mistake(
                lambda f, start, steps: descend(f, start, steps, rate=0.1),
                "That is the plain way, with a fixed part of the slope. Divide by the second derivative.",
            ),
        ],
        hint="In a loop: x = x - slope(x) / bend(x), with slope = derivative(f) and bend = derivative(slope).",
        because="A few steps are enough: near the lowest point, each one doubles the digits that are right.",
    ),
)
