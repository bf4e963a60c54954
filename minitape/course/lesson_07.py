"""The answers of lesson 07, several tapes and tapes inside tapes."""

import numpy as np
from numpy import ndarray

from ..engine.types import FloatSequence
from .call_log import ObservedRuns
from .exercise import Answer, Exercise, Mistake
from .unknown_functions import Polynomial, UnknownFunction, compile_unknown_function, run_newton_minimization_step

F = Polynomial(0, 1, 0, -2, 0, 1)
G = Polynomial(1, 0, 3, 1, 1)
BENT = compile_unknown_function("x[0] * x[1] * x[1]", "[[0.0, 2 * x[1]], [2 * x[1], 2 * x[0]]]")
STEEP = compile_unknown_function("x[0] ** 3 + x[0] * x[1]", "[[6 * x[0], 1.0], [1.0, 0.0]]")
BOX = compile_unknown_function("x[0] * x[1] * x[2]", "[[0.0, x[2], x[1]], [x[2], 0.0, x[0]], [x[1], x[0], 0.0]]")
Point = FloatSequence


def _compute_hessian(f: UnknownFunction, point: Point, direction: Point) -> ndarray:
    return np.array(f.compute_derivatives(point))


def _find_full_hessian_hint(answer: Answer, observed_runs: ObservedRuns) -> str:
    """Say that the product was computed with the whole Hessian, in more than two sweeps, or return "" if it was not."""
    if any(run.sweep_count > 2 for run in observed_runs):
        return "more than two sweeps"
    return ""


def _compute_penalized_slope(f: Polynomial, value: float) -> float:
    """Compute the derivative of the value plus the squared slope."""
    return f.derivative(value) + 2.0 * f.derivative(value) * f.derivative(value, order=2)


def _run_damped_newton(f: Polynomial, start: float, steps: int) -> float:
    """Return the point to which damped steps of Newton's method lead.

    The steps divide by the absolute value of the second derivative, and steps that lead up are left out.
    """
    for _ in range(steps):
        move = f.derivative(start) / abs(f.derivative(start, order=2))
        for _ in range(10):
            if f._compute(start - move) > f._compute(start):
                move /= 2
        if f._compute(start - move) <= f._compute(start):
            start -= move
    return start


HILLS = Polynomial(0, 0, -0.5, 0, 0.25)
BOWL = Polynomial(9, -6, 1)  # The first step from -3 or 9 has length 6.
STRAIGHT = Polynomial(0, 1, 2**-13, 0, 1)  # Near 0, to which 3.25 leads, ten halvings of a step are too few.
TEN = Polynomial(0, 1, 2**-10, 0, 1)  # At 0, ten halvings are just enough.

EXERCISES = (
    Exercise(
        "07.1",
        order=2,
        expect=_compute_penalized_slope,
        cases=[(F, 0.5), (F, 2.0), (G, -1.0)],
    ),
    Exercise(
        "07.2",
        expect=[25.0, 20.0, None, 10.0],
        program="""
u, v = tf.Variable(2.0), tf.Variable(5.0)
with tf.GradientTape(persistent=True) as first:
    p = u * v
    q = p * v
""",
    ),
    Exercise(
        "07.3", order=3, expect=lambda f, value: f.derivative(value, order=3), cases=[(F, 1.0), (F, 2.0), (G, -0.5)]
    ),
    Exercise(
        "07.4",
        order=2,
        expect=run_newton_minimization_step,
        cases=[(F, 2.0), (G, 1.0), (G, -2.0), (F, 0.5)],
        mistakes=[
            Mistake(
                named="number differentiated",
                where=r"\b(\w+) = derivative\(\w+\)\(.*\n[^#]*derivative\(\1\)",
                error="not callable",
            )
        ],
    ),
    Exercise(
        "07.5",
        order=2,
        expect=_run_damped_newton,
        cases=[
            (HILLS, 0.1, 2),
            (STRAIGHT, 0.0, 1),
            (STRAIGHT, 3.25, 6),
            (TEN, 0.0, 1),
            (HILLS, 0.55, 1),
            (HILLS, -0.3, 12),
            (BOWL, -3.0, 1),
            (BOWL, 9.0, 1),
        ],
        start="""
def lowest(f, start, steps):
    x = tf.Variable(start)
    for _ in range(steps):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = f(x)
        slope = inner.gradient(y, x)
        bend = outer.gradient(slope, x)
        move = slope / bend
        for _ in range(10):
            if f(x - move) > f(x):
                move = move / 2.0
        if f(x - move) <= f(x):
            x.assign_sub(move)
    return x
""",
        rtol=1e-4,
    ),
    Exercise(
        "07.6",
        expect=lambda f, value: 1.0 / f.derivative(value, order=2),
        cases=[(BOWL, 1.0), (Polynomial(0, 1, 2.5), -1.0), (Polynomial(4, 0, 0.125), 3.0)],
        mistakes=[
            Mistake(
                named="one derivative too many",
                where=r"derivative\(derivative\(derivative\(",
                error="'NoneType'",
            )
        ],
    ),
    Exercise(
        "07.7",
        order=2,
        also=_find_full_hessian_hint,
        expect=lambda f, point, direction: _compute_hessian(f, point, direction) @ np.array(direction),
        cases=[
            (BENT, [1.0, 2.0], [1.0, 1.0]),
            (STEEP, [1.0, 2.0], [1.0, -1.0]),
            (STEEP, [-1.0, 0.5], [2.0, -3.0]),
            (BOX, [1.0, 2.0, -1.0], [1.0, -2.0, 3.0]),
        ],
        mistakes=[
            Mistake(_compute_hessian, named="whole Hessian"),
            Mistake(lambda f, point, direction: None, named="asked about v", where=r"gradient\(\w+, v\)"),
        ],
    ),
)
