"""The answers of lesson 01, the first tape."""

from .exercise import Exercise, Mistake
from .unknown_functions import Polynomial, run_gradient_descent

F = Polynomial(1, -3, 0, 1)
G = Polynomial(0, 2, 1, 0, 1)
BOWL = Polynomial(1, -2, 1)
DENT = Polynomial(2, 1, 0.5, 0, 0.1)


EXERCISES = (
    Exercise("01.1", expect=12.0),
    Exercise("01.2", expect=lambda f, value: f.derivative(value), cases=[(F, 2.0), (F, 0.5), (G, 0.5)]),
    Exercise(
        "01.3",
        expect=[None, 6.0, 9.0],
        program={
            "1": "x = tf.Variable(3.0); y = x + 1.0; z = x * x",
            "2": "x = tf.Variable(3.0)\nwith tf.GradientTape(persistent=True) as tape: y = x * x + 1.0",
            "3": "x = tf.constant(3.0); u = x * x; y = u * x",
        },
    ),
    Exercise(
        "01.4",
        expect=lambda f, value: f.derivative(value, order=2),
        cases=[(F, 1.0), (F, -2.0), (G, -0.5)],
        order=2,
        start="""
def second_derivative(f, value):
    x = tf.constant(value)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            outer.watch(x)
            y = f(x)
            inner.watch(x)
    first = inner.gradient(y, x)
    return outer.gradient(first, x)
""",
        mistakes=[Mistake(named="one tape asked twice", where=r"with .*GradientTape", error="non-persistent")],
    ),
    Exercise(
        "01.5",
        expect=run_gradient_descent,
        # On the last one, a step with the exercise's rate leads up.
        cases=[(BOWL, 3.0, 1), (BOWL, -2.0, 5), (DENT, -0.5, 6), (Polynomial(0, 0, 11), 1.0, 2)],
    ),
)
