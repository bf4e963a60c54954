"""The answers of lesson 08, several tapes and tapes inside tapes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .exercise import Exercise, Mistake


def _product(point: Sequence[float], direction: Sequence[float]) -> np.ndarray:
    """The Hessian of x * y * y, times a direction."""
    (x, y), (a, b) = point, direction
    return np.array([2 * y * b, 2 * y * a + 2 * x * b])


def _hessian(point: Sequence[float], direction: Sequence[float]) -> np.ndarray:
    x, y = point
    return np.array([[0.0, 2 * y], [2 * y, 2 * x]])


def _gradient(point: Sequence[float], direction: Sequence[float]) -> np.ndarray:
    x, y = point
    return np.array([y * y, 2 * x * y])


def _slope(x: float) -> float:
    return 4 * x**3 - 3


EXERCISES = (
    Exercise(
        "08.1",
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
        "08.2",
        expect=lambda value: -math.sin(value),
        cases=[(0.5,), (2.0,), (-1.0,)],
        blank=None,
        mistakes=[
            Mistake(
                lambda value: math.cos(value),
                "That is the first derivative. Give back the outer tape's gradient of it.",
            ),
            Mistake(
                lambda value: math.sin(value),
                "That is y itself. Leave the other lines as they were; only one line moves.",
            ),
            Mistake(lambda value: -math.cos(value), "That is the third derivative: one tape too many."),
        ],
        hint="The inner gradient must be computed while the outer tape is on. Move that line into the outer block.",
        because="Taken inside the outer block, the inner sweep is recorded by the outer tape.",
    ),
    Exercise(
        "08.3",
        expect=lambda value: 60.0 * value**2,
        cases=[(1.0,), (2.0,), (-0.5,)],
        mistakes=[
            Mistake(lambda value: 20.0 * value**3, "That is the second derivative. One more is needed."),
            Mistake(lambda value: 120.0 * value, "That is the fourth derivative: one too many."),
            Mistake(lambda value: 5.0 * value**4, "That is the first derivative. Two more are needed."),
            Mistake(lambda value: value**5, "You gave back y itself. Give back its third derivative."),
        ],
        hint="Call derivative three times, each time on what it gave back before, and then call the result with x.",
        because="Three tapes, one in the other: 5 * x ** 4, then 20 * x ** 3, then 60 * x ** 2.",
    ),
    Exercise(
        "08.4",
        expect=lambda value: value - _slope(value) / (12 * value**2),
        cases=[(2.0,), (1.0,), (-1.0,)],
        mistakes=[
            Mistake(
                lambda value: value - _slope(value), "You subtract the whole slope. Divide it by the second derivative."
            ),
            Mistake(
                lambda value: value + _slope(value) / (12 * value**2),
                "The sign is wrong: go against the slope, so subtract.",
            ),
            Mistake(
                lambda value: value - (value**4 - 3 * value) / _slope(value),
                "That step looks for a zero of the function. Here we look for a zero of its slope.",
            ),
            Mistake(lambda value: _slope(value) / (12 * value**2), "That is how far to go. Subtract it from x."),
        ],
        hint="x minus the first derivative divided by the second derivative, both at x.",
        because="The second derivative says how fast the slope shrinks, so slope / second derivative is how far.",
    ),
    Exercise(
        "08.5",
        expect=_product,
        cases=[([1.0, 2.0], [1.0, 0.0]), ([1.0, 2.0], [0.0, 1.0]), ([-1.0, 0.5], [2.0, -3.0])],
        mistakes=[
            Mistake(_hessian, "That is the whole Hessian. Only its product with the direction is wanted: two numbers."),
            Mistake(_gradient, "That is the gradient. The direction has not been used yet."),
            Mistake(
                lambda point, direction: _gradient(point, direction) * np.array(direction),
                "Gradient times direction is only the first half. Add up, and take the outer gradient of the sum.",
            ),
            Mistake(
                lambda point, direction: _hessian(point, direction).sum(axis=0),
                "That is the gradient of the gradient's sum: the direction is missing in it.",
            ),
        ],
        hint="Call hessian_vector_product with a function of x, the point and the direction.",
        because="The gradient of the number reduce_sum(gradient * direction) is the Hessian times the direction.",
    ),
)
