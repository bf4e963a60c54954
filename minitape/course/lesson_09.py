"""The answers of lesson 09, state."""

import numpy as np

from ..engine.types import FloatList
from .exercise import Answer, Exercise, Mistake
from .unknown_functions import Polynomial, UnknownFunction, compile_unknown_function

F = Polynomial(0, 0, 1)
G = Polynomial(1, -2, 0, 1)
STEEP = Polynomial(45, -30, 5)


BUMPY = Polynomial(2, -4, -1, 0, 0.25)
VALLEY = compile_unknown_function(
    "(a - 3) ** 2 + 30 * (b - 2) ** 2", "(2.0 * a - 6.0, 60.0 * b - 120.0)", "(a - 3.0) ** 2 + 30.0 * (b - 2.0) ** 2"
)
TWISTED = compile_unknown_function(
    "a * a + a * b + b * b + a - 8 * b", "(2.0 * a + b + 1.0, a + 2.0 * b - 8.0)", "a * a + a * b + b * b + a - 8.0 * b"
)


def _find_best_point_undoing_bad_steps(loss_of: Polynomial, steps: int, momentum: float = 0.8) -> float:
    """Roll a ball downhill, and undo each step that rolls too far and halve the momentum."""
    place, speed, lowest = 0.0, 0.0, np.inf
    best = place, speed
    for _ in range(steps):
        loss = loss_of._compute(place)
        if loss <= lowest:
            best, lowest = (place, speed), loss
            speed = momentum * speed - 0.05 * loss_of.derivative(place)
            place += speed
        else:
            (place, speed), momentum = best, momentum / 2.0
    return best[0]


def _descend(loss_of: UnknownFunction, steps: int, remembers: float = 1.0, factor: float = 1.0) -> FloatList:
    """Take steps of Adagrad or, if `remembers` is 0, of plain gradient descent."""
    place, squares = np.zeros((2, 2))
    for _ in range(steps):
        slopes = np.array(loss_of.compute_derivatives(*place))
        squares += slopes**2
        place -= factor * slopes / np.sqrt(squares) ** remembers
    return [*place]


def _find_memory_hint(answer: Answer, loss_of: UnknownFunction, steps: int) -> str:
    """Say whether the loop divided by an empty memory, or whether it has no memory at all."""
    numbers = np.array([*map(float, answer)])
    if not np.isfinite(numbers).all():
        return "divided by zero"
    for rate in (0.5, 0.1, 0.05, 0.04, 0.03, 0.01):
        if np.allclose(numbers, _descend(loss_of, steps, 0.0, rate), rtol=1e-3):
            return "plain descent"
        if np.allclose(numbers, _descend(loss_of, steps, 1.0, rate), rtol=1e-3):
            return "fixed rate"
    return ""


EXERCISES = (
    Exercise("09.1", expect=[15.0, 45.0]),
    Exercise(
        "09.2",
        expect=lambda f, start, points: sum(x * f.derivative(start * x) for x in points),
        cases=[(F, 3.0, [1.0, 2.0]), (G, 0.5, [2.0, -1.0, 3.0])],
        mistakes=[
            Mistake(named="plus equals", where=r"(?s)\b(\w+) = tf\.Variable\(0.*\b\1 \+=", error=r"\+= value"),
            Mistake(
                named="plain total",
                where=r"(?m)\+=? *(float\(f|float\((?!x\))\w+\) *$|(f\(.*|\w+\.)numpy\(\) *$)",
                error="_id",
            ),
        ],
        start="""
def slope_of_total(f, start, points):
    w = tf.Variable(start)
    total = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        for x in points:
            total.assign_add(f(w * x))
    return tape.gradient(total, w)
""",
    ),
    Exercise("09.3", expect=[2.0, 0.0, 8.0]),
    Exercise("09.4", expect={"A": False, "B": True, "C": True, "D": False, "E": True}),
    Exercise(
        "09.5",
        expect=_find_best_point_undoing_bad_steps,
        cases=[(BUMPY, 12), (STEEP, 11), (BUMPY, 9)],
        start="""
def fit(loss_of, steps):
    w, speed = tf.Variable(0.0), tf.Variable(0.0, trainable=False)
    best, best_loss, momentum = w, float("inf"), 0.8
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = loss_of(w)
        if loss <= best_loss:
            best, best_loss = w, loss
            speed.assign(momentum * speed - 0.05 * tape.gradient(loss, w))
            w.assign_add(speed)
        else:
            w = best
            momentum = momentum / 2.0
    return best
""",
        mistakes=[Mistake(named="rebound w", where=r"(?m)^ *w = (?!tf\.Variable)", error="TypeError")],
    ),
    Exercise("09.6", expect=_descend, cases=[(VALLEY, 3), (VALLEY, 6), (TWISTED, 4)], of_wrong=_find_memory_hint),
)
